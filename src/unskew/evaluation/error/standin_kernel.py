"""Compiled steps of stand-ins: ranks and lists from dense scores of the items that were trained on."""

# mypy: disable-error-code="untyped-decorator"

import numpy as np
from numba import njit

from unskew.arrays import Bools, Floats, Ints


@njit(nogil=True, cache=True)
def add_taste(scores: Floats, first: int, offsets: Ints, items: Ints, liked: Bools, places: Ints, taste: float) -> None:
    """Lift what users like; row k of the scores is the judged user first + k."""
    for k in range(scores.shape[0]):
        for row in range(offsets[first + k], offsets[first + k + 1]):
            place = places[items[row]]
            if liked[row] and place >= 0:
                scores[k, place] += taste


@njit(nogil=True, cache=True)
def leave_out(scores: Floats, first: int, offsets: Ints, items: Ints, places: Ints) -> None:
    """Put what users had already below everything."""
    for k in range(scores.shape[0]):
        for row in range(offsets[first + k], offsets[first + k + 1]):
            place = places[items[row]]
            if place >= 0:
                scores[k, place] = -np.inf


@njit(nogil=True, cache=True)
def rank_rows(
    scores: Floats, first: int, offsets: Ints, items: Ints, places: Ints, candidates: Ints, above: Ints, tied: Ints
) -> None:
    """Where judged rows stand among the user's candidates; rows that are none stand below all of them."""
    for k in range(scores.shape[0]):
        ordered = np.sort(scores[k])
        for row in range(offsets[first + k], offsets[first + k + 1]):
            place = places[items[row]]
            if place < 0:
                above[row], tied[row] = candidates[first + k], 0
                continue
            after = np.searchsorted(ordered, scores[k, place], side="right")
            before = np.searchsorted(ordered, scores[k, place], side="left")
            above[row], tied[row] = len(ordered) - after, after - before - 1


@njit(nogil=True, cache=True)
def mark_top(scores: Floats, length: int, listed: Bools) -> None:
    """Mark each user's first places; ties take a place more."""
    width = scores.shape[1]
    for k in range(scores.shape[0]):
        edge = np.sort(scores[k])[max(width - length, 0)]
        for place in range(width):
            listed[k, place] = scores[k, place] >= edge and scores[k, place] > -np.inf
