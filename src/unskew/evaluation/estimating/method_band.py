"""`MethodBand`: one metric by every way to correct for selection without random rows."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unskew.estimators import Blend, Delta, Dm, Estimate, Estimator, Imputing, Snips, Terms
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.seed_means import SeedMeans
from unskew.evaluation.estimating.slice_report import weighted_terms
from unskew.metrics import AnyMetric
from unskew.propensities import Exposure, Popularity, Propensity
from unskew.ranking.all_candidates.recipes import PlaceGains


@dataclass(frozen=True)
class MethodPoint:
    """An estimate with its interval by one method."""

    metric: str
    method: str
    model: str
    value: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class MethodBand:
    """Every mean and sum by each method: weights by popularity, weights by exposure, imputation, and their blend."""

    points: tuple[MethodPoint, ...]
    estimators: frozenset[str]  # words of the estimators whose assumption these methods question

    @cached_property
    def by_metric(self) -> Mapping[str, dict[str, list[MethodPoint]]]:
        """The points of each metric by method."""
        grouped: dict[str, dict[str, list[MethodPoint]]] = {}
        for point in self.points:
            grouped.setdefault(point.metric, {}).setdefault(point.method, []).append(point)
        return grouped

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in order."""
        return tuple(dict.fromkeys(point.method for point in self.points))

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate with the envelope of the intervals of all methods."""
        if estimate.estimator not in self.estimators:
            return estimate
        points = [
            point
            for some in self.by_metric.get(estimate.metric, {}).values()
            for point in some
            if point.model == estimate.model
        ]
        lows = [point.low for point in points if point.low is not None]
        highs = [point.high for point in points if point.high is not None]
        if not points or len(lows) < len(points) or len(highs) < len(points):
            return estimate
        return replace(estimate, assumed_low=min(lows), assumed_high=max(highs))

    def firsts(self, metric: str, *, lower: bool) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The first models of a metric by each method."""
        rows = []
        for method, points in self.by_metric.get(metric, {}).items():
            known = [(point.value, point.model) for point in points if point.value is not None]
            if known:
                best = (min if lower else max)(value for value, _ in known)
                rows.append((method, tuple(model for value, model in known if value == best)))
        return tuple(rows)


@dataclass(frozen=True, eq=False)
class MethodTerms:
    """Terms of the means and sums of a run by every method that its data allow."""

    metrics: tuple[AnyMetric, ...]
    questioned: frozenset[str]  # words of the estimators whose assumption the methods question
    of: Callable[[AnyMetric], dict[tuple[str, str], Terms]]  # of a metric, by method and model


def measure_methods(estimation: Estimation) -> MethodBand | None:
    """Compute the means and sums of a run by every method; None if there is nothing to question."""
    methods = method_terms(estimation)
    if methods is None:
        return None
    settings, size = estimation.settings, estimation.samples.judged.train.n_items
    interval, rng = Delta(), np.random.default_rng(settings.seed)
    points = []
    for metric in methods.metrics:
        terms = methods.of(metric)
        ends = interval.bounds(list(terms.values()), [], settings.level, rng)[0]
        limit = largest(metric, size)
        points += [
            MethodPoint(str(metric), method, model, *(_at_most(limit, end) for end in (term.value, low, high)))
            for ((method, model), term), (low, high) in zip(terms.items(), ends, strict=True)
        ]
    return MethodBand(tuple(points), methods.questioned)


def methods_of_models(band: MethodBand, estimation: Estimation, members: Mapping[str, tuple[str, ...]]) -> MethodBand:
    """The estimates of models by every method, given those of their entries."""
    methods, settings = method_terms(estimation), estimation.settings
    assert methods is not None
    points = []
    for metric in methods.metrics:
        terms, limit = methods.of(metric), largest(metric, estimation.samples.judged.train.n_items)
        for method in band.methods:
            means = SeedMeans({name: term for (by, name), term in terms.items() if by == method}, members, Delta())
            points += [
                MethodPoint(str(metric), method, model, *(_at_most(limit, end) for end in (mean.value, *ends)))
                for model, mean in ((model, means.mean(model)) for model in means.members)
                for ends in [mean.bounds(settings.level)]
            ]
    return MethodBand(tuple(points), band.estimators)


def method_terms(estimation: Estimation) -> MethodTerms | None:
    """The terms of a run by every method that its data allow.

    A sum needs the number of relevant items per user, which imputation has; weighted rows are multiplied by it. None
    with a slice that can judge the methods, without such a metric, and if no estimate rests on exposure or imputation.
    """
    samples, settings = estimation.samples, estimation.settings
    exposure = estimation.propensities.relevance.exposure
    questioned = [
        estimator
        for estimator in settings.estimators
        if isinstance(estimator, Imputing)
        or (isinstance(estimator, Snips) and estimator.per == "pair" and isinstance(settings.propensity, Exposure))
    ]
    imputed = samples.imputed
    decided = imputed is not None and imputed.drawn is not None and imputed.drawn.decides
    if not questioned or samples.exposed is not None or decided:
        return None
    sample = samples.judged
    propensities: dict[str, Propensity] = {"popularity": Popularity().fit(sample.train, sample.split.test)}
    if exposure is not None:
        propensities["exposure"] = exposure
    chances = {method: sample.chances(propensity) for method, propensity in propensities.items()}
    kinds = ("mean",) if imputed is None else ("mean", "sum")
    metrics = tuple(metric for metric in settings.metrics if metric.kind in kinds)
    if not metrics:
        return None
    # users whom not all models know are left out of the sample, and not of the sums over candidates
    of_log = {} if imputed is None else {method: imputed.chances(each) for method, each in propensities.items()}
    q = next((estimator.q for estimator in questioned if isinstance(estimator, Imputing)), "")
    blend = next((estimator for estimator in questioned if isinstance(estimator, Blend)), Blend(q=q))
    imputing = (Dm(q=q), *([replace(blend, q=q)] if exposure is not None else []))

    def of(metric: AnyMetric) -> dict[tuple[str, str], Terms]:
        models = sample.judged_by(metric)
        if imputed is not None and metric.kind == "sum":
            terms = {
                (method, model): blend.weighted(imputed.weighted_by(chance, model, metric, q), "sum")
                for method, chance in of_log.items()
                for model in models
            }
        else:
            terms = {
                (method, model): weighted_terms(sample, metric, model, chance)
                for method, chance in chances.items()
                for model in models
            }
        if imputed is not None:
            terms |= {
                (estimator.word, model): _imputed(imputed, metric, model, estimator)
                for estimator in imputing
                for model in models
            }
        return terms

    return MethodTerms(metrics, frozenset(map(str, questioned)), of)


def largest(metric: AnyMetric, size: int) -> float:
    """The sum of the gains of all places, which no sum exceeds; weighted rows do not know this. Infinite for a mean."""
    recipe = metric.recipe(size) if metric.kind == "sum" else None
    if not isinstance(recipe, PlaceGains):
        return np.inf
    return float(np.sum(recipe.table) / np.max(recipe.divisor(np.array([len(recipe.table)]))))


def _at_most(limit: float, number: float | None) -> float | None:
    return None if number is None else min(number, limit)


def _imputed(sample: Imputed, metric: AnyMetric, model: str, estimator: Estimator) -> Terms:
    rows = sample.fill(sample.to_rows(metric.kind, estimator), model, metric, estimator)
    return estimator.terms(rows, metric.kind)
