"""`calibrate`: find the worlds whose logs are nearest to a log."""

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from unskew.calibration.attempt import FLOOR, JOINT, LARGEST_LIKES, STARTS, Trial, mean_ratio
from unskew.calibration.journal import Record
from unskew.calibration.result import Calibrated, Calibration, LogFacts, improvements
from unskew.calibration.search import Runner, Search, runner
from unskew.calibration.search_space import Space, check_kind
from unskew.calibration.suggest import Method, require_gp, seeds_of
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError, Option
from unskew.progress import Stage, counting
from unskew.ranking import Engine, engine_of
from unskew.simulators.likeness import LEAST_ROWS, STATISTICS, Statistics, measure

LEAST = 20
"""Smallest number of users and of items of a log that a world can be calibrated to."""
_SINGLES = (STARTS, *STATISTICS)
_ALL = (*_SINGLES, JOINT)


def calibrate(
    log: Interactions,
    worlds: Sequence[str] = ("ibp-pop",),
    *,
    singles: int = 60,
    joint: int = 150,
    starts: int = 25,
    seed: int = 0,
    folder: Path | None = None,
    coarse: bool = False,
    progress: Stage | None = None,
    threads: int | None = None,
    engine: Engine | str | None = None,
    where: str = "",
) -> Calibration:
    r"""Calibrate worlds to a log, as Tian & Ekstrand (2020) do.

    First the divergence of each of the four statistics is minimised for each world. Then the mean ratio to the best is
    minimised, where the best of a statistic is the smallest divergence that any of the worlds reached:

    .. math:: \text{loss} = \frac{1}{4} \sum_s \frac{D_s}{D_s^*} - 1

    Every evaluation draws one log and measures all four statistics. So a world's quasi-random starts serve all its
    objectives, and the joint search knows all earlier evaluations of the world. Searches model the logarithm of the
    value that they minimise.

    Parameters
    ----------
    log : Interactions
    worlds : sequence of str
        Kinds, as ``ibp-pop``; see `unskew.calibration.KINDS`.
    singles : int
        Evaluations for each statistic of each world, shared starts among them.
    joint : int
        Evaluations for the joint objective of each world, on top of those.
    starts : int
        How many of the first evaluations of a world are quasi-random.
    seed : int
        Of all draws; the same seed gives the same result, whatever the number of threads.
    folder : Path, optional
        A folder for a record of the search; a record that is there is continued.
    coarse : bool
        Quasi-random points only; needs no optional package.
    progress : callable, optional
        Called with stage, done and total.
    threads : int, optional
        Number of searches in parallel [default: all cores].
    engine : {"threads", "ray"} or Engine, optional
        Where searches run; by default in processes of this machine. The result is the same.
    where : str
        Which rows of a larger log these are, as in ``rating>=4``; only recorded.

    Returns
    -------
    Calibration

    Raises
    ------
    DataError
        For a log that is too small, or a folder with another calibration.
    ConfigError
        For an unknown world or a number out of range, or if the packages for a Gaussian process are not installed.
    """
    kinds = tuple(dict.fromkeys(worlds))
    check_numbers(kinds, singles, joint, starts, seed, threads)
    if not coarse:
        require_gp()
    facts = LogFacts.of(log)
    check_log(log)
    spaces = {kind: Space.of(kind, log) for kind in kinds}
    real = real_statistics(log, seed)
    settings: dict[str, Any] = {
        "seed": seed,
        "singles": singles,
        "joint": joint,
        "starts": min(starts, singles),
        "method": "coarse" if coarse else "gp",
        "largest": LARGEST_LIKES,
    }
    versions = versions_of(coarse=coarse)
    identity = {"log": facts.sha256, "worlds": sorted(kinds), **settings, "versions": versions}
    with Record(folder, identity) as record, runner(real, threads or _cores(), engine_of(engine, threads)) as run:
        plan = _Plan(spaces, settings, record, progress)
        plan.carry_out(run)
    best = plan.best(_ALL)
    calibrated = tuple(_calibrated(spaces[kind], record.of(kind, _ALL), best) for kind in kinds)
    command = command_of(facts.name, kinds, settings, where)
    return Calibration(facts, calibrated, best, settings, versions, command)


class _Plan:
    """The three stages of a calibration."""

    def __init__(
        self, spaces: Mapping[str, Space], settings: Mapping[str, Any], record: Record, progress: Stage | None
    ) -> None:
        self.spaces, self.settings, self.record = spaces, settings, record
        self.progress = progress

    def carry_out(self, run: Runner) -> None:
        starts = int(self.settings["starts"])
        self._stage(run, "starts", [self._search(kind, STARTS, starts) for kind in self.spaces])
        single = int(self.settings["singles"]) - starts
        known = {kind: self.record.of(kind, [STARTS]) for kind in self.spaces}
        searches = [self._search(kind, each, single, known[kind]) for kind in self.spaces for each in STATISTICS]
        self._stage(run, "one statistic at a time", searches)
        best = self.best(_SINGLES)
        known = {kind: self.record.of(kind, _SINGLES) for kind in self.spaces}
        length = int(self.settings["joint"])
        joint = [self._search(kind, JOINT, length, known[kind], best) for kind in self.spaces]
        self._stage(run, "all statistics together", joint)

    def best(self, searches: Sequence[str]) -> dict[str, float]:
        """The smallest divergence of each statistic over all worlds, without penalties."""
        trials = [trial for kind in self.spaces for trial in self.record.of(kind, searches) if not trial.refused]
        if not trials:
            raise DataError(
                "no world could be drawn: all that were tried are too large, or nothing is observed in them; "
                "calibrate to a sample of the users"
            )
        return {each: min(trial.divergences[each] for trial in trials) for each in STATISTICS}

    def _search(
        self,
        kind: str,
        objective: str,
        length: int,
        known: Sequence[Trial] = (),
        best: Mapping[str, float] | None = None,
    ) -> Search:
        method: Method = self.settings["method"]
        search = Search(
            self.spaces[kind], objective, length, self.settings["seed"], method, known, best or {}, LARGEST_LIKES
        )
        search.trials = self.record.of(kind, [objective])
        return search

    def _stage(self, run: Runner, stage: str, searches: Sequence[Search]) -> None:
        total = sum(search.length for search in searches)
        count = counting(self.progress, stage, sum(len(search.trials) for search in searches), total)

        def keep(trial: Trial) -> None:
            self.record.add(trial)
            count()

        run(searches, keep)


