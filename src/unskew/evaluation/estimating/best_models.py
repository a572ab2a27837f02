"""`Answer`: which models may be best by a metric, and how far that depends on the assumed gamma."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.estimators import (
    Aoa,
    Blend,
    Comparison,
    Dm,
    Estimate,
    Estimator,
    Imputing,
    Observation,
    Snips,
    Terms,
    Traditional,
    normal_quantile,
    student_p,
)
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.common_users import lacking_share
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.naive_twin import naive_twin
from unskew.evaluation.estimating.order import first_of, oriented, ranked
from unskew.evaluation.estimating.weight_error import flip_factor
from unskew.evaluation.fitting.propensities import Propensities
from unskew.metrics import AnyMetric, Metric
from unskew.propensities import GammaRange

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Kind: TypeAlias = Literal["best", "level", "depends", "open", "chance"]
OF_LISTS = ("imputation", "the naive average")
"""The methods that estimate a metric of whole lists."""


@dataclass(frozen=True)
class Standing:
    """The order of the models by one metric and estimator, and their comparisons."""

    estimator: str
    order: tuple[Estimate, ...]  # from best to worst, without undefined values
    compared: tuple[Comparison, ...]  # all pairs, the better model first
    alpha: float  # a difference is beyond chance when its p (Holm, Student's t) is below
    effective: float  # effective number of users; of rows, where intervals are about rows

    @property
    def first(self) -> tuple[str, ...]:
        """The models with the best value; more than one when they are level."""
        return first_of(self.order) if self.order else ()

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The models that no other one beats beyond chance, from best to worst."""
        worse = {c.b for c in self.compared if self.is_beyond_chance(c)}
        best = tuple(row.model for row in self.order if row.model not in worse)
        # comparisons on the users of two models each may form a cycle; then no model is excluded
        return best or tuple(row.model for row in self.order)

    def leads(self, a: str, b: str) -> bool:
        """Whether a model is better than another one beyond chance."""
        return any((c.a, c.b) == (a, b) and self.is_beyond_chance(c) for c in self.compared)

    def is_beyond_chance(self, row: Comparison) -> bool:
        """Whether a difference is larger than chance explains, after Holm and for the effective number of users."""
        if not row.difference or row.p_value_holm is None:
            return False
        return student_p(row.p_value_holm, self.effective) < self.alpha

    @property
    def lead(self) -> Comparison | None:
        """The comparison of the first model with the second."""
        if len(self.order) < 2:
            return None
        wanted = {self.order[0].model, self.order[1].model}
        return next((c for c in self.compared if {c.a, c.b} == wanted), None)


