"""Reasons to doubt a number, in words."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from unskew.errors import DataError
from unskew.estimators import Snips
from unskew.evaluation.evidence import Evidence
from unskew.evaluation.exposed_doubts import exposed_doubts
from unskew.evaluation.hindsight import find_hindsight
from unskew.evaluation.propensity_check import check_propensity, propensity_doubts
from unskew.evaluation.risks import Cell
from unskew.evaluation.settings import OVER_ALL_PAIRS, Settings
from unskew.evaluation.sizes import all_instead, moving, sizes_differ
from unskew.evaluation.wording import counted, listed
from unskew.metrics import Accuracy
from unskew.propensities import Popularity, Propensity
from unskew.ranking import Contest

LARGE_SHARE = 0.05  # one row that carries more than this decides the estimate
SMALL_SAMPLE = 50  # effective rows below which an interval means little
FEW_ROWS = 5  # held-out rows a user below which the per-user ratio hardly corrects
MANY_TIES = 0.1
FEW_USERS = 30


def find_doubts(
    evidence: Evidence,
    settings: Settings,
    cells: Sequence[Cell],
    contest: Contest | None,
    rated: Evidence | None = None,
    propensity: Propensity | None = None,
) -> Iterator[str]:
    """Say what was dropped, which numbers rest on little, and whether the propensities add up."""
    yield from _dropped(evidence)
    yield from exposed_doubts(evidence, settings) if evidence.split.exposed else ()
    if rated is not None:
        yield from _dropped_ratings(rated, evidence)
        yield from _accuracy(settings, rated)
    if contest is not None:
        for name, binding in contest.bindings.items():
            if binding.unknown_items:
                yield (
                    f"model {name!r} does not know {binding.unknown_items} of {contest.catalogue_size} items; "
                    "they rank last for it, tied"
                )
    yield from _without_propensity(evidence, settings, cells, rated)
    yield from _lists(evidence, settings)
    yield from _ties(evidence)
    yield from _weights(cells)
    if propensity is not None:
        yield from propensity_doubts(check_propensity(propensity, settings, evidence, rated))
    yield from _users(evidence)
    yield from _cutoffs(evidence, settings)
    yield from _validation_size(evidence, settings)
    corrected = any(estimator.uses_propensity for estimator in settings.estimators)
    if corrected and isinstance(settings.propensity, Popularity) and not len(evidence.train):
        yield "no positive training row to count popularity from: every item is taken as equally popular"
    hindsight = find_hindsight(evidence.split) if corrected and isinstance(settings.propensity, Popularity) else None
    if hindsight is not None:
        yield hindsight
    rows_a_user = evidence.rows / max(len(evidence.users), 1)
    for estimator in settings.estimators:
        if isinstance(estimator, Snips) and estimator.per == "user" and rows_a_user < FEW_ROWS:
            yield (
                f"{estimator}: with {rows_a_user:.1f} held-out rows a user this form hardly corrects, however many "
                "users there are; see snips"
            )


def _dropped_ratings(rated: Evidence, evidence: Evidence) -> Iterator[str]:
    """What metrics over ratings lack; they take all rows, positive or not, so it may be more."""
    for why, words in (("items_in_train", "also in train"), ("items_outside_catalogue", "of items no model knows")):
        if rated is not evidence and rated.dropped[why] != evidence.dropped[why]:
            rows = counted(rated.dropped[why], "test row")
            yield f"metrics over ratings, which take all rows, positive or not, leave out {rows} {words}"
    if rated.dropped["rows_without_prediction"]:
        rows = counted(rated.dropped["rows_without_prediction"], "test row")
        yield f"{rows} left out of metrics over ratings, for some model has no prediction there"


def _accuracy(settings: Settings, rated: Evidence) -> Iterator[str]:
    if not any(isinstance(m, Accuracy) and not m.rounded for m in settings.metrics):
        return
    for name, given in rated.predictions.items():
        if not np.isin(given.predicted, np.unique(given.values)).any():
            yield (
                f"accuracy: no prediction of model {name!r} is a rating that occurs; accuracy(rounded) rounds "
                "predictions to whole numbers first"
            )


def _users(evidence: Evidence) -> Iterator[str]:
    judged = len(evidence.users)
    if judged < 2:
        yield "only one user is judged: standard errors and intervals are undefined"
    elif judged < FEW_USERS:
        yield f"only {judged} users are judged: standard errors and intervals are rough"
    cold = int(np.sum(evidence.split.train.user_counts[evidence.users] == 0))
    if cold == judged:
        yield "no judged user has a training row; do train and test use the same user ids?"
    elif cold:
        yield f"{cold:,} of {judged:,} judged users have no training row"


def _validation_size(evidence: Evidence, settings: Settings) -> Iterator[str]:
    """Values on validation and on test, which are often set side by side, where their sizes alone move them."""
    moved, validation = moving(settings.metrics), evidence.split.validation
    if not moved or validation is None or not len(validation) or evidence.split.exposed:
        return
    held = validation
    if settings.positive is not None:
        with suppress(DataError):  # without that column all its rows are positives
            held = validation.where(settings.positive)
    there = len(held) / max(int(np.count_nonzero(held.user_counts)), 1)
    here = evidence.rows / len(evidence.users)
    if sizes_differ(there, here):
        yield (
            f"validation has {there:.2f} positives a user and the test {here:.2f}: {listed(map(str, moved))} "
            f"{'moves' if len(moved) == 1 else 'move'} with that number, so do not compare one with the other; "
            f"{listed(all_instead(moved))} can be compared"
        )


def _dropped(evidence: Evidence) -> Iterator[str]:
    dropped, split = evidence.dropped, evidence.split
    for part, interactions in (("train", split.train), ("exposed" if split.exposed else "test", split.test)):
        if interactions.duplicates:
            yield f"{part}: {counted(interactions.duplicates, 'repeated (user, item) row')} left out"
    if dropped["items_in_train"]:
        yield (
            f"{counted(dropped['items_in_train'], 'test row')} dropped because also in train: seen items are no "
            "candidates; --candidates all keeps them"
        )
    if dropped["items_outside_catalogue"]:
        yield (
            f"{counted(dropped['items_outside_catalogue'], 'test row')} dropped because the item is no candidate: "
            "not in train, and known to no model"
        )
    if dropped["rows_without_rank"]:
        yield f"{counted(dropped['rows_without_rank'], 'test row')} without a rank in the saved ranks, not judged"
    if dropped["users_without_positive"] and not split.exposed:  # which says more
        users = counted(dropped["users_without_positive"], "test user")
        yield f"{users} without a positive row left out; for ips they count as 0"
    if dropped["unknown_users"]:
        rows = counted(dropped["rows_of_unknown_users"], "row")
        yield f"{counted(dropped['unknown_users'], 'test user')} ({rows}) unknown to some model and dropped for all"


def _without_propensity(
    evidence: Evidence, settings: Settings, cells: Sequence[Cell], rated: Evidence | None
) -> Iterator[str]:
    for rows, over_all in ((evidence, False), (rated, True)):
        mine = [cell.without_propensity for cell in cells if (cell.metric.kind in OVER_ALL_PAIRS) == over_all]
        if rows is None or not any(mine):
            continue
        what = f"{max(mine)} of {rows.rows} {'rated' if over_all else 'held-out'} rows"
        if isinstance(settings.propensity, Popularity):
            yield (
                f"{what} have no propensity, for their item never occurs in training, and were dropped where one is "
                "needed; popularity(smoothing=1) keeps them"
            )
        else:
            yield f"{what} have no propensity and were dropped where one is needed"


def _lists(evidence: Evidence, settings: Settings) -> Iterator[str]:
    for name, ranks in evidence.ranks.items():
        listed = evidence.listed(name)
        if listed is None or not len(ranks):
            continue
        longest = int(listed.max())
        beyond = [str(metric) for metric in settings.metrics if (metric.cutoff or 0) > longest]
        if beyond:
            yield (
                f"model {name!r} lists at most {longest} candidates a user, fewer than {', '.join(beyond)} "
                "looks at; what is not listed gains 0"
            )


def _cutoffs(evidence: Evidence, settings: Settings) -> Iterator[str]:
    """A cut-off that cuts nothing, as nobody has that many candidates."""
    most = max((int(ranks.candidates.max()) for ranks in evidence.ranks.values() if len(ranks)), default=0)
    beyond = [str(metric) for metric in settings.metrics if most and (metric.cutoff or 0) >= most]
    if beyond:
        yield (
            f"no user has more than {counted(most, 'candidate')}, so the cut-off of {listed(beyond)} cuts nothing "
            "(recall is then 1 for every model that ranks them all); use a smaller one"
        )


def _ties(evidence: Evidence) -> Iterator[str]:
    for name, ranks in evidence.ranks.items():
        tied = (
            np.mean(ranks.tied > 0)
            if ranks.listed is None
            else np.mean((ranks.tied > 0) & (ranks.above < ranks.listed))
        )
        if tied > MANY_TIES:
            how = "averaged over all orders" if ranks.ties == "expected" else f"resolved {ranks.ties}"
            yield f"model {name!r}: {tied:.0%} of held-out items share their score with another candidate ({how})"


def _weights(cells: Sequence[Cell]) -> Iterator[str]:
    told = set()
    for cell in cells:
        name = str(cell.estimator)
        share, size = cell.max_weight_share, cell.effective_sample_size
        if name in told or share is None or size is None or not cell.estimator.uses_propensity:
            continue
        if share > LARGE_SHARE or size < SMALL_SAMPLE:
            told.add(name)
            yield (
                f"{name}: few rows carry the estimate (effective sample size {size:.0f}, largest weight share "
                f"{share:.1%}); do not trust its interval, and consider {cell.estimator.word}(clip=0.01)"
            )
