"""The inner loop of chances whose log-odds are a part of the user plus a part of the item. Arrays in, arrays out."""

import numpy as np
from numba import uint64

from unskew.arrays import Floats, Matrix
from unskew.compiling import njit


@njit(nogil=True, cache=True)
def sigmoid_of_sums(of_users: Floats, of_items: Floats) -> Matrix:
    """1 / (1 + a b) for each a of a user and b of an item, in 32 bits; the exponentials are taken before."""
    n: int = of_items.shape[0]
    chances = np.empty((of_users.shape[0], n), np.float32)
    for r in range(of_users.shape[0]):
        of_user, row = of_users[r], chances[r]
        for j in range(uint64(n)):
            row[j] = np.float32(1.0 / (1.0 + of_user * of_items[j]))
    return chances
