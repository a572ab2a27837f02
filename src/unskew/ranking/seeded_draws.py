"""Seeded draws that depend only on the user and the item, not on blocks or threads."""

from typing import Any

import numpy as np
from numba import uint64

from unskew.arrays import Ints
from unskew.compiling import njit

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
    """Draw n items per user without replacement from outside ``items[offsets[r]:offsets[r + 1]]``.

    If there are at most n outside items, all are drawn. If most items are outside, unsuitable draws are repeated, which
    takes about n steps per user; otherwise the outside items are listed and shuffled.

    Parameters
    ----------
    seed : int
    users : array
        Codes, which determine the draws together with the seed.
    offsets, items : array
        Items of each row, all different.
    n, n_items : int

    Returns
    -------
    drawn_offsets, drawn : array
        Drawn items of each row, ascending.
    """
    rows = users.shape[0]
    drawn_offsets = np.zeros(rows + 1, np.int64)
    for r in range(rows):
        outside = n_items - (offsets[r + 1] - offsets[r])
        drawn_offsets[r + 1] = drawn_offsets[r] + min(n, outside)
    drawn = np.empty(drawn_offsets[-1], np.int32)
    taken_by = np.full(n_items, -1, np.int32)  # the last row that has or drew an item, so no clearing is needed
    pool = np.empty(n_items, np.int32)
    for r in range(rows):
        for j in range(offsets[r], offsets[r + 1]):
            taken_by[items[j]] = r
        state = mix(~(uint64(seed) * GOLDEN + uint64(users[r])))  # a different stream from that of the tie keys
        row_drawn = drawn[drawn_offsets[r] : drawn_offsets[r + 1]]
        if 2 * (offsets[r + 1] - offsets[r] + row_drawn.size) <= n_items:
            _draw_again(state, taken_by, r, row_drawn)
        else:
            _shuffle(state, taken_by, r, pool, row_drawn)
        row_drawn.sort()
    return drawn_offsets, drawn


@njit(nogil=True, cache=True)
def _draw_again(state: Any, taken_by: Ints, row: int, drawn: Ints) -> None:
    """Draw from all items until enough are new; at least half of the draws are."""
    done = 0
    while done < drawn.size:
        state = uint64(state + GOLDEN)
        item = np.int64(mix(state) % uint64(taken_by.size))
        if taken_by[item] != row:
            taken_by[item] = row
            drawn[done] = item
            done += 1


@njit(nogil=True, cache=True)
def _shuffle(state: Any, taken_by: Ints, row: int, pool: Ints, drawn: Ints) -> None:
    """Draw with the first steps of a Fisher-Yates shuffle of the outside items."""
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
    """The union of two lists of items per row, ascending."""
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
