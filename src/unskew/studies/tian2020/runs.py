"""Evaluations on calibrated worlds, run once for all tables."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from unskew.arrays import Floats
from unskew.ranking import Threads
from unskew.simulators.preference_world import PreferenceWorld
from unskew.studies.framework.study import Context
from unskew.studies.tian2020.keeping import kept_trials
from unskew.studies.tian2020.printed import WORLDS
from unskew.studies.tian2020.sets import sets_at_hand, world_of
from unskew.trials import (
    METHODS,
    METRICS,
    PAPER_METRICS,
    Design,
    Method,
    Oracle,
    Recommender,
    Summary,
    Trial,
    Trials,
    judge,
    resolve_recommenders,
    split_panel,
)

RUNS, FAST_RUNS, MORE_RUNS = 100, 8, 200
CHEAP = 1_000_000
"""Worlds with fewer likes than these are drawn more often, so that shares of runs are known better."""
STRANGERS = 0.5
"""Panel users for each user of a log; see `unskew.trials.split_panel`."""
NAIVE = "aoa"


@dataclass(frozen=True)
class Way:
    """How recommenders are judged."""

    recommenders: Mapping[str, Recommender]
    design: Design

    @classmethod
    def of(cls, oracle: Oracle, **options: Any) -> "Way":
        """The oracle, popular and random."""
        named = resolve_recommenders({"oracle": oracle, "popular": "popular", "random": "random"})
        return cls(named, Design(tuple(named), **options))


_NAIVELY: Mapping[str, Any] = {"metrics": PAPER_METRICS, "methods": (Method(),), "ties": "ordinal"}
EXPECTED, ORDINAL, ARCHIVE = "expected", "ordinal", "archive"
WAYS: Mapping[str, Way] = {
    EXPECTED: Way.of(Oracle(), metrics=METRICS, methods=METHODS),
    ORDINAL: Way.of(Oracle(), **_NAIVELY),
    ARCHIVE: Way.of(Oracle(graded=True), graded_truth=True, **_NAIVELY),
}
"""Ties in expectation, all metrics and corrections; ties by item code; and as the authors' program has it.

The last differs from the second for topics alone: there it ranks and weighs what is liked by how often it was chosen.
"""


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of one calibrated world.

    Parameters
    ----------
    data, world : str
    by_way : mapping
        The trials by the name of the way they were judged.
    """

    data: str
    world: str
    by_way: Mapping[str, Trials]

    def __len__(self) -> int:
        return len(self.by_way[EXPECTED])

    def summary(self, way: str = EXPECTED) -> Summary:
        """What the runs say, judged one way."""
        return Summary(self.by_way[way])

    def values(self, recommender: str, metric: str, way: str = EXPECTED) -> tuple[Floats, Floats]:
        """The observed and the true value of each run, by the naive average."""
        trials = self.by_way[way]
        place = (trials.design.recommenders.index(recommender), trials.design.metrics.index(metric))
        naive = trials.design.labels.index(NAIVE)
        return trials.estimate[:, *place, naive], trials.truth[:, *place, naive]

    def gaps(self, metric: str, way: str = EXPECTED) -> tuple[Floats, Floats]:
        """Oracle less popular in each run, observed and true."""
        first, second = self.values("oracle", metric, way), self.values("popular", metric, way)
        return first[0] - second[0], first[1] - second[1]


def all_runs(context: Context) -> tuple[Runs, ...]:
    """The runs of every data set with parameters and every world."""
    pairs = [(data, world) for data in sets_at_hand(context) for world in WORLDS]
    return tuple(runs_of(context, data, world) for data, world in pairs)


def runs_of(context: Context, data: str, world: str) -> Runs:
    """The runs of one world, from memory or the cache where they are there."""
    return context.once(f"tian2020 runs {data} {world}", lambda: _make(context, data, world))


def n_runs(context: Context, model: PreferenceWorld) -> int:
    """How often a world is drawn."""
    cheap = model.expected_likes() <= CHEAP
    return context.n_trials(MORE_RUNS if cheap else RUNS, FAST_RUNS)


def _make(context: Context, data: str, world: str) -> Runs:
    model = world_of(context, data, world)
    larger = replace(model, users=model.users + max(round(STRANGERS * model.users), 1))

    def task(run: int) -> dict[str, Trial]:
        drawn = larger.draw(context.rng("tian2020", data, world, run))
        own, panel = split_panel(drawn, model.users)
        found = {
            name: judge(own, WAYS[name].recommenders, WAYS[name].design, panel=panel if name == EXPECTED else None)
            for name in (EXPECTED, ORDINAL, *([] if own.strength is None else [ARCHIVE]))
        }
        return {ARCHIVE: found[ORDINAL], **found}  # without strengths the two are the same

    trials = kept_trials(
        context,
        ("runs", data, world),
        f"{model} of {larger.users}",
        {name: way.design for name, way in WAYS.items()},
        n_runs(context, model),
        lambda runs: list(Threads().map(task, list(runs))),
    )
    return Runs(data, world, trials)
