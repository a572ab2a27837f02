"""Warnings about the assumed strength of popularity bias."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unskew.evaluation.checking.check import check
from unskew.evaluation.ordering import lower_is_better
from unskew.evaluation.sensitivity import BandRow

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

MUCH = 0.25  # part of the catalogue above which a top list holds what is not favoured too


@check(
    "gamma-fit",
    found="The gamma of a model's recommendations is doubtful, or could not be found.",
    why="Gamma decides how strongly popular items are weighted down.",
    do="Read how the estimates move within the band of gammas, or give a gamma that you have reasons for.",
)
def gamma_fit(report: "Report") -> Iterator[str]:
    """Reasons to doubt the fitted gammas."""
    for model in () if report.gamma is None else report.gamma.models:
        if model.fit is None:
            yield f"{model.model} was left out of gamma: {model.problem}"
            continue
        yield from (f"{model.model}: {note}" for note in model.fit.notes)
        if model.short:
            yield f"{model.model}: {model.short}: gamma is that of what they hold"
        if model.share > MUCH:
            yield (
                f"{model.model}: its recommendations are {model.share:.0%} of the catalogue for each user, so they "
                f"hardly show what it favours; gamma {model.fit.gamma:.2f} means little"
            )


@check(
    "order-changes-with-gamma",
    found="The order of the models changes within the band of gammas that were found.",
    why="Which model is best then depends on an assumption that the log cannot decide.",
    do="Do not choose by this metric alone; collect a random sample, or a better estimate of gamma.",
)
def order_changes_with_gamma(report: "Report") -> Iterator[str]:
    """Metrics by which the order of the models depends on gamma."""
    band = report.sensitivity
    if band is None:
        return
    for metric, estimator in dict.fromkeys((row.metric, row.estimator) for row in band.rows):
        rows = [row for row in band.rows if (row.metric, row.estimator) == (metric, estimator)]
        lower = lower_is_better(report.settings, metric)
        orders = [_order(rows, place, lower=lower) for place in range(len(band.choice.band))]
        other = next((place for place, order in enumerate(orders) if order != orders[0]), None)
        if other is not None:
            low, high = band.choice.band[0], band.choice.band[other]
            yield (
                f"{metric} by {estimator}: the order of the models depends on gamma, {' > '.join(orders[0])} at "
                f"{low:.2f} but {' > '.join(orders[other])} at {high:.2f}"
            )


def _order(rows: Sequence[BandRow], place: int, *, lower: bool) -> tuple[str, ...]:
    """Models from best to worst at a gamma; equal ones by name, those without a value left out."""
    sign = 1 if lower else -1
    known = [(sign * value, row.model) for row in rows if (value := row.values[place]) is not None]
    return tuple(model for _, model in sorted(known))
