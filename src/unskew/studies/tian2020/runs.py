"""Evaluations of oracle, popular and random on the calibrated worlds, simulated once for all tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np

import unskew.trials as simulator
from unskew.arrays import Floats
from unskew.errors import first_of
from unskew.ranking import Threads
from unskew.simulators.preference_world import PreferenceWorld
from unskew.studies.framework.cache import key_of, read_arrays, write_arrays
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020.printed import METRICS, RECOMMENDERS, SIDES, WORLDS
from unskew.studies.tian2020.sets import calibrations, world_of
from unskew.trials import Design, Method, Oracle, Summary, Trial, judge, resolve_recommenders, split_panel

RUNS, MORE_RUNS = Size(100, 8, trials=True), Size(200, 8, trials=True)
USERS = Size[int | None](None, 500)
CHEAP = 1_000_000
"""Worlds with at most this number of likes are drawn more often, so that shares of runs are known better."""
STRANGERS = 0.5
"""Panel users for each user of a log; see `unskew.trials.split_panel`."""
BLOCK = 10
"""Runs that are kept together on disk."""
FORMAT = 1
"""Changes when the numbers of a run do, so that what an older version kept is not used."""
NAIVE, TRUTH = "aoa", "truth"
NAMES = dict(zip(simulator.METRICS, ("precision", "recall", "mrr", "ndcg", "adg", "auc", "dcg"), strict=True))
"""Short names of the metrics; all but auc are of lists of up to 50."""
_ARRAYS = tuple(each.name for each in fields(Trial) if each.name != "design")
EXPECTED, ORDINAL, ARCHIVE = "expected", "ordinal", "archive"
WAYS: Mapping[str, Design] = {
    EXPECTED: Design(RECOMMENDERS),
    ORDINAL: Design(RECOMMENDERS, METRICS, (Method(),), ties="ordinal"),
    ARCHIVE: Design(RECOMMENDERS, METRICS, (Method(),), ties="ordinal", graded_truth=True),
}
"""Ties in expectation, all metrics and methods; ties by item code; and as the authors' program does it.

The last differs from the second for topics alone: it ranks and weighs what is liked by how often it was chosen.
"""
TITLES = {EXPECTED: "ties expected", ORDINAL: "ties ordinal", ARCHIVE: "as the authors' program"}
_METHOD = (
    (
        "Every run draws a new world: what users like, what part of it is observed, and which fifth of each user's "
        "rows is held out. Users with a held-out row are judged on lists of up to 50 of the items seen in training. "
        "'observed' is the metric on held-out rows, 'truth' the metric on all items that the users like and did not "
        "train on."
    ),
    (
        "'ties expected' averages over all orders of equal scores. 'ties ordinal' puts the lowest item code first. In "
        "an Indian buffet process that is the oldest and most popular item. This helps the oracle, because it ties all "
        "items that a user likes. 'as the authors' program' breaks ties in the same way. In LDA worlds it also ranks "
        "items by how often they were chosen, and weighs them by this number in the true NDCG, while observed items "
        "count 1: the error of that NDCG mixes two scales."
    ),
)
PANEL = (
    f"Worlds have {1 + STRANGERS:g} times the users of the data. The additional users are not in the log. They "
    "represent the population that its users come from. The popularity that decides which items are observed is "
    "counted over all of these users."
)
METHODS = (Method(), *(Method(form, P) for P in ("true", "estimated") for form in ("ips", "snips(per=balanced)")))
"""The methods of the experiments with worlds of their own, `dislikes` and `feedback`."""
_, KNOWN, KNOWN_RATIO, POPULARITY, POPULARITY_RATIO = (each.label for each in METHODS)
COLUMNS = {
    TRUTH: TRUTH,
    NAIVE: "naive",
    KNOWN: "ips, known P",
    KNOWN_RATIO: "snips(per=balanced), known P",
    POPULARITY: "ips, popularity",
    POPULARITY_RATIO: "snips(per=balanced), popularity",
}
"""Names of the truth and of these methods in tables and figures."""
Runs: TypeAlias = Mapping[tuple[str, str, str], Summary]
"""All runs of each data set, world and way."""


def all_runs(context: Context) -> Runs:
    """The runs of every data set with parameters and every world."""
    places = product(calibrations(context), WORLDS)
    return {(*place, way): each for place in places for way, each in runs_of(context, *place).items()}


def runs_of(context: Context, data: str, world: str) -> Mapping[str, Summary]:
    """The runs of one world by way, from memory or the cache where they are there."""
    model = world_of(context, data, world, context.size(USERS))
    larger = replace(model, users=model.users + max(round(STRANGERS * model.users), 1))

    def task(run: int) -> dict[str, Trial]:
        drawn = larger.draw(context.rng("tian2020", data, world, run))
        log, panel = split_panel(drawn, model.users)
        trials = {}
        for way, design in WAYS.items():
            if way != ARCHIVE or log.strength is not None:
                oracle = Oracle(graded=design.graded_truth)
                named = resolve_recommenders({"oracle": oracle, "popular": "popular", "random": "random"})
                trials[way] = judge(log, named, design, panel=panel if way == EXPECTED else None)
        return {ARCHIVE: trials[ORDINAL], **trials}  # without strengths the two are the same

    parts, word = ("runs", data, world), f"{model} of {larger.users}"
    make = partial(kept_runs, context, parts, word, WAYS, n_runs(context, model), task)
    return context.once(f"tian2020 runs {data} {world}", make)


def naive_values(runs: Runs, ways: Sequence[str] = tuple(WAYS)) -> Trials:
    """Observed and true values of the paper's metrics in each run, by the naive average."""
    groups: dict[tuple[str, ...], Floats] = {}
    for (data, world), way in product(worlds_of(runs), ways):
        trials = runs[data, world, way].trials
        naive = trials.design.labels.index(NAIVE)
        for (k, recommender), (m, metric) in product(enumerate(RECOMMENDERS), enumerate(METRICS)):  # first in a design
            groups[data, world, way, recommender, metric, SIDES[0]] = trials.estimate[:, k, m, naive]
            groups[data, world, way, recommender, metric, SIDES[1]] = trials.truth[:, k, m, naive]
    return Trials(("data", "world", "way", "recommender", "metric", "side"), "run", groups)


