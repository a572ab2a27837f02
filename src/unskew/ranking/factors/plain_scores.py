"""`fused_scores`: the scores of the kernel, bit by bit, with NumPy; for runs that end before a compiler is loaded."""

import numpy as np

from unskew.arrays import Matrix


def fused_scores(users: Matrix, items: Matrix, constants: Matrix) -> Matrix:
    """Scores of 32 bits, each a sum in the order of the factors with one rounding per step.

    A product of two numbers of 32 bits is exact in 64 bits, but its sum with a third one is not, and rounding it twice
    may differ from rounding it once. So the sum in 64 bits is rounded to odd: if it is not exact, the neighbour with
    an odd last bit is taken, from which rounding to 32 bits is right (Boldo and Melquiond 2008).

    Parameters
    ----------
    users, items : array of float32 (rows, d)
    constants : array of float32
        What the sums of each item begin with; empty for 0.
    """
    scores = np.zeros((len(users), len(items)), np.float32)
    scores[:] = constants if len(constants) else 0.0
    for user, item in zip(users.T.astype(np.float64), items.T.astype(np.float64), strict=True):
        product, before = user[:, None] * item, scores.astype(np.float64)
        total = product + before
        from_before = total - product
        lost = (product - (total - from_before)) + (before - from_before)  # exactly what rounding took (Knuth)
        bits = total.view(np.int64)
        away = np.where((lost > 0) == (total > 0), 1, -1)  # the next number, away from zero or towards it
        bits += np.where((lost != 0) & (bits % 2 == 0), away, 0)
        scores = total.astype(np.float32)
    return scores
