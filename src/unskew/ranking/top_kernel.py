"""The inner loops of top-k: the best items of each row of a block of scores. Arrays in, arrays out.

A row is read once: the largest score of each short stretch gives a floor that k scores reach, and only stretches that
reach it are read again. Minus infinity is never chosen.
"""

from typing import Any

import numpy as np
from numba import int32, uint64

from unskew.arrays import Floats, Ints, Matrix
from unskew.compiling import njit
from unskew.ranking.seeded_draws import GOLDEN, mix

SHORTEST = 8  # scores per stretch
_HALVINGS = 16


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "reassoc"})
def _stretch_maxima(row: Matrix, width: int, maxima: Matrix) -> Any:
    # the flags let the compiler reorder comparisons: scores have no NaN; unsigned places cannot wrap around
    n = row.shape[0]
    stretches = (n + width - 1) // width
    for g in range(stretches):
        start = uint64(g * width)
        best = row[start]
        for j in range(uint64(min(width, n - g * width))):
            score = row[start + uint64(j)]
            best = max(best, score)
        maxima[g] = best
    return stretches


@njit(nogil=True, cache=True)
def _kth_largest(values: Matrix, n: int, k: int) -> Any:
    """The k-th largest of values[:n], which are reordered."""
    low, high, place = 0, n - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@njit(nogil=True, cache=True)
def _reach(values: Matrix, n: int, floor: Any) -> Any:
    reach = int32(0)
    for j in range(uint64(n)):
        reach = int32(reach + int32(values[j] >= floor))
    return reach


@njit(nogil=True, cache=True)
def _floor(maxima: Matrix, n: int, k: int, lowest: Any, work: Matrix) -> Any:
    """A finite number that at least k of the maxima reach, and few more; the lowest number if fewer are finite.

    Bisection counts in whole vectors, while a selection would mispredict branches; selection is the fallback if
    bisection fails.
    """
    low, high = maxima[0], maxima[0]
    for g in range(uint64(n)):
        low = min(low, maxima[g])
        high = max(high, maxima[g])
    if n < k or high < lowest:
        return lowest
    low = max(low, lowest)
    for _ in range(_HALVINGS):
        middle = low + (high - low) * type(low)(0.5)
        reach = _reach(maxima, n, middle)
        if k <= reach <= k + k // 4:
            return middle
        if reach >= k:
            low = middle
        else:
            high = middle
    for g in range(n):
        work[g] = maxima[g]
    return max(_kth_largest(work, n, k), lowest)


