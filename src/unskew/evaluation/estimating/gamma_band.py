"""`GammaBand`: weighted estimates at each gamma that may be assumed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from unskew.estimators import OVER_ALL_PAIRS, Estimate, Estimator, Rows, Terms
from unskew.evaluation.estimating.estimation import Estimation, Key, terms_of
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric
from unskew.propensities import POSSIBLE, GammaRange, Popularity

Bounded: TypeAlias = list[tuple[float | None, float | None, float | None]]
"""Value, low and high at each gamma."""


@dataclass(frozen=True)
class BandPoint:
    """An estimate, with its interval, at one gamma."""

    metric: str
    estimator: str
    model: str
    gamma: float
    value: float | None
    low: float | None
    high: float | None

    @property
    def key(self) -> Key:
        """Metric, estimator and model."""
        return self.metric, self.estimator, self.model

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class GammaBand:
    """Every weighted estimate at each gamma that may be assumed."""

    range: GammaRange
    gammas: tuple[float, ...]  # ascending, including the gamma that the run used
    used: float
    fitted: bool  # whether the range comes from fitting gamma, not from the settings or the default
    points: tuple[BandPoint, ...]  # by metric, estimator and model, then by gamma

    @cached_property
    def by_key(self) -> Mapping[Key, tuple[BandPoint, ...]]:
        """The points of each estimate, by gamma."""
        grouped: dict[Key, list[BandPoint]] = {}
        for point in self.points:
            grouped.setdefault(point.key, []).append(point)
        return {key: tuple(points) for key, points in grouped.items()}

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate with the envelope of its interval over all gammas."""
        points = self.by_key.get((estimate.metric, estimate.estimator, estimate.model), ())
        lows = [point.low for point in points if point.low is not None]
        highs = [point.high for point in points if point.high is not None]
        if not points or len(lows) < len(points) or len(highs) < len(points):
            return estimate
        return replace(estimate, assumed_low=min(lows), assumed_high=max(highs))

    def least(self, metric: str, estimator: str, model: str, place: int) -> float:
        """The low end of an estimate at the gamma of this place; its value if there is no interval."""
        point = self.by_key[metric, estimator, model][place]
        end = point.value if point.low is None else point.low
        return float("nan") if end is None else end

    def orders(self, metric: str, estimator: str, *, lower: bool) -> list[tuple[tuple[str, ...], ...]]:
        """At each gamma, the models from best to worst, equal ones together, without undefined values."""
        rows = [points for (m, e, _), points in self.by_key.items() if (m, e) == (metric, estimator)]
        orders = []
        for place in range(len(self.gammas)):
            known: dict[float, list[str]] = {}
            for points in rows:
                value = points[place].value
                if value is not None:
                    known.setdefault(value if lower else -value, []).append(points[place].model)
            orders.append(tuple(tuple(known[value]) for value in sorted(known)))
        return orders


def measure_band(estimations: Sequence[Estimation]) -> GammaBand | None:
    """Compute every weighted estimate at each gamma; gains are reused, so this costs little.

    The range is that of the settings; else, with a fitted gamma, the range of the fits; else from -0.5 to 1.5. It
    always contains the gamma of the run. None if no estimate depends on gamma. There is one estimation, or one per
    model if each model is judged on its own users.
    """
    settings, choice = estimations[0].settings, estimations[0].propensities.gamma
    model = settings.propensity
    if not isinstance(model, Popularity):
        return None
    used = model.known_gamma
    default = POSSIBLE if choice is None else GammaRange(choice.low, choice.high)
    limits = (settings.assume or default).including(used)
    gammas = limits.gammas(used)
    models = [replace(model, gamma=gamma) for gamma in gammas]
    terms: dict[Key, Bounded] = {}
    for each in estimations:
        for over_all in (False, True):
            terms |= _at_each_gamma(each, models, over_all=over_all)
    if not terms:
        return None
    points = [
        BandPoint(*key, gamma, value, low, high)
        for key, values in terms.items()
        for gamma, (value, low, high) in zip(gammas, values, strict=True)
    ]
    return GammaBand(limits, gammas, used, choice is not None and settings.assume is None, tuple(points))


def _at_each_gamma(estimation: Estimation, models: list[Popularity], *, over_all: bool) -> dict[Key, Bounded]:
    """Value, low and high at each gamma, of metrics over positives or over all pairs."""
    settings = estimation.settings
    asked: dict[str, tuple[AnyMetric, list[Estimator]]] = {}
    for metric, estimator in settings.pairs:
        if estimator.uses_propensity and (metric.kind in OVER_ALL_PAIRS) == over_all:
            asked.setdefault(str(metric), (metric, []))[1].append(estimator)
    if not asked:
        return {}
    sample = estimation.samples.observed(next(iter(asked.values()))[0])
    # metrics over all pairs have no positives, so their popularity is that of all rows
    train = sample.split.train if over_all else sample.train
    fitted = [model.fit(train, sample.split.test) for model in models]
    users = sample.row_users

    def job(work: tuple[str, AnyMetric, list[Estimator]]) -> dict[Key, list[Terms]]:
        name, metric, estimators = work
        gains = sample.gains(name, metric)
        terms: dict[Key, list[Terms]] = {(str(metric), str(each), name): [] for each in estimators}
        for propensity in fitted:
            chances, rows = propensity(users, sample.items), dict[bool, Rows]()
            for each in estimators:
                empty = each.counts_empty_users
                if empty not in rows:
                    rows[empty] = sample.to_rows(metric.kind, each, chances).with_worth(gains)
                terms[str(metric), str(each), name].append(terms_of(rows[empty], metric, each))
        return terms

    jobs = [(name, metric, each) for metric, each in asked.values() for name in sample.judged_by(metric)]
    if settings.interval.draws or over_all:
        together = {key: terms for part in map(job, jobs) for key, terms in part.items()}
        bounded = _bounded(together, settings)
        places = [str(estimator) for _, estimator in settings.pairs]
        order = sorted(bounded, key=lambda key: places.index(key[1])) if over_all else bounded
        return {key: bounded[key] for key in sorted(order, key=lambda key: list(asked).index(key[0]))}
    small = estimation.engine.map(lambda work: _bounded(job(work), settings), jobs)  # no user's terms are kept
    return {key: values for part in small for key, values in part.items()}


def _bounded(terms: Mapping[Key, list[Terms]], settings: Settings) -> dict[Key, Bounded]:
    """Values with their intervals; terms of different numbers of users have separate draws, as for the estimates."""
    by_size: dict[int, list[Key]] = {}
    for key, each in terms.items():
        by_size.setdefault(len(each[0].numerator), []).append(key)
    bounded: dict[Key, Bounded] = {}
    for keys in by_size.values():
        flat = [term for key in keys for term in terms[key]]
        rng = np.random.default_rng([settings.seed, 1])
        ends = iter(settings.interval.bounds(flat, [], settings.level, rng)[0])
        for key in keys:
            bounded[key] = [(term.value, *next(ends)) for term in terms[key]]
    return {key: bounded[key] for key in terms}