def _calibrated(space: Space, trials: Sequence[Trial], best: Mapping[str, float]) -> Calibrated:
    if all(trial.refused for trial in trials):
        raise DataError(
            f"{space.kind}: no world of this kind could be drawn ({trials[0].refused}); calibrate to fewer users"
        )
    nearest, traces = describe_nearest(space, trials, best), {}
    for statistic in STATISTICS:
        single = [trial for trial in trials if trial.search in {STARTS, statistic}]
        values = {k: trial.divergences[statistic] for k, trial in enumerate(single) if not trial.refused}
        traces[statistic] = improvements(values)
    return Calibrated(**{**nearest, "trace": {**traces, **nearest["trace"]}})


def describe_nearest(space: Space, trials: Sequence[Trial], best: Mapping[str, float]) -> dict[str, Any]:
    """The fields of `Calibrated` for the nearest world that was tried, with the trace of the joint objective."""
    ratios = {k: mean_ratio(trial.divergences, best) for k, trial in enumerate(trials) if not trial.refused}
    chosen = trials[min(ratios, key=lambda k: ratios[k])]
    drawn = [trial.divergences for trial in trials if not trial.refused]
    return {
        "kind": space.kind,
        "word": str(space.world(chosen.parameters)),
        "divergences": chosen.divergences,
        "ratios": {each: max(chosen.divergences[each], FLOOR) / max(best[each], FLOOR) for each in STATISTICS},
        "loss": mean_ratio(chosen.divergences, best) - 1,
        "singles": {each: min(values[each] for values in drawn) for each in STATISTICS},
        "evaluations": len(trials),
        "refused": len(trials) - len(drawn),
        "trace": {JOINT: improvements(ratios)},
    }


def real_statistics(log: Interactions, seed: int) -> Statistics:
    """Return the statistics of a log; refuse a log without a pair to compare."""
    real = measure(log, np.random.default_rng(seeds_of(seed, "real")))
    for what, histogram, counts in (
        ("users", real.user_similarity, log.user_counts),
        ("items", real.item_similarity, log.item_counts),
    ):
        if not histogram.total:
            enough = int((counts >= LEAST_ROWS).sum())
            raise DataError(
                f"{log.name}: too small to calibrate a world to: {enough} {what} have {LEAST_ROWS} rows or more, but "
                "similarities need pairs of them; give a longer log"
            )
    return real


def check_log(log: Interactions) -> None:
    """Refuse a log with too few users or items."""
    for what, counts in (("users", log.user_counts), ("items", log.item_counts)):
        present = int((counts > 0).sum())
        if present < LEAST:
            raise DataError(
                f"{log.name}: too small to calibrate a world to: {present} {what} have a row, and at least {LEAST} are "
                "needed; give a longer log"
            )


def check_numbers(kinds: Sequence[str], singles: int, joint: int, starts: int, seed: int, threads: int | None) -> None:
    """Refuse unknown worlds and numbers out of range, before a log is read."""
    if not kinds:
        raise ConfigError("there is no world to calibrate; name one, as ibp-pop")
    for kind in kinds:
        check_kind(kind)
    for name, value, least in (("singles", singles, 1), ("joint", joint, 0), ("starts", starts, 1), ("seed", seed, 0)):
        if value < least:
            raise ConfigError(f"{name} {value}: expected {least} or more")
    if threads is not None and threads < 1:
        raise ConfigError(f"threads {threads}: expected 1 or more")


def versions_of(*, coarse: bool) -> dict[str, str]:
    """Versions of this package and of those that choose parameters."""
    names = ["unskew", "numpy"] if coarse else ["unskew", "numpy", "optuna", "torch"]
    packages = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in names:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "unknown"
    return packages


def command_of(name: str, kinds: Sequence[str], settings: Mapping[str, Any], where: str = "") -> str:
    """The command line that does the same."""
    words = [
        "unskew calibrate",
        name,
        *([Option("positive", where).flag] if where else []),
        *(Option("world", kind).flag for kind in kinds),
    ]
    words += [Option(key, settings[key]).flag for key in ("singles", "joint", "starts", "seed")]
    return " ".join([*words, *([Option("coarse", True).flag] if settings["method"] == "coarse" else [])])


def _cores() -> int:
    from joblib import cpu_count  # type: ignore[import-untyped]

    return int(cpu_count())
