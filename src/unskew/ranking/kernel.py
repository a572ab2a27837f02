"""The inner loops of ranking: they count the candidates above and tied with held-out items. Arrays in, arrays out.

Scores are compared, never sorted: for each held-out item one pass counts the candidates above it and those equal
to it. Four thresholds share a pass, and counters are 32-bit, so the loop compiles to vector compares. The items that a
user has seen are subtracted afterwards, which is much faster than masking them.
"""

from typing import Any

import numpy as np
from numba import int32, int64, uint64

from unskew.arrays import Bools, Ints, Matrix
from unskew.compiling import njit


@njit(nogil=True, cache=True)
def _count_four(row: Matrix, t0: float, t1: float, t2: float, t3: float) -> tuple[Any, ...]:
    # int32() around each sum: numba would widen the counters to 64 bits and halve the speed
    a0 = a1 = a2 = a3 = int32(0)
    e0 = e1 = e2 = e3 = int32(0)
    for j in range(row.shape[0]):
        s = row[j]
        a0 = int32(a0 + int32(s > t0))
        e0 = int32(e0 + int32(s >= t0))
        a1 = int32(a1 + int32(s > t1))
        e1 = int32(e1 + int32(s >= t1))
        a2 = int32(a2 + int32(s > t2))
        e2 = int32(e2 + int32(s >= t2))
        a3 = int32(a3 + int32(s > t3))
        e3 = int32(e3 + int32(s >= t3))
    return a0, a1, a2, a3, e0, e1, e2, e3


@njit(nogil=True, cache=True)
def _count_two(row: Matrix, t0: float, t1: float) -> tuple[Any, ...]:
    a0 = a1 = int32(0)
    e0 = e1 = int32(0)
    for j in range(row.shape[0]):
        s = row[j]
        a0 = int32(a0 + int32(s > t0))
        e0 = int32(e0 + int32(s >= t0))
        a1 = int32(a1 + int32(s > t1))
        e1 = int32(e1 + int32(s >= t1))
    return a0, a1, e0, e1


@njit(nogil=True, cache=True)
def _count_row(row: Matrix, held: Matrix, first: int, above: Ints, level: Ints, sign: int) -> None:
    """Add the numbers above and level with each of the `held` scores to above[first:] and level[first:], times sign."""
    n = held.shape[0]
    k = 0
    while n - k > 2:
        fourth = min(k + 3, n - 1)
        a0, a1, a2, a3, e0, e1, e2, e3 = _count_four(row, held[k], held[k + 1], held[k + 2], held[fourth])
        above[first + k] += sign * a0
        level[first + k] += sign * e0
        above[first + k + 1] += sign * a1
        level[first + k + 1] += sign * e1
        above[first + k + 2] += sign * a2
        level[first + k + 2] += sign * e2
        if k + 3 < n:
            above[first + k + 3] += sign * a3
            level[first + k + 3] += sign * e3
        k += 4
    if k < n:
        a0, a1, e0, e1 = _count_two(row, held[k], held[n - 1])
        above[first + k] += sign * a0
        level[first + k] += sign * e0
        if k + 1 < n:
            above[first + k + 1] += sign * a1
            level[first + k + 1] += sign * e1


@njit(nogil=True, cache=True)
def _widest(offsets: Ints) -> int:
    widest = 0
    for r in range(offsets.shape[0] - 1):
        widest = max(widest, offsets[r + 1] - offsets[r])
    return widest


@njit(nogil=True, cache=True)
def count_ranks(scores: Matrix, offsets: Ints, items: Ints, seen_offsets: Ints, seen: Ints) -> tuple[Ints, Ints]:
    """Count, per held-out item, the candidates above it and the others tied with it.

    Parameters
    ----------
    scores : array (users, items)
        One row per user of the block.
    offsets, items : array
        The held-out columns of row r are ``items[offsets[r]:offsets[r + 1]]``, offsets counted from the first.
    seen_offsets, seen : array
        Columns that are excluded, in the same form; they must not be held out.

    Returns
    -------
    above, tied : array of int32, aligned with items
    """
    start = offsets[0]
    above = np.zeros(offsets[-1] - start, np.int32)
    tied = np.zeros(offsets[-1] - start, np.int32)
    held = np.empty(_widest(offsets), scores.dtype)
    history = np.empty(_widest(seen_offsets), scores.dtype)
    for r in range(scores.shape[0]):
        row = scores[r]
        first = offsets[r] - start
        n = offsets[r + 1] - offsets[r]
        for k in range(n):
            held[k] = row[items[offsets[r] + k]]
        m = seen_offsets[r + 1] - seen_offsets[r]
        for j in range(m):
            history[j] = row[seen[seen_offsets[r] + j]]
        _count_row(row, held[:n], first, above, tied, 1)
        _count_row(history[:m], held[:n], first, above, tied, -1)
        for k in range(first, first + n):
            tied[k] -= above[k] + 1  # level counts the item itself
    return above, tied


@njit(nogil=True, cache=True)
def count_ranks_among(
    scores: Matrix, offsets: Ints, items: Ints, among_offsets: Ints, among: Ints
) -> tuple[Ints, Ints]:
    """Like `count_ranks`, with a list of the candidates of each row, which must include the held-out items."""
    start = offsets[0]
    above = np.empty(offsets[-1] - start, np.int32)
    tied = np.empty(offsets[-1] - start, np.int32)
    for r in range(scores.shape[0]):
        row = scores[r]
        for k in range(offsets[r] - start, offsets[r + 1] - start):
            t = row[items[start + k]]
            a = int32(0)
            e = int32(-1)  # not the item itself
            for j in range(among_offsets[r], among_offsets[r + 1]):
                s = row[among[j]]
                a = int32(a + int32(s > t))
                e = int32(e + int32(s >= t))
            above[k] = a
            tied[k] = e - a
    return above, tied


