"""Sums by user, in one pass and a fixed order, so that they are the same on every machine."""

import numpy as np
from numba import njit

from unskew.arrays import Floats, Ints


@njit(nogil=True, cache=True)
def group_sum(user: Ints, values: Floats, n: int) -> Floats:
    """Sum of values for each of n users; fastest if the rows are sorted by user."""
    sums = np.zeros(n)
    total = 0.0
    current = 0
    for row in range(user.shape[0]):
        if user[row] != current:
            sums[current] += total
            total = 0.0
            current = user[row]
        total += values[row]
    if n:
        sums[current] += total
    return sums


@njit(nogil=True, cache=True)
def group_size(user: Ints, n: int) -> Ints:
    """Number of rows of each of n users."""
    sizes = np.zeros(n, np.int64)
    for row in range(user.shape[0]):
        sizes[user[row]] += 1
    return sizes


@njit(nogil=True, cache=True)
def group_mean(user: Ints, values: Floats, n: int) -> Floats:
    """Mean of values for each of n users; NaN for one without rows."""
    sums = group_sum(user, values, n)
    counts = group_size(user, n)
    for place in range(n):
        sums[place] = sums[place] / counts[place] if counts[place] else np.nan
    return sums


@njit(nogil=True, cache=True)
def resampled_sums(drawn: Ints, columns: Floats) -> Floats:
    """Sum of each column over the users of each draw, shape (draws, columns).

    A matrix product would be faster, but its last bit depends on its shape and on the processor.

    Parameters
    ----------
    drawn : array of int (draws, users)
        Users drawn with replacement.
    columns : array (users, columns)
    """
    users, width = columns.shape
    sums = np.zeros((drawn.shape[0], width))
    for draw in range(drawn.shape[0]):
        times = np.zeros(users, np.int64)
        for place in range(drawn.shape[1]):
            times[drawn[draw, place]] += 1
        for user in range(users):
            if times[user]:
                for column in range(width):
                    sums[draw, column] += times[user] * columns[user, column]
    return sums
