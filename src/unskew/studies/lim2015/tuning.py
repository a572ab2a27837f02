"""Settings of MF-AUC and MF-ADG: a grid that grows where its best setting is at an edge, judged on validation rows."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from unskew.arrays import Floats
from unskew.data import Split
from unskew.errors import DivergenceError
from unskew.evaluation.fitting.grid import Learn, try_all
from unskew.metrics.exact.size_shift import expected_move
from unskew.models import MfAdg, MfAuc, PairwiseModel, StepwiseModel, Trained
from unskew.models.model import Observed
from unskew.models.training.stepwise import Judge
from unskew.progress import Stage, stage
from unskew.ranking import FactorScorer, Ranks, Scorer, prepare_contest, rank
from unskew.ranking.engines.threads import Threads, usable_cores
from unskew.studies.framework.cache import Arrays, key_of, read_arrays, write_arrays
from unskew.studies.framework.study import Context, Size

FACTORS, GAMMA = 50, 100
START = 0.1
"""Standard deviation of the first factors, where it is not chosen; the paper does not give it."""
RULES = ("all", "unseen")
"""Candidates: all items, by the paper's definition of a rank; or those that the user has not had in training."""
CHOICES: Mapping[str, tuple[str, ...]] = {"mf-auc": ("atop", "adg"), "mf-adg": ("adg",)}
"""The metrics that choose the settings of a model. The first is its own aim: ATOP is AUC up to the user's numbers."""
FORMAT = 1
"""Changes when the numbers of a fit do, so that a fit in the cache of an older version is not used."""

Setting = tuple[float, float, float]
"""Learning rate, penalty and standard deviation of the first factors."""
Choice = tuple[str, str]
"""A rule for candidates, and a metric."""


@dataclass(frozen=True)
class Ladder:
    """Values of a setting, ascending: those that are tried first, and others that are tried if the best is at an edge.

    Parameters
    ----------
    first, below, above : tuple of float
    """

    first: tuple[float, ...]
    below: tuple[float, ...] = ()
    above: tuple[float, ...] = ()

    @property
    def rungs(self) -> tuple[float, ...]:
        """All of them."""
        return (*self.below, *self.first, *self.above)

    def widen(self, tried: tuple[float, ...], best: Iterable[float]) -> tuple[float, ...]:
        """One more rung on each side where one of the best is the last that was tried."""
        best = set(best)
        low, high = self.rungs.index(tried[0]), self.rungs.index(tried[-1])
        low = max(low - (tried[0] in best), 0)
        return self.rungs[low : high + 1 + (tried[-1] in best)]

    def __str__(self) -> str:
        first = ", ".join(f"{rung:g}" for rung in self.first)
        more = ", ".join(f"{rung:g}" for rung in (*self.below, *self.above))
        return f"{first} (and {more} where the best is at an edge)" if more else first


@dataclass(frozen=True)
class Grid:
    """Learning rates, penalties and standard deviations of the first factors."""

    rates: Ladder
    penalties: Ladder
    starts: Ladder = Ladder((START,))

    @property
    def ladders(self) -> tuple[Ladder, Ladder, Ladder]:
        """The three, in the order of a setting."""
        return self.rates, self.penalties, self.starts

    @property
    def at_edge(self) -> "frozenset[tuple[int, float]]":
        """The last rungs of rates and penalties, with their place in a setting; a single value has no edge."""
        ends = [each.rungs if len(each.rungs) > 1 else () for each in (self.rates, self.penalties)]
        return frozenset((place, end) for place, rungs in enumerate(ends) for end in (*rungs[:1], *rungs[-1:]))


GRID = Size(
    Grid(
        Ladder((0.02, 0.05, 0.1), below=(0.002, 0.005, 0.01), above=(0.2, 0.5)),
        Ladder((0.02, 0.05, 0.1), below=(1e-4, 1e-3, 0.01), above=(0.2, 0.3, 0.5)),
        Ladder((0.01, 0.1)),
    ),
    Grid(Ladder((0.1,)), Ladder((0.01, 0.1))),
)


