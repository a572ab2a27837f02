"""Evaluations on calibrated worlds, run once for all tables and kept in the cache block by block."""

import hashlib
import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.errors import DataError
from unskew.evaluation.error import (
    CORRECTIONS,
    METRICS,
    PAPER_METRICS,
    Correction,
    Design,
    Oracle,
    Recommender,
    Summary,
    Trial,
    Trials,
    judge,
    resolve_recommenders,
    split_panel,
)
from unskew.ranking import Threads
from unskew.simulators.preference_world import PreferenceWorld
from unskew.studies.study import Context
from unskew.studies.tian2020.printed import WORLDS
from unskew.studies.tian2020.sets import sets_at_hand, world_of

RUNS, FAST_RUNS, MORE_RUNS = 100, 8, 400
CHEAP = 2_000_000
"""Worlds with fewer likes than these are drawn more often, so that shares of runs are known better."""
STRANGERS = 0.5
"""Panel users for each user of a log; see `unskew.evaluation.error.split_panel`."""
BLOCK = 10
"""Runs that are kept together."""
FORMAT = 1
"""Changes when the numbers of a run do, so that what an older version kept is not used."""
NAIVE = "aoa"
_ARRAYS = tuple(each.name for each in fields(Trial) if each.name != "design")


@dataclass(frozen=True)
class Way:
    """How recommenders are judged.

    Parameters
    ----------
    recommenders : mapping
    design : Design
    """

    recommenders: Mapping[str, Recommender]
    design: Design

    @classmethod
    def of(cls, oracle: Oracle, **options: Any) -> "Way":
        """The oracle, popular and random."""
        named = resolve_recommenders({"oracle": oracle, "popular": "popular", "random": "random"})
        return cls(named, Design(tuple(named), **options))


_NAIVELY: Mapping[str, Any] = {"metrics": PAPER_METRICS, "corrections": (Correction(),), "ties": "ordinal"}
EXPECTED, ORDINAL, ARCHIVE = "expected", "ordinal", "archive"
WAYS: Mapping[str, Way] = {
    EXPECTED: Way.of(Oracle(), metrics=METRICS, corrections=CORRECTIONS),
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
        """The observed and the true value of each run, without a correction."""
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
    total = n_runs(context, model)
    place = context.cached("tian2020", "runs", data, world)
    key = hashlib.sha256(repr((FORMAT, str(model), STRANGERS, context.seed, WAYS)).encode()).hexdigest()[:16]
    stage, kept = f"{data}, {world}: simulated evaluations", []
    for first in range(0, total, BLOCK):
        context.report(stage, first, total)
        path = None if place is None else place / f"{key}-{first:04d}.npz"
        size = min(BLOCK, total - first)
        block = _read(path, size)
        if block is None:
            block = _run_block(context, data, world, model, range(first, first + size))
            _write(path, block)
        kept.append(block)
    context.report(stage, total, total)
    trials = {}
    for way, each in WAYS.items():
        arrays: dict[str, Any] = {name: np.concatenate([block[f"{way}-{name}"] for block in kept]) for name in _ARRAYS}
        trials[way] = Trials(each.design, str(model), context.seed, **arrays)
    return Runs(data, world, trials)


def _run_block(context: Context, data: str, world: str, model: PreferenceWorld, runs: range) -> dict[str, Floats]:
    larger = replace(model, users=model.users + max(round(STRANGERS * model.users), 1))

    def task(run: int) -> dict[str, Trial]:
        drawn = larger.draw(context.rng("tian2020", data, world, run))
        own, panel = split_panel(drawn, model.users)
        found = {
            name: judge(own, WAYS[name].recommenders, WAYS[name].design, panel=panel if name == EXPECTED else None)
            for name in (EXPECTED, ORDINAL, *([] if own.strength is None else [ARCHIVE]))
        }
        return {ARCHIVE: found[ORDINAL], **found}  # without strengths the two are the same

    found = list(Threads().map(task, list(runs)))
    return {
        f"{way}-{name}": np.stack([np.asarray(getattr(each[way], name)) for each in found])
        for way in WAYS
        for name in _ARRAYS
    }


def _read(path: Path | None, size: int) -> dict[str, Floats] | None:
    """A kept block of at least so many runs; None where there is none, or it is not whole."""
    if path is None or not path.exists():
        return None
    try:
        with np.load(path) as file:
            block = {name: file[name] for name in _names()}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    whole = all(len(array) >= size for array in block.values())
    return {name: array[:size] for name, array in block.items()} if whole else None


def _write(path: Path | None, block: Mapping[str, Floats]) -> None:
    if path is None:
        return
    part = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    try:
        np.savez(part, allow_pickle=False, **block)
        part.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error}); choose another --cache") from error


def _names() -> Iterator[str]:
    return (f"{way}-{name}" for way in WAYS for name in _ARRAYS)
