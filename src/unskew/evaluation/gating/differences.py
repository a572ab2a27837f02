"""The difference of two models by one metric, with its interval, under everything that may be assumed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.estimators import OVER_ALL_PAIRS, Estimator, Terms, difference
from unskew.evaluation.estimating.best_models import mean_over, weighted_worth
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.gamma_band import GammaTerms, assumed_models
from unskew.evaluation.estimating.method_band import method_terms
from unskew.evaluation.estimating.seed_means import SeedMeans
from unskew.evaluation.estimating.weight_error import flip_factor
from unskew.metrics import AnyMetric

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


@dataclass(frozen=True)
class Difference:
    """How much better the new model is, with its interval, under one assumption; positive is better.

    Parameters
    ----------
    assumption : str
        As in ``gamma 0.5`` or ``exposure``; empty for the estimate of the run.
    value, low, high : float or None
        None if undefined.
    """

    assumption: str
    value: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


def own_difference(report: "Report", metric: AnyMetric, estimator: str, new: str, old: str) -> Difference | None:
    """The difference by the estimate of the run, from its paired comparison; None if they are not compared."""
    for row in (*report.judged.comparisons, *report.comparisons):
        if (row.metric, row.estimator) == (str(metric), estimator) and {row.a, row.b} == {new, old}:
            # a loss that is lower is better
            turned = row if (row.a == new) != metric.lower_is_better else row.reversed()
            return Difference("", turned.difference, turned.low, turned.high)
    return None


def assumed_differences(
    report: "Report", metric: AnyMetric, estimator: Estimator, new: str, old: str
) -> tuple[Difference, ...]:
    """The difference at each gamma that may be assumed, or by each method; empty if nothing is assumed.

    Both models have the same weights under an assumption, and the same users, so the interval is that of the paired
    difference. It is not the difference of two envelopes, which would be far wider.
    """
    better, worse = (old, new) if metric.lower_is_better else (new, old)
    settings, members = report.settings, {name: report.judged.entries(name) for name in (new, old)}
    given = list(_terms(report, metric, estimator, [entry for names in members.values() for entry in names]))
    if any(len(names) > 1 for names in members.values()):
        means = [(name, SeedMeans(terms, members, settings.interval).gap(better, worse)) for name, terms in given]
        return tuple(Difference(name, gap.value, *gap.bounds(settings.level)) for name, gap in means)
    pairs = [(name, terms[better], terms[worse]) for name, terms in given]
    flat = [term for _, a, b in pairs for term in (a, b)]
    places = [(2 * k, 2 * k + 1) for k in range(len(pairs))]
    ends = settings.interval.bounds(flat, places, settings.level, np.random.default_rng([settings.seed, 1]))[1]
    return tuple(
        Difference(name, difference(a, b)[0], low, high) for (name, a, b), (low, high) in zip(pairs, ends, strict=True)
    )


def _terms(
    report: "Report", metric: AnyMetric, estimator: Estimator, entries: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, Terms]]]:
    """The terms of some entries under each assumption, with its name."""
    estimation = Estimation(report.samples, report.settings, report.propensities)
    methods = method_terms(estimation) if report.estimated.methods is not None else None
    if methods is not None and str(estimator) in methods.questioned and metric in methods.metrics:
        terms = methods.of(metric)
        for method in dict.fromkeys(method for method, _ in terms):
            yield method, {model: terms[method, model] for model in entries}
    elif report.band is not None and estimator.uses_propensity:
        models = assumed_models(report.settings, report.propensities.gamma)
        of_gamma = GammaTerms(estimation, models, over_all=metric.kind in OVER_ALL_PAIRS)
        both = {model: next(iter(of_gamma.of((model, metric, [estimator])).values())) for model in entries}
        for place, gamma in enumerate(report.band.gammas):
            yield f"gamma {gamma:g}", {model: each[place] for model, each in both.items()}


def error_factor(
    report: "Report", metric: AnyMetric, estimator: Estimator, new: str, old: str, margin: float
) -> float | None:
    """The factor by which weights may be wrong before the new model is worse by more than the margin.

    A weighted mean of the gaps plus the margin has the sign of that sum, so this is `flip_factor` of these. None if no
    factor is large enough, or if the estimate has no weights.
    """
    if not (estimator.uses_propensity and estimator.sees == "observed" and metric.kind == "mean"):
        return None
    of_entry, weights, group = weighted_worth(report.samples, report.propensities, metric, estimator)
    worth = mean_over(report.judged.entries, of_entry)
    return flip_factor(worth(new) - worth(old) + margin, weights, group)
