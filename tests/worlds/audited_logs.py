"""Logs and models for tests of audits."""

import numpy as np

from unskew import Interactions
from unskew.ranking import MatrixScorer

USERS, ITEMS = ["u0", "u1", "u2", "u3"], ["a", "b", "c", "d"]


def tiny() -> Interactions:
    """Item a has 4 rows, b 2, c and d 1 each: head, middle, tail and tail."""
    users = ["u0", "u0", "u0", "u1", "u1", "u2", "u2", "u3"]
    return Interactions.from_arrays(users, ["a", "b", "c", "a", "b", "a", "d", "a"])


def scorer(*row: float) -> MatrixScorer:
    """The same scores of a, b, c and d for everybody."""
    return MatrixScorer(np.tile(np.array(row, dtype=float), (4, 1)), user_ids=USERS, item_ids=ITEMS)


def flat_log(users: int = 40, items: int = 60, rows: int = 6, seed: int = 0) -> Interactions:
    """A log in which every item has as many rows."""
    rng = np.random.default_rng(seed)
    who = [rng.choice(users, rows, replace=False) for _ in range(items)]
    return Interactions.from_arrays(np.concatenate(who), np.repeat(np.arange(items), rows))


def skewed_log(users: int = 120, items: int = 60, seed: int = 0) -> Interactions:
    """A log with a long tail, times and ratings."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, items + 1)
    picked = [rng.choice(items, 8, replace=False, p=chance / chance.sum()) for _ in range(users)]
    return Interactions.from_arrays(
        np.repeat(np.arange(users), 8),
        np.concatenate(picked),
        values=rng.integers(1, 6, 8 * users),
        times=rng.permutation(8 * users),
    )
