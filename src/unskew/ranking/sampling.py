"""Seeded draws that depend on the user and the item alone, never on blocks or threads."""

from typing import Any

import numpy as np
from numba import njit, uint64

from unskew.arrays import Ints

_GOLDEN = uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True, inline="always")
def _mix(state: Any) -> Any:
    """Finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    z = uint64(state)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@njit(nogil=True, cache=True)
def random_keys(seed: int, users: Ints, n_items: int) -> Ints:
    """A key for each (user, item), which orders ties at random."""
    keys = np.empty((users.shape[0], n_items), np.uint64)
    for r in range(users.shape[0]):
        base = _mix(uint64(seed) * _GOLDEN + uint64(users[r]) + uint64(1))
        for j in range(n_items):
            keys[r, j] = _mix(base + uint64(j + 1) * _GOLDEN)
    return keys


@njit(nogil=True, cache=True)
def draw_outside(seed: int, users: Ints, offsets: Ints, items: Ints, n: int, n_items: int) -> tuple[Ints, Ints]:
    """Draw n items a user without replacement from outside ``items[offsets[r]:offsets[r + 1]]``.

    All outside items are taken when there are no more than n.

    Returns
    -------
    drawn_offsets, drawn : array
        Items of row r, ascending.
    """
    free = np.ones(n_items, np.bool_)
    rows = users.shape[0]
    drawn_offsets = np.zeros(rows + 1, np.int64)
    for r in range(rows):
        inside = 0
        for j in range(offsets[r], offsets[r + 1]):
            if free[items[j]]:
                inside += 1
                free[items[j]] = False
        drawn_offsets[r + 1] = drawn_offsets[r] + min(n, n_items - inside)
        for j in range(offsets[r], offsets[r + 1]):
            free[items[j]] = True
    drawn = np.empty(drawn_offsets[-1], np.int32)
    pool = np.empty(n_items, np.int32)
    for r in range(rows):
        for j in range(offsets[r], offsets[r + 1]):
            free[items[j]] = False
        state = _mix(~(uint64(seed) * _GOLDEN + uint64(users[r])))  # another stream than the keys of ties
        want = drawn_offsets[r + 1] - drawn_offsets[r]
        size = 0
        for j in range(n_items):
            if free[j]:
                pool[size] = j
                size += 1
        for k in range(want):  # the first places of a Fisher-Yates shuffle
            state = uint64(state + _GOLDEN)
            pick = k + np.int64(_mix(state) % uint64(size - k))
            pool[k], pool[pick] = pool[pick], pool[k]
        drawn[drawn_offsets[r] : drawn_offsets[r + 1]] = np.sort(pool[:want])
        for j in range(offsets[r], offsets[r + 1]):
            free[items[j]] = True
    return drawn_offsets, drawn
