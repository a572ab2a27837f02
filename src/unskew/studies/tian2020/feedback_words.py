"""What the feedback loops say, worked out from their numbers."""

from collections.abc import Iterator

import numpy as np

from unskew.arrays import Floats
from unskew.feedback import METRICS
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import Mean
from unskew.studies.tian2020.estimates import ADG, KNOWN, NAIVE, POPULARITY_RATIO, RECALL
from unskew.studies.tian2020.feedback_runs import BESIDE, ETA, LEARNT, LOOPS, ORGANIC, PURE, TAKE, K, Loop, Tally

ERRORS = 3.0
"""Standard errors that a difference must have to be told."""
LIMIT = 4.0
"""Standard errors that no estimate without bias should reach, among some thirty."""


def notes(tally: Tally) -> Iterator[str]:
    """How it was done, and what was found."""
    yield (
        f"Beyond the paper, so there is no printed number. {tally.world}: likes stay as they are, and the first log is "
        f"what that world observes. In each of {tally.rounds} rounds a recommender learns from the log and shows every "
        f"user the best {K} items that are not in the user's log. Place j is looked at with probability "
        f"j^-{ETA:g}, what is liked is then consumed with probability {TAKE:g}, and each liked item is found without "
        f"a list with a probability of {ORGANIC:g} on average, in proportion to how many like it. What is consumed is "
        "the test of models trained on the log before, and then part of the log. How likely each row was is known "
        "exactly: known P."
    )
    yield (
        f"{tally.replications} replications; the loops of one replication start from the same log. Judged over all "
        "users who like something outside the log; the true value is over all that they like there. Errors are "
        "estimate less truth. The first round is the first with lists; there is no round without."
    )
    for loop in LOOPS:
        yield _story(tally, loop)
    yield _incumbent(tally)


def _story(tally: Tally, loop: Loop) -> str:
    own = loop.recommender
    truth, head = tally.truth(loop, own, RECALL), tally.head(loop)
    parts = [
        f"{_name} {_ends(tally.error(loop, own, RECALL, method))}"
        for method, _name in ((NAIVE, "naive"), (KNOWN, "ips with known P"), (POPULARITY_RATIO, "by popularity"))
    ]
    return (
        f"Lists of {loop}. True {RECALL} of {own}: {truth[:, 0].mean():.3f} in the first round, "
        f"{truth[:, -1].mean():.3f} in the last. Its error, first to last: {'; '.join(parts)}. The naive error "
        f"{_direction(tally.moved(tally.error(loop, own, RECALL, NAIVE)))}. The head's share of the log: "
        f"{head[:, 0].mean():.3f} before, {head[:, -1].mean():.3f} after."
    )


def _ends(values: Floats) -> str:
    return f"{values[:, 0].mean():+.3f} to {values[:, -1].mean():+.3f}"


def _direction(moved: Mean) -> str:
    if moved.error is None or abs(moved.value) <= ERRORS * moved.error:
        return "does not clearly move"
    return "grows over the rounds" if moved.value > 0 else "shrinks over the rounds"


def _incumbent(tally: Tally) -> str:
    """The one that shows the lists against the one that does not."""
    loop = LOOPS[0]
    first = np.mean(tally.estimate(loop, LEARNT, ADG, NAIVE)[:, 0] > tally.estimate(loop, "popular", ADG, NAIVE)[:, 0])
    return (
        f"Lists of popular, {LEARNT} against popular. {LEARNT} is truly better in "
        f"{tally.better(loop, LEARNT, 'popular', ADG):.0%} of rounds by {ADG}; the naive average says so in "
        f"{tally.chosen(loop, LEARNT, 'popular', ADG, NAIVE):.0%} ({first:.0%} of first rounds), ips with known P in "
        f"{tally.chosen(loop, LEARNT, 'popular', ADG, KNOWN):.0%}, popularity in "
        f"{tally.chosen(loop, LEARNT, 'popular', ADG, POPULARITY_RATIO):.0%}."
    )


def claims(tally: Tally, *, judged: bool = True) -> Iterator[Claim]:
    """Ours, not the paper's; whether errors grow is measured, not claimed.

    Parameters
    ----------
    tally : Tally
    judged : bool
        False where there are too few replications.
    """
    for claim, holds, evidence in _all(tally):
        yield Claim(f"Ours, not the paper's: {claim}", bool(holds) if judged else None, evidence)