@dataclass(frozen=True)
class Answer:
    """The answer of one metric: which models may be best."""

    metric: str
    judging: Standing  # by the corrected estimate; by the naive one where there is no other
    corrects: bool  # whether `judging` is by a corrected estimate
    naive: Standing | None = None  # by the naive average on the same target
    leaders: tuple[str, ...] = ()  # models that are first at some assumed gamma
    spans: tuple[tuple[tuple[str, ...], float, float], ...] = ()  # the first models, and from which gamma to which
    assumed: GammaRange | None = None  # the range of gammas that may be assumed
    holds_over: GammaRange | None = None  # the range around the gamma used where the same model is first
    flip_gamma: float | None = None  # smallest factor by which weights may be wrong before another model is first
    flips_to: str | None = None  # that other model
    weighted: bool = False  # whether the estimate has weights that can be wrong
    chance: float | None = None  # value of a random order of the same candidates, if known
    confirmed: bool = True  # whether a change of winner is the same on the users whom all models know
    by_method: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the first models by each method without random rows
    needed: int | None = None  # random rows with which the lead would be beyond chance, if it is what it seems

    @property
    def models(self) -> int:
        """Number of models that are judged."""
        return len(self.judging.order)

    @property
    def robust(self) -> bool | None:
        """Whether the same model is first at all gammas, or by all methods, that are tried; None if none are."""
        if self.by_method:
            return self.kind != "chance" and all(set(first) & set(self.judging.first) for _, first in self.by_method)
        return None if self.assumed is None else self.kind != "chance" and self.holds_over == self.assumed

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The models that no other one beats beyond chance; none if no model is above a random order."""
        return () if self.kind == "chance" else self.judging.may_be_best

    @property
    def contenders(self) -> tuple[str, ...]:
        """The models that may be best, or that are first at another assumed gamma."""
        return tuple(dict.fromkeys([*self.judging.may_be_best, *self.leaders]))

    @property
    def agree(self) -> bool | None:
        """Whether some model may be best by both estimates; None without two estimates."""
        if self.naive is None or not self.naive.order or not self.judging.order:
            return None
        return bool(set(self.naive.may_be_best) & set(self.judging.may_be_best))

    @property
    def kind(self) -> Kind:
        """The kind of answer.

        ``best``: one model is better than every other beyond chance, and no other is first at a gamma that is tried.
        ``level``: all have the same value. ``depends``: another model is first at another assumed gamma. ``open``:
        several models may be best. ``chance``: the first one is not shown to be better than a random order.
        """
        first = next(iter(self.judging.order), None)
        if first is None or not self._is_above_chance(first):
            return "chance"
        best = set(self.judging.may_be_best)
        if len(self.judging.first) == self.models and set(self.leaders) <= best:
            return "level"
        if len(self.contenders) == 1:
            return "best"
        return "open" if len(best) > 1 and set(self.leaders) <= best else "depends"

    def _is_above_chance(self, first: Estimate) -> bool:
        least = first.value if first.low is None else first.low
        return self.chance is None or least is None or least > self.chance

    @property
    def swap(self) -> tuple[str, str] | None:
        """The naive and the corrected winner, if each beats the other beyond chance by its own estimate; else None."""
        if self.naive is None or len(self.naive.first) != 1 or len(self.judging.first) != 1:
            return None
        (before,), (after,) = self.naive.first, self.judging.first
        both = before != after and self.naive.leads(before, after) and self.judging.leads(after, before)
        return (before, after) if both else None

    @property
    def changes_winner(self) -> bool:
        """Whether the correction has another winner than the naive average, both beyond chance and at every gamma."""
        return self.kind == "best" and self.robust is not False and self.swap is not None and self.confirmed

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        holds = self.holds_over
        return {
            "metric": self.metric,
            "estimator": self.judging.estimator,
            "may_be_best": list(self.may_be_best),
            "naive_estimator": None if self.naive is None else self.naive.estimator,
            "naive_may_be_best": None if self.naive is None else list(self.naive.may_be_best),
            "agree": self.agree,
            "changes_winner": self.changes_winner,
            "robust": self.robust,
            "leaders": list(self.leaders),
            "flip_gamma": self.flip_gamma,
            "flips_to": self.flips_to,
            "answer": self.kind,
            **({} if self.needed is None else {"rows_needed": self.needed}),
            **({"by_method": {method: list(first) for method, first in self.by_method}} if self.by_method else {}),
            "holds_over": None if holds is None else f"gamma {holds.low:g}..{holds.high:g}",
        }


def find_answers(report: "Report") -> tuple[Answer, ...]:
    """The answer of each metric of a report, in its order."""
    # what is in the lists describes a model, and does not say which one is better
    answers = [_answer(report, metric) for metric in report.settings.metrics if metric.kind != "content"]
    if not any(answer.swap for answer in answers) or not lacking_share(report):
        return tuple(answers)
    # empty lists are not skew: a change of winner must not come from users whom some models do not know
    other = report.on_common_users
    swaps = {} if other is None else {answer.metric: answer.swap for answer in other.answers}
    return tuple(replace(answer, confirmed=swaps.get(answer.metric) == answer.swap) for answer in answers)


def judging_estimator(asked: Sequence[Estimator]) -> Estimator | None:
    """The estimator that judges: `blend`, else one for exposed items, else the first that corrects, if any does."""
    corrected = [e for e in asked if e.corrects]
    drawn = [e for e in corrected if e.sees in {"exposed", "inside"}]
    return next(iter([*(e for e in corrected if isinstance(e, Blend)), *drawn, *corrected]), None)


def _answer(report: "Report", metric: AnyMetric) -> Answer:
    asked = [estimator for other, estimator in report.settings.pairs if str(other) == str(metric)]
    estimator = judging_estimator(asked)
    if estimator is None:
        plain = sorted((e for e in asked if isinstance(e, Aoa | Traditional)), key=lambda e: isinstance(e, Aoa))
        return Answer(str(metric), standing_of(report, metric, plain[0] if plain else asked[0]), corrects=False)
    judging = standing_of(report, metric, estimator)
    chance = None if report.settings.users == "served" else _chance(report, metric, estimator)
    weighted = estimator.uses_propensity and estimator.sees == "observed"
    shared = report.settings.users != "served"  # otherwise each model has its own users and weights
    flips = weighted and shared and (report.merged is None or report.merged.knows_flips(metric, estimator))
    factor, to = _flip(report, metric, estimator, judging) if flips else (None, None)
    naive = standing_of(report, metric, naive_twin(estimator, metric.kind))
    return Answer(
        metric=str(metric),
        judging=judging,
        corrects=True,
        naive=naive,
        flip_gamma=factor,
        flips_to=to,
        weighted=flips,
        chance=chance,
        **(_over_gamma(report, metric, judging, chance) if weighted and shared else {}),
        **_over_methods(report, metric, estimator, judging, naive),
        needed=_rows_needed(report, estimator, judging),
    )


def _chance(report: "Report", metric: AnyMetric, estimator: Estimator) -> float | None:
    """The value of a random order: of a model that gives all candidates the same score; None if not known."""
    if report.merged is not None:
        return report.merged.chance(metric, estimator)
    terms = chance_terms(Estimation(report.samples, report.settings, report.propensities), metric, estimator)
    return None if terms is None else terms.value


def chance_terms(estimation: Estimation, metric: AnyMetric, estimator: Estimator) -> Terms | None:
    """The terms of a model that gives all candidates the same score; None if they are not known."""
    sample, imputed = estimation.samples.judged, estimation.samples.imputed
    if metric.kind != "mean" or sample.correction is not None or estimator.sees in {"exposed", "inside"}:
        return None
    assert isinstance(metric, Metric)
    if imputed is not None and isinstance(estimator, Imputing):
        rows, sizes = imputed.to_rows("mean", Dm(q=estimator.q)), imputed.candidates
        assert rows.mass is not None
        worth = rows.mass * metric.row_gains(np.zeros_like(sizes), sizes - 1, sizes, None)
        return Dm(q=estimator.q).terms(rows.with_worth(worth), "mean")
    candidates = next(iter(sample.ranks.values())).candidates
    gains = metric.row_gains(np.zeros_like(candidates), candidates - 1, candidates, None)
    return estimator.terms(estimation.rows_of(metric, estimator).with_worth(gains), metric.kind)


def standing_of(report: "Report", metric: AnyMetric, estimator: Estimator) -> Standing:
    """The models of a report by one metric and estimator."""
    word, name, lower = str(estimator), str(metric), metric.lower_is_better
    judged = report.judged
    rows: Iterable[Estimate] = (*judged.estimates, *judged.twins.estimates)
    pairs = (*judged.comparisons, *judged.twins.comparisons)
    order = tuple(ranked(rows, name, word, lower=lower))
    by_row = isinstance(report.settings.interval, Observation)
    sizes = [row.effective_rows if by_row else row.effective_sample_size for row in order]
    return Standing(
        estimator=word,
        order=order,
        effective=min((size for size in sizes if size is not None), default=0.0),
        compared=tuple(oriented(c, lower=lower) for c in pairs if (c.metric, c.estimator) == (name, word)),
        alpha=1 - report.settings.level,
    )


def _over_gamma(report: "Report", metric: AnyMetric, judging: Standing, chance: float | None) -> Mapping[str, Any]:
    """The first models at each gamma; none where the first one is not shown to be better than a random order.

    The value of a random order hardly depends on gamma, so that of the run is used for all gammas.
    """
    band = report.judged.band
    if band is None or not judging.order:
        return {}
    orders = band.orders(str(metric), judging.estimator, lower=metric.lower_is_better)
    if not all(orders):
        return {}
    firsts = [
        ()
        if chance is not None and band.least(str(metric), judging.estimator, order[0][0], place) <= chance
        else order[0]
        for place, order in enumerate(orders)
    ]
    spans: list[tuple[tuple[str, ...], float, float]] = []
    for gamma, first in zip(band.gammas, firsts, strict=True):
        start = spans.pop()[1] if spans and spans[-1][0] == first else gamma
        spans.append((first, start, gamma))
    first_here = set(judging.first)
    low = high = band.gammas.index(band.used)
    if not firsts[low]:
        return {"spans": tuple(spans), "assumed": band.range}
    while low > 0 and first_here & set(firsts[low - 1]):
        low -= 1
    while high < len(firsts) - 1 and first_here & set(firsts[high + 1]):
        high += 1
    holds = GammaRange(band.gammas[low], band.gammas[high])
    leaders = tuple(dict.fromkeys(model for first in firsts for model in first))
    return {"leaders": leaders, "spans": tuple(spans), "assumed": band.range, "holds_over": holds}


def _rows_needed(report: "Report", estimator: Estimator, judging: Standing) -> int | None:
    """Random rows with which the lead of the first model over the second would be beyond chance; None if it is.

    The squared error of a difference falls with the number of rows, and the level is divided by the comparisons. The
    error of seeds does not fall, so None for models of several seeds.
    """
    sliced, lead = report.estimated.slice_report, None if report.judged.several else judging.lead
    if sliced is None or not isinstance(estimator, Blend) or lead is None or judging.is_beyond_chance(lead):
        return None
    if not lead.difference or lead.low is None or lead.high is None:
        return None
    error = (lead.high - lead.low) / 2 / normal_quantile(report.settings.level)
    needed = normal_quantile(1 - judging.alpha / max(len(judging.compared), 1)) * error / abs(lead.difference)
    return int(np.ceil(sliced.rows * max(needed**2, 1.0)))


def _over_methods(
    report: "Report", metric: AnyMetric, estimator: Estimator, judging: Standing, naive: Standing
) -> Mapping[str, Any]:
    """The first models by each method, for an estimate that rests on exposure or imputation.

    Only imputation and the naive average estimate a metric of whole lists, also with a slice, and no random row checks
    that order. So both must agree on the first model.
    """
    band = report.judged.methods
    firsts: tuple[tuple[str, tuple[str, ...]], ...]
    if metric.kind == "list" and isinstance(estimator, Imputing) and judging.order and naive.order:
        firsts = tuple(zip(OF_LISTS, (judging.first, naive.first), strict=True))
    elif band is None or str(estimator) not in band.estimators:
        return {}
    else:
        firsts = band.firsts(str(metric), lower=metric.lower_is_better)
    leaders = tuple(dict.fromkeys(model for _, first in firsts for model in first))
    return {"by_method": firsts, "leaders": leaders}


def _flip(
    report: "Report", metric: AnyMetric, estimator: Estimator, judging: Standing
) -> tuple[float | None, str | None]:
    """The smallest factor by which weights may be wrong before another model is first, and that model."""
    if len(judging.order) < 2:
        return None, None
    first, *others = (row.model for row in judging.order)
    if report.merged is not None:
        factors = [report.merged.flip_factor(metric, estimator, first, other) for other in others]
    else:
        worth, weights, group = weighted_worth(report.samples, report.propensities, metric, estimator)
        mean_worth = mean_over(report.judged.entries, worth)
        best = mean_worth(first)
        factors = [flip_factor(best - mean_worth(other), weights, group) for other in others]
    flips = [(factor, other) for factor, other in zip(factors, others, strict=True) if factor is not None]
    return min(flips, key=lambda each: each[0]) if flips else (None, None)


def mean_over(entries: Callable[[str], tuple[str, ...]], worth: Callable[[str], Floats]) -> Callable[[str], Floats]:
    """The worth of rows to a model: the mean over its entries."""
    return lambda model: np.asarray(sum(map(worth, entries(model))) / len(entries(model)))


def weighted_worth(
    samples: Samples, propensities: Propensities, metric: AnyMetric, estimator: Estimator
) -> tuple[Callable[[str], Floats], Floats, Ints | None]:
    """The worth of rows to a model (larger is better), their weights, and the groups that are normalised, if any."""
    sample = samples.observed(metric)
    chances = sample.chances(propensities.of(sample.kind))
    rows = sample.to_rows(metric.kind, estimator, chances)
    per = estimator.per if isinstance(estimator, Snips) else "pair"
    group = {"user": rows.user, "item": rows.item}.get(per)
    if isinstance(estimator, Snips) and group is not None:  # each group is normalised, so the scale does not matter
        weights = rows.weighted(estimator.inverse(rows.chance))
    else:
        weights = estimator.weights(rows, metric.kind)
    sign = -1.0 if metric.lower_is_better else 1.0
    return lambda model: rows.with_worth(sign * sample.gains(model, metric)).worth, weights, group
