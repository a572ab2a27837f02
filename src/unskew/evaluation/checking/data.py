"""Warnings about the rows: what was left out, and what is counted as liked."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from unskew.data.pairs import count_shared
from unskew.display.phrases import counted, listed
from unskew.errors import DataError, Option
from unskew.estimators import OVER_ALL_PAIRS
from unskew.evaluation.checking.check import check
from unskew.evaluation.estimating.size_effects import all_instead, moving, sizes_differ

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


LEFT_OUT = 0.2  # share of the test rows above which what is left out comes before everything else


@check(
    "rows-left-out",
    what="More than 20 % of the test rows were not judged.",
    why="The numbers describe only the judged part of the test, often the users and items that are known best.",
    do="Read the counts in the warnings that follow. Give models that know the users of the test, or another split. "
    f"`{Option('max_dropped', 0.2).flag}` makes such a run exit with 1.",
)
def rows_left_out(report: "Report") -> Iterator[str]:
    """The share of rows that are not judged, when it is large."""
    share = report.dropped_share
    if share <= LEFT_OUT:
        return
    sample = report.samples.whole
    reasons = [
        f"{sample.dropped[why]:,} {words}"
        for why, words in (
            ("rows_of_unknown_users", f"of users {_unknown(report)}"),
            ("items_in_train", "also in train"),
            ("items_outside_catalogue", "of items outside the candidates"),
            ("rows_without_rank", "without a saved rank"),
            ("rows_without_prediction", "without a prediction"),
        )
        if sample.dropped.get(why)
    ]
    detail = f" ({', '.join(reasons)})" if reasons else ""
    yield f"{share:.0%} of the test rows were not judged{detail}; the numbers describe the other {1 - share:.0%} only"


@check(
    "catalogue-incomplete",
    what=f"The file of `{Option('catalogue').flag}` lacks items that occur in train.",
    why="These items are ranked too. If they could not be drawn, the population is larger here than it was.",
    do="Add them to the file, or leave them out of train if they could not be drawn.",
)
def catalogue_incomplete(report: "Report") -> Iterator[str]:
    """What was found while the split was made."""
    yield from report.inputs.split.notes


@check(
    "validation-overlap",
    what="Validation rows are also in train or in the test.",
    why="Rows in train cannot choose a model. Rows in the test choose it by what it is judged on, so its numbers are "
    "too good.",
    do="Keep the three parts of the split apart.",
)
def validation_overlap(report: "Report") -> Iterator[str]:
    """Rows that chose a model and are not held out, or are those it is judged on."""
    split = report.samples.judged.split
    if split.validation is None or not report.contenders.chosen_by:
        return
    rows = len(split.validation)
    if in_train := count_shared(split.validation, split.train):
        yield f"{in_train:,} of {rows:,} validation rows are also in train and were left out of the choice"
    if in_test := count_shared(split.validation, split.test):
        yield (
            f"{in_test:,} of {rows:,} validation rows are also in the test: models are chosen by what they are judged "
            "on, so their numbers are too good; keep the two apart"
        )


@check(
    "uniform-overlap",
    what=f"Rows of `{Option('uniform').flag}` repeat, are of unknown users or items, or are also in the test or in "
    "validation.",
    why="A model that learns from the rows it is judged on, or chosen by, gets numbers that are too good.",
    do="Split the random sample: some rows to learn from, the others to judge by.",
)
def uniform_overlap(report: "Report") -> Iterator[str]:
    """What was left out of the uniform sample, and where it meets the other parts."""
    if report.contenders.uniform is None:
        return
    uniform, known, split = report.contenders.uniform.given, report.contenders.uniform.known, report.inputs.split
    if uniform.duplicates:
        yield f"uniform: {counted(uniform.duplicates, 'repeated (user, item) row')} left out"
    if len(known) < len(uniform):
        yield f"{len(uniform) - len(known):,} of {len(uniform):,} uniform rows are of unknown users or items: left out"
    if shared := count_shared(known, split.test):
        yield (
            f"{shared:,} of {len(known):,} uniform rows are also in the test: models learn from what they are judged "
            "on, so their numbers are too good; keep the two apart"
        )
    if split.validation is not None and (shared := count_shared(known, split.validation)):
        yield f"{shared:,} of {len(known):,} uniform rows are also in validation: it chooses models that have seen it"


@check(
    "repeated-rows",
    what="A (user, item) pair has several rows in train or in the test.",
    why="One row of each pair is kept: the latest, or the last without timestamps.",
    do="Nothing, if repeats are expected. Otherwise look for a join that multiplied rows.",
)
def repeated_rows(report: "Report") -> Iterator[str]:
    """Repeated rows that were left out."""
    split = report.samples.judged.split
    for part, rows in (("train", split.train), ("exposed" if split.exposed else "test", split.test)):
        if rows.duplicates:
            yield f"{part}: {counted(rows.duplicates, 'repeated (user, item) row')} left out"


@check(
    "test-rows-in-train",
    what="Test rows are also in train.",
    why="Items that a user has are not candidates, so these rows cannot be judged.",
    do=f"Hold rows out of train before training, or use `{Option('candidates', 'all').flag}` when a recommender may "
    "repeat items.",
)
def test_rows_in_train(report: "Report") -> Iterator[str]:
    """Test rows that were dropped because the user has the item."""
    rows = report.samples.judged.dropped["items_in_train"]
    if rows and not report.samples.judged.split.exposed:  # which says more about them
        yield (
            f"{counted(rows, 'test row')} dropped because also in train: seen items are not candidates; "
            f"{Option('candidates', 'all')} keeps them"
        )


@check(
    "test-items-outside-candidates",
    what="Test rows are of items that the candidate rule leaves out.",
    why="Under `trained` only items seen in training are ranked, and rating losses need an item that a model knows.",
    do=f"Use `{Option('candidates', 'unseen').flag}`, where such rows count as misses.",
)
def test_items_outside(report: "Report") -> Iterator[str]:
    """Test rows that were dropped because the item is not ranked."""
    rows = report.samples.judged.dropped["items_outside_catalogue"]
    if rows:
        yield f"{counted(rows, 'test row')} dropped because the item is not a candidate: it is not in train"


@check(
    "test-items-unknown",
    what="Test rows are of items that are neither in train nor known to a model.",
    why="No model can find them. They rank last, tied, and stay in the denominators: a miss for every model.",
    do=f"Nothing, if new items are part of the job. `{Option('candidates', 'trained').flag}` leaves them out.",
)
def test_items_unknown(report: "Report") -> Iterator[str]:
    """Test rows that no model can find."""
    rows = 0 if report.samples.contest is None else report.samples.contest.unknown_rows
    if rows and report.samples.judged is not report.samples.ratings:
        which = "is of an item that is" if rows == 1 else "are of items that are"
        yield (
            f"{counted(rows, 'test row')} {which} neither in train nor known to a model, a miss for every model; "
            f"{Option('candidates', 'trained')} leaves such rows out"
        )


@check(
    "rows-without-rank",
    what="Saved ranks lack rows of the test.",
    why="These rows are not judged, and saved ranks do not say why.",
    do="Make the ranks again with `rank` on this split.",
)
def rows_without_rank(report: "Report") -> Iterator[str]:
    """Test rows that saved ranks lack."""
    rows = report.samples.judged.dropped["rows_without_rank"]
    if rows:
        yield f"{counted(rows, 'test row')} without a rank in the saved ranks, not judged"


@check(
    "users-without-positive",
    what="Test users have no positive row.",
    why="Their metrics are undefined, so they are left out; `ips` counts them as 0.",
    do=f"Nothing, if the condition of `{Option('positive').flag}` is right.",
)
def users_without_positive(report: "Report") -> Iterator[str]:
    """Test users who are left out because they have no positive."""
    users = report.samples.judged.dropped["users_without_positive"]
    if users and not report.samples.judged.split.exposed:  # which says more about them
        yield f"{counted(users, 'test user')} without a positive row left out; ips counts them as 0"


@check(
    "users-left-out",
    what=f"Test users are known to no model, or with `{Option('users', 'common').flag}` to not all models.",
    why="They are left out for all models. The numbers speak of the other users.",
    do=f"Train on data that has these users. `{Option('users', 'any').flag}`, the default, keeps a user whom at "
    "least one model knows.",
)
def users_left_out(report: "Report") -> Iterator[str]:
    """Test users who are left out because models do not know them."""
    dropped = report.samples.judged.dropped
    if dropped["unknown_users"]:
        rows = counted(dropped["rows_of_unknown_users"], "row")
        yield f"{counted(dropped['unknown_users'], 'test user')} ({rows}) {_unknown(report)}, left out for all models"


def _unknown(report: "Report") -> str:
    """To whom users must be unknown to be left out."""
    common = report.settings.users == "common" or report.samples.judged is report.samples.ratings
    return "unknown to at least one model" if common and len(report.contenders.models) > 1 else "known to no model"


@check(
    "rating-rows-left-out",
    what="Metrics over ratings leave out rows that other metrics keep, or rows without a prediction.",
    why="Rating losses need a prediction of every model for every row.",
    do="Predict all test rows.",
)
def rating_rows_left_out(report: "Report") -> Iterator[str]:
    """What metrics over ratings lack; they take all rows, positive or not, so it may be more."""
    rated, sample = report.samples.ratings, report.samples.judged
    if rated is None:
        return
    for why, words in (
        ("items_in_train", "also in train"),
        ("items_outside_catalogue", "of items that no model knows"),
        ("rows_of_unknown_users", "of users whom some model does not know"),
    ):
        if rated is not sample and rated.dropped[why] > sample.dropped[why]:
            yield f"metrics over ratings leave out {counted(rated.dropped[why], 'test row')} {words}, positive or not"
    if rows := rated.dropped["rows_without_prediction"]:
        excluded = counted(rows, "test row")
        yield f"{excluded} excluded from metrics over ratings because at least one model has no prediction for them"


FEW_USERS = 30  # below which intervals are rough, and what is learnt from the sample is itself noise


@check(
    "few-users",
    what="Fewer than 30 users are judged, or carry an estimate, or judged users have no training row.",
    why="Standard errors treat the user as the unit and are rough with few users. Users without a training row get "
    "lists that are not about them.",
    do="Judge more users. If no judged user has a training row, check that train and test use the same ids.",
)
def few_users(report: "Report") -> Iterator[str]:
    """Few judged users, and judged users without a training row."""
    sample = report.samples.judged
    judged = len(sample.users)
    if judged < 2:
        yield "only one user is judged: standard errors and intervals are undefined"
    elif judged < FEW_USERS:
        yield f"only {judged} users are judged: standard errors and intervals are rough"
    few = {
        str(cell.estimator): size for cell in report.estimated.cells if (size := cell.effective_sample_size) is not None
    }
    least = min(few, key=lambda word: few[word], default=None)
    if judged >= FEW_USERS and least is not None and few[least] < FEW_USERS:
        yield (
            f"{judged:,} users are judged, but to {least} they are worth {few[least]:.0f} of equal weight, because few "
            "users have most of the weight: its interval is rough"
        )
    cold = int(np.sum(sample.split.train.user_counts[sample.users] == 0))
    if cold == judged:
        yield "no judged user has a training row; do train and test use the same user ids?"
    elif cold:
        yield f"{cold:,} of {judged:,} judged users have no training row"


@check(
    "cutoff-without-effect",
    what="A cut-off is at least as large as the number of candidates of every user.",
    why="Everything is inside the cut-off, so recall is 1 for every model that ranks all candidates.",
    do="Use a smaller cut-off.",
)
def cutoff_without_effect(report: "Report") -> Iterator[str]:
    """A cut-off that cuts nothing."""
    ranks = report.samples.judged.ranks.values()
    most = max((int(each.candidates.max()) for each in ranks if len(each)), default=0)
    beyond = [str(metric) for metric in report.settings.metrics if most and (metric.cutoff or 0) >= most]
    if beyond:
        yield (
            f"{listed(beyond)}: no user has more than {counted(most, 'candidate')}, so the cut-off has no effect "
            "(recall is then 1 for every model that ranks them all); use a smaller one"
        )


@check(
    "validation-size",
    what="Validation and test have different numbers of positives per user, and a metric moves with that number.",
    why="The same model then has different values on the two parts, without being better on one.",
    do="Compare metrics that do not move with it, such as `recall`, `adg` or `auc`.",
)
def validation_size(report: "Report") -> Iterator[str]:
    """Values on validation and on test, which are often compared, where their sizes alone move them."""
    sample, settings = report.samples.judged, report.settings
    moved, validation = moving(settings.metrics), sample.split.validation
    if not moved or validation is None or not len(validation) or sample.split.exposed:
        return
    held = validation
    if settings.positive is not None:
        with suppress(DataError):  # without that column all its rows are positives
            held = validation.where(settings.positive)
    there = len(held) / max(int(np.count_nonzero(held.user_counts)), 1)
    here = sample.rows / len(sample.users)
    if sizes_differ(there, here):
        yield (
            f"validation has {there:.2f} positives per user and the test {here:.2f}: {listed(map(str, moved))} "
            f"{'moves' if len(moved) == 1 else 'move'} with that number, so do not compare one with the other; "
            f"{listed(all_instead(moved))} can be compared"
        )


SCALE = 20  # most distinct values that a column of ratings has; more are counts or durations
HIGH = 0.75  # where on the scale of the ratings a suggested condition starts


@check(
    "ratings-without-condition",
    what="Rows have ratings, and no condition says which ratings are positive.",
    why="Every row then counts as liked, those with the lowest rating too.",
    do=f"Say which rows are positive, as in `{Option('positive', 'rating>=4').flag}`.",
)
def ratings_without_condition(report: "Report") -> Iterator[str]:
    """Ratings that all count as liked, in the test or for models that learn from train."""
    split = report.samples.judged.split
    if report.settings.positive is not None:
        return
    if split.exposed:
        learning = [repr(name) for name, model in report.contenders.models.items() if model.learnt]
        if split.train.values is not None and learning:
            shown = listed([*learning[:4], *([f"{len(learning) - 4} more"] if len(learning) > 4 else [])])
            yield (
                f"train has ratings, and no condition says which are positive: {shown} learnt from all rows as "
                f"positives; give one, as in {Option('positive', 'rating>=4')}"
            )
        return
    values = split.test.values
    if values is None or all(metric.kind in OVER_ALL_PAIRS for metric in report.settings.metrics):
        return
    levels, counts = np.unique(values, return_counts=True)
    if 1 < len(levels) <= SCALE:
        start = levels[0] + HIGH * (levels[-1] - levels[0])
        least = levels[np.searchsorted(levels, start)]
        yield (
            f"the test has ratings, and no condition says which are positive: {counted(int(counts[0]), 'row')} with a "
            f"rating of {levels[0]:g} {'counts' if counts[0] == 1 else 'count'} as liked; give one, as in "
            f"{Option('positive', f'rating>={least:g}')}"
        )
