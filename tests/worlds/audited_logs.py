"""A log of eight rows and models of it, for tests of audits."""

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
