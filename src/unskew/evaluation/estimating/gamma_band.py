"""`GammaBand`: weighted estimates at each gamma that may be assumed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.estimators import OVER_ALL_PAIRS, Estimate, Estimator, Rows, Snips, Terms
from unskew.evaluation.estimating.estimation import KEPT_TERMS, Estimation, Key, terms_of
from unskew.evaluation.estimating.seed_means import SeedMeans
from unskew.evaluation.fitting.gamma import GammaChoice
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric
from unskew.propensities import POSSIBLE, GammaRange, Popularity
from unskew.ranking import Engine

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
    models = assumed_models(settings, choice)
    terms: dict[Key, Bounded] = {}
    for each in estimations if models else ():
        for over_all in (False, True):
            terms |= _at_each_gamma(each, models, over_all=over_all)
    return make_band(settings, choice, terms)


def make_band(settings: Settings, choice: GammaChoice | None, bounded: Mapping[Key, Bounded]) -> GammaBand | None:
    """The band of values with their intervals at each gamma; None if there are none."""
    if not bounded:
        return None
    limits, gammas, used = _gammas(settings, choice)
    points = [
        BandPoint(*key, gamma, value, low, high)
        for key, values in bounded.items()
        for gamma, (value, low, high) in zip(gammas, values, strict=True)
    ]
    return GammaBand(limits, gammas, used, choice is not None and settings.assume is None, tuple(points))


def band_of_models(band: GammaBand, estimation: Estimation, members: Mapping[str, tuple[str, ...]]) -> GammaBand:
    """The band of models, given that of their entries; a model with one entry keeps its points."""
    settings = estimation.settings
    assumed = assumed_models(settings, estimation.propensities.gamma)
    bounded: dict[Key, Bounded] = {}
    for over_all in (False, True):
        terms = GammaTerms(estimation, assumed, over_all=over_all)
        for metric, estimators in terms.asked.values():
            judged = set(terms.sample.judged_by(metric))
            for model, names in members.items():
                some = [name for name in names if name in judged] if len(names) > 1 else []
                parts = {name: terms.of((name, metric, estimators)) for name in some}
                for words in ((str(metric), str(each)) for each in estimators if some):
                    at_each = (
                        SeedMeans(
                            {name: parts[name][*words, name][k] for name in some}, {model: names}, settings.interval
                        )
                        for k in range(len(band.gammas))
                    )
                    means = (each.mean(model) for each in at_each)
                    bounded[*words, model] = [(mean.value, *mean.bounds(settings.level)) for mean in means]
    keys = [(*words, model) for words in dict.fromkeys(key[:2] for key in band.by_key) for model in members]
    bounded |= {
        key: [(point.value, point.low, point.high) for point in band.by_key[key]] for key in keys if key in band.by_key
    }
    whole = make_band(settings, estimation.propensities.gamma, {key: bounded[key] for key in keys if key in bounded})
    assert whole is not None
    return whole


def assumed_models(settings: Settings, choice: GammaChoice | None) -> list[Popularity]:
    """The propensity of the settings at each gamma that may be assumed; none if it is not that of popularity."""
    model = settings.propensity
    if not isinstance(model, Popularity):
        return []
    return [replace(model, gamma=gamma) for gamma in _gammas(settings, choice)[1]]


def _gammas(settings: Settings, choice: GammaChoice | None) -> tuple[GammaRange, tuple[float, ...], float]:
    """The range of gammas that may be assumed, those that are tried, and the one that is used."""
    model = settings.propensity
    assert isinstance(model, Popularity)
    default = POSSIBLE if choice is None else GammaRange(choice.low, choice.high)
    limits = (settings.assume or default).including(model.known_gamma)
    return limits, limits.gammas(model.known_gamma), model.known_gamma


class GammaTerms:
    """Computes the terms of weighted estimates at each gamma, of metrics over positives or over all pairs.

    `jobs` are a model and a metric with its estimators each; `of` computes the terms of one.
    """

    def __init__(self, estimation: Estimation, models: Sequence[Popularity], *, over_all: bool) -> None:
        self.estimation, self.over_all = estimation, over_all
        self.asked: dict[str, tuple[AnyMetric, list[Estimator]]] = {}
        for metric, estimator in estimation.settings.pairs:
            if estimator.uses_propensity and (metric.kind in OVER_ALL_PAIRS) == over_all:
                self.asked.setdefault(str(metric), (metric, []))[1].append(estimator)
        self.jobs: list[tuple[str, AnyMetric, list[Estimator]]] = []
        if not self.asked:
            return
        self.sample = sample = estimation.samples.observed(next(iter(self.asked.values()))[0])
        # metrics over all pairs have no positives, so their popularity is that of all rows
        train = sample.split.train if over_all else sample.train
        self.fitted = [model.fit(train, sample.split.test) for model in models]
        self.jobs = [(name, metric, each) for metric, each in self.asked.values() for name in sample.judged_by(metric)]

    def of(self, work: tuple[str, AnyMetric, list[Estimator]]) -> dict[Key, list[Terms]]:
        """The terms of a model and a metric by each estimator, one per gamma."""
        name, metric, estimators = work
        sample, gains = self.sample, self.estimation.gains_of(self.sample, name, metric)
        plain = sample.weights is None and metric.kind == "mean"
        if plain and self._weights is not None and all(each == Snips() for each in estimators):
            return {(str(metric), str(Snips()), name): self._of_pairs(gains)}
        terms: dict[Key, list[Terms]] = {(str(metric), str(each), name): [] for each in estimators}
        for propensity in self.fitted:
            chances, rows = propensity(sample.row_users, sample.items), dict[bool, Rows]()
            for each in estimators:
                empty = each.counts_empty_users
                if empty not in rows:
                    rows[empty] = sample.to_rows(metric.kind, each, chances).with_worth(gains)
                terms[str(metric), str(each), name].append(
                    self.estimation.keyed(terms_of(rows[empty], metric, each), rows[empty])
                )
        return terms

    def _of_pairs(self, gains: Floats) -> list[Terms]:
        """The terms of `snips` over pairs at each gamma, from one pass over the rows."""
        rows = Rows(gains, self.sample.user, who=self.sample.users)
        return [
            self.estimation.keyed(Terms(numerator, denominator), rows)
            for numerator, denominator in zip(self._sums(gains), self._below, strict=True)
        ]

    @cached_property
    def _below(self) -> Floats:
        """The denominators at each gamma, which all metrics and models share."""
        return self._sums(np.ones(self.sample.rows))

    def _sums(self, worth: Floats) -> Floats:
        from unskew.estimators.sums_kernel import weighted_sums

        assert self._weights is not None
        sums: Floats = weighted_sums(self.sample.user, self.sample.items, worth, self._weights, len(self.sample.users))
        return sums

    @cached_property
    def _weights(self) -> Floats | None:
        """The weight of each item at each gamma; None if some row has no propensity."""
        chances = np.stack([each.by_item for each in self.fitted], axis=1)
        missing = np.asarray(np.isnan(chances).any(axis=1))
        return None if missing.any() and missing[self.sample.items].any() else 1 / chances

    def in_order(self, keys: Iterable[Key]) -> list[Key]:
        """The keys in the order of the band: by metric, and over all pairs then by estimator."""
        places = [str(estimator) for _, estimator in self.estimation.settings.pairs]
        order = sorted(keys, key=lambda key: places.index(key[1])) if self.over_all else keys
        return sorted(order, key=lambda key: list(self.asked).index(key[0]))


def _at_each_gamma(estimation: Estimation, models: Sequence[Popularity], *, over_all: bool) -> dict[Key, Bounded]:
    """Value, low and high at each gamma, of metrics over positives or over all pairs."""
    settings, terms = estimation.settings, GammaTerms(estimation, models, over_all=over_all)
    bounded: dict[Key, Bounded] = {}
    if settings.interval.draws:  # draws are the same whatever is drawn together, and take long
        for together in _batches(map(terms.of, terms.jobs)):
            bounded |= _bounded(together, settings, estimation.cluster)
    else:  # no user's terms are kept
        for part in estimation.engine.map(lambda work: _bounded(terms.of(work), settings), terms.jobs):
            bounded |= part
    in_order = terms.in_order(bounded) if settings.interval.draws or over_all else bounded
    return {key: bounded[key] for key in in_order}


def _batches(parts: Iterable[Mapping[Key, list[Terms]]]) -> Iterator[dict[Key, list[Terms]]]:
    """Yield terms together, as many as fit."""
    batch: dict[Key, list[Terms]] = {}
    size = 0
    for part in parts:
        batch |= part
        size += sum(2 * len(term.numerator) for each in part.values() for term in each)
        if size >= KEPT_TERMS:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _bounded(terms: Mapping[Key, list[Terms]], settings: Settings, engine: Engine | None = None) -> dict[Key, Bounded]:
    """Values with their intervals; terms of different numbers of users have separate draws, as for the estimates."""
    by_size: dict[int, list[Key]] = {}
    for key, each in terms.items():
        by_size.setdefault(len(each[0].numerator), []).append(key)
    bounded: dict[Key, Bounded] = {}
    for keys in by_size.values():
        flat = [term for key in keys for term in terms[key]]
        rng = np.random.default_rng([settings.seed, 1])
        ends = iter(settings.interval.bounds(flat, [], settings.level, rng, engine)[0])
        for key in keys:
            bounded[key] = [(term.value, *next(ends)) for term in terms[key]]
    return {key: bounded[key] for key in terms}
