"""The inner loops of sums over all candidates: chances in the order of the ranking. Arrays in, arrays out.

The chances of a user's candidates are written in the order of the ranking. Tied candidates share their chances: under
expected ties each place of the group gets their mean, so a sum over places of chance times gain is exact.
"""

from typing import Any

import numpy as np
from numba import int32, int64, njit, uint32, uint64

from unskew.arrays import Bools, Floats, Ints, Matrix
from unskew.ranking.all_candidates.cell_kernel import (
    FEWEST,
    MOST,
    arranged,
    chance_at,
    pair_space,
    sum_pairs,
    tied_from,
)
from unskew.ranking.all_candidates.list_expectation import expect_values
from unskew.ranking.all_candidates.sort_kernel import sort_row, work_space
from unskew.ranking.top_kernel import SHORTEST, contenders

EXPECTED, OPTIMISTIC, PESSIMISTIC = 0, 1, 2
_SMALL = 1e-3
_CERTAIN = 40.0  # exp(-40) does not change 1


@njit(nogil=True, cache=True)
def _exclude(row: Matrix, chances: Matrix, excluded: Ints) -> None:
    for j in excluded:
        row[j] = -np.inf
        chances[j] = 0


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _mass(chances: Matrix) -> tuple[Any, Any]:
    """The sum of the chances, and how many numbers are not in [0, 1]."""
    total, outside = 0.0, int32(0)
    n: int = chances.shape[0]
    for j in range(uint64(n)):
        chance = chances[j]
        outside = int32(outside + int32(not (chance >= 0 and chance <= 1)))
        total += np.float64(chance)
    return total, outside


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _none(chances: Matrix) -> Any:
    """The chance that no item is relevant."""
    none = 1.0
    n: int = chances.shape[0]
    for j in range(uint64(n)):
        none *= 1.0 - np.float64(chances[j])
    return none


@njit(nogil=True, cache=True)
def _some(chances: Matrix, mass: float) -> Any:
    """The chance that at least one item is relevant, to full precision if it is small; `mass` is their sum."""
    if mass >= _CERTAIN:
        return 1.0
    if mass >= _SMALL:
        return 1.0 - _none(chances)
    some = 0.0
    for chance in chances:
        some += chance * (1.0 - some)
    return some


@njit(nogil=True, cache=True)
def _share(placed: Floats, first: int, end: int, total: float, policy: int) -> None:
    """Divide the chances of a tie group between its places."""
    placed[first:end] = total / (end - first) if policy == EXPECTED else 0.0
    if policy == OPTIMISTIC:
        placed[first] = total
    elif policy == PESSIMISTIC:
        placed[end - 1] = total


@njit(nogil=True, cache=True)
def _place_unscored(row: Matrix, chances: Matrix, first: int, candidates: int, policy: int, placed: Floats) -> None:
    """Put the candidates with minus infinity below the others; excluded items have no chance."""
    total = 0.0
    for j in range(row.shape[0]):
        if row[j] == -np.inf:
            total += chances[j]
    _share(placed, first, candidates, total, policy)


@njit(nogil=True, cache=True)
def _gather(chances: Matrix, ordered: Ints, n: int, placed: Floats) -> None:
    for k in range(uint64(n)):
        placed[k] = chances[uint32(ordered[k])]


@njit(nogil=True, cache=True)
def _place_all(
    row: Matrix,
    chances: Matrix,
    candidates: int,
    policy: int,
    lowest: Any,
    work: tuple[Any, ...],
    placed: Floats,
) -> Any:
    """Write the chances of all candidates in the order of the ranking; return how many have a finite score."""
    ordered, groups = work[0], work[1]
    finite, n_groups = sort_row(row, lowest, work)
    _gather(chances, ordered, finite, placed)
    for g in range(n_groups):
        first, end = groups[g, 0], groups[g, 1]
        total = 0.0
        for k in range(first, end):
            total += placed[k]
        _share(placed, first, end, total, policy)
    if finite < candidates:
        _place_unscored(row, chances, finite, candidates, policy, placed)
    return finite


