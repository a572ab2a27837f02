"""`Summary`: errors and coverage over many trials, and how often the right recommender is chosen."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError, did_you_mean
from unskew.estimators import normal_quantile
from unskew.trials.runs import Trials


@dataclass(frozen=True)
class CellSummary:
    """One recommender, metric and method over all runs; None where undefined.

    `bias` is the mean of estimate minus truth, `bias_error` its standard error over runs, `rmse` the root mean square
    of the same. `coverage` is the share of intervals that hold the true value of the log's own users,
    `coverage_population` the share that holds the value of the population, which intervals are about. `std_error` is
    the mean standard error of the estimates, `spread` the standard deviation of estimate minus truth over runs.
    """

    recommender: str
    metric: str
    method: str
    runs: int
    truth: float | None
    estimate: float | None
    bias: float | None
    bias_error: float | None
    rmse: float | None
    std_error: float | None
    spread: float | None
    coverage: float | None
    coverage_population: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True)
class PairSummary:
    """Two recommenders compared by one metric and method over all runs, first minus second; None where undefined.

    Gaps: `true_gap` and `gap` are mean differences, `true_ratio` and `ratio` the ratios of the mean values, as an
    estimate may show the one too small and the other too large (Tian and Ekstrand 2020, section 4.2).

    Choices: `first_chosen` is the share of runs in which the first one's estimate is at least the second's, ties
    counting as wins, as the paper counts; `right_chosen` the share in which the one that is truly better in that run is
    chosen, among runs with a true difference, ties of the estimates counting as right. By the interval of the
    difference, `undecided` is the share of runs whose interval holds 0, `right_verdict` and `wrong_verdict` the shares
    of those that exclude it on either side of the truth; `clear` the share whose true difference exceeds 3 standard
    errors of the difference, and `right_when_clear` how many of these choose right.

    Errors: `bias`, `spread` and `rmse` are of the estimated minus the true difference of the own users;
    `population_spread` the standard deviation of the error against the population's stand-in, where there is a panel.
    `std_error` is the mean one claimed.
    """

    a: str
    b: str
    metric: str
    method: str
    runs: int
    true_gap: float | None
    gap: float | None
    true_ratio: float | None
    ratio: float | None
    first_chosen: float | None
    right_chosen: float | None
    undecided: float | None
    right_verdict: float | None
    wrong_verdict: float | None
    clear: float | None
    right_when_clear: float | None
    bias: float | None
    bias_error: float | None
    rmse: float | None
    spread: float | None
    population_spread: float | None
    std_error: float | None
    coverage: float | None
    coverage_population: float | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Summary:
    """Summaries of trials, computed on request."""

    trials: Trials

    def cell(self, recommender: str, metric: str, method: str) -> CellSummary:
        """The summary of one recommender, metric and method, by name, word and label."""
        design, trials = self.trials.design, self.trials
        k = _place(recommender, design.recommenders, "recommender")
        m, c = self._column(metric, method)
        estimate, error = trials.estimate[:, k, m, c], trials.std_error[:, k, m, c]
        truth, population = trials.truth[:, k, m, c], trials.population[:, k, m, c]
        return CellSummary(
            recommender,
            metric,
            method,
            **_errors(estimate - truth),
            truth=_mean(truth),
            estimate=_mean(estimate),
            std_error=_mean(error),
            coverage=self._coverage(estimate, truth, error),
            coverage_population=self._coverage(estimate, population, error),
        )

    def pair(self, a: str, b: str, metric: str, method: str) -> PairSummary:
        """The summary of two recommenders by one metric and method, the first minus the second."""
        gap, error, truth, population = self._gaps(a, b, metric, method)
        first, second = self.cell(a, metric, method), self.cell(b, metric, method)
        right = (gap >= 0) & (truth > 0) | (gap <= 0) & (truth < 0)
        decided = np.abs(gap) > self._reach * error
        clear = np.abs(truth) > 3 * error
        known = ~np.isnan(gap)
        return PairSummary(
            a,
            b,
            metric,
            method,
            **_errors(gap - truth),
            true_gap=_mean(truth),
            gap=_mean(gap),
            true_ratio=_ratio(first.truth, second.truth),
            ratio=_ratio(first.estimate, second.estimate),
            first_chosen=_share(gap >= 0, known),
            right_chosen=_share(right, known & (truth != 0)),
            undecided=_share(~decided, known),
            right_verdict=_share(decided & right, known),
            wrong_verdict=_share(decided & ~right, known),
            clear=_share(clear, known),
            right_when_clear=_share(right, known & clear),
            population_spread=_spread(gap - population),
            std_error=_mean(error),
            coverage=self._coverage(gap, truth, error),
            coverage_population=self._coverage(gap, population, error),
        )

    @property
    def cells(self) -> Iterator[CellSummary]:
        """Yield the summaries of all recommenders, metrics and methods that go together."""
        for name in self.trials.design.recommenders:
            for metric, label in self._columns:
                yield self.cell(name, metric, label)

    @property
    def pairs(self) -> Iterator[PairSummary]:
        """Yield the summaries of all pairs, metrics and methods that go together."""
        names = self.trials.design.recommenders
        for first, second in self.trials.design.pairs:
            for metric, label in self._columns:
                yield self.pair(names[first], names[second], metric, label)

    def errors(self, a: str, b: str, metric: str, method: str, *, population: bool = False) -> Floats:
        """Estimated minus true difference in each run; against the population's stand-in when asked."""
        gap, _, truth, stand_in = self._gaps(a, b, metric, method)
        off = gap - (stand_in if population else truth)
        return np.asarray(off[~np.isnan(off)])

    def _gaps(self, a: str, b: str, metric: str, method: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Estimated difference, its standard error, the true one and the population's, of each run."""
        design, trials = self.trials.design, self.trials
        for name in (a, b):
            _place(name, design.recommenders, "recommender")
        if a == b:
            raise ConfigError(f"{a!r} cannot be compared with itself; name two recommenders")
        p, sign = design.pair(a, b)
        at = (slice(None), p, *self._column(metric, method))
        truth, population = sign * trials.true_difference[at], sign * trials.population_difference[at]
        return sign * trials.difference[at], trials.difference_error[at], truth, population

    def _column(self, metric: str, method: str) -> tuple[int, int]:
        design = self.trials.design
        m = _place(metric, design.metrics, "metric of these trials")
        return m, _place(method, design.labels, "method of these trials")

    @cached_property
    def _columns(self) -> list[tuple[str, str]]:
        design = self.trials.design
        return [(design.metrics[m], design.labels[c]) for m, c in np.argwhere(design.applies())]

    @property
    def _reach(self) -> float:
        return normal_quantile(self.trials.design.level)

    def _coverage(self, estimate: Floats, target: Floats, error: Floats) -> float | None:
        # equal values for all users give an interval of width 0, which rounding must not make miss
        slack = 1e-9 * np.maximum(np.abs(estimate), np.abs(target))
        return _share(np.abs(estimate - target) <= self._reach * error + slack, ~np.isnan(estimate + target + error))


@dataclass(frozen=True)
class WrongWinner:
    """The probability that the apparent winner of two is the worse one, by a normal approximation and by counting."""

    normal: float
    counted: float
    runs: int


def wrong_winner(errors: Floats, observed: float) -> WrongWinner:
    r"""Probability that the truly better of two models is the other one, given the observed difference.

    Let e be the error of a difference, estimated minus true; `errors` has one per run, as from `Summary.errors`. The
    truth behind an observed d, first minus second, is :math:`d - e`. So the apparent winner is the worse one with
    probability

    .. math:: \Pr(d - e < 0) = \Pr(e > d) \approx 1 - \Phi\Bigl(\frac{d - \bar e}{s_e}\Bigr) \quad (d > 0),

    and likewise for d below 0. It takes the error to be distributed as in the simulated runs, whatever the true
    difference is. A true difference of exactly 0 counts one half.
    """
    known = errors[~np.isnan(errors)]
    if not len(known):
        raise ConfigError("no error of this difference is known; does the method apply to the metric?")
    sign = -1.0 if observed < 0 else 1.0
    truth = sign * (observed - known)
    counted = float(np.mean(truth < 0) + 0.5 * np.mean(truth == 0))
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    if spread == 0:
        return WrongWinner(counted, counted, len(known))
    # not by cdf, which is exactly 0 beyond 8 standard deviations
    return WrongWinner(0.5 * erfc(float(truth.mean()) / (spread * sqrt(2))), counted, len(known))


def smallest_detectable(errors: Floats, *, level: float = 0.95, power: float = 0.8) -> float:
    r"""The smallest true difference that the interval shows to be on its side of 0 with this probability.

    .. math:: (z_{(1 + level)/2} + z_{power})\, s_e + |\bar e|

    with the mean and the standard deviation of the errors of a difference over at least two runs, as `wrong_winner`
    takes them. A bias may help or hinder; it is taken to hinder.
    """
    known = errors[~np.isnan(errors)]
    if len(known) < 2:
        raise ConfigError("the smallest detectable difference needs at least 2 runs; ask for more")
    if not 0 < power < 1:
        raise ConfigError(f"power={power:g} must lie between 0 and 1")
    reach = normal_quantile(level) + NormalDist().inv_cdf(power)
    return float(reach * known.std(ddof=1) + abs(known.mean()))


def _place(name: str, known: tuple[str, ...], what: str) -> int:
    if name not in known:
        raise ConfigError(f"unknown {what} {name!r}{did_you_mean(name, known)}")
    return known.index(name)


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _spread(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else None


def _errors(off: Floats) -> dict[str, Any]:
    """The fields of cells and pairs on their errors in the runs."""
    known, spread = off[~np.isnan(off)], _spread(off)
    return {
        "runs": len(known),
        "bias": _mean(off),
        "bias_error": None if spread is None else spread / sqrt(len(known)),
        "rmse": sqrt(float(np.mean(known**2))) if len(known) else None,
        "spread": spread,
    }


def _share(claims: Bools, among: Bools) -> float | None:
    return float(np.mean(claims[among])) if among.any() else None


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below
