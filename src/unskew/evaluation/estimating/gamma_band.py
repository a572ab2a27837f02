"""How estimates move with the popularity bias that is assumed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from unskew.estimators import Estimate, Estimator, ExposedEstimator, Terms
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.estimating.cell import Risks
from unskew.evaluation.estimating.estimate import Estimation
from unskew.evaluation.fitting.gamma import GammaChoice
from unskew.evaluation.settings.settings import OVER_ALL_PAIRS, Settings
from unskew.metrics import AnyMetric
from unskew.propensities import POSSIBLE, GammaRange, Popularity

Key: TypeAlias = tuple[str, str, str]
"""Words of metric and estimator, and the model's name."""
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
        """What it is an estimate of."""
        return self.metric, self.estimator, self.model

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class GammaBand:
    """Every weighted estimate at each gamma that is held possible.

    Parameters
    ----------
    range : GammaRange
        From what to what.
    gammas : tuple of float
        Ascending; the one that the run used is among them.
    used : float
    fitted : bool
        Whether the range was found by fitting gamma, and not given or assumed.
    points : tuple of BandPoint
        By metric, estimator and model, then by gamma.
    """

    range: GammaRange
    gammas: tuple[float, ...]
    used: float
    fitted: bool
    points: tuple[BandPoint, ...]

    @cached_property
    def by_key(self) -> Mapping[Key, tuple[BandPoint, ...]]:
        """The points of each estimate, by gamma."""
        found: dict[Key, list[BandPoint]] = {}
        for point in self.points:
            found.setdefault(point.key, []).append(point)
        return {key: tuple(points) for key, points in found.items()}

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate with the envelope of its interval over all gammas."""
        points = self.by_key.get((estimate.metric, estimate.estimator, estimate.model), ())
        lows = [point.low for point in points if point.low is not None]
        highs = [point.high for point in points if point.high is not None]
        if not points or len(lows) < len(points) or len(highs) < len(points):
            return estimate
        return replace(estimate, assumed_low=min(lows), assumed_high=max(highs))

    def least(self, metric: str, estimator: str, model: str, place: int) -> float:
        """The low end of an estimate at the gamma of this place; its value where there is no interval."""
        point = self.by_key[metric, estimator, model][place]
        found = point.value if point.low is None else point.low
        return float("nan") if found is None else found

    def orders(self, metric: str, estimator: str, *, lower: bool) -> list[tuple[tuple[str, ...], ...]]:
        """At each gamma the models from best to worst, level ones together; those without a value are left out."""
        mine = [points for (m, e, _), points in self.by_key.items() if (m, e) == (metric, estimator)]
        orders = []
        for place in range(len(self.gammas)):
            known: dict[float, list[str]] = {}
            for points in mine:
                value = points[place].value
                if value is not None:
                    known.setdefault(value if lower else -value, []).append(points[place].model)
            orders.append(tuple(tuple(known[value]) for value in sorted(known)))
        return orders


def measure_band(estimations: Sequence[Estimation], choice: GammaChoice | None) -> GammaBand | None:
    """Make every weighted estimate again at each gamma; gains are reused, so this costs little.

    The range is that of the settings; else, with a fitted gamma, what was found; else from -0.5 to 1.5, and in any case
    wide enough for the gamma of the run. None where nothing depends on a gamma.

    Parameters
    ----------
    estimations : sequence of Estimation
        One, or one per model where each is judged on users of its own.
    choice : GammaChoice or None
        What a fitted gamma was chosen from.
    """
    settings = estimations[0].settings
    model = settings.propensity
    if not isinstance(model, Popularity):
        return None
    used = model.known_gamma
    found = POSSIBLE if choice is None else GammaRange(choice.low, choice.high)
    limits = (settings.assume or found).including(used)
    gammas = limits.gammas(used)
    models = [replace(model, gamma=gamma) for gamma in gammas]
    terms: dict[Key, Bounded] = {}
    for each in estimations:
        weighted = [pair for pair in each.settings.pairs if pair[1].uses_propensity]
        pairs = [pair for pair in weighted if not isinstance(pair[1], ExposedEstimator)]
        terms |= {**_of_ranks(each, pairs, models), **_of_ratings(each.settings, pairs, models, each.rated)}
    if not terms:
        return None
    points = [
        BandPoint(*key, gamma, value, low, high)
        for key, values in terms.items()
        for gamma, (value, low, high) in zip(gammas, values, strict=True)
    ]
    return GammaBand(limits, gammas, used, choice is not None and settings.assume is None, tuple(points))


def _of_ranks(
    estimation: Estimation, pairs: Iterable[tuple[AnyMetric, Estimator]], models: list[Popularity]
) -> dict[Key, Bounded]:
    """Value, low and high at each gamma, of metrics over positives."""
    evidence, settings = estimation.evidence, estimation.settings
    asked: dict[str, tuple[AnyMetric, list[Estimator]]] = {}
    for metric, estimator in pairs:
        if metric.kind not in OVER_ALL_PAIRS:
            asked.setdefault(str(metric), (metric, []))[1].append(estimator)
    fitted = [model.fit(evidence.train, evidence.split.test) for model in models] if asked else []
    users = evidence.row_users

    def job(work: tuple[str, AnyMetric, list[Estimator]]) -> dict[Key, list[Terms]]:
        name, metric, estimators = work
        gains = evidence.gains(name, metric)
        made: dict[Key, list[Terms]] = {(str(metric), str(each), name): [] for each in estimators}
        for propensity in fitted:
            given = propensity(users, evidence.items)
            missing = np.isnan(given)
            basis = estimation.basis_of(given, ~missing if missing.any() else None, counted=metric.kind == "mean")
            for each in estimators:
                made[str(metric), str(each), name].append(Terms(*estimation.sums_of(metric, each, gains, basis)))
        return made

    jobs = [(name, metric, estimators) for metric, estimators in asked.values() for name in evidence.ranks]
    if settings.interval.draws:
        together = {key: terms for made in map(job, jobs) for key, terms in made.items()}
        return _bounded(together, settings)
    small = estimation.engine.map(lambda work: _bounded(job(work), settings), jobs)  # no user's terms are kept
    return {key: values for made in small for key, values in made.items()}


def _of_ratings(
    settings: Settings,
    pairs: Iterable[tuple[AnyMetric, Estimator]],
    models: list[Popularity],
    rated: Evidence | None,
) -> dict[Key, Bounded]:
    """The same of metrics over all pairs, whose popularity is that of all rows."""
    mine = [pair for pair in pairs if pair[0].kind in OVER_ALL_PAIRS]
    if rated is None or not mine:
        return {}
    terms: dict[Key, list[Terms]] = {}
    for model in models:
        risks = Risks(rated, model.fit(rated.split.train, rated.split.test))
        for metric, estimator in mine:
            for name, of_model in risks.cell(metric, estimator).terms.items():
                terms.setdefault((str(metric), str(estimator), name), []).append(of_model)
    return _bounded(terms, settings)


def _bounded(terms: Mapping[Key, list[Terms]], settings: Settings) -> dict[Key, Bounded]:
    """Values with their intervals; terms of different numbers of users are drawn apart, as for the estimates."""
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
