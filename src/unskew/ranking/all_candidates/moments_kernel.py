"""The inner loops of moments over all candidates: ranks of every candidate, and sums of products of gains."""

from typing import Any

import numpy as np
from numba import uint32

from unskew.arrays import Floats, Ints, Matrix
from unskew.compiling import njit
from unskew.ranking.all_candidates.sort_kernel import sort_row, work_space


@njit(nogil=True, cache=True)
def rank_rows(scores: Matrix, excluded_offsets: Ints, excluded: Ints, candidates: Ints) -> tuple[Ints, Ints, Ints]:
    """Rank all candidates of each row.

    Parameters
    ----------
    scores : array (rows, columns)
        It is written to.
    excluded_offsets, excluded : array
        Excluded columns of each row.
    candidates : array
        How many candidates each row has.

    Returns
    -------
    above, tied : array of int32 (rows, columns)
        How many candidates are above each candidate and tied with it; `above` is -1 for excluded columns.
    finite : array of int64
        How many candidates of each row have a finite score.
    """
    n_rows, n = scores.shape
    above, tied = np.empty((n_rows, n), np.int32), np.zeros((n_rows, n), np.int32)
    finite = np.empty(n_rows, np.int64)
    lowest = np.finfo(scores.dtype).min
    work = work_space(scores)
    ordered, groups = work[0], work[1]
    for r in range(n_rows):
        out = excluded[excluded_offsets[r] : excluded_offsets[r + 1]]
        for j in out:
            scores[r, j] = -np.inf
        finite[r], n_groups = sort_row(scores[r], lowest, work)
        for k in range(n):
            column = uint32(ordered[k])
            above[r, column] = min(k, finite[r])
            if k >= finite[r]:
                tied[r, column] = candidates[r] - finite[r] - 1
        for g in range(n_groups):
            first, end = groups[g, 0], groups[g, 1]
            for k in range(first, end):
                above[r, uint32(ordered[k])] = first
                tied[r, uint32(ordered[k])] = end - first - 1
        for j in out:
            above[r, j] = -1
    return above, tied, finite


@njit(nogil=True, cache=True)
def _choose(above: Ints, row: int, ends: Ints, columns: Ints) -> Any:
    """Write the columns of a row that are above the end of some model; return their number."""
    count = 0
    for j in range(above.shape[2]):
        inside = False
        for m in range(above.shape[0]):
            place = above[m, row, j]
            inside |= place >= 0 and place < ends[m]
        columns[count] = j
        count += int(inside)
    return count


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _add(gains: Floats, weights: Floats, first: Floats, second: Floats) -> None:
    """Add the sums of weight times gain, and of weight times two gains."""
    for m in range(gains.shape[0]):
        of_model = gains[m]
        total = 0.0
        for k in range(weights.shape[0]):
            total += weights[k] * of_model[k]
        first[m] += total
        for other in range(m + 1):
            of_other = gains[other]
            total = 0.0
            for k in range(weights.shape[0]):
                total += weights[k] * of_model[k] * of_other[k]
            second[m, other] += total
            if other < m:
                second[other, m] += total


@njit(nogil=True, cache=True)
def table_moments(
    above: Ints, tied: Ints, spread: Matrix, table: Floats, sums: Floats, lengths: Ints, divisors: Floats
) -> tuple[Floats, Floats]:
    """First and second moments of gains from a table.

    Parameters
    ----------
    above, tied : array of int32 (models, rows, columns)
        From `rank_rows`, after ties were resolved.
    spread : array (rows, columns)
        The weight of each candidate.
    table, sums : array
        The gain of each place, zero past the end, and its sums from the top.
    lengths : array (models, rows)
        Candidates that are not above this place gain nothing.
    divisors : array (models, rows)
        What the gains are divided by.

    Returns
    -------
    tuple
        The sums of weight times gain, by model, and of weight times two gains, by two models.
    """
    n_models, n_rows, n = above.shape
    first, second = np.zeros(n_models), np.zeros((n_models, n_models))
    columns = np.empty(n + 1, np.int64)
    gains, weights = np.empty((n_models, n)), np.empty(n)
    end = table.shape[0]
    for r in range(n_rows):
        count = _choose(above, r, np.minimum(lengths[:, r], end), columns)
        for k in range(count):
            weights[k] = spread[r, columns[k]]
        for m in range(n_models):
            for k in range(count):
                place, others = above[m, r, columns[k]], tied[m, r, columns[k]]
                if place >= lengths[m, r] or place >= end:
                    gains[m, k] = 0.0
                elif others == 0:
                    gains[m, k] = table[place] / divisors[m, r]
                else:
                    shared = sums[min(place + others + 1, end)] - sums[place]
                    gains[m, k] = shared / (others + 1) / divisors[m, r]
        _add(gains[:, :count], weights[:count], first, second)
    return first, second


@njit(nogil=True, cache=True)
def line_moments(above: Ints, tied: Ints, spread: Matrix, tops: Floats, steps: Floats) -> tuple[Floats, Floats]:
    """First and second moments of gains that are linear in the place; `tops` and `steps` are those of each row."""
    n_models, n_rows, n = above.shape
    first, second = np.zeros(n_models), np.zeros((n_models, n_models))
    columns = np.empty(n + 1, np.int64)
    gains, weights = np.empty((n_models, n)), np.empty(n)
    everywhere = np.full(n_models, n + 1)
    for r in range(n_rows):
        count = _choose(above, r, everywhere, columns)
        for k in range(count):
            weights[k] = spread[r, columns[k]]
            for m in range(n_models):
                middle = above[m, r, columns[k]] + 0.5 * tied[m, r, columns[k]]
                gains[m, k] = tops[r] + steps[r] * middle
        _add(gains[:, :count], weights[:count], first, second)
    return first, second


@njit(nogil=True, cache=True)
def total_of(above: Ints, spread: Matrix) -> float:
    """The sum of the weights of all candidates; `above` is that of any model."""
    total = 0.0
    for r in range(spread.shape[0]):
        for j in range(spread.shape[1]):
            if above[r, j] >= 0:
                total += spread[r, j]
    return total