@njit(nogil=True, cache=True)
def contenders(row: Matrix, k: int, lowest: Any, maxima: Matrix, work: Matrix, places: Ints) -> tuple[Any, Any]:
    """Write the places of all scores that are at least the k-th best, in order; return their number and that score.

    `lowest` is the smallest finite number of the scores' own type, so that comparisons stay in that type.
    """
    n = row.shape[0]
    width = min(max(n // (16 * k), SHORTEST), 64)
    stretches = _stretch_maxima(row, width, maxima)
    floor = _floor(maxima, stretches, k, lowest, work)
    count = uint64(0)
    for g in range(uint64(stretches)):
        if maxima[g] >= floor:
            for j in range(uint64(g * uint64(width)), uint64(min((int(g) + 1) * width, n))):
                places[count] = j
                work[count] = row[j]
                count += uint64(row[j] >= floor)
    if count <= k:
        return int(count), floor
    edge = _kth_largest(work, int(count), k)
    kept = 0
    for m in range(count):
        places[kept] = places[m]
        kept += int(row[places[m]] >= edge)
    return kept, edge


@njit(nogil=True, cache=True)
def _hide(row: Matrix, hidden: Ints) -> None:
    for j in hidden:
        row[j] = -np.inf


@njit(nogil=True, cache=True)
def count_top(scores: Matrix, hidden_offsets: Ints, hidden: Ints, k: int) -> tuple[Ints, Floats]:
    """How often each column is among the k best of a row; columns tied for the last places share them evenly.

    Parameters
    ----------
    scores : array (rows, columns)
        Without NaN; it is written to. Minus infinity is never among the best.
    hidden_offsets, hidden : array
        Excluded columns of each row.
    k : int

    Returns
    -------
    tuple
        By column, in how many rows it is among the best for certain, and the sum of its shares in ties.
    """
    n = scores.shape[1]
    sure = np.zeros(n, np.int64)
    shared = np.zeros(n, np.float64)
    maxima = np.empty(n // SHORTEST + 1, scores.dtype)
    work = np.empty(n + 1, scores.dtype)
    places = np.empty(n + 1, np.int32)
    lowest = np.finfo(scores.dtype).min
    for r in range(scores.shape[0]):
        row = scores[r]
        _hide(row, hidden[hidden_offsets[r] : hidden_offsets[r + 1]])
        count, edge = contenders(row, k, lowest, maxima, work, places)
        if count <= k:
            for m in range(count):
                sure[places[m]] += 1
            continue
        above = 0
        for m in range(count):
            above += int(row[places[m]] > edge)
        share = (k - above) / (count - above)
        for m in range(count):
            if row[places[m]] > edge:
                sure[places[m]] += 1
            else:
                shared[places[m]] += share
    return sure, shared


@njit(nogil=True, cache=True)
def list_top(scores: Matrix, hidden_offsets: Ints, hidden: Ints, k: int) -> Ints:
    """The k best columns of each row, best first and ties in the order of the columns; -1 if there are fewer.

    Parameters are those of `count_top`.
    """
    n = scores.shape[1]
    best = np.full((scores.shape[0], k), np.int32(-1), np.int32)
    maxima = np.empty(n // SHORTEST + 1, scores.dtype)
    work = np.empty(n + 1, scores.dtype)
    places = np.empty(n + 1, np.int32)
    lowest = np.finfo(scores.dtype).min
    for r in range(scores.shape[0]):
        row = scores[r]
        _hide(row, hidden[hidden_offsets[r] : hidden_offsets[r + 1]])
        count, edge = contenders(row, k, lowest, maxima, work, places)
        above = 0
        for m in range(count):
            above += int(row[places[m]] > edge)
        room = k - above if count > k else count
        listed = 0
        for m in range(count):
            level = row[places[m]] == edge
            if level and room == 0:
                continue
            room -= int(level)
            work[listed] = -row[places[m]]
            best[r, listed] = places[m]
            listed += 1
        order = np.argsort(work[:listed], kind="mergesort")  # stable, so ties stay in the order of the columns
        best[r, :listed] = best[r, :listed][order]
    return best


@njit(nogil=True, cache=True)
def draw_top(scores: Matrix, hidden_offsets: Ints, hidden: Ints, k: int, seed: int, users: Ints) -> Ints:
    """The k best columns of each row, best first and ties in a random order; -1 if there are fewer.

    The order of ties depends on the seed, the user and the column alone, with the same keys as `random_keys`; so the
    first places of a list are those of a shorter one. The other parameters are those of `count_top`.
    """
    n = scores.shape[1]
    best = np.full((scores.shape[0], k), np.int32(-1), np.int32)
    maxima = np.empty(n // SHORTEST + 1, scores.dtype)
    work = np.empty(n + 1, scores.dtype)
    places = np.empty(n + 1, np.int32)
    keys = np.empty(n + 1, np.uint64)
    tied_keys = np.empty(n + 1, np.uint64)
    lowest = np.finfo(scores.dtype).min
    for r in range(scores.shape[0]):
        row = scores[r]
        _hide(row, hidden[hidden_offsets[r] : hidden_offsets[r + 1]])
        count, edge = contenders(row, k, lowest, maxima, work, places)
        base = mix(uint64(seed) * GOLDEN + uint64(users[r]) + uint64(1))
        tied = 0
        for m in range(count):
            keys[m] = mix(base + uint64(places[m] + 1) * GOLDEN)
            if row[places[m]] == edge:
                tied_keys[tied] = keys[m]
                tied += 1
        if count > k:  # of many ties, only those with the smallest keys are sorted
            room = int(tied) - int(count) + int(k)
            last = np.partition(tied_keys[:tied], room - 1)[room - 1]
            kept = 0
            for m in range(count):
                if row[places[m]] > edge or keys[m] <= last:
                    places[kept], keys[kept] = places[m], keys[m]
                    kept += 1
            count = kept
        by_key = np.argsort(keys[:count])
        for m in range(count):
            work[m] = -row[places[by_key[m]]]
        order = np.argsort(work[:count], kind="mergesort")  # stable, so ties stay in the order of the keys
        for m in range(count):
            best[r, m] = places[by_key[order[m]]]
    return best