def per_run(trials: simulator.Trials) -> dict[tuple[str, str, str], Floats]:
    """One value per run by metric, recommender and column: `TRUTH` of the naive average, or the error of a method."""
    design = trials.design
    groups: dict[tuple[str, str, str], Floats] = {}
    for (m, metric), (k, recommender) in product(enumerate(design.metrics), enumerate(design.recommenders)):
        groups[metric, recommender, TRUTH] = trials.truth[:, k, m, design.labels.index(NAIVE)]
        for c in np.flatnonzero(design.applies()[m]):
            groups[metric, recommender, design.labels[c]] = trials.error[:, k, m, c]
    return groups


def worlds_of(runs: Runs) -> tuple[tuple[str, str], ...]:
    """Data sets and worlds, in the order of the runs."""
    return tuple(dict.fromkeys((data, world) for data, world, _ in runs))


def method(runs: Runs) -> tuple[str, ...]:
    """How the runs were simulated and judged, as notes; none without runs."""
    return (*_METHOD, how_often(runs)) if runs else ()


def how_often(runs: Runs) -> str:
    """The number of runs, as a note."""
    counts = sorted({len(each.trials) for each in runs.values()})
    return f"Runs per world: {' or '.join(map(str, counts))}; worlds that take little time have more."


def some(names: Sequence[str]) -> str:
    """The first eight, and how many more there are."""
    return first_of(names, 8, "; ")


def n_runs(context: Context, world: PreferenceWorld) -> int:
    """How often a world is drawn."""
    return context.size(MORE_RUNS if world.expected_likes() <= CHEAP else RUNS)


def kept_runs(
    context: Context,
    parts: tuple[str, ...],
    world: str,
    designs: Mapping[str, Design],
    total: int,
    task: Callable[[int], dict[str, Trial]],
) -> dict[str, Summary]:
    """Runs by the name of their design, simulated or read back, in blocks that are kept as soon as they are done.

    The parts name the folder in the cache and the stage in the progress; `world` is the word of what is drawn from.
    The task returns the trials of the k-th run, by the name of their design.
    """
    folder = context.cached("tian2020", *parts)
    key = key_of(FORMAT, world, context.seed, sorted(designs.items()))
    names = [f"{way}-{name}" for way in designs for name in _ARRAYS]
    stage, blocks = f"{', '.join(parts[1:])}: simulated evaluations", []
    for first in range(0, total, BLOCK):
        context.report(stage, first, total)
        path = None if folder is None else folder / f"{key}-{first:04d}.npz"
        size = min(BLOCK, total - first)
        block = read_arrays(path, names)
        if block is None or any(len(array) < size for array in block.values()):
            trials = list(Threads().map(task, list(range(first, first + size))))
            pairs = ((way, name) for way in trials[0] for name in _ARRAYS)
            block = {f"{way}-{name}": np.stack([getattr(each[way], name) for each in trials]) for way, name in pairs}
            write_arrays(path, block)
        blocks.append({name: array[:size] for name, array in block.items()})
    context.report(stage, total, total)
    summaries = {}
    for way, design in designs.items():
        arrays = {name: np.concatenate([block[f"{way}-{name}"] for block in blocks]) for name in _ARRAYS}
        summaries[way] = Summary(simulator.Trials(design, world, context.seed, **arrays))
    return summaries
