"""Sentences of the summary about the whole run: what its numbers are about, and whether a model beats a baseline."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.data.candidates import All
from unskew.display.phrases import listed, quoted, sentence
from unskew.evaluation.estimating.baselines import POPULAR, Baselines
from unskew.evaluation.estimating.best_models import Answer
from unskew.evaluation.estimating.order import lower_is_better
from unskew.evaluation.showing import vocabulary as say

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def describe_scope(report: "Report") -> Iterator[str]:
    """Yield sentences on what the numbers are about, where that is not what a reader expects."""
    split = report.samples.judged.split
    if split.exposed and isinstance(split.rule, All) and split.test_in_train.any():
        yield say.MAY_REPEAT.format(shared=int(split.test_in_train.sum()), rows=len(split.test))
    if report.settings.users == "served" and len(report.models) > 1:
        yield say.SERVED
    if report.chosen is not None:
        yield sentence(report.chosen.sentence)
    if report.stop is not None:
        yield report.stop.sentence


def compare_with_popular(report: "Report") -> Iterator[str]:
    """Yield sentences on metrics by which no model is better than the baseline ``popular`` beyond chance."""
    baselines = report.baselines
    if baselines is None:
        return
    worse, level = (
        [answer.metric for answer in report.answers if _against_popular(report, baselines, answer) == standing]
        for standing in ("worse", "level")
    )
    names = list(report.judged.members)
    if worse:
        models = f"than {quoted(names[0])}" if len(names) == 1 else "than every model"
        yield say.POPULAR_ABOVE.format(models=models, metrics=listed(worse))
    if level:
        who = f"{quoted(names[0])} is not" if len(names) == 1 else "No model is"
        yield say.NOT_ABOVE_POPULAR.format(who=who, metrics=listed(level))


def _against_popular(report: "Report", baselines: Baselines, answer: Answer) -> str:
    """Whether some model is ``better`` beyond chance, all are ``worse``, or neither: ``level``; empty if unknown."""
    rows = baselines.against(POPULAR, answer.metric, answer.judging.estimator)
    sign = -1.0 if lower_is_better(report.settings, answer.metric) else 1.0
    clear = [sign * (row.difference or 0.0) if answer.judging.is_beyond_chance(row) else 0.0 for row in rows]
    if not clear:
        return ""
    return "better" if max(clear) > 0 else "worse" if max(clear) < 0 else "level"
