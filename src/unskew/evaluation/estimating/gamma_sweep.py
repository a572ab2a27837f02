"""`Sweep`: a corrected metric at gammas from -1 to 3."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Floats
from unskew.estimators import Snips
from unskew.evaluation.collecting.sample import Sample
from unskew.metrics import AnyMetric
from unskew.propensities import Popularity

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

GAMMAS = tuple(float(gamma) for gamma in np.arange(-1, 3.01, 0.25))


@dataclass(frozen=True)
class OrderChange:
    """Between these gammas two models swap places."""

    low: float
    high: float
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Sweep:
    """A metric by ``snips`` under ``popularity(gamma)``, from no correction (-1) to a strong one (3).

    Parameters
    ----------
    metric : str
    estimator : str
    gammas : tuple of float
    values : dict
        Model to its values, one per gamma.
    """

    metric: str
    estimator: str
    gammas: tuple[float, ...]
    values: dict[str, Floats]

    def order(self, place: int) -> tuple[str, ...]:
        """Models from best to worst at a gamma; equal ones by name."""
        return tuple(sorted(self.values, key=lambda model: (-self.values[model][place], model)))

    @property
    def changes(self) -> list[OrderChange]:
        """Where the order of the models changes."""
        orders = [self.order(place) for place in range(len(self.gammas))]
        return [
            OrderChange(self.gammas[k], self.gammas[k + 1], orders[k], orders[k + 1])
            for k in range(len(orders) - 1)
            if orders[k] != orders[k + 1]
        ]


def sweep_gamma(sample: Sample, metric: AnyMetric, *, estimator: Snips | None = None, smoothing: float = 1.0) -> Sweep:
    """Recompute a mean metric at each gamma; ranks are reused, so this costs little."""
    form = estimator or Snips()
    gains = {model: sample.gains(model, metric) for model in sample.ranks}
    values: dict[str, list[float]] = {model: [] for model in gains}
    for gamma in GAMMAS:
        propensity = Popularity(gamma, smoothing).fit(sample.train, sample.split.test)
        rows = sample.to_rows(metric.kind, form, propensity(sample.row_users, sample.items))
        for model, column in gains.items():
            terms = form.terms(rows.with_worth(column), metric.kind)
            values[model].append(float(terms.numerator.sum() / terms.denominator.sum()))
    return Sweep(str(metric), str(form), GAMMAS, {model: np.array(column) for model, column in values.items()})


def sweep_report(report: "Report") -> list[Sweep]:
    """The sweep of each mean metric of a report; none where no bias is assumed, or where it has no rows."""
    settings, sample = report.settings, report.samples.judged
    if report.merged is not None:
        return []  # the band has the gammas that may be assumed
    if report.samples.exposed is not None and not any(e.uses_propensity for e in settings.estimators):
        return []  # the items were drawn with equal chances, so there is no bias to assume
    if settings.users == "served":
        return []  # a sweep is over the same users for all models
    form = next((e for e in settings.estimators if isinstance(e, Snips)), None)
    smoothing = settings.propensity.smoothing if isinstance(settings.propensity, Popularity) else 1.0
    if not smoothing and not sample.train.item_counts[sample.items].any():
        return []  # no held-out item has a propensity at any gamma
    means = [metric for metric in settings.metrics if metric.kind == "mean"]
    sweeps = [sweep_gamma(sample, metric, estimator=form, smoothing=smoothing) for metric in means]
    return [replace(each, values=report.judged.mean(each.values)) for each in sweeps]
