"""Where a model puts the held items of each user, and what that is worth when all labels are known."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unskew.arrays import Bools, Floats, Ints, Matrix
from unskew.ranking import Scorer
from unskew.studies.wang2024.biased import BiasedLog

BLOCK = 256
TIES = 2024
"""Seed of the order of items with the same score."""


def places(scores: Scorer | Matrix, held: Bools) -> npt.NDArray[np.int32]:
    """The rank from 0 of each held item among the user's held items, -1 elsewhere.

    Items with the same score stand in a random order, the same for all users and models.

    Parameters
    ----------
    scores : Scorer or array (users, items)
    held : array of bool, users by items
    """
    mixed = np.random.default_rng(TIES).permutation(held.shape[1])
    found = np.full(held.shape, -1, dtype=np.int32)
    for start in range(0, len(held), BLOCK):
        users = np.arange(start, min(start + BLOCK, len(held)))
        block = scores[users] if isinstance(scores, np.ndarray) else scores.score(users)
        keys = np.where(held[users], -np.asarray(block), np.inf)[:, mixed]
        order = mixed[np.argsort(keys, axis=1, kind="stable")]
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
        found[users] = np.where(held[users], ranks, -1)
    return found


def full_recall(ranks: npt.NDArray[np.int32], log: BiasedLog, ks: Sequence[int]) -> tuple[Floats, Floats]:
    """Recall@K over all held items, for each K: the mean over users with a positive, and that over positive pairs.

    Parameters
    ----------
    ranks : array (users, items)
        As `places` gives them.
    log : BiasedLog
    ks : sequence of int
    """
    found, relevant = hits(ranks, log, ks)
    any_ = relevant > 0
    macro = (found[any_] / relevant[any_, None]).mean(axis=0)
    return np.asarray(macro), np.asarray(found.sum(axis=0) / relevant.sum())


def hits(ranks: npt.NDArray[np.int32], log: BiasedLog, ks: Sequence[int]) -> tuple[Floats, Floats]:
    """How many of each user's positives stand among the first K, for each K (columns), and how many there are."""
    users, items = np.nonzero(log.relevant)
    cut = np.asarray(ks)
    order = np.argsort(cut, kind="stable")
    bins = np.searchsorted(cut[order], ranks[users, items], side="right")  # place < K counts from the first such K
    table = np.bincount(users * (len(cut) + 1) + bins, minlength=log.world.n_users * (len(cut) + 1))
    counts = table.reshape(log.world.n_users, len(cut) + 1)
    found = np.empty((log.world.n_users, len(cut)))
    found[:, order] = counts.cumsum(axis=1)[:, :-1]
    return found, counts.sum(axis=1).astype(np.float64)


def full_dcg(ranks: npt.NDArray[np.int32], log: BiasedLog, k: int) -> tuple[Floats, Floats]:
    """DCG@K of each user over all held items, and the ideal one."""
    users, items = np.nonzero(log.relevant)
    gains = discounts(ranks[users, items], k)
    found = np.bincount(users, weights=gains, minlength=log.world.n_users)
    relevant = np.bincount(users, minlength=log.world.n_users)
    reached = np.concatenate([[0.0], np.cumsum(discounts(np.arange(k), k))])
    return np.asarray(found), reached[np.minimum(relevant, k)]


def discounts(above: Ints | Floats, k: int) -> Floats:
    """1 / log2(rank + 1) with the rank from 1, and 0 beyond K."""
    return np.asarray(np.where(above < k, 1 / np.log2(np.maximum(above, 0) + 2.0), 0.0))
