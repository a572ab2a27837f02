"""The inner loops of sums over all candidates: chances in the order of the ranking. Arrays in, arrays out.

The chances of a user's candidates are written in the order of the ranking. Tied candidates share their chances: under
expected ties each place of the group gets their mean, so a sum over places of chance times gain is exact.
"""

from typing import Any

import numpy as np
from numba import int32, int64, uint32, uint64

from unskew.arrays import Bools, Floats, Ints, Matrix
from unskew.compiling import njit
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
def _put(row: Matrix, columns: Ints, value: float) -> None:
    for j in columns:
        row[j] = value


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
    row: Matrix, chances: Matrix, candidates: int, policy: int, ordered: Ints, groups: Ints, finite: int, placed: Floats
) -> None:
    """Write the chances of all candidates in the order of the ranking; `finite` of them have a finite score."""
    _gather(chances, ordered, finite, placed)
    for g in range(groups.shape[0]):
        first, end = groups[g, 0], groups[g, 1]
        total = 0.0
        for k in range(first, end):
            total += placed[k]
        _share(placed, first, end, total, policy)
    if finite < candidates:
        _place_unscored(row, chances, finite, candidates, policy, placed)


@njit(nogil=True, cache=True)
def _place_top(
    row: Matrix,
    chances: Matrix,
    candidates: int,
    policy: int,
    depth: int,
    edge: Any,
    ordered: Ints,
    rest: bool,
    placed: Floats,
) -> None:
    """Write the chances of the best candidates in the order of the ranking, and of the `rest` in any order."""
    first, count = 0, ordered.shape[0]
    while first < count:
        score = row[ordered[first]]
        total, end = 0.0, first
        while end < count and row[ordered[end]] == score:
            total += chances[ordered[end]]
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


@njit(nogil=True, cache=True)
def _order_top(row: Matrix, depth: int, lowest: Any, work: tuple[Matrix, Matrix, Ints]) -> tuple[Any, Any]:
    """The columns of the best candidates of a row, best first, and the lowest score among them."""
    maxima, scores, columns = work
    reached, edge = contenders(row, depth, lowest, maxima, scores, columns)
    count = int64(reached)
    for m in range(count):
        scores[m] = -row[columns[m]]
    return columns[:count][np.argsort(scores[:count], kind="mergesort")], edge


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
    placed: Floats, tables: tuple[Floats, Ints, Bools], size: int, length: int, longest: int, gains: float, sums: Floats
) -> None:
    """Sums of chance times gain by table; that of the longest is known."""
    table, table_offsets, cut = tables
    for t in range(cut.shape[0]):
        if t != longest:
            end = min(table_offsets[t + 1] - table_offsets[t], min(size, length) if cut[t] else size)
            sums[t] = _dot(placed, table[table_offsets[t] : table_offsets[t] + end])
    if longest >= 0:
        sums[longest] = gains


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
def _sum_by_pairs(
    scores: Matrix,
    chances: Matrix,
    r: int,
    size: int,
    lowest: Any,
    policy: int,
    table: Floats,
    by_step: Floats,
    needed: int,
    work: tuple[Any, ...],
    placed: Floats,
) -> tuple[Any, Any, Any, Any]:
    """`sum_pairs` of a row with ties shared; the first chances in the order of the ranking are written."""
    after = min(r + 1, scores.shape[0] - 1)
    ahead = scores[after], chances[after]
    suits, mass, places, gains = sum_pairs(scores[r], chances[r], size, lowest, by_step, ahead, work)
    if suits:
        of_ties = _share_pairs(work[3], work[4], size, policy, table, min(needed, size), placed)
        places, gains = places + of_ties[0], gains + of_ties[1]
    return suits, mass, places, gains


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

    A row is sorted once for all chances.

    Parameters
    ----------
    scores : array (rows, columns)
        It is written to.
    chances : array (chances, rows, columns)
        It is written to.
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
    mass, some, places, sums, values : array (chances, rows, ...)
        The sum of the chances, the chance that at least one is relevant, the sum of chance times place (if `linear`),
        sums by table, values by list.
    lengths : array of int64 (rows,)
        Number of candidates in the list of each row, or a smaller number of at least `depth` if that is not 0.
    outside : array of int64 (chances, rows)
        How many chances are not in [0, 1]; the other results are then meaningless.
    """
    table, table_offsets, cut = tables
    n_rows, n = scores.shape
    n_chances, n_lists = chances.shape[0], lists[2].shape[0]
    mass, some, places = np.empty((n_chances, n_rows)), np.empty((n_chances, n_rows)), np.zeros((n_chances, n_rows))
    sums = np.zeros((n_chances, n_rows, cut.shape[0]))
    values = np.zeros((n_chances, n_rows, n_lists))
    lengths, outside = np.empty(n_rows, np.int64), np.empty((n_chances, n_rows), np.int64)
    lowest = np.finfo(scores.dtype).min
    sorting = work_space(scores)
    placed = sorting[2].view(np.float64)  # no further array, because all of them should fit into the cache of a core
    longest, needed = _lengths_of_tables(table_offsets, cut, n)
    of_longest = table[table_offsets[longest] : table_offsets[longest + 1]] if longest >= 0 else table[:0]
    paired = depth == 0 and n_lists == 0 and FEWEST <= n <= MOST and n_chances == 1
    paired = paired and scores.itemsize == 4 and chances.itemsize == 4
    pairing = pair_space(n if paired else 0)
    by_step = arranged(of_longest, n if paired else 0)
    top = np.empty(n // SHORTEST + 1, scores.dtype), np.empty(n + 1, scores.dtype), np.empty(n + 1, np.int32)
    gains = 0.0
    for r in range(n_rows):
        row, size = scores[r], candidates[r]
        out = excluded[excluded_offsets[r] : excluded_offsets[r + 1]]
        _put(row, out, -np.inf)
        for c in range(n_chances):
            _put(chances[c, r], out, 0)
        suits, finite, n_groups, order, edge = False, size, 0, top[2][:0], lowest
        if paired:
            suits, mass[0, r], places[0, r], gains = _sum_by_pairs(
                scores, chances[0], r, size, lowest, policy, of_longest, by_step, needed, pairing, placed
            )
            outside[0, r] = 0
        if not suits and depth == 0:
            finite, n_groups = sort_row(row, lowest, sorting)
        elif not suits:
            order, edge = _order_top(row, depth, lowest, top)
            finite = order.shape[0]
        lengths[r] = 0 if not known[r] else finite if listed else size
        for c in range(n_chances):
            of_row = chances[c, r]
            if not suits:
                mass[c, r], outside[c, r] = _mass(of_row)
                if depth == 0:
                    _place_all(row, of_row, size, policy, sorting[0], sorting[1][:n_groups], finite, placed)
                else:
                    _place_top(row, of_row, size, policy, depth, edge, order, n_lists > 0, placed)
                places[c, r], gains = _sum_long(placed, of_longest, size, linear)
            some[c, r] = _some(of_row, mass[c, r])
            _sum_tables(placed, tables, size, lengths[r], longest, gains, sums[c, r])
            expect_values(placed[:size], lengths[r], lists, values[c, r])
    return mass, some, places, sums, values, lengths, outside
