"""A small world whose positives can be halved in every way, for tests of runs set side by side."""

from itertools import combinations

import numpy as np

from unskew import Interactions, Report, Split, evaluate
from unskew.ranking import MatrixScorer

USERS, ITEMS, POSITIVES = 8, 14, 4
METRICS = ("adg@5", "recall@5", "ndcg@5", "ndcg", "map", "mrr", "hit@5", "precision@5", "auc(of=negatives)")
SCORES = np.random.default_rng(3).permuted(np.tile(np.arange(float(ITEMS)), (USERS, 1)), axis=1)
HELD_OUT = np.array(
    [np.random.default_rng(user).choice(np.arange(2, ITEMS), POSITIVES, False) for user in range(USERS)]
)


def split_of(kept: tuple[int, ...] = tuple(range(POSITIVES)), users: range = range(USERS), **options: object) -> Split:
    """The same train, and so many of each user's four positives."""
    train = Interactions.from_arrays(
        np.repeat(np.arange(USERS), 2), np.tile([0, 1], USERS), n_users=USERS, n_items=ITEMS
    )
    rows = np.repeat(np.array(users), len(kept)), HELD_OUT[users.start : users.stop, list(kept)].ravel()
    test = Interactions.from_arrays(*rows, n_users=USERS, n_items=ITEMS)
    return Split(train, test, **options)  # type: ignore[arg-type]


def judge(kept: tuple[int, ...] = tuple(range(POSITIVES)), **options: object) -> Report:
    """A run on a part of the positives."""
    wanted = {"metrics": METRICS, "estimators": ["aoa"], **options}
    return evaluate({"m": MatrixScorer(SCORES)}, split_of(kept), **wanted)  # type: ignore[arg-type]


def mean_over_parts(metric: str, size: int) -> float:
    """What a metric is on average over all parts of that size, by trying them all."""
    parts = list(combinations(range(POSITIVES), size))
    values = [judge(part, metrics=[metric]).value("m", metric, "aoa") for part in parts]
    return float(np.mean([value for value in values if value is not None]))
