"""Warnings about the assumed strength of popularity bias."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.evaluation.checking.check import check

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


MUCH = 0.25  # part of the catalogue above which a top list holds what is not favoured too


@check(
    "gamma-fit",
    what="The gamma of a model's recommendations is doubtful, or could not be found.",
    why="Gamma decides how strongly popular items are weighted down.",
    do="Read how the estimates move within the band of gammas, or give a gamma that you have reasons for.",
)
def gamma_fit(report: "Report") -> Iterator[str]:
    """Reasons to doubt the fitted gammas."""
    for model in () if report.propensities.gamma is None else report.propensities.gamma.models:
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
