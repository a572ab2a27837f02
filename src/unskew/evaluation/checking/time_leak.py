"""Warnings about training rows that are later than test rows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.data import Split, find_leakage
from unskew.display.numbers import short_percent
from unskew.errors import Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.checking.weights import weighs_by_popularity
from unskew.evaluation.estimating.tally import Tally, first_time, tally_times

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
    tally = report.tally
    if tally.older:
        yield TEST_OLDER.format(share=tally.older / tally.timed, temporal=Option("temporal", command="split"))


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
        yield from _describe_hindsight(report.tally)


FORESEEN = (
    "{share} of the test rows are older than the last training row, and {popularity} of the popularity of their items "
    "comes from training rows that are later than they are: models could learn what happened after the test began; "
    "use {temporal}, or end train where the test begins"
)


@check(
    "training-after-test",
    what="Test rows are older than training rows, if not of the same user then of others.",
    why="Models learn from what other users did after the test row, such as which items became popular, and a "
    "recommender that served the user then could not. Holding out the last row of each user does this.",
    do=f"Split at a moment: `{Option('temporal', 0.2, 'split').flag}` or `{Option('before', 'DATE', 'split').flag}`. "
    "`unskew.data.find_leakage` has the numbers.",
)
def training_after_test(report: "Report") -> Iterator[str]:
    """Yield a warning for test rows that others' training rows could foresee, if no other warning covers them."""
    leakage = find_leakage(report.inputs.split)
    covered = leakage is not None and leakage.same_user_share >= leakage.foreseen_share / 2
    if not leakage or covered or any(popularity_of_the_future.look(report)):
        return
    yield FORESEEN.format(
        share=short_percent(leakage.foreseen_share),
        popularity=short_percent(leakage.popularity_share),
        temporal=Option("temporal", command="split"),
    )


MOSTLY = 0.9  # share of test rows later than all of their user's training rows from which a split is one by time


def find_hindsight(split: Split) -> Iterator[str]:
    """Detect popularity counts that use rows from after the start of the test.

    A split is by time when nearly all test rows are later than their user's last training row. Holding out the last row
    of each user makes such a split: no user's training rows are later than the test row, but the training rows of other
    users are, so the counts n* use the future. A random split has no start of the test, and there is no warning.
    """
    yield from _describe_hindsight(Tally(train=len(split.train), **tally_times(split, first_time(split))))


def _describe_hindsight(tally: Tally) -> Iterator[str]:
    if tally.late and tally.dated and tally.later / tally.dated >= MOSTLY:
        late, share = tally.late, tally.late / tally.train
        yield LATE_POPULARITY.format(late=late, share=share, temporal=Option("temporal"))
