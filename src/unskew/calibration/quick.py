"""`calibrate_quickly`: one world for one log, by a short search."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unskew.calibration.attempt import FLOOR, JOINT, STARTS, Trial
from unskew.calibration.calibrate import check_log, check_numbers, describe_nearest, real_statistics
from unskew.calibration.result import Calibrated
from unskew.calibration.search import Runner, Search, runner
from unskew.calibration.search_space import Space
from unskew.calibration.suggest import Method, require_gp, seeds_of
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError
from unskew.progress import Stage, counting
from unskew.simulators.likeness import STATISTICS

MOST_ROWS = 1_500_000
"""A longer log is represented by a random sample of its users."""
_STAGE = "calibrating a world"
HOW: dict[Method, str] = {
    "compiled": "a Gaussian process",
    "gp": "optuna's Gaussian process",
    "coarse": "quasi-random points alone",
}
"""Descriptions of the methods."""


@dataclass(frozen=True)
class QuickCalibration(Calibrated):
    """The world of a kind that a short search found nearest to a log.

    Its `ratios` are relative to `scales`, and its `loss` is their mean minus 1: -1 would be a perfect copy, and 0 is as
    bad as a random world of the searched space.

    Parameters
    ----------
    method : {"compiled", "gp", "coarse"}
    seed : int
    scales : dict
        Median divergence of each statistic over the quasi-random starts.
    users, all_users : int
        Number of users that it was calibrated to, and number of users of the log.
    """

    method: Method
    seed: int
    scales: dict[str, float]
    users: int
    all_users: int

    @property
    def note(self) -> str:
        """One or two sentences on how it was found."""
        text = f"{self.kind} was calibrated by {HOW[self.method]} with {self.evaluations} evaluations."
        if self.users < self.all_users:
            text += f" It resembles a random sample of {self.users:,} of the {self.all_users:,} users."
        return text

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def calibrate_quickly(
    log: Interactions,
    kind: str = "ibp-pop",
    evaluations: int = 40,
    *,
    seed: int = 0,
    progress: Stage | None = None,
    threads: int | None = None,
    method: Method = "compiled",
) -> QuickCalibration:
    r"""Calibrate one world to a log by one objective.

    The search minimises the mean over the four statistics of :math:`D_s / m_s`, where :math:`m_s` is the median of the
    divergence :math:`D_s` over the quasi-random starts, the first 40 % of the evaluations. So each statistic counts
    relative to that of a random world.

    Parameters
    ----------
    log : Interactions
        If it has more than 1,500,000 rows, a random sample of its users is used.
    kind : str
        As in `calibrate`.
    evaluations : int
        At least 2.
    seed : int
    progress : callable, optional
        Called with stage, done and total.
    threads : int, optional
        Number of starts in parallel [default: 1]; the result does not depend on it.
    method : {"compiled", "gp", "coarse"}
        A Gaussian process that needs no optional package; that of optuna, which does; or quasi-random points alone.

    Returns
    -------
    QuickCalibration

    Raises
    ------
    DataError
        For a log that is too small.
    ConfigError
        For optuna's Gaussian process where its packages are not installed.
    """
    check_numbers((kind,), evaluations, 0, 1, seed, threads)
    if evaluations < 2:
        raise ConfigError(f"evaluations {evaluations}: expected 2 or more")
    if method not in HOW:
        raise ConfigError(f"unknown method {method!r}: choose {', '.join(HOW)}")
    if method == "gp":
        require_gp()
    sample = sample_users(log, MOST_ROWS, np.random.default_rng(seeds_of(seed, "sample")))
    check_log(sample)
    space, real = Space.of(kind, sample), real_statistics(sample, seed)
    with runner(real, threads or 1) as run:
        trials, scales = _search(space, evaluations, seed, method, run, progress)
    return QuickCalibration(
        **describe_nearest(space, trials, scales),
        method=method,
        seed=seed,
        scales=scales,
        users=space.users,
        all_users=int((log.user_counts > 0).sum()),
    )


def _search(
    space: Space, evaluations: int, seed: int, method: Method, run: Runner, progress: Stage | None
) -> tuple[list[Trial], dict[str, float]]:
    """The trials of a search, and the scale of each statistic."""
    first = start_count(evaluations)
    count = counting(progress, _STAGE, 0, evaluations)
    starts = [Search(space, STARTS, first, seed, method)]
    run(starts, lambda _: count())
    scales = scales_of(starts[0].trials)
    joint = Search(space, JOINT, evaluations - first, seed, method, starts[0].trials, scales)
    run([joint], lambda _: count())
    return [*starts[0].trials, *joint.trials], scales


def start_count(evaluations: int) -> int:
    """Number of evaluations of a search that are quasi-random starts."""
    return max(1, round(0.4 * evaluations))


def scales_of(starts: Sequence[Trial]) -> dict[str, float]:
    """Median divergence of each statistic over the starts that could be drawn; an error if there are none."""
    drawn: Sequence[Mapping[str, float]] = [trial.divergences for trial in starts if not trial.refused]
    if not drawn:
        kinds = ", ".join(dict.fromkeys(trial.kind for trial in starts))
        raise DataError(f"{kinds}: no world could be drawn ({starts[0].refused}); use a sample of the users")
    return {each: max(float(np.median([values[each] for values in drawn])), FLOOR) for each in STATISTICS}


def sample_users(log: Interactions, most: int, rng: np.random.Generator) -> Interactions:
    """The log, or a random sample of its users with at most this many rows."""
    if len(log) <= most:
        return log
    order = rng.permutation(log.n_users)
    chosen = np.zeros(log.n_users, dtype=bool)
    chosen[order[np.cumsum(log.user_counts[order]) <= most]] = True
    return log.take(chosen[log.users])
