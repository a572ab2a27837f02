"""Warnings about the assumed strength of popularity bias."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.errors import Option
from unskew.evaluation.checking.check import check

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


MUCH = 0.25  # share of the catalogue above which a top list also holds items that the model does not favour
NOT_USED = "{model} was not used to fit gamma: {problem}"
UNCERTAIN = "{model}: {note}; do not rely on it, but give a range of gammas, as in {assumed}"
LISTS_SHORT = "{model}: {short}; gamma describes only what they hold"
LISTS_LONG = (
    "{model}: its recommendations are {share:.0%} of the catalogue for each user, so they hardly show what it favours; "
    "gamma {gamma:.2f} means little"
)


@check(
    "gamma-fit",
    what="The gamma of a model's recommendations is doubtful, or could not be fitted.",
    why="Gamma decides how strongly popular items are weighted down.",
    do="Read how the estimates move within the band of gammas, or give a gamma that you have reasons for.",
)
def gamma_fit(report: "Report") -> Iterator[str]:
    """Yield reasons to doubt the fitted gammas, model by model."""
    for model in () if report.propensities.gamma is None else report.propensities.gamma.models:
        if model.fit is None:
            yield NOT_USED.format(model=model.model, problem=model.problem)
            continue
        for note in model.fit.notes:
            yield UNCERTAIN.format(model=model.model, note=note, assumed=Option("assume", "gamma=0..1"))
        if model.short:
            yield LISTS_SHORT.format(model=model.model, short=model.short)
        if model.share > MUCH:
            yield LISTS_LONG.format(model=model.model, share=model.share, gamma=model.fit.gamma)
