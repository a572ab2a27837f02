"""The order of a row of scores, best first. Arrays in, arrays out.

Each score is assigned to one of four million cells of equal width. Two passes of a counting sort order the cells, and
only the few scores that share a cell are compared. The order is exact.
"""

from typing import Any

import numpy as np
from numba import int32, uint32, uint64

from unskew.arrays import Ints, Matrix
from unskew.compiling import njit

BITS = 11  # of one pass
_CELLS = 1 << (2 * BITS)
_SAMPLED = 1024  # scores that decide the width of the cells
_STRIDE = 64  # entries that are compared with their neighbours at once
_FEW = 48  # scores in one cell that are sorted by insertion


@njit(nogil=True, cache=True)
def _range_of_sample(row: Matrix, lowest: Any) -> tuple[Any, Any]:
    """The smallest and the largest finite score of some; few others are outside, and share a cell with the nearest."""
    step = max(row.shape[0] // _SAMPLED, 1)
    smallest, largest = -lowest, lowest
    for j in range(0, row.shape[0], step):
        largest = max(largest, row[j])
        smallest = min(smallest, row[j] if row[j] >= lowest else -lowest)
    return smallest, largest


@njit(nogil=True, cache=True)
def _assign(row: Matrix, largest: Any, scale: Any, last: Any, lowest: Any, cells: Ints) -> None:
    first = type(last)(0)
    n: int = row.shape[0]
    for j in range(uint64(n)):
        score = row[j]
        cell = min(max((largest - score) * scale, first), last)
        cells[j] = int32(cell) if score >= lowest else int32(_CELLS - 1)


@njit(nogil=True, cache=True)
def _assign_cells(row: Matrix, lowest: Any, cells: Ints) -> None:
    """Write the cell of each score, larger scores first; the last cell is for minus infinity only."""
    smallest, largest = _range_of_sample(row, lowest)
    extent = float(largest) - float(smallest)
    steps = (_CELLS - 2) / extent if extent > 0 else 1.0
    if extent < -float(lowest) and steps < -float(lowest):
        _assign(row, largest, type(largest)(steps), type(largest)(_CELLS - 2), lowest, cells)
    else:  # the numbers overflow: one cell, which is then sorted by comparing
        for j in range(row.shape[0]):
            cells[j] = 0 if row[j] >= lowest else _CELLS - 1


@njit(nogil=True, cache=True)
def _count(cells: Ints, low_starts: Ints, high_starts: Ints) -> None:
    """Write where the entries of each low digit and of each high digit begin."""
    mask = uint32((1 << BITS) - 1)
    low_starts[:] = 0
    high_starts[:] = 0
    n: int = cells.shape[0]
    for j in range(uint64(n)):
        cell = uint32(cells[j])
        low_starts[cell & mask] += uint32(1)
        high_starts[cell >> uint32(BITS)] += uint32(1)
    low = high = uint32(0)
    for digit in range(uint64(1 << BITS)):
        number = low_starts[digit]
        low_starts[digit] = low
        low += number
        number = high_starts[digit]
        high_starts[digit] = high
        high += number


@njit(nogil=True, cache=True)
def _by_low_digit(cells: Ints, starts: Ints, entries: Ints) -> None:
    mask = uint32((1 << BITS) - 1)
    n: int = cells.shape[0]
    for j in range(uint64(n)):
        cell = uint32(cells[j])
        place = starts[cell & mask]
        starts[cell & mask] = place + uint32(1)
        entries[place] = (uint64(cell) << uint64(32)) | j


@njit(nogil=True, cache=True)
def _by_high_digit(entries: Ints, starts: Ints, ordered: Ints) -> None:
    shift = uint64(32 + BITS)
    n: int = entries.shape[0]
    for j in range(uint64(n)):
        entry = entries[j]
        place = starts[entry >> shift]
        starts[entry >> shift] = place + uint32(1)
        ordered[place] = entry


@njit(nogil=True, cache=True)
def _sort_cell(row: Matrix, entries: Ints) -> None:
    """Sort entries of one cell by their scores, best first and ties as they are."""
    if entries.shape[0] <= _FEW:
        for k in range(1, entries.shape[0]):
            entry = entries[k]
            score = row[uint32(entry)]
            hole = k
            while hole > 0 and row[uint32(entries[hole - 1])] < score:
                entries[hole] = entries[hole - 1]
                hole -= 1
            entries[hole] = entry
        return
    below = np.empty(entries.shape[0], row.dtype)
    rising = False
    for k in range(entries.shape[0]):
        below[k] = -row[uint32(entries[k])]
        rising |= k > 0 and below[k] < below[k - 1]
    if rising:
        entries[:] = entries[np.argsort(below, kind="mergesort")]


@njit(nogil=True, cache=True)
def _tie_groups(row: Matrix, ordered: Ints, first: int, end: int, groups: Ints, n_groups: int) -> Any:
    """Add the groups of equal scores among these entries; return the new number of groups."""
    k = first
    while k + 1 < end:
        score = row[uint32(ordered[k])]
        last = k + 1
        while last < end and row[uint32(ordered[last])] == score:
            last += 1
        if last - k > 1:
            groups[n_groups, 0], groups[n_groups, 1] = k, last
            n_groups += 1
        k = last
    return n_groups


@njit(nogil=True, cache=True)
def _shares_cell(ordered: Ints, first: int) -> Any:
    """Whether any of the entries from `first` on, one stride of them, has the cell of the entry before it."""
    start = uint64(first)
    equal = uint64(0)
    for k in range(uint64(_STRIDE)):
        above, below = ordered[start + k - uint64(1)] >> uint64(32), ordered[start + k] >> uint64(32)
        equal |= below - above - uint64(1)  # negative if equal; AVX2 has no minimum of 64 bits
    return equal >> uint64(63) != uint64(0)


@njit(nogil=True, cache=True)
def _sort_cells(row: Matrix, ordered: Ints, groups: Ints) -> tuple[Any, Any]:
    """Sort the entries inside each cell; return how many scores are finite and how many groups are tied."""
    finite = ordered.shape[0]
    while finite > 0 and ordered[finite - 1] >> uint64(32) == uint64(_CELLS - 1):
        finite -= 1
    n_groups = 0
    k = 1
    while k < finite:
        if k + _STRIDE <= finite and not _shares_cell(ordered, k):
            k += _STRIDE
            continue
        stop = min(k + _STRIDE, finite)
        while k < stop:
            end = k
            while end < finite and (ordered[k - 1] ^ ordered[end]) < uint64(1 << 32):
                end += 1
            if end > k:
                _sort_cell(row, ordered[k - 1 : end])
                n_groups = _tie_groups(row, ordered, k - 1, end, groups, n_groups)
            k = end + 1
    return finite, n_groups


@njit(nogil=True, cache=True)
def work_space(scores: Matrix) -> tuple[Any, ...]:
    """The arrays that `sort_row` writes to, for rows of these scores: first the entries, the groups and a free one."""
    n = scores.shape[1]
    return (
        np.empty(n, np.uint64),
        np.empty((n // 2 + 1, 2), np.int32),
        np.empty(n, np.uint64),
        np.empty(n, np.int32),
        np.empty(1 << BITS, np.uint32),
        np.empty(1 << BITS, np.uint32),
    )


@njit(nogil=True, cache=True)
def sort_row(row: Matrix, lowest: Any, work: tuple[Any, ...]) -> tuple[Any, Any]:
    """Sort the scores of a row, best first, and find equal scores.

    Parameters
    ----------
    row : array
        Without NaN and plus infinity.
    lowest : float
        The smallest finite number of the type of the scores.
    work : tuple
        From `work_space`. The lower halves of its first array then are the columns in order, those of minus infinity
        last. Its second array has the first entry of each group of equal finite scores, and the one after its last.
        Its third array may be used for anything until the next call.

    Returns
    -------
    tuple
        The number of finite scores and the number of groups.
    """
    ordered, groups, entries, cells, low_starts, high_starts = work
    _assign_cells(row, lowest, cells)
    _count(cells, low_starts, high_starts)
    _by_low_digit(cells, low_starts, entries)
    _by_high_digit(entries, high_starts, ordered)
    return _sort_cells(row, ordered, groups)
