"""Measures of methods next to the truth: error, order, winner, coverage and seconds, per log."""

from collections.abc import Iterable, Iterator

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.stats import tau
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.peers.judge import Judged
from unskew.studies.peers.methods import METHODS
from unskew.studies.truth.measures import right_winner

DIMS = ("data", "method", "measure")
ERROR, USER_ERROR, SCALED, TAU, WINNER = "error", "error, users", "error, scaled", "tau", "winner"
COVERAGE, SECONDS = "coverage", "seconds"


def measure(logs: Iterable[tuple[str, Judged]]) -> Trials:
    """All measures of all methods, by data set, with one value per log.

    ``error`` is the mean absolute error over models as a share of that of the naive average, by each method's own
    target; ``error, users`` is the same by the mean over users; ``error, scaled`` is that of values which are
    multiplied by one factor, so that their mean over models is the true one. ``tau`` is Kendall's, ``winner`` is 1 if
    the best model is the truly best one, ``coverage`` the share of intervals that hold the truth.
    """
    return Trials.collect(DIMS, "log", (row for data, judged in logs for row in _rows(data, judged)))


def _rows(data: str, judged: Judged) -> Iterator[Row]:
    for place, method in enumerate(METHODS):
        true = judged.truth[place]
        if np.isnan(true).any():
            continue
        for name, value in _numbers(judged, place).items():
            yield (data, method, name), value


def _numbers(judged: Judged, place: int) -> dict[str, float]:
    values, true, naive = judged.values[place], judged.truth[place], judged.naive[place]
    low, high = judged.low[place], judged.high[place]
    numbers = {
        ERROR: _share(values, naive, true),
        USER_ERROR: _share(values, judged.user_naive[place], judged.user_truth[place]),
        SCALED: _share(_scaled(values, true), _scaled(naive, true), true),
        TAU: float(np.nan_to_num(tau(values, true))),
        WINNER: float(right_winner(values, true)),
        SECONDS: float(judged.seconds[place]),
    }
    if not np.isnan(low).any():
        numbers[COVERAGE] = float(np.mean((low <= true) & (true <= high)))
    return numbers


def _share(values: Floats, naive: Floats, true: Floats) -> float:
    """The mean absolute error as a share of the naive one."""
    return float(np.abs(values - true).mean() / np.abs(naive - true).mean())


def _scaled(values: Floats, true: Floats) -> Floats:
    """Values times the factor that makes their mean the true one."""
    return np.asarray(values * (true.mean() / values.mean()))
