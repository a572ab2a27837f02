"""Sums by user, in one pass and a fixed order, so that they are the same on every machine."""

from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit


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


@njit(nogil=True, cache=True)
def cross_products(columns: Floats) -> Floats:
    """Sums over users of the products of every two columns; sums of 1,024 users are added up, which rounds less."""
    users, width = columns.shape
    total = np.zeros((width, width))
    part = np.zeros((width, width))
    for user in range(users):
        for i in range(width):
            value = columns[user, i]
            for j in range(i + 1):
                part[i, j] += value * columns[user, j]
        if (user + 1) % 1024 == 0 or user + 1 == users:
            total += part
            part[:] = 0.0
    for i in range(width):
        for j in range(i):
            total[j, i] = total[i, j]
    return total


_POISSON = np.cumsum(np.exp(-1.0) / np.cumprod(np.append(1.0, np.arange(1.0, 20.0))))  # chances of at most 0, 1, ...
_POISSON[-1] = 2.0  # no number in [0, 1) is beyond the last


@njit(nogil=True, cache=True)
def poisson_sums(keys: Ints, columns: Floats, seed: int, first: int, draws: int) -> Floats:
    """Sum of each column with a Poisson weight per user and draw, shape (draws, columns).

    The weight of a user is a hash (SplitMix64) of the seed, the user's key and the number of the draw, so it does not
    depend on the other users.

    Parameters
    ----------
    keys : array of uint64
        A key per user.
    columns : array (users, columns)
    seed : int
    first, draws : int
        Number of the first draw, and how many draws.
    """
    users, width = columns.shape
    sums = np.zeros((draws, width))
    for draw in range(draws):
        stream = _mixed(np.uint64(seed) + np.uint64(first + draw) * np.uint64(0xD1342543DE82EF95))
        for user in range(users):
            share = (_mixed(keys[user] ^ stream) >> np.uint64(11)) * 2.0**-53
            weight = 0
            while share >= _POISSON[weight]:
                weight += 1
            if weight:
                for column in range(width):
                    sums[draw, column] += weight * columns[user, column]
    return sums


@njit(nogil=True, cache=True)
def _mixed(number: Any) -> Any:
    z = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True, cache=True)
def weighted_sums(user: Ints, item: Ints, worth: Floats, weights: Floats, n: int) -> Floats:
    """Sums of weight times worth for each of n users, under several weightings, shape (weightings, n).

    Rows must be sorted by user; the order of each sum is that of `group_sum`.

    Parameters
    ----------
    user, item : array of int
        Of each row.
    worth : array
        Of each row.
    weights : array (items, weightings)
        Of each item.
    n : int
    """
    width = weights.shape[1]
    sums = np.zeros((width, n))
    total = np.zeros(width)
    current = 0
    for row in range(user.shape[0]):
        if user[row] != current:
            for k in range(width):
                sums[k, current] = total[k]
                total[k] = 0.0
            current = user[row]
        weight = weights[item[row]]
        value = worth[row]
        for k in range(width):
            total[k] += weight[k] * value
    if n:
        for k in range(width):
            sums[k, current] = total[k]
    return sums