@njit(nogil=True, cache=True)
def count_list_ranks(
    listed_offsets: Ints,
    listed: Ints,
    scores: Matrix,
    places: Ints,
    offsets: Ints,
    items: Ints,
    seen_offsets: Ints,
    seen: Ints,
    candidates: Ints,
    n_items: int,
) -> tuple[Ints, Ints, Ints]:
    """Count ranks in top-N lists: items that are not listed are tied below the list.

    Parameters
    ----------
    listed_offsets, listed, scores : array
        The lists: columns of the model and their scores, any order; a repeated column counts once, where it is first.
    places : array
        The place of each column of the model in the catalogue, -1 if it is not a candidate; empty if it is the column.
    offsets, items, seen_offsets, seen : array
        As in `count_ranks`; seen items are excluded wherever they are listed.
    candidates : array of int32
        How many candidates each row has.
    n_items : int
        Size of the catalogue.

    Returns
    -------
    above, tied, listed : array of int32, aligned with items
        `listed` is the number of candidates in the row's list.
    """
    start = offsets[0]
    n = offsets[-1] - start
    above = np.empty(n, np.int32)
    tied = np.empty(n, np.int32)
    length = np.empty(n, np.int32)
    kept = np.empty(_widest(listed_offsets) + 1, scores.dtype)
    spots = np.empty(_widest(offsets), np.int32)
    moved = places.shape[0] > 0
    notes = np.full(
        n_items, -1, np.int32
    )  # of each item, if at least `base`: not to count, or which held-out item it is
    base = int64(0)
    for r in range(offsets.shape[0] - 1):
        first = offsets[r] - start
        n_held = offsets[r + 1] - offsets[r]
        for j in range(seen_offsets[r], seen_offsets[r + 1]):
            notes[seen[j]] = base
        for k in range(n_held):
            notes[items[offsets[r] + k]] = base + 1 + k
            spots[k] = -1
        m = uint64(0)
        in_order = True
        before = np.inf
        for j in range(uint64(listed_offsets[r]), uint64(listed_offsets[r + 1])):
            place = int64(listed[j])
            if moved:
                place = int64(places[uint64(place)])
                if place < 0:
                    continue
            note = notes[uint64(place)]
            if note >= base:
                if note == base:
                    continue
                spots[note - base - 1] = m
            notes[uint64(place)] = base
            score = scores[j]
            in_order &= score < before
            before = score
            kept[m] = score
            m += uint64(1)
        base += n_held + 1
        for k in range(n_held):
            length[first + k] = m
            if spots[k] < 0:
                above[first + k] = m
                tied[first + k] = candidates[r] - int64(m) - 1
            elif in_order:
                above[first + k] = spots[k]
                tied[first + k] = 0
            else:
                t = kept[spots[k]]
                a = int32(0)
                e = int32(0)
                for j in range(m):
                    a = int32(a + int32(kept[j] > t))
                    e = int32(e + int32(kept[j] >= t))
                above[first + k] = a
                tied[first + k] = e - a - 1
    return above, tied, length


@njit(nogil=True, cache=True)
def count_before(scores: Matrix, is_candidate: Bools, offsets: Ints, items: Ints, keys: Ints) -> Ints:
    """Count, per held-out item, the candidates tied with it whose key is smaller; keys are (users, items)."""
    start = offsets[0]
    before = np.zeros(offsets[-1] - start, np.int32)
    for r in range(scores.shape[0]):
        for k in range(offsets[r] - start, offsets[r + 1] - start):
            item = items[start + k]
            count = int32(0)
            for j in range(scores.shape[1]):
                smaller = (scores[r, j] == scores[r, item]) & (keys[r, j] < keys[r, item])
                count = int32(count + int32(smaller & is_candidate[r, j]))
            before[k] = count
    return before


@njit(nogil=True, cache=True)
def first_not_finite(scores: Matrix) -> tuple[int, int]:
    """Row and column of the first NaN or infinity, or (-1, -1)."""
    for r in range(scores.shape[0]):
        row = scores[r]
        bad = int32(0)
        for j in range(row.shape[0]):
            bad = int32(bad + int32(row[j] - row[j] != 0))  # NaN unless finite, and NaN differs from 0
        if bad:
            for j in range(row.shape[0]):
                if row[j] - row[j] != 0:
                    return r, j
    return -1, -1


@njit(nogil=True, cache=True)
def hash_rows(words: Ints) -> Ints:
    """A 64-bit hash of each row of 32-bit words; equal rows have equal hashes."""
    mixers = np.empty(words.shape[1], np.uint64)
    mixer = uint64(0x9E3779B97F4A7C15)
    for j in range(mixers.shape[0]):
        mixer = mixer * uint64(0xD1342543DE82EF95) + uint64(1)
        mixers[j] = mixer | uint64(1)
    hashes = np.empty(words.shape[0], np.uint64)
    for r in range(words.shape[0]):
        row = words[r]
        total = uint64(0)
        for j in range(row.shape[0]):
            total += uint64(row[j]) * mixers[j]
        hashes[r] = total
    return hashes
