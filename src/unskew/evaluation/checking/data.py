"""Warnings about the rows of a run: rows and users that are left out, and ratings that count as positive."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from unskew.display.phrases import counted, listed
from unskew.errors import DataError, Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.estimating.size_effects import all_instead, moving, sizes_differ
from unskew.evaluation.estimating.tally import SCALE

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


LEFT_OUT = 0.2  # share of the test rows that are not judged, above which this is the first warning
ROWS_LEFT_OUT = "{share:.0%} of the test rows were not judged{reasons}; the numbers describe only the other {rest:.0%}"


@check(
    "rows-left-out",
    what="More than 20 % of the test rows were not judged.",
    why="The numbers describe only the judged part of the test, often the users and items that are known best.",
    do="Read the counts in the warnings that follow. Give models that know the users of the test, or another split. "
    f"`{Option('max_dropped', 0.2).flag}` makes such a run exit with 1.",
)
def rows_left_out(report: "Report") -> Iterator[str]:
    """Yield a warning when a large share of the test rows is not judged."""
    share = report.dropped_share
    if share <= LEFT_OUT:
        return
    reasons = [
        f"{report.tally.reasons[why]:,} {words}"
        for why, words in (
            ("rows_of_unknown_users", f"of users {_unknown(report)}"),
            ("items_in_train", "also in train"),
            ("items_outside_catalogue", "of items outside the candidates"),
            ("rows_without_rank", "without a saved rank"),
            ("rows_without_prediction", "without a prediction"),
        )
        if report.tally.reasons.get(why)
    ]
    detail = f" ({', '.join(reasons)})" if reasons else ""
    yield ROWS_LEFT_OUT.format(share=share, reasons=detail, rest=1 - share)


@check(
    "catalogue-incomplete",
    what=f"The file of `{Option('catalogue').flag}` lacks items that occur in train.",
    why="These items are ranked too. If they could not be drawn, the population here is larger than the population "
    "of the draw.",
    do="Add them to the file, or leave them out of train if they could not be drawn.",
)
def catalogue_incomplete(report: "Report") -> Iterator[str]:
    """Yield the notes that were made when the split was read."""
    yield from report.inputs.split.notes


REPEATED_ROWS = (
    "{part}: {rows} left out; the latest row of each pair is kept, or the last one without timestamps; if repeats are "
    "not expected, look for a join that multiplied rows"
)


@check(
    "repeated-rows",
    what="A (user, item) pair has several rows in train or in the test.",
    why="One row of each pair is kept: the latest row, or the last row if there are no timestamps.",
    do="Nothing, if repeats are expected. Otherwise look for a join that multiplied rows.",
)
def repeated_rows(report: "Report") -> Iterator[str]:
    """Yield a warning for each part of the data that has repeated rows."""
    tally, test = report.tally, "exposed" if report.inputs.split.exposed else "test"
    for part, rows in (("train", tally.repeated_in_train), (test, tally.repeated_in_test)):
        if rows:
            yield REPEATED_ROWS.format(part=part, rows=repeated(rows))


def repeated(rows: int) -> str:
    """A number of repeated rows, in words."""
    return counted(rows, "repeated (user, item) row")


ROWS_IN_TRAIN = "{rows} dropped (also in train): seen items are not candidates; use {all_candidates} to keep such rows"


@check(
    "test-rows-in-train",
    what="Test rows are also in train.",
    why="Items that a user has in train are not candidates, so these rows cannot be judged.",
    do=f"Hold rows out of train before training, or use `{Option('candidates', 'all').flag}` when a recommender may "
    "repeat items.",
)
def test_rows_in_train(report: "Report") -> Iterator[str]:
    """Yield a warning for test rows that were dropped because the user has the item in train."""
    rows = report.tally.dropped["items_in_train"]
    if rows and not report.inputs.split.exposed:  # `exposed_rows_in_train` says more about them
        yield ROWS_IN_TRAIN.format(rows=counted(rows, "test row"), all_candidates=Option("candidates", "all"))


ITEMS_OUTSIDE = (
    "{rows} dropped: the item is not in train, so it is not a candidate, which is right if new items are out of scope; "
    "otherwise {unseen} counts such rows as misses"
)


@check(
    "test-items-outside-candidates",
    what="Test rows have items that the candidate rule leaves out.",
    why="Under `trained` only items seen in training are ranked. Rating losses need an item that a model knows.",
    do=f"Use `{Option('candidates', 'unseen').flag}`, where such rows count as misses.",
)
def test_items_outside(report: "Report") -> Iterator[str]:
    """Yield a warning for test rows that were dropped because the item is not ranked."""
    rows = report.tally.dropped["items_outside_catalogue"]
    if rows:
        yield ITEMS_OUTSIDE.format(rows=counted(rows, "test row"), unseen=Option("candidates", "unseen"))


ITEMS_UNKNOWN = (
    "{rows} neither in train nor known to a model: a miss for every model, which is right if models are expected to "
    "recommend new items; otherwise {trained} leaves such rows out"
)


@check(
    "test-items-unknown",
    what="Test rows have items that are neither in train nor known to a model.",
    why="No model can find them. They rank last, tied, and stay in the denominators: a miss for every model.",
    do="Nothing, if models are expected to recommend new items. "
    f"`{Option('candidates', 'trained').flag}` leaves them out.",
)
def test_items_unknown(report: "Report") -> Iterator[str]:
    """Yield a warning for test rows whose items no model knows."""
    rows = report.tally.unknown_rows
    if rows and not report.only_ratings:
        which = "is of an item that is" if rows == 1 else "are of items that are"
        yield ITEMS_UNKNOWN.format(rows=f"{counted(rows, 'test row')} {which}", trained=Option("candidates", "trained"))


ROWS_WITHOUT_RANK = "{rows} without a rank in the saved ranks: not judged; make the ranks again on this split"


@check(
    "rows-without-rank",
    what="Saved ranks lack rows of the test.",
    why="These rows are not judged, and saved ranks do not say why.",
    do="Make the ranks again with `rank` on this split.",
)
def rows_without_rank(report: "Report") -> Iterator[str]:
    """Yield a warning for test rows that saved ranks lack."""
    rows = report.tally.dropped["rows_without_rank"]
    if rows:
        yield ROWS_WITHOUT_RANK.format(rows=counted(rows, "test row"))


USERS_WITHOUT_POSITIVE = (
    "{users} left out: without a positive row their metrics are undefined (ips counts such users as 0)"
)


@check(
    "users-without-positive",
    what="Test users have no positive row.",
    why="Their metrics are undefined, so they are left out; `ips` counts them as 0.",
    do=f"Nothing, if the condition of `{Option('positive').flag}` is right.",
)
def users_without_positive(report: "Report") -> Iterator[str]:
    """Yield a warning for test users who are left out because they have no positive."""
    users = report.tally.dropped["users_without_positive"]
    if users and not report.inputs.split.exposed:  # `exposed_users_without_positive` says more about them
        yield USERS_WITHOUT_POSITIVE.format(users=counted(users, "test user"))


USERS_LEFT_OUT = (
    "{users} ({rows}) left out for all models: {unknown}; train on data that has these users, or check the user ids"
)


@check(
    "users-left-out",
    what=f"No model knows some of the test users. Or, with `{Option('users', 'common').flag}`, at least one model "
    "does not know them.",
    why="They are left out for all models. The numbers describe only the other users.",
    do=f"Train on data that has these users. `{Option('users', 'any').flag}`, the default, keeps a user whom at "
    "least one model knows.",
)
def users_left_out(report: "Report") -> Iterator[str]:
    """Yield a warning for test users who are left out because models do not know them."""
    dropped = report.tally.dropped
    if dropped["unknown_users"]:
        rows = counted(dropped["rows_of_unknown_users"], "row")
        users = counted(dropped["unknown_users"], "test user")
        yield USERS_LEFT_OUT.format(users=users, rows=rows, unknown=_unknown(report))


def _unknown(report: "Report") -> str:
    """Why users are left out: the models that do not know them."""
    common = report.settings.users == "common" or report.only_ratings
    return "unknown to at least one model" if common and len(report.contenders.models) > 1 else "known to no model"


RATED_ROWS_LEFT_OUT = "metrics over ratings exclude {rows} {why}, positive or not"
ROWS_WITHOUT_PREDICTION = (
    "{rows} excluded from metrics over ratings because at least one model has no prediction for them; predict all "
    "test rows"
)


@check(
    "rating-rows-left-out",
    what="Metrics over ratings exclude rows that other metrics keep, or rows without a prediction.",
    why="Rating losses need a prediction of every model for every row.",
    do="Predict all test rows.",
)
def rating_rows_left_out(report: "Report") -> Iterator[str]:
    """Yield a warning for each reason why metrics over ratings exclude more rows than other metrics do."""
    rated, dropped = report.tally.rated_dropped, report.tally.dropped
    if not rated:
        return
    for why, words in (
        ("items_in_train", "also in train"),
        ("items_outside_catalogue", "of items that no model knows"),
        ("rows_of_unknown_users", "of users unknown to at least one model"),
    ):
        if not report.only_ratings and rated[why] > dropped[why]:
            yield RATED_ROWS_LEFT_OUT.format(rows=counted(rated[why], "test row"), why=words)
    if rows := rated["rows_without_prediction"]:
        yield ROWS_WITHOUT_PREDICTION.format(rows=counted(rows, "test row"))


FEW_USERS = 30  # below which intervals are rough, and what is learnt from the sample is itself noise
ONE_USER = "only one user is judged: standard errors and intervals are undefined"
USERS_ARE_FEW = (
    f"only {{users}} users are judged, fewer than {FEW_USERS}, so standard errors and intervals are rough; judge more "
    "users before you act on a difference"
)
USERS_WEIGH_LITTLE = (
    "{estimator}: the weights leave an effective sample size of only {size:.0f} for {users:,} judged users, so its "
    "interval is rough"
)
NO_TRAINING_ROW = "no judged user has a training row; do train and test use the same user ids?"
USERS_WITHOUT_TRAINING = (
    "{cold:,} of {users:,} judged users have no training row, so a model trained on train cannot know their taste; "
    "report them separately, or split per user with {per_user}"
)


@check(
    "few-users",
    what="Fewer than 30 users are judged, or the weights leave an effective sample size below 30, or judged users have "
    "no training row.",
    why="Standard errors treat the user as the unit and are rough with few users. Users without a training row get "
    "lists that do not depend on their taste.",
    do="Judge more users. If no judged user has a training row, check that train and test use the same ids.",
)
def few_users(report: "Report") -> Iterator[str]:
    """Yield warnings when few users are judged, in number or by weight, and when users have no training row."""
    judged, cold = report.tally.users, report.tally.cold
    if judged < 2:
        yield ONE_USER
    elif judged < FEW_USERS:
        yield USERS_ARE_FEW.format(users=judged)
    few = {
        str(cell.estimator): size for cell in report.estimated.cells if (size := cell.effective_sample_size) is not None
    }
    least = min(few, key=lambda word: few[word], default=None)
    if judged >= FEW_USERS and least is not None and few[least] < FEW_USERS:
        yield USERS_WEIGH_LITTLE.format(estimator=least, users=judged, size=few[least])
    if cold == judged:
        yield NO_TRAINING_ROW
    elif cold:
        yield USERS_WITHOUT_TRAINING.format(cold=cold, users=judged, per_user=Option("per_user", command="split"))


NO_EFFECT = (
    "{metrics}: no user has more than {most}, so the cut-off has no effect (recall is then 1 for every model that "
    "ranks them all); use a smaller one"
)


@check(
    "cutoff-without-effect",
    what="A cut-off is at least as large as the number of candidates of every user.",
    why="Everything is inside the cut-off, so recall is 1 for every model that ranks all candidates.",
    do="Use a smaller cut-off.",
)
def cutoff_without_effect(report: "Report") -> Iterator[str]:
    """Yield a warning for metrics whose cut-off has no effect."""
    most = max((model.most_candidates for model in report.tally.models.values()), default=0)
    beyond = [str(metric) for metric in report.settings.metrics if most and (metric.cutoff or 0) >= most]
    if beyond:
        yield NO_EFFECT.format(metrics=listed(beyond), most=counted(most, "candidate"))


SIZES_DIFFER = (
    "validation has {validation:.2f} positives per user and the test {test:.2f}: {metrics} with that number, so do not "
    "compare one with the other; {instead} can be compared"
)


@check(
    "validation-size",
    what="Validation and test have different numbers of positives per user, and a metric moves with that number.",
    why="The same model then has different values on the two parts, without being better on one.",
    do="Compare metrics that do not move with it, such as `recall`, `adg` or `auc`.",
)
def validation_size(report: "Report") -> Iterator[str]:
    """Yield a warning when metrics differ between validation and test because of their sizes alone."""
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
        metrics = f"{listed(map(str, moved))} {'moves' if len(moved) == 1 else 'move'}"
        yield SIZES_DIFFER.format(validation=there, test=here, metrics=metrics, instead=listed(all_instead(moved)))


HIGH = 0.75  # where on the scale of the ratings a suggested condition starts
USUAL_LOWEST = 1  # what a scale begins with if its lowest ratings were filtered out
LEARNT_FROM_ALL = (
    "train has ratings, and no condition says which are positive: {models} learnt from all rows as positives; give a "
    "condition, as in {condition}"
)
ALL_COUNT_AS_LIKED = (
    "the test has ratings, and no condition says which are positive: {rows} with a rating of {lowest:g} {count} as "
    "liked; give a condition, as in {condition}"
)


@check(
    "ratings-without-condition",
    what="Rows have ratings, and no condition says which ratings are positive.",
    why="Every row then counts as liked, even rows with the lowest rating.",
    do=f"Say which rows are positive, as in `{Option('positive', 'rating>=4').flag}`.",
)
def ratings_without_condition(report: "Report") -> Iterator[str]:
    """Yield a warning when all ratings count as liked, in the test or for models that learn from train."""
    split = report.samples.judged.split
    if report.settings.positive is not None:
        return
    if split.exposed:
        learning = [repr(name) for name, model in report.contenders.models.items() if model.learnt]
        if split.train.values is not None and learning:
            shown = listed([*learning[:4], *([f"{len(learning) - 4} more"] if len(learning) > 4 else [])])
            yield LEARNT_FROM_ALL.format(models=shown, condition=Option("positive", "rating>=4"))
        return
    by_level = {float(level): rows for level, rows in report.tally.levels.items()}
    if 1 < len(by_level) <= SCALE and not report.only_ratings:
        levels = sorted(by_level)
        lowest = min(levels[0], USUAL_LOWEST)
        start = next(each for each in levels if each >= lowest + HIGH * (levels[-1] - lowest))
        if start == levels[0]:  # the log has high ratings only
            return
        rows = by_level[levels[0]]
        yield ALL_COUNT_AS_LIKED.format(
            rows=counted(rows, "row"),
            lowest=levels[0],
            count="counts" if rows == 1 else "count",
            condition=Option("positive", f"rating>={start:g}"),
        )