def _all(tally: Tally) -> Iterator[tuple[str, bool, str]]:
    yield _unbiased(tally)
    yield _too_high(tally)
    yield _by_popularity(tally)
    yield _favours(tally)
    yield _disliked(tally)
    yield _spread(tally)


def _unbiased(tally: Tally) -> tuple[str, bool, str]:
    scores = {
        (loop, recommender, metric): tally.z(loop, recommender, metric, KNOWN)
        for loop in PURE
        for recommender in dict.fromkeys([*BESIDE, loop.recommender])
        for metric in METRICS
    }
    worst = max(scores, key=lambda key: abs(scores[key]))
    return (
        (
            "where only what is liked is consumed, ips with known P stays at the truth in all loops, recommenders and "
            f"metrics (within {LIMIT:g} standard errors over all rounds)"
        ),
        abs(scores[worst]) < LIMIT,
        (
            f"{len(scores)} combinations; the farthest is {scores[worst]:+.1f} standard errors off, {worst[2]} of "
            f"{worst[1]} with lists of {worst[0]}"
        ),
    )


def _too_high(tally: Tally) -> tuple[str, bool, str]:
    least = {
        loop: min(map(score, tally.error(loop, loop.recommender, RECALL, NAIVE).T), default=np.nan) for loop in LOOPS
    }
    return (
        f"the naive {RECALL} of the recommender that shows the lists is too high in every round of every loop",
        min(least.values()) > ERRORS,
        "least mean error of a round, in standard errors: " + _listed(least),
    )


def _by_popularity(tally: Tally) -> tuple[str, bool, str]:
    off = {loop: tally.error(loop, loop.recommender, RECALL, POPULARITY_RATIO).mean(axis=1) for loop in LOOPS}
    return (
        (
            f"propensities from popularity leave the {RECALL} of the recommender that shows the lists too high in "
            "every loop: the log's counts do not tell who was shown what"
        ),
        min(map(score, off.values())) > ERRORS,
        "mean error left, of the naive one: "
        + "; ".join(
            f"{loop} {each.mean():+.3f} of {tally.error(loop, loop.recommender, RECALL, NAIVE).mean():+.3f}"
            for loop, each in off.items()
        ),
    )


def _favours(tally: Tally) -> tuple[str, bool, str]:
    loop = LOOPS[0]
    off = {
        method: (tally.error(loop, LEARNT, RECALL, method) - tally.error(loop, "popular", RECALL, method)).mean(axis=1)
        for method in (NAIVE, KNOWN)
    }
    return (
        f"with lists of popular, the naive average makes the lead of {LEARNT} over popular in {RECALL} too small",
        score(off[NAIVE]) < -ERRORS,
        (
            f"error of the lead, mean over rounds: naive {off[NAIVE].mean():+.3f} ({score(off[NAIVE]):+.1f} s.e.), ips "
            f"with known P {off[KNOWN].mean():+.3f} ({score(off[KNOWN]):+.1f} s.e.)"
        ),
    )


def _disliked(tally: Tally) -> tuple[str, bool, str]:
    loop = LOOPS[-1]
    errors = tally.error(loop, loop.recommender, RECALL, KNOWN)
    moved = errors[:, -1] - errors[:, 0]
    return (
        (
            f"where a tenth of what is looked at and not liked is consumed too, ips with known P is too high for the "
            f"{RECALL} of the recommender that shows the lists, and more so in the last round than in the first"
        ),
        score(errors.mean(axis=1)) > ERRORS and score(moved) > ERRORS,
        f"error {_ends(errors)}; last less first {moved.mean():+.3f} ({score(moved):+.1f} s.e.)",
    )


def _spread(tally: Tally) -> tuple[str, bool, str]:
    moved = {loop: tally.head(loop)[:, -1] - tally.head(loop)[:, 0] for loop in PURE}
    return (
        "lists of popular raise the head's share of the log, and random lists lower it",
        score(moved[PURE[0]]) > ERRORS and score(moved[PURE[-1]]) < -ERRORS,
        "last less first: " + "; ".join(f"{loop} {each.mean():+.3f}" for loop, each in moved.items()),
    )


def score(values: Floats) -> float:
    """The mean over replications, in its standard errors."""
    mean = Mean.of(values)
    return mean.value / mean.error if mean.error else np.nan


def _listed(values: dict[Loop, float]) -> str:
    return "; ".join(f"{loop} {value:.1f}" for loop, value in values.items())