@njit(nogil=True, cache=True)
def _place_top(
    row: Matrix,
    chances: Matrix,
    candidates: int,
    policy: int,
    lowest: Any,
    depth: int,
    maxima: Matrix,
    work: Matrix,
    places: Ints,
    rest: bool,
    placed: Floats,
) -> Any:
    """Write the chances of the best candidates in the order of the ranking, and of the `rest` in any order.

    Returns how many candidates have a finite score, or a smaller number of at least `depth`.
    """
    reached, edge = contenders(row, depth, lowest, maxima, work, places)
    count = int64(reached)
    for m in range(count):
        work[m] = -row[places[m]]
    order = np.argsort(work[:count], kind="mergesort")
    first = 0
    while first < count:
        score = work[order[first]]
        total, end = 0.0, first
        while end < count and work[order[end]] == score:
            total += chances[places[order[end]]]
            end += 1
        _share(placed, first, end, total, policy)
        first = end
    if count < depth and count < candidates:
        _place_unscored(row, chances, count, candidates, policy, placed)
    elif rest:
        end = count
        for j in range(row.shape[0]):
            if row[j] < edge and chances[j] > 0:
                placed[end] = chances[j]
                end += 1
        placed[end:candidates] = 0.0
    return count


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _dot(placed: Floats, table: Floats) -> Any:
    total = 0.0
    n: int = table.shape[0]
    for k in range(uint64(n)):
        total += placed[k] * table[k]
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _sum_places(placed: Floats, n: int) -> Any:
    total = 0.0
    for k in range(uint64(n)):
        total += placed[k] * np.float64(int32(k))
    return total


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _sum_places_and_dot(placed: Floats, table: Floats) -> tuple[Any, Any]:
    """The results of `_sum_places` and `_dot`."""
    places, total = 0.0, 0.0
    n: int = table.shape[0]
    for k in range(uint64(n)):
        places += placed[k] * np.float64(int32(k))
        total += placed[k] * table[k]
    return places, total


@njit(nogil=True, cache=True)
def _sum_long(placed: Floats, of_longest: Floats, size: int, linear: bool) -> tuple[Any, Any]:
    """The sums of chance times place and of chance times gain; 0 if not wanted."""
    if linear and of_longest.shape[0] > 0:
        return _sum_places_and_dot(placed, of_longest[:size])
    if linear:
        return _sum_places(placed, size), 0.0
    return 0.0, _dot(placed, of_longest[:size])


@njit(nogil=True, cache=True)
def _lengths_of_tables(table_offsets: Ints, cut: Bools, n: int) -> tuple[Any, Any]:
    """The last table without an end, or -1, and the length of the longest other table.

    The former shares its pass with the sum of places.
    """
    longest, needed = -1, 0
    for t in range(cut.shape[0]):
        if not cut[t] and table_offsets[t + 1] - table_offsets[t] >= n:
            longest = t
    for t in range(cut.shape[0]):
        if t != longest:
            needed = max(needed, table_offsets[t + 1] - table_offsets[t])
    return longest, needed


@njit(nogil=True, cache=True)
def _sum_tables(
    placed: Floats, tables: tuple[Floats, Ints, Bools], size: int, length: int, longest: int, sums: Floats
) -> None:
    """Sums of chance times gain by table, but not of the longest."""
    table, table_offsets, cut = tables
    for t in range(cut.shape[0]):
        if t != longest:
            end = min(table_offsets[t + 1] - table_offsets[t], min(size, length) if cut[t] else size)
            sums[t] = _dot(placed, table[table_offsets[t] : table_offsets[t] + end])


@njit(nogil=True, cache=True)
def _share_pairs(
    pairs: Ints, marks: Ints, size: int, policy: int, table: Floats, needed: int, placed: Floats
) -> tuple[Any, Any]:
    """Write the first chances in the order of the ranking; return what ties add to the sums of places and of gains."""
    for place in range(needed):
        placed[place] = chance_at(pairs, place)
    of_places, of_gains = 0.0, 0.0
    first, end = tied_from(pairs, marks, size, 0)
    while first < size:
        total = 0.0
        for place in range(first, end):
            total += chance_at(pairs, place)
        favoured = first if policy == OPTIMISTIC else end - 1
        for place in range(first, end):
            share = total / (end - first) if policy == EXPECTED else total if place == favoured else 0.0
            change = share - chance_at(pairs, place)
            of_places += change * place
            if place < table.shape[0]:
                of_gains += change * table[place]
            if place < needed:
                placed[place] = share
        first, end = tied_from(pairs, marks, size, end)
    return of_places, of_gains