@dataclass(frozen=True, eq=False)
class Tried:
    """A model trained with many settings on one split.

    Parameters
    ----------
    values, halfway : mapping
        For each setting the metrics on the validation rows by rule and metric, at the last step and after half of the
        steps. A setting that diverged is not included.
    scorers : mapping
        The trained models that are best by one of the choices, by setting.
    """

    values: Mapping[Setting, Mapping[Choice, float]]
    halfway: Mapping[Setting, Mapping[Choice, float]]
    scorers: Mapping[Setting, FactorScorer]

    @cached_property
    def best(self) -> dict[Choice, Setting]:
        """The setting with the largest value for each choice; among equals the one that was tried first."""
        return best_of(self.values)

    def is_rising(self, choice: Choice) -> bool:
        """Whether the best setting was better at the last step than after half of the steps."""
        return self.values[self.best[choice]][choice] > self.halfway[self.best[choice]][choice]

    def is_at_edge(self, choice: Choice, grid: Grid) -> bool:
        """Whether the best setting is at the end of a ladder of the grid."""
        return not grid.at_edge.isdisjoint(enumerate(self.best[choice][:2]))


def best_of(values: Mapping[Setting, Mapping[Choice, float]]) -> dict[Choice, Setting]:
    """The setting with the largest value for each choice."""
    choices = next(iter(values.values()))
    return {choice: max(values, key=lambda setting: values[setting][choice]) for choice in choices}


