"""Users who like some of 40 items, a random sample of ten labelled items per user, and two models."""

from typing import Any

import numpy as np

from unskew.data import Interactions, Split
from unskew.evaluation import Report, evaluate
from unskew.ranking import MatrixScorer

USERS, ITEMS, DRAWN = 60, 40, 10
POOLED = "ure(aggregate=pooled)"


def exposed_world(
    *, users: int = USERS, share: float = 0.25, drawn: int = DRAWN, unseen: bool = False
) -> tuple[Split, dict[str, MatrixScorer]]:
    """Return a split of exposed items, and two models.

    ``sharp`` puts two liked items of each user first and the rest in random order; ``broad`` puts all items that no one
    likes last, and the others in random order. So ``sharp`` is better at the top and ``broad`` further down.

    Parameters
    ----------
    users : int
    share : float
        Mean share of the items that a user likes, at most 1/2.
    drawn : int
        Exposed items per user.
    unseen : bool
        Whether items of the user's training rows are not drawn and are not candidates.
    """
    rng = np.random.default_rng(3)
    likely = np.where(np.arange(ITEMS) < ITEMS // 2, 2 * share, 0.0)
    likes = rng.random((users, ITEMS)) < likely
    sharp, broad = rng.random((users, ITEMS)), rng.random((users, ITEMS)) + (likely > 0)
    rows, seen = [], []
    for user in range(users):
        liked = np.flatnonzero(likes[user])
        sharp[user, liked[:2]] += 1
        seen += [(user, item) for item in rng.choice(ITEMS, 4, replace=False)]
        pool = np.setdiff1d(np.arange(ITEMS), [item for who, item in seen if who == user] if unseen else [])
        rows += [(user, item, int(likes[user, item])) for item in rng.choice(pool, drawn, replace=False)]
    train = Interactions.from_arrays(*np.array(seen).T, n_users=users, n_items=ITEMS)
    who, what, labels = np.array(rows).T
    test = Interactions.from_arrays(who, what, labels, n_users=users, n_items=ITEMS)
    split = Split(train, test, candidates="unseen" if unseen else "all", exposed=True)
    return split, {"sharp": MatrixScorer(sharp), "broad": MatrixScorer(broad)}


def judge_exposed(
    *, metrics: tuple[str, ...] = ("recall@2",), estimators: tuple[str, ...] = ("traditional", POOLED), **world: Any
) -> Report:
    """Return the report on that world."""
    split, models = exposed_world(**world)
    return evaluate(models, split, metrics=metrics, estimators=estimators)
