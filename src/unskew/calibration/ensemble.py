"""`calibrate_ensemble`: several worlds for one log, from several searches for each kind of world."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from unskew.calibration.attempt import JOINT, LARGEST_LIKES, STARTS, Trial, compare, mean_ratio, value_of
from unskew.calibration.calibrate import check_log, check_numbers, real_statistics
from unskew.calibration.quick import scales_of, start_count
from unskew.calibration.search_space import Parameters, Space
from unskew.calibration.suggest import seeds_of, starting_point, suggest
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.progress import Stage, counting
from unskew.ranking import Engine, engine_of
from unskew.simulators import PreferenceWorld
from unskew.simulators.likeness import STATISTICS, Statistics, divergence, divergences, measure

MOST_LIKES, QUICK_LIKES = 25, 1_000_000
"""Worlds with more than 25 likes per row of the log, and more than a million likes, are not drawn.

They take long, and less than 4 % of what users like would be in the log.
"""
_STAGE = "calibrating worlds"


@dataclass(frozen=True)
class Fit:
    """The nearest world that one search found, measured on logs that the search has not seen.

    Parameters
    ----------
    kind : str
    search : int
        Which of the searches of this kind, from 0.
    world : PreferenceWorld
    divergences : dict
        K-L divergence of the log from a new log of the world, by statistic. The log for which the world was chosen has
        a slightly smaller divergence.
    floor : dict
        K-L divergence between two new logs of the world: that of a perfect fit.
    loss : float
        Mean over the statistics of the divergence relative to `EnsembleFit.scales`, minus 1.
    """

    kind: str
    search: int
    world: PreferenceWorld
    divergences: dict[str, float]
    floor: dict[str, float]
    loss: float


@dataclass(frozen=True)
class EnsembleFit:
    """The worlds that the searches found.

    Parameters
    ----------
    fits : tuple of Fit
        By kind and search; a world that two searches found is listed once.
    scales : dict
        Median divergence of each statistic over the starts of all kinds, so that losses can be compared between kinds.
    evaluations : int
        Worlds tried, over all searches.
    missing : tuple of str
        Kinds without a world that could be drawn.
    """

    fits: tuple[Fit, ...]
    scales: dict[str, float]
    evaluations: int
    missing: tuple[str, ...] = ()


def calibrate_ensemble(
    log: Interactions,
    kinds: Sequence[str],
    *,
    searches: int,
    evaluations: int,
    seed: int = 0,
    threads: int | None = None,
    engine: Engine | str | None = None,
    progress: Stage | None = None,
) -> EnsembleFit:
    """Calibrate several worlds of several kinds to a log.

    The first 40 % of the evaluations of a search are quasi-random starts. All searches of a kind share them, and then
    continue independently, so that each finds its own world. The objective is that of `calibrate_quickly`, with scales
    over the starts of all kinds.

    Parameters
    ----------
    log : Interactions
    kinds : sequence of str
    searches : int
        For each kind.
    evaluations : int
        Of each search, including the starts; at least 2.
    seed : int
    threads : int, optional
        Number of searches in parallel [default: all cores]; the result does not depend on it.
    engine : {"threads", "ray"} or Engine, optional
        Where searches run.
    progress : callable, optional
        Called with stage, done and total.

    Raises
    ------
    DataError
        For a log that is too small, or when no world of any kind could be drawn.
    """
    check_numbers(kinds, evaluations, 0, 1, seed, threads)
    if evaluations < 2 or searches < 1:
        raise ConfigError(f"{searches} searches of {evaluations} evaluations: expected 1 or more, of 2 or more each")
    check_log(log)
    spaces = {kind: Space.of(kind, log) for kind in dict.fromkeys(kinds)}
    real, runner = real_statistics(log, seed), engine_of(engine, threads)
    first, largest = start_count(evaluations), min(max(MOST_LIKES * len(log), QUICK_LIKES), LARGEST_LIKES)
    total = len(spaces) * (first + searches * (evaluations - first))
    count = counting(progress, _STAGE, 0, total)

    def start(place: tuple[str, int]) -> Trial:
        kind, number = place
        parameters = starting_point(spaces[kind], seed, STARTS, number)
        return _try(spaces[kind], parameters, real, largest, seed, STARTS, 0, number)

    starts: dict[str, list[Trial]] = {kind: [] for kind in spaces}
    for trial in runner.map(start, list(product(spaces, range(first)))):
        starts[trial.kind].append(trial)
        count()
    scales = scales_of([trial for trials in starts.values() for trial in trials])
    drawn = [kind for kind, trials in starts.items() if any(not trial.refused for trial in trials)]
    missing = tuple(kind for kind in spaces if kind not in drawn)
    _repeat(count, len(missing) * searches * (evaluations - first))

    def search(place: tuple[str, int]) -> Fit:
        kind, number = place
        return _Search(spaces[kind], number, evaluations - first, seed, scales, real, largest).run(starts[kind])

    fits: dict[str, Fit] = {}
    for fit in runner.map(search, list(product(drawn, range(searches)))):
        fits.setdefault(str(fit.world), fit)
        _repeat(count, evaluations - first)
    return EnsembleFit(tuple(fits.values()), scales, total, missing)


@dataclass(frozen=True, eq=False)
class _Search:
    """One search after its starts."""

    space: Space
    number: int
    length: int
    seed: int
    scales: dict[str, float]
    real: Statistics
    largest: float

    def run(self, starts: Sequence[Trial]) -> Fit:
        trials, name = list(starts), f"{JOINT} {self.number}"
        for k in range(self.length):
            tried = [(trial.parameters, value_of(trial, JOINT, self.scales)) for trial in trials]
            parameters = suggest(self.space, tried, self.seed, name, k, "compiled")
            trials.append(_try(self.space, parameters, self.real, self.largest, self.seed, JOINT, self.number, k))
        drawn = [trial for trial in trials if not trial.refused]
        best = min(drawn, key=lambda trial: mean_ratio(trial.divergences, self.scales))
        world = self.space.world(best.parameters)
        distances, floor = fit_of(
            world, self.real, np.random.default_rng(seeds_of(self.seed, self.space.kind, name, "fit"))
        )
        return Fit(self.space.kind, self.number, world, distances, floor, mean_ratio(distances, self.scales) - 1)


def fit_of(
    world: PreferenceWorld, real: Statistics, rng: np.random.Generator
) -> tuple[dict[str, float], dict[str, float]]:
    """Divergence of a log from a new log of the world, and between two new logs of it."""
    first, second = (measure(world.log(rng), rng, reference=real) for _ in range(2))
    # a small log may have no pair with enough rows; two that have none are the same
    floor = {
        name: divergence(first[name], second[name]) if first[name].total + second[name].total else 0.0
        for name in STATISTICS
    }
    return divergences(real, first), floor


def _try(
    space: Space,
    parameters: Parameters,
    real: Statistics,
    largest: float,
    seed: int,
    stage: str,
    search: int,
    number: int,
) -> Trial:
    rng = np.random.default_rng(seeds_of(seed, space.kind, stage, search, number, "draw"))
    distances, refused = compare(space.world(parameters), real, rng, largest)
    return Trial(space.kind, stage, number, parameters, distances, refused)


def _repeat(call: Callable[[], None], times: int) -> None:
    for _ in range(times):
        call()