@njit(nogil=True, cache=True)
def sum_rows(
    scores: Matrix,
    chances: Matrix,
    excluded_offsets: Ints,
    excluded: Ints,
    candidates: Ints,
    known: Bools,
    listed: bool,
    policy: int,
    depth: int,
    linear: bool,
    tables: tuple[Floats, Ints, Bools],
    lists: tuple[Floats, Ints, Ints, Floats, Ints],
) -> tuple[Floats, Floats, Floats, Floats, Floats, Ints, Ints]:
    """Sum chance times gain over the candidates of each row, and expect the values of its list.

    Parameters
    ----------
    scores, chances : array (rows, columns)
        Both are written to.
    excluded_offsets, excluded : array
        Excluded columns of each row.
    candidates : array
        How many candidates each row has.
    known : array of bool
        Whether the model knows the user of the row; if not, its list is empty.
    listed : bool
        Whether columns without a finite score are outside the list of the row.
    policy : int
        Of ties: `EXPECTED`, `OPTIMISTIC` or `PESSIMISTIC`.
    depth : int
        How many places must be sorted; 0 for all.
    linear : bool
        Whether sums of chance times place are wanted; they need a `depth` of 0.
    tables : tuple
        Tables of gains, one after another, their offsets, and whether each has a cut-off. Tables that are longer than
        `depth` need a `depth` of 0.
    lists : tuple
        See `expect_values`.

    Returns
    -------
    mass, some, places, sums, values : array
        Per row: the sum of the chances, the chance that at least one is relevant, the sum of chance times place (if
        `linear`), sums by table, values by list.
    lengths : array of int64
        Number of candidates in the list of each row, or a smaller number of at least `depth` if that is not 0.
    outside : array of int64
        How many chances of each row are not in [0, 1]; the other results are then meaningless.
    """
    table, table_offsets, cut = tables
    n_rows, n = scores.shape
    mass, some, places = np.empty(n_rows), np.empty(n_rows), np.zeros(n_rows)
    sums = np.zeros((n_rows, cut.shape[0]))
    values = np.zeros((n_rows, lists[2].shape[0]))
    lengths, outside = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    lowest = np.finfo(scores.dtype).min
    sorting = work_space(scores)
    placed = sorting[2].view(np.float64)  # no further array, because all of them should fit into the cache of a core
    longest, needed = _lengths_of_tables(table_offsets, cut, n)
    of_longest = table[table_offsets[longest] : table_offsets[longest + 1]] if longest >= 0 else table[:0]
    paired = depth == 0 and values.shape[1] == 0 and FEWEST <= n <= MOST
    paired = paired and scores.itemsize == 4 and chances.itemsize == 4
    pairing = pair_space(n if paired else 0)
    by_step = arranged(of_longest, n if paired else 0)
    maxima = np.empty(n // SHORTEST + 1, scores.dtype)
    work = np.empty(n + 1, scores.dtype)
    columns = np.empty(n + 1, np.int32)
    for r in range(n_rows):
        row, row_chances, size = scores[r], chances[r], candidates[r]
        _exclude(row, row_chances, excluded[excluded_offsets[r] : excluded_offsets[r + 1]])
        suits, gains = False, 0.0
        if paired:
            ahead = scores[min(r + 1, n_rows - 1)], chances[min(r + 1, n_rows - 1)]
            suits, mass[r], places[r], gains = sum_pairs(row, row_chances, size, lowest, by_step, ahead, pairing)
        if suits:
            finite, outside[r] = size, 0
            of_ties = _share_pairs(pairing[3], pairing[4], size, policy, of_longest, min(needed, size), placed)
            places[r], gains = places[r] + of_ties[0], gains + of_ties[1]
        else:
            mass[r], outside[r] = _mass(row_chances)
            if depth == 0:
                finite = _place_all(row, row_chances, size, policy, lowest, sorting, placed)
            else:
                rest = values.shape[1] > 0
                finite = _place_top(row, row_chances, size, policy, lowest, depth, maxima, work, columns, rest, placed)
            places[r], gains = _sum_long(placed, of_longest, size, linear)
        some[r] = _some(row_chances, mass[r])
        lengths[r] = 0 if not known[r] else finite if listed else size
        _sum_tables(placed, tables, size, lengths[r], longest, sums[r])
        if longest >= 0:
            sums[r, longest] = gains
        if values.shape[1] > 0:
            expect_values(placed[:size], lengths[r], lists, values[r])
    return mass, some, places, sums, values, lengths, outside
