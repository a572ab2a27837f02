"""Beyond Table 1: both models after five million steps, where one million end too early or at an edge of the grid.

One million steps are few for the larger data sets, so which model is ahead may depend on which learns faster.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unskew.data import Split
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Key, Trials
from unskew.studies.lim2015.fits import (
    DIMS,
    FITTED,
    MAIN,
    NAMES,
    STEPS,
    chosen_in,
    label_of,
    per_user,
    pool_of,
    tried_in,
)
from unskew.studies.lim2015.printed import METRICS, MODELS
from unskew.studies.lim2015.protocol import FOLDS, split_of
from unskew.studies.lim2015.tuning import CHOICES, GRID, RULES, Grid, Tried, ranks_of, tune

TIMES = Size(5)
"""How many times the steps of the table."""


@dataclass(frozen=True, eq=False)
class Longer:
    """Both models after more steps: trials by rule for candidates, and what was chosen in each fold."""

    steps: int
    trials: Mapping[str, Trials]
    settings: Mapping[str, list[str]]
    tried: Mapping[str, list[Tried]]


def train_longer(context: Context, data: str) -> Longer | None:
    """Train both models for five times the steps in all folds; None in the small version, or without the data."""
    if context.fast or split_of(context, data, 0) is None:
        return None
    values: dict[str, list[tuple[Key, Any]]] = {rule: [] for rule in RULES}
    settings: dict[str, list[str]] = {name: [] for name in MODELS}
    steps, grid = context.size(TIMES) * context.size(STEPS), context.size(GRID)
    tried: dict[str, list[Tried]] = {name: [] for name in MODELS}
    for number in range(context.size(FOLDS)):
        split = split_of(context, data, number)
        assert split is not None
        for name in MODELS:
            what = f"{name} for longer on {data}, fold {number + 1}"
            # what fewer steps chose may be far from the best: a small rate stays near the order by popularity
            tried[name].append(tune(context, split, context.seed + number, name, steps, grid, what))
        pool, in_test = pool_of(split)
        for rule in RULES:
            scorers, chosen = chosen_in({name: tried[name][number] for name in MODELS}, rule)
            for name in MODELS:
                ranks = ranks_of(scorers[name], pool.with_candidates(rule)).take(in_test)
                if rule == MAIN:
                    settings[name].append(chosen[name])
                    learnt = ranks_of(scorers[name], Split(split.train, split.train, candidates=rule))
                    values[rule].append(((data, name, FITTED), per_user(learnt, "atop", split.train.n_users)))
                for metric in METRICS:
                    values[rule].append(((data, name, metric), per_user(ranks, metric, split.train.n_users)))
    trials = {rule: Trials.collect(DIMS, "fold, user", rows) for rule, rows in values.items()}
    return Longer(steps, trials, settings, tried)


def ends_of(context: Context, data: str) -> Iterator[str]:
    """Why a million steps, or the grid, may be too few for a data set, for each model; nothing where they are not."""
    folds = range(context.size(FOLDS))
    for name in MODELS:
        tried = []
        for number in folds:
            split = split_of(context, data, number)
            if split is not None:
                tried.append(tried_in(context, data, number, split)[name])
        yield from _ends(name, tried, context.size(GRID))


def _ends(name: str, tried: Sequence[Tried], grid: Grid) -> Iterator[str]:
    choice = MAIN, CHOICES[name][0]
    rising = sum(each.is_rising(choice) for each in tried)
    at_edge = sum(each.is_at_edge(choice, grid) for each in tried)
    if rising:
        yield f"{label_of(name)} was still rising at the last step in {rising} of {len(tried)} folds"
    if at_edge:
        yield f"the setting chosen for {label_of(name)} was at an edge of all that were tried in {at_edge} folds"


def note_longer(context: Context, data: str, longer: Longer, why: Sequence[str]) -> str:
    """What was trained, and what it ended with."""
    grid = context.size(GRID)
    picks = "; ".join(f"{label_of(name)} {', '.join(longer.settings[name])}" for name in MODELS)
    left = [end for name in MODELS for end in _ends(name, longer.tried[name], grid)]
    return (
        f"{data}: {'; '.join(why)} (by validation, {NAMES['atop']} of MF-AUC and {NAMES['adg']} of MF-ADG). So both "
        f"were trained for {longer.steps:,} steps in all folds as well, with all settings. Chosen: {picks}. "
        f"Then {'; '.join(left) if left else 'neither was at an edge, or still rising'}."
    )
