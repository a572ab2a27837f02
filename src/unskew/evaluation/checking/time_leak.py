"""Warnings about training rows that are later than test rows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Bools
from unskew.data import Split
from unskew.errors import Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.checking.weights import weighs_by_popularity

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


TEST_OLDER = (
    "{share:.1%} of the test rows are older than their user's last training row: models learnt from the future of the "
    "test, as in every random split; use {temporal}"
)


@check(
    "test-older-than-train",
    what="Test rows are older than their user's last training row.",
    why="Training then used what happened after the test, which no recommender can know. Every random split of a log "
    "with timestamps does this.",
    do=f"Split by time: `{Option('temporal', 0.2, 'split').flag}`. Numbers of a random split show how well gaps "
    "are filled, not how well the next step is predicted.",
)
def test_older_than_train(report: "Report") -> Iterator[str]:
    """Yield a warning for test rows that are older than the user's last training row."""
    compared = _compare_times(report.samples.judged.split)
    if compared is not None and compared[0].any():
        older = compared[0]
        yield TEST_OLDER.format(share=int(older.sum()) / len(older), temporal=Option("temporal", command="split"))


LATE_POPULARITY = (
    "the split is by time, but popularity was counted on {late:,} training rows ({share:.0%}) later than the first "
    "test row, which nobody could know then; use {temporal}, or end train where the test begins"
)


@check(
    "popularity-of-the-future",
    what="The split is by time, but popularity was counted on training rows later than the first test row.",
    why="Nobody could know that popularity when the test began, so the propensities use the future.",
    do=f"Use `{Option('temporal', command='split').flag}`, or end train where the test begins.",
)
def popularity_of_the_future(report: "Report") -> Iterator[str]:
    """Yield a warning if popularity was counted on rows from after the start of the test."""
    if weighs_by_popularity(report):
        yield from find_hindsight(report.samples.judged.split)


MOSTLY = 0.9  # share of test rows later than all of their user's training rows from which a split is one by time


def find_hindsight(split: Split) -> Iterator[str]:
    """Detect popularity counts that use rows from after the start of the test.

    A split is by time when nearly all test rows are later than their user's last training row. Holding out the last row
    of each user makes such a split: no user's training rows are later than the test row, but the training rows of other
    users are, so the counts n* use the future. A random split has no start of the test, and there is no warning.
    """
    compared = _compare_times(split)
    if compared is None:
        return
    _, later, known = compared
    if not known.any() or np.mean(later[known]) < MOSTLY:
        return
    train, test = split.train, split.test
    assert train.times is not None
    assert test.times is not None
    late = int(np.sum(train.times > test.times.min()))
    if late:
        yield LATE_POPULARITY.format(late=late, share=late / len(train), temporal=Option("temporal"))


def _compare_times(split: Split) -> tuple[Bools, Bools, Bools] | None:
    """For each test row: is it older, is it later than its user's last training row, and does the user have one."""
    train, test = split.train, split.test
    if train.times is None or test.times is None or not len(train) or not len(test):
        return None
    last = np.full(len(split.user_vocabulary), -np.inf)
    np.maximum.at(last, train.users, train.times)
    latest = last[test.users]
    return test.times < latest, test.times > latest, np.isfinite(latest)