def learner(name: str, steps: int, rate: float, penalty: float, start: float = START) -> PairwiseModel:
    """A model of the paper's size with settings that the paper does not give; validation sees it twice."""
    kind: PairwiseModel = MfAuc() if name == "mf-auc" else MfAdg(gamma=GAMMA)
    sized = replace(kind, factors=FACTORS, iterations=steps, every=-(-steps // 2), patience=0)
    return replace(sized, learning_rate=rate, regularisation=penalty, init=start)


def tune(context: Context, split: Split, seed: int, name: str, steps: int, grid: Grid, what: str) -> Tried:
    """Train a model with all settings of a grid, and with more where the best is at an edge, or read it from the cache.

    All settings of a split begin with the same parameters, up to their standard deviation.
    """
    assert split.validation is not None
    folder = context.cached("lim2015", "fits")
    rows = [part.sha256 for part in (split.train, split.validation)]
    key = key_of(FORMAT, seed, learner(name, steps, 0.1, 0.1), grid, split.train.n_items, *rows, length=20)
    path = folder and folder / f"{name}-{key}.npz"
    stored = _read(path, split)
    if stored is None:
        stored = _search(split, seed, name, steps, grid, what, context.progress)
        _write(path, stored)
    return stored


def _search(split: Split, seed: int, name: str, steps: int, grid: Grid, what: str, progress: Stage | None) -> Tried:
    """Train the first settings, and more as long as one of the best is at an edge of what was tried."""
    choices = [(rule, metric) for rule in RULES for metric in CHOICES[name]]
    judge = judge_of(split, choices)
    tried: tuple[tuple[float, ...], ...] = tuple(ladder.first for ladder in grid.ladders)
    seen: set[Setting] = set()
    values: dict[Setting, Mapping[Choice, float]] = {}
    halfway: dict[Setting, Mapping[Choice, float]] = {}
    scorers: dict[Setting, FactorScorer] = {}
    while True:
        new = [setting for setting in itertools.product(*tried) if setting not in seen]
        seen.update(new)  # type: ignore[arg-type]
        models = [learner(name, steps, *setting) for setting in new]
        try:
            for model, trained in try_all(models, _learn(split, seed, judge, what), usable_cores(), what, progress):
                setting = (model.learning_rate, model.regularisation, model.init)  # type: ignore[attr-defined]
                halfway[setting], values[setting] = (
                    {choice: check.metrics[" ".join(choice)] for choice in choices}
                    for check in (trained.checks[0], trained.checks[-1])
                )
                scorers[setting] = trained.last
                best = set(best_of(values).values())
                scorers = {each: scorer for each, scorer in scorers.items() if each in best}
        except DivergenceError:
            if not values:  # further out it is an answer: no better setting is there
                raise
        best = set(best_of(values).values())
        wider = tuple(
            ladder.widen(rungs, [setting[place] for setting in best])
            for place, (ladder, rungs) in enumerate(zip(grid.ladders, tried, strict=True))
        )
        if wider == tried:
            return Tried(values, halfway, scorers)
        tried = wider


def _learn(split: Split, seed: int, judge: Judge, what: str) -> Learn:
    def learn(model: StepwiseModel, label: str, heard: Stage | None) -> Trained:
        return model.train(split.train, rng=seed, judge=judge, threads=1, progress=stage(heard, f"{what}{label}"))

    return learn


def judge_of(split: Split, choices: Sequence[Choice]) -> Judge:
    """A function that gives the metrics of a model on the validation rows, for each rule; it uses one thread."""
    assert split.validation is not None
    parts = {rule: Split(split.train, split.validation, candidates=rule) for rule, _ in choices}

    def judge(scorer: FactorScorer) -> dict[str, float]:
        ranks = {rule: ranks_of(scorer, part, threads=1) for rule, part in parts.items()}
        return {f"{rule} {metric}": float(values_of(ranks[rule], metric).mean()) for rule, metric in choices}

    return judge


def ranks_of(scorer: Scorer, split: Split, *, threads: int | None = None) -> Ranks:
    """The ranks of the test rows of a split."""
    return rank(scorer, prepare_contest({"model": scorer}, split), engine=Threads(threads))


def values_of(ranks: Ranks, metric: str) -> Floats:
    """The metric of each user who has a row."""
    return expected_move(metric, ranks, share=1.0).per_user_before


_PARTS = ("user_factors", "item_factors", "item_bias")


def _write(path: Path | None, tried: Tried) -> None:
    choices = list(next(iter(tried.values.values())))
    words = np.array([" ".join(choice) for choice in choices])
    arrays: Arrays = {"settings": np.array(list(tried.values)), "choices": words}
    for name, by in (("values", tried.values), ("halfway", tried.halfway)):
        arrays[name] = np.array([[by[setting][choice] for choice in choices] for setting in tried.values])
    for place, setting in enumerate(tried.values):
        if setting in tried.scorers:
            arrays |= {f"{part}_{place}": getattr(tried.scorers[setting], part) for part in _PARTS}
    write_arrays(path, arrays)


def _read(path: Path | None, split: Split) -> Tried | None:
    """What is in the cache; None where there is nothing, or the file is damaged."""
    arrays = read_arrays(path, ("settings", "choices", "values", "halfway"))
    if arrays is None:
        return None
    settings: list[Setting] = [tuple(each) for each in arrays["settings"].tolist()]
    choices: list[Choice] = [tuple(each.split(" ")) for each in arrays["choices"].tolist()]
    values, halfway = (
        {setting: dict(zip(choices, row, strict=True)) for setting, row in zip(settings, rows, strict=True)}
        for rows in (arrays["values"].tolist(), arrays["halfway"].tolist())
    )
    places = {setting: settings.index(setting) for setting in best_of(values).values()}
    parts = read_arrays(path, [f"{part}_{place}" for place in places.values() for part in _PARTS])
    if parts is None:
        return None
    rows = Observed.of(split.train)
    scorers = {
        setting: FactorScorer(
            **{part: parts[f"{part}_{place}"] for part in _PARTS}, user_ids=rows.user_ids, item_ids=rows.item_ids
        )
        for setting, place in places.items()
    }
    return Tried(values, halfway, scorers)
