"""Warnings about propensities, and about weights made from them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from unskew.errors import Option
from unskew.estimators import OVER_ALL_PAIRS, Estimator, Snips, Weighted
from unskew.evaluation.checking.check import check
from unskew.propensities import Popularity

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


COLUMN_USED = (
    "the test has a column propensity, which is used because no propensity was named; give {popularity} to use "
    "popularity instead"
)


@check(
    "propensity-column",
    what="The test has a column `propensity`, and no propensity was named.",
    why="The column is used. Its values must be P(this row is in the test | it is a candidate), as the log knows it.",
    do=f"Nothing, if that is what the column holds. `{Option('propensity', 'popularity').flag}` uses popularity "
    "instead.",
)
def propensity_column(report: "Report") -> Iterator[str]:
    """Yield a warning if propensities of the test are used although none was named."""
    if report.settings.propensity_found:
        yield COLUMN_USED.format(popularity=Option("propensity", "popularity"))


WITHOUT_PROPENSITY = "{missing:,} of {rows:,} {kind} rows have no propensity, and weighted estimates exclude them"
NEVER_IN_TRAINING = (
    "{missing:,} of {rows:,} {kind} rows have no propensity because their item never occurs in training, and weighted "
    "estimates exclude them; use popularity(smoothing=1) to keep them"
)


@check(
    "rows-without-propensity",
    what="Held-out rows have no propensity.",
    why="They have no weight, so weighted estimates leave them out and describe the other rows.",
    do="Use a propensity that every row has, such as `popularity(smoothing=1)`.",
)
def rows_without_propensity(report: "Report") -> Iterator[str]:
    """Yield a warning for rows without a propensity, held out or rated."""
    for rows, over_all in ((report.tally.rows, False), (report.tally.rated, True)):
        missing = [
            cell.without_propensity
            for cell in report.estimated.cells
            if (cell.metric.kind in OVER_ALL_PAIRS) == over_all
        ]
        if not any(missing):
            continue
        text = NEVER_IN_TRAINING if isinstance(report.settings.propensity, Popularity) else WITHOUT_PROPENSITY
        yield text.format(missing=max(missing), rows=rows, kind="rated" if over_all else "held-out")


LARGE_SHARE = 0.05  # share of the weight above which one row decides the estimate
SMALL_SAMPLE = 50  # effective rows below which an interval means little
CLIP = 0.01  # the clipping that is offered to an estimator that clips less
HEAVY_WEIGHTS = (
    "{estimator}: the estimate depends on few rows ({rows:.0f} effective rows, largest weight share {share:.1%}); do "
    "not trust its interval{advice}"
)
CONSIDER = ", and consider {clipped}"
VARY_LESS = "; use a propensity that varies less, or judge more rows"


@check(
    "heavy-weights",
    what="A weighted estimate depends on few rows.",
    why="With fewer than 50 effective rows, or with one row that has more than 5 % of the weight, the interval means "
    "little.",
    do="Clip the weights, as in `snips(clip=0.01)`, or use a propensity that varies less.",
)
def heavy_weights(report: "Report") -> Iterator[str]:
    """Yield a warning for each weighted estimator that depends on few rows."""
    warned = set()
    for cell in report.estimated.cells:
        name = str(cell.estimator)
        share, size = cell.max_weight_share, cell.effective_rows
        if name in warned or share is None or size is None or not cell.estimator.uses_propensity:
            continue
        if share > LARGE_SHARE or size < SMALL_SAMPLE:
            warned.add(name)
            yield HEAVY_WEIGHTS.format(estimator=name, rows=size, share=share, advice=advise(cell.estimator))


def advise(estimator: Estimator) -> str:
    """What to do about heavy weights: the same estimator with more clipping, where there is one."""
    if isinstance(estimator, Weighted) and estimator.clip < CLIP:
        return CONSIDER.format(clipped=replace(estimator, clip=CLIP))
    return VARY_LESS


NEW_SHARE = 0.1  # share of the weight above which items without a training row are worth a warning
NEW_ITEMS = (
    "{rows:.0%} of the held-out rows have an item without a training row, and these rows have {weight:.0%} of the "
    "weight: the corrected numbers depend strongly on items that no model could learn; use {trained} to leave them "
    "out"
)


@check(
    "weight-of-new-items",
    what="Items that never occur in training have a large share of the weight of a corrected estimate.",
    why="Popularity gives them the largest weights, and a model that learnt from train cannot know them. The estimate "
    "then says more about new items than about the models, and may fall below that of a random order.",
    do=f"Judge new items separately: `{Option('candidates', 'trained').flag}` leaves them out. Or give propensities "
    "that are not counts of training rows.",
)
def weight_of_new_items(report: "Report") -> Iterator[str]:
    """Yield a warning if rows of items without a training row have much of the weight."""
    tally = report.tally
    if not tally.weight or not tally.positives:
        return
    share = tally.new_weight / tally.weight
    if share > NEW_SHARE:
        trained = Option("candidates", "trained")
        yield NEW_ITEMS.format(rows=tally.new_rows / tally.rows, weight=share, trained=trained)


FAR_OFF = 0.2  # share of all pairs by which the sum of the weights may differ from them
SUM_IS_OFF = (
    "the weights add up to {share:.0%} of all pairs, so ips is wrong by about the same factor; use snips, which "
    "divides by their sum"
)


@check(
    "propensities-add-up",
    what="The inverse propensities do not add up to the number of pairs, or their fit was difficult.",
    why="On average, the inverses of correct propensities add up to that number. If they do not, `ips` is wrong by "
    "about the same factor.",
    do="Use `snips`, which divides by the sum of the weights, or a better propensity.",
)
def propensities_add_up(report: "Report") -> Iterator[str]:
    """Yield the notes of the diagnostics, and a warning if the weights do not add up."""
    diagnostics = report.diagnostics
    if diagnostics is None:
        return
    yield from diagnostics.notes
    if diagnostics.cells and abs(diagnostics.coverage - 1) > FAR_OFF:
        yield SUM_IS_OFF.format(share=diagnostics.coverage)


NO_POPULARITY = (
    "no positive training row to count popularity from: all items count as equally popular, so nothing is corrected; "
    "give the training rows, or check {positive}"
)


@check(
    "popularity-without-training-rows",
    what="There is no positive training row to count popularity from.",
    why="Every item then has the same propensity, and nothing is corrected.",
    do=f"Give the training rows, or check the condition of `{Option('positive').flag}`.",
)
def popularity_without_training_rows(report: "Report") -> Iterator[str]:
    """Yield a warning if there is no positive training row to count popularity from."""
    if weighs_by_popularity(report) and not report.tally.positives:
        yield NO_POPULARITY.format(positive=Option("positive"))


FEW_ROWS = 5  # held-out rows per user below which the per-user ratio hardly corrects
HARDLY_CORRECTS = (
    "{estimator}: with {rows:.1f} held-out rows per user this form hardly corrects, however many users there are; use "
    "snips"
)


@check(
    "snips-per-user",
    what="`snips(per=user)` is used with few held-out rows per user.",
    why="`snips(per=user)` computes one ratio per user. With few rows such a ratio hardly corrects, however many "
    "users there are.",
    do="Use `snips`, which divides once over all rows.",
)
def snips_per_user(report: "Report") -> Iterator[str]:
    """Yield a warning for a per-user ratio of few rows."""
    per_user = report.tally.rows / max(report.tally.users, 1)
    for estimator in report.settings.estimators:
        if isinstance(estimator, Snips) and estimator.per == "user" and per_user < FEW_ROWS:
            yield HARDLY_CORRECTS.format(estimator=estimator, rows=per_user)


def weighs_by_popularity(report: "Report") -> bool:
    """Whether an estimate is weighted by popularity."""
    weighted = any(estimator.uses_propensity for estimator in report.settings.estimators)
    return weighted and isinstance(report.settings.propensity, Popularity)
