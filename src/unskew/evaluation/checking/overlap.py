"""Warnings about rows of validation or of a uniform sample that are also in another part of the data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.data.pairs import count_shared
from unskew.errors import Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.checking.data import REPEATED_ROWS, repeated

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


VALIDATION_IN_TRAIN = (
    "{shared:,} of {rows:,} validation rows are also in train and were not used to choose models; hold validation rows "
    "out of train"
)
VALIDATION_IN_TEST = (
    "{shared:,} of {rows:,} validation rows are also in the test: models are chosen by the rows they are judged on, so "
    "their numbers are too good; keep the two apart"
)


@check(
    "validation-overlap",
    what="Validation rows are also in train or in the test.",
    why="Rows in train cannot be used to choose a model. A model that is chosen by the rows it is judged on gets "
    "numbers that are too good.",
    do="Keep the three parts of the split apart.",
)
def validation_overlap(report: "Report") -> Iterator[str]:
    """Yield a warning for validation rows that are in train, and one for those that are in the test."""
    split = report.samples.judged.split
    if split.validation is None or not report.contenders.chosen_by:
        return
    rows = len(split.validation)
    if in_train := count_shared(split.validation, split.train):
        yield VALIDATION_IN_TRAIN.format(shared=in_train, rows=rows)
    if in_test := count_shared(split.validation, split.test):
        yield VALIDATION_IN_TEST.format(shared=in_test, rows=rows)


UNIFORM_UNKNOWN = "{left_out:,} of {rows:,} uniform rows left out: their user or item is not in train or test"
UNIFORM_IN_TEST = (
    "{shared:,} of {rows:,} uniform rows are also in the test: models learn from the rows they are judged on, so their "
    "numbers are too good; keep the two apart"
)
UNIFORM_IN_VALIDATION = (
    "{shared:,} of {rows:,} uniform rows are also in validation: models are chosen by rows they have learnt from; keep "
    "the two apart"
)


@check(
    "uniform-overlap",
    what=f"Rows of `{Option('uniform').flag}` repeat, have an unknown user or item, or are also in the test or in "
    "validation.",
    why="A model gets numbers that are too good if it learns from the rows that it is judged on or chosen by.",
    do="Split the random sample. Let models learn from some rows, and judge them on the others.",
)
def uniform_overlap(report: "Report") -> Iterator[str]:
    """Yield warnings for uniform rows that are left out, or that are also in the test or in validation."""
    if report.contenders.uniform is None:
        return
    uniform, known, split = report.contenders.uniform.given, report.contenders.uniform.known, report.inputs.split
    if uniform.duplicates:
        yield REPEATED_ROWS.format(part="uniform", rows=repeated(uniform.duplicates))
    if len(known) < len(uniform):
        yield UNIFORM_UNKNOWN.format(left_out=len(uniform) - len(known), rows=len(uniform))
    if shared := count_shared(known, split.test):
        yield UNIFORM_IN_TEST.format(shared=shared, rows=len(known))
    if split.validation is not None and (shared := count_shared(known, split.validation)):
        yield UNIFORM_IN_VALIDATION.format(shared=shared, rows=len(known))
