"""Compiled steps of the observation of likes: drawing them, holding out a part, and the probability of that."""

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit

TRAIN, TEST = 1, 2
"""States of a row that was observed; 0 for one that was not."""


@njit(nogil=True, cache=True)
def draw_observed(offsets: Ints, weights: Floats, sizes: Ints, generator: np.random.Generator, state: Ints) -> None:
    """Mark `sizes[u]` rows of each user as observed, drawn one after another in proportion to their weights.

    The first n arrivals of independent exponential times with these rates are such a draw. Without weights all rows of
    a user have the same chance.
    """
    widest = 0
    for u in range(len(offsets) - 1):
        widest = max(widest, offsets[u + 1] - offsets[u])
    times = np.empty(widest)
    for u in range(len(offsets) - 1):
        start, likes, n = offsets[u], offsets[u + 1] - offsets[u], sizes[u]
        if n >= likes:
            state[start : start + likes] = TRAIN
        elif len(weights) == 0:
            needed, left = n, likes
            for k in range(likes):  # each row is one of those needed, with equal chances among those left
                if generator.random() * left < needed:
                    state[start + k] = TRAIN
                    needed -= 1
                left -= 1
        elif n > 0:
            for k in range(likes):
                times[k] = generator.standard_exponential() / weights[start + k]
            last = np.partition(times[:likes], n - 1)[n - 1]
            for k in range(likes):
                if times[k] <= last:
                    state[start + k] = TRAIN


@njit(nogil=True, cache=True)
def hold_out(
    offsets: Ints, state: Ints, extra_offsets: Ints, extra_state: Ints, share: float, generator: np.random.Generator
) -> Ints:
    """Move a share of each user's observed rows, rounded, from train to the test; return their number per user.

    Rows of liked and, in `extra`, of disliked items are drawn together.
    """
    held = np.zeros(len(offsets) - 1, dtype=np.int64)
    for u in range(len(offsets) - 1):
        left = extra_offsets[u + 1] - extra_offsets[u]
        for k in range(offsets[u], offsets[u + 1]):
            left += state[k] == TRAIN
        needed = int(np.rint(share * left))
        held[u] = needed
        for k in range(offsets[u], offsets[u + 1]):
            if state[k] == TRAIN:
                if generator.random() * left < needed:
                    state[k] = TEST
                    needed -= 1
                left -= 1
        for k in range(extra_offsets[u], extra_offsets[u + 1]):
            if generator.random() * left < needed:
                extra_state[k] = TEST
                needed -= 1
            left -= 1
    return held


@njit(nogil=True, cache=True)
def _expected_rows(weights: Floats, time: float) -> tuple[float, float]:
    """Expected number of rows observed by a time, and its derivative."""
    total = slope = 0.0
    for k in range(len(weights)):
        missed = np.exp(-weights[k] * time)
        total += 1 - missed
        slope += weights[k] * missed
    return total, slope


@njit(nogil=True, cache=True)
def solve_time(weights: Floats, wanted: float) -> float:
    """The time by which the given number of rows is expected to be observed, by Newton's method within a bracket."""
    if wanted >= len(weights) * (1 - 1e-12):
        return np.inf
    low, high, time = 0.0, np.inf, wanted / (len(weights) * float(np.max(weights)))
    for _ in range(200):
        total, slope = _expected_rows(weights, time)
        if abs(total - wanted) <= 1e-10 * wanted:
            break
        if total < wanted:
            low = time
        else:
            high = time
        step = time + (wanted - total) / slope if slope > 0 else np.inf
        if not low < step < high:
            step = 2 * time if high == np.inf else 0.5 * (low + high)
        time = step
    return time


@njit(nogil=True, cache=True)
def solve_chances(offsets: Ints, weights: Floats, sizes: Ints, shares: Floats, chances: Floats) -> None:
    """P(in the test | not in train) of every row, given the users' numbers of observed rows and held-out shares."""
    for u in range(len(offsets) - 1):
        start, end, share = offsets[u], offsets[u + 1], shares[u]
        if sizes[u] == 0 or share == 0:
            continue
        time = solve_time(weights[start:end], float(sizes[u]))
        for k in range(start, end):
            missed = np.exp(-weights[k] * time)
            # rounding could make the P of a certain row slightly larger than 1
            chances[k] = min(share * (1 - missed) / (share + (1 - share) * missed), 1.0)


@njit(nogil=True, cache=True)
def _draw_free(reached: Floats, used_by: Ints, user: int, generator: np.random.Generator) -> int:
    """Draw one of the items that the user has not used, in proportion to weight."""
    free = before = 0.0
    for item in range(len(reached)):
        if used_by[item] != user:
            free += reached[item] - before
        before = reached[item]
    target, before = generator.random() * free, 0.0
    for item in range(len(reached)):
        if used_by[item] != user:
            target -= reached[item] - before
            if target < 0:
                return item
        before = reached[item]
    return len(reached)  # by rounding; the caller draws again


@njit(nogil=True, cache=True)
def draw_disliked(
    offsets: Ints, items: Ints, reached: Floats, counts: Ints, generator: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw items that each user does not like, one after another in proportion to their weights, sorted.

    `reached` is the running sum of the weights of all items. If an item is liked or already drawn, the draw is
    repeated; if that happens too often, the weights of the others are added up instead.
    """
    starts = np.append(0, np.cumsum(counts))
    drawn = np.empty(starts[-1], dtype=np.int32)
    used_by = np.full(len(reached), -1, dtype=np.int64)
    for u in range(len(offsets) - 1):
        if counts[u] == 0:
            continue
        for k in range(offsets[u], offsets[u + 1]):
            used_by[items[k]] = u
        place, tries = starts[u], 0
        while place < starts[u + 1]:
            if tries < len(reached):
                item = np.searchsorted(reached, generator.random() * reached[-1], side="right")
            else:
                item = _draw_free(reached, used_by, u, generator)
            tries += 1
            if item < len(reached) and used_by[item] != u:
                used_by[item] = u
                drawn[place] = item
                place += 1
        drawn[starts[u] : starts[u + 1]].sort()
    return starts, drawn
