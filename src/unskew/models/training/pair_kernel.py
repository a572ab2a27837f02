"""Compiled steps on single pairs: each one draws a positive and a violator, and moves three vectors."""

from typing import Any

from numba import float32, float64, uint64

from unskew.arrays import Floats, Ints, Matrix
from unskew.compiling import njit
from unskew.models.training.gradient_kernel import FAST, below, holds
from unskew.ranking.seeded_draws import GOLDEN, mix

_UNIT = 1 / 2**53


@njit(nogil=True, cache=True, inline="always")
def _place(cumulative: Floats, first: int, last: int, state: Any) -> Any:
    """A place of a stretch, drawn in proportion to its weights, whose running sum ends at 1."""
    x = float64(mix(state) >> uint64(11)) * _UNIT
    low, high = first, last - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True, inline="always", fastmath=FAST, error_model="numpy")
def _dot(a: Matrix, b: Matrix) -> Any:
    total = float32(0)
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def take_steps(
    users: Matrix, items: Matrix, bias: Matrix, drawn: Ints, offsets: Ints, members: Ints, owners: Ints,
    cumulative: Floats, pairs: bool, key: int, first: int, count: int, rate: Any, penalty: Any, costs: Matrix,
    outside: bool,
) -> tuple[float, int, int]:  # fmt: skip
    """Take steps first to first + count - 1 in place; the draws of step t depend only on the key and t.

    Parameters
    ----------
    users, items, bias : Matrix
    drawn : Ints
        What is drawn first: users, or places in `members`.
    offsets, members, owners : Ints
        Each user's items, ascending, and the user of each.
    cumulative : Floats
        Running sums of weights that end at 1: of each user's, or of all of `drawn`; empty to draw uniformly.
    pairs : bool
        Whether a (user, item) pair is drawn at once, instead of a user and then one of the user's items.
    key, first, count : int
    rate, penalty : float32
    costs : Matrix
        c for a violator found at the first, second, ... draw; after the last one the step is skipped.
    outside : bool
        Whether a violator must be outside the user's history; else any item but the positive.

    Returns
    -------
    loss, violations, draws
        The sum of costs times hinges, how many steps found a violator, and how many items were drawn.
    """
    n_items, d = items.shape
    weighted = cumulative.shape[0] > 0
    keep = float32(1) - rate * penalty
    loss, violations, draws = 0.0, 0, 0
    for t in range(first, first + count):
        state = mix(uint64(key) + uint64(t + 1) * GOLDEN)
        if pairs:
            n = drawn.shape[0]
            place = drawn[_place(cumulative, 0, n, state) if weighted else below(state, n)]
            u = owners[place]
            start, stop = offsets[u], offsets[u + 1]
        else:
            u = drawn[below(state, drawn.shape[0])]
            start, stop = offsets[u], offsets[u + 1]
            state = uint64(state + GOLDEN)
            place = _place(cumulative, start, stop, state) if weighted else start + below(state, stop - start)
        i = members[place]
        person, good = users[u], items[i]
        score = _dot(person, good) + bias[i]
        for k in range(costs.shape[0]):
            state = uint64(state + GOLDEN)
            if outside:
                v = below(state, n_items)
                while holds(members, start, stop, v):
                    state = uint64(state + GOLDEN)
                    v = below(state, n_items)
            else:
                v = below(state, n_items - 1)
                v += v >= i
            draws += 1
            bad = items[v]
            margin = score - _dot(person, bad) - bias[v]
            if not margin < float32(1):
                continue
            c = rate * costs[k]
            for f in range(d):
                x, y, z = person[f], good[f], bad[f]
                person[f] = keep * x + c * (y - z)
                good[f] = keep * y + c * x
                bad[f] = keep * z - c * x
            bias[i] += c
            bias[v] -= c
            loss += costs[k] * (float32(1) - margin)
            violations += 1
            break
    return loss, violations, draws
