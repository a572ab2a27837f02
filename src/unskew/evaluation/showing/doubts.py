"""`list_doubts`: the reasons to doubt a report, in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.display.phrases import counted, listed, sentence
from unskew.estimators import Imputing
from unskew.evaluation.showing import vocabulary as say
from unskew.evaluation.showing.vocabulary import OF_A_SAMPLE, Voice

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

MOST_WARNINGS = 3  # warnings among the reasons for doubt, before the rest is counted


def list_doubts(report: "Report", voice: Voice) -> Iterator[str]:
    """Yield what the estimates assume, then the first warnings."""
    words = {str(estimator) for estimator in report.settings.estimators if estimator.corrects}
    corrected = [row for row in report.estimates if row.estimator in words]
    if corrected:
        if voice is OF_A_SAMPLE:
            yield say.describe_draw(report.samples.judged.split.rule)
        yield from _imputation_doubts(report)
        if any(e.uses_propensity for e in report.settings.estimators):
            assumed = None if report.band is None else report.band.range
            yield say.describe_assumption(report.settings.propensity, assumed)
        size, users = corrected[0].effective_sample_size, corrected[0].users
        if size is not None and size < users / 2:
            yield say.UNEVEN_WEIGHTS.format(estimator=corrected[0].estimator, users=users, size=size)
    shown = report.warnings[:MOST_WARNINGS]
    yield from map(sentence, shown)
    rest = len(report.warnings) - len(shown)
    if rest:
        yield say.MORE_WARNINGS.format(warnings=counted(rest, "more warning"))


def _imputation_doubts(report: "Report") -> Iterator[str]:
    """Yield what estimates over all candidates assume."""
    asked = [estimator for estimator in report.settings.estimators if isinstance(estimator, Imputing)]
    if not asked:
        return
    imputed, band = report.samples.imputed, report.estimated.methods
    if imputed is not None and imputed.drawn is not None:
        rows = imputed.drawn.rows
        yield say.ASSUMES_SLICE.format(rows=len(rows.label), positives=int(rows.label.sum()))
    elif band is not None:
        yield say.ASSUMES_IMPUTATION.format(estimator=asked[-1], methods=listed(band.methods))
