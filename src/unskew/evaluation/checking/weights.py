"""Warnings about propensities and the weights they make."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unskew.errors import Option
from unskew.estimators import OVER_ALL_PAIRS, Snips
from unskew.evaluation.checking.check import check
from unskew.propensities import Popularity

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


@check(
    "propensity-column",
    what="The test has a column `propensity`, and no propensity was named.",
    why="The column is used: it is P(this row is in the test | it is a candidate), as the log knows it.",
    do=f"Nothing, if that is what the column holds. `{Option('propensity', 'popularity').flag}` uses popularity "
    "instead.",
)
def propensity_column(report: "Report") -> Iterator[str]:
    """Propensities of the test that are used although none was named."""
    if report.settings.propensity_found:
        yield (
            "the test has a column propensity, which is used because no propensity was named; "
            f"{Option('propensity', 'popularity')} uses popularity instead"
        )


@check(
    "rows-without-propensity",
    what="Held-out rows have no propensity.",
    why="They have no weight, so weighted estimates leave them out and describe the other rows.",
    do="Use a propensity that every row has, such as `popularity(smoothing=1)`.",
)
def rows_without_propensity(report: "Report") -> Iterator[str]:
    """Rows that weighted estimates leave out."""
    for rows, over_all in ((report.samples.judged, False), (report.samples.ratings, True)):
        missing = [
            cell.without_propensity
            for cell in report.estimated.cells
            if (cell.metric.kind in OVER_ALL_PAIRS) == over_all
        ]
        if rows is None or not any(missing):
            continue
        what = f"{max(missing):,} of {rows.rows:,} {'rated' if over_all else 'held-out'} rows"
        if isinstance(report.settings.propensity, Popularity):
            yield (
                f"{what} have no propensity because their item never occurs in training, and were dropped where one is "
                "needed; popularity(smoothing=1) keeps them"
            )
        else:
            yield f"{what} have no propensity and were dropped where one is needed"


LARGE_SHARE = 0.05  # one row that carries more than this decides the estimate
SMALL_SAMPLE = 50  # effective rows below which an interval means little


@check(
    "heavy-weights",
    what="Few rows carry a weighted estimate.",
    why="With fewer than 50 effective rows, or a row of more than 5 % of the weight, the interval means little.",
    do="Clip the weights, as in `snips(clip=0.01)`, or take a milder propensity.",
)
def heavy_weights(report: "Report") -> Iterator[str]:
    """Estimators whose weights are carried by few rows."""
    warned = set()
    for cell in report.estimated.cells:
        name = str(cell.estimator)
        share, size = cell.max_weight_share, cell.effective_rows
        if name in warned or share is None or size is None or not cell.estimator.uses_propensity:
            continue
        if share > LARGE_SHARE or size < SMALL_SAMPLE:
            warned.add(name)
            yield (
                f"{name}: few rows carry the estimate ({size:.0f} effective rows, largest weight share "
                f"{share:.1%}); do not trust its interval, and consider {cell.estimator.word}(clip=0.01)"
            )


NEW_SHARE = 0.1  # share of the weight from which items without a training row are named


@check(
    "weight-of-new-items",
    what="Items that never occur in training carry much of the weight of a corrected estimate.",
    why="Popularity gives them the largest weights, and a model that learnt from train cannot know them. The estimate "
    "then says more about new items than about the models, and may fall below that of a random order.",
    do=f"Judge new items apart: `{Option('candidates', 'trained').flag}` leaves them out. Or give propensities that "
    "are not counts.",
)
def weight_of_new_items(report: "Report") -> Iterator[str]:
    """How much weight rows of items without a training row have."""
    sample = report.samples.judged
    if not weighs_by_popularity(report) or report.samples.exposed is not None or not len(sample.train):
        return
    new = sample.train.item_counts[sample.items] == 0
    weights = 1 / np.asarray(report.propensities.of(sample.kind)(sample.row_users, sample.items), dtype=float)
    share = float(np.nansum(weights[new]) / np.nansum(weights))
    if share > NEW_SHARE:
        yield (
            f"{new.mean():.0%} of the held-out rows are of items without a training row, and carry {share:.0%} of the "
            "weight: the corrected numbers say much about items that no model could learn; "
            f"{Option('candidates', 'trained')} leaves them out"
        )


FAR_OFF = 0.2  # share of all pairs by which the weights may miss them


@check(
    "propensities-add-up",
    what="The inverse propensities do not add up to the number of pairs, or their fit was difficult.",
    why="Right propensities add up on average. If they do not, `ips` is off by about as much.",
    do="Use `snips`, which divides by the weights, or a better propensity.",
)
def propensities_add_up(report: "Report") -> Iterator[str]:
    """What the diagnostics of the propensities show."""
    diagnostics = report.diagnostics
    if diagnostics is None:
        return
    yield from diagnostics.notes
    if diagnostics.cells and abs(diagnostics.coverage - 1) > FAR_OFF:
        yield (
            f"the weights add up to {diagnostics.coverage:.0%} of all pairs, so ips is off by about as much; snips, "
            "which divides by them, is less so"
        )


@check(
    "popularity-without-training-rows",
    what="There is no positive training row to count popularity from.",
    why="Every item then has the same propensity, and nothing is corrected.",
    do=f"Give the training rows, or check the condition of `{Option('positive').flag}`.",
)
def popularity_without_training_rows(report: "Report") -> Iterator[str]:
    """Popularity that was counted on nothing."""
    if weighs_by_popularity(report) and not len(report.samples.judged.train):
        yield "no positive training row to count popularity from: every item is taken as equally popular"


FEW_ROWS = 5  # held-out rows per user below which the per-user ratio hardly corrects


@check(
    "snips-per-user",
    what="`snips(per=user)` is used with few held-out rows per user.",
    why="Each user's own ratio hardly corrects with few rows, however many users there are.",
    do="Use `snips`, which divides once over all rows.",
)
def snips_per_user(report: "Report") -> Iterator[str]:
    """A form that hardly corrects here."""
    sample = report.samples.judged
    per_user = sample.rows / max(len(sample.users), 1)
    for estimator in report.settings.estimators:
        if isinstance(estimator, Snips) and estimator.per == "user" and per_user < FEW_ROWS:
            yield (
                f"{estimator}: with {per_user:.1f} held-out rows per user this form hardly corrects, however many "
                "users there are; use snips"
            )


def weighs_by_popularity(report: "Report") -> bool:
    """Whether an estimate is weighted by popularity."""
    weighted = any(estimator.uses_propensity for estimator in report.settings.estimators)
    return weighted and isinstance(report.settings.propensity, Popularity)
