"""Seeded draws that depend on the user and the item alone, never on blocks or threads."""

from typing import Any

import numpy as np
from numba import njit, uint64

from unskew.arrays import Ints

GOLDEN = uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True, inline="always")
def mix(state: Any) -> Any:
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
        base = mix(uint64(seed) * GOLDEN + uint64(users[r]) + uint64(1))
        for j in range(n_items):
            keys[r, j] = mix(base + uint64(j + 1) * GOLDEN)
    return keys


@njit(nogil=True, cache=True)
def draw_outside(seed: int, users: Ints, offsets: Ints, items: Ints, n: int, n_items: int) -> tuple[Ints, Ints]:
    """Draw n items a user without replacement from outside ``items[offsets[r]:offsets[r + 1]]``.

    All outside items are taken when there are no more than n. Where most items may still be drawn, one that may not
    is drawn again, which costs about n steps a user; else the outside items are listed and shuffled.

    Parameters
    ----------
    seed : int
    users : array
        Codes, which decide the draws together with the seed.
    offsets, items : array
        Items of row r, all different.
    n, n_items : int

    Returns
    -------
    drawn_offsets, drawn : array
        Items of row r, ascending.
    """
    rows = users.shape[0]
    drawn_offsets = np.zeros(rows + 1, np.int64)
    for r in range(rows):
        outside = n_items - (offsets[r + 1] - offsets[r])
        drawn_offsets[r + 1] = drawn_offsets[r] + min(n, outside)
    drawn = np.empty(drawn_offsets[-1], np.int32)
    taken_by = np.full(n_items, -1, np.int32)  # the last row that has or drew an item, so nothing need be cleared
    pool = np.empty(n_items, np.int32)
    for r in range(rows):
        for j in range(offsets[r], offsets[r + 1]):
            taken_by[items[j]] = r
        state = mix(~(uint64(seed) * GOLDEN + uint64(users[r])))  # another stream than the keys of ties
        own = drawn[drawn_offsets[r] : drawn_offsets[r + 1]]
        if 2 * (offsets[r + 1] - offsets[r] + own.size) <= n_items:
            _draw_again(state, taken_by, r, own)
        else:
            _shuffle(state, taken_by, r, pool, own)
        own.sort()
    return drawn_offsets, drawn


@njit(nogil=True, cache=True)
def _draw_again(state: Any, taken_by: Ints, row: int, drawn: Ints) -> None:
    """Draw from all items until enough are new; at least half of the draws are."""
    found = 0
    while found < drawn.size:
        state = uint64(state + GOLDEN)
        item = np.int64(mix(state) % uint64(taken_by.size))
        if taken_by[item] != row:
            taken_by[item] = row
            drawn[found] = item
            found += 1


@njit(nogil=True, cache=True)
def _shuffle(state: Any, taken_by: Ints, row: int, pool: Ints, drawn: Ints) -> None:
    """Take the first places of a Fisher-Yates shuffle of the outside items."""
    size = 0
    for item in range(taken_by.size):
        if taken_by[item] != row:
            pool[size] = item
            size += 1
    for k in range(drawn.size):
        state = uint64(state + GOLDEN)
        pick = k + np.int64(mix(state) % uint64(size - k))
        pool[k], pool[pick] = pool[pick], pool[k]
        drawn[k] = pool[k]


@njit(nogil=True, cache=True)
def join_rows(offsets: Ints, items: Ints, more_offsets: Ints, more: Ints) -> tuple[Ints, Ints]:
    """Join two lists of items a row, ascending and each item once."""
    rows = offsets.size - 1
    joined_offsets = np.zeros(rows + 1, np.int64)
    joined = np.empty(items.size + more.size, np.int32)
    size = 0
    for r in range(rows):
        first, last = items[offsets[r] : offsets[r + 1]], more[more_offsets[r] : more_offsets[r + 1]]
        both = joined[size : size + first.size + last.size]
        both[: first.size] = first
        both[first.size :] = last
        both.sort()
        kept = min(both.size, 1)
        for j in range(1, both.size):
            if both[j] != both[kept - 1]:
                both[kept] = both[j]
                kept += 1
        size += kept
        joined_offsets[r + 1] = size
    return joined_offsets, joined[:size].copy()
