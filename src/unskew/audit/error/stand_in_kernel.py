"""Compiled loops of stand-ins: ranks and lists from dense scores of the items that were trained on."""

# mypy: disable-error-code="untyped-decorator"

import numpy as np

from unskew.arrays import Bools, Floats, Ints, Matrix
from unskew.compiling import njit


@njit(nogil=True, cache=True)
def add_taste(scores: Matrix, first: int, offsets: Ints, items: Ints, liked: Bools, places: Ints, taste: float) -> None:
    """Raise the scores of liked items; row k of the scores is the judged user first + k."""
    for k in range(scores.shape[0]):
        for row in range(offsets[first + k], offsets[first + k + 1]):
            place = places[items[row]]
            if liked[row] and place >= 0:
                scores[k, place] += taste


@njit(nogil=True, cache=True)
def leave_out(scores: Matrix, first: int, offsets: Ints, items: Ints, places: Ints) -> None:
    """Put items that users had already below all others."""
    for k in range(scores.shape[0]):
        for row in range(offsets[first + k], offsets[first + k + 1]):
            place = places[items[row]]
            if place >= 0:
                scores[k, place] = -np.inf


@njit(nogil=True, cache=True)
def rank_rows(
    scores: Matrix,
    ordered: Matrix,
    first: int,
    rows: Ints,
    users: Ints,
    items: Ints,
    places: Ints,
    candidates: Ints,
    above: Ints,
    tied: Ints,
) -> None:
    """The ranks of some judged rows among the user's candidates; rows that are not candidates rank below all.

    `ordered` are the scores in ascending order. Rows of users who are not among those of the scores are skipped.
    """
    width = scores.shape[1]
    for j in range(len(rows)):
        row = rows[j]
        k = users[row] - first
        if k < 0 or k >= scores.shape[0]:
            continue
        place = places[items[row]]
        if place < 0:
            above[row], tied[row] = candidates[users[row]], 0
            continue
        score, low, high = scores[k, place], 0, width
        while low < high:
            middle = (low + high) // 2
            if ordered[k, middle] < score:
                low = middle + 1
            else:
                high = middle
        after = low + 1
        while after < width and ordered[k, after] == score:
            after += 1
        above[row], tied[row] = width - after, after - low - 1


@njit(nogil=True, cache=True)
def mean_listed(scores: Matrix, edges: Matrix, weights: Floats) -> float:
    """The sum over users of the mean weight of items that score at least the user's edge."""
    total = 0.0
    for k in range(scores.shape[0]):
        inside, listed = 0.0, 0
        for place in range(scores.shape[1]):
            if scores[k, place] >= edges[k] and scores[k, place] > -np.inf:
                inside += weights[place]
                listed += 1
        total += inside / max(listed, 1)
    return total


@njit(nogil=True, cache=True)
def both_listed(one: Matrix, edges: Matrix, other: Matrix, other_edges: Matrix) -> int:
    """Number of places that two sets of lists have in common."""
    both = 0
    for k in range(one.shape[0]):
        for place in range(one.shape[1]):
            if one[k, place] >= edges[k] and other[k, place] >= other_edges[k]:
                both += one[k, place] > -np.inf and other[k, place] > -np.inf
    return both
