"""One step of stochastic training, compiled: draw a batch, compute the slopes of its loss, update all rows.

A batch is a list of samples, each of one user and `fan` items: entry ``s * fan + q`` is the q-th item of sample s.
A loss gives each entry its slope, the derivative by the entry's score. The rest is the same for all models: rows sum
the slopes of their entries in the order of the batch, so the sum does not depend on the number of threads.
"""

from typing import Any

import numpy as np
from numba import float32, int64, uint64

from unskew.arrays import Ints, Matrix
from unskew.compiling import njit
from unskew.ranking.seeded_draws import GOLDEN, mix

BETA_1, BETA_2, EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)  # Kingma and Ba (2015)
TINY = np.float32(1e-30)  # smaller means of gradients become 0, because numbers near 1e-38 take a hundred times as long
LEAST_DIFFERENCE = np.float32(-30)
FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums may be vectorised, but NaN stays NaN


@njit(nogil=True, cache=True, inline="always")
def below(state: Any, n: int) -> Any:
    """A whole number from 0 to n - 1."""
    return int64(((mix(state) >> uint64(32)) * uint64(n)) >> uint64(32))


@njit(nogil=True, cache=True, inline="always")
def holds(members: Ints, first: int, last: int, item: int) -> Any:
    """Whether a sorted stretch contains an item."""
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if members[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low < last and members[low] == item


@njit(nogil=True, cache=True)
def draw_negatives(
    key: int, offsets: Ints, members: Ints, n_items: int, users: Ints, items: Ints, first: int, last: int
) -> None:
    """Fill all but the first item of samples first to last - 1 with items outside the user's history.

    A draw depends only on the key and the number of its entry, not on the thread.
    """
    fan = items.shape[0] // users.shape[0]
    for s in range(first, last):
        start, stop = offsets[users[s]], offsets[users[s] + 1]
        for e in range(s * fan + 1, (s + 1) * fan):
            state = mix(uint64(key) + uint64(e + 1) * GOLDEN)
            item = below(state, n_items)
            while holds(members, start, stop, item):
                state = uint64(state + GOLDEN)
                item = below(state, n_items)
            items[e] = item


@njit(nogil=True, cache=True)
def draw_strangers(
    key: int, offsets: Ints, members: Ints, n_items: int, users: Ints, items: Ints, first: int, last: int
) -> None:
    """Fill samples first to last - 1 with pairs that are not in the log, uniformly."""
    for s in range(first, last):
        state = mix(uint64(key) + uint64(s + 1) * GOLDEN)
        user = below(state, offsets.shape[0] - 1)
        state = uint64(state + GOLDEN)
        item = below(state, n_items)
        while holds(members, offsets[user], offsets[user + 1], item):
            state = uint64(state + GOLDEN)
            user = below(state, offsets.shape[0] - 1)
            state = uint64(state + GOLDEN)
            item = below(state, n_items)
        users[s] = user
        items[s] = item


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _dot(a: Matrix, b: Matrix) -> Any:
    total = float32(0)
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _distance(a: Matrix, b: Matrix) -> Any:
    total = float32(0)
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) * (a[k] - b[k])
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def slope_pairwise(
    user_rows: Matrix,
    item_rows: Matrix,
    bias: Matrix,
    users: Ints,
    items: Ints,
    slopes: Matrix,
    losses: Matrix,
    first: int,
    last: int,
) -> None:
    """-ln sigma(x_i - x_j), with a difference of at least -30 (Yang et al. 2018, eq. 16 with its sigmoid)."""
    for s in range(first, last):
        i, j = items[2 * s], items[2 * s + 1]
        user = user_rows[users[s]]
        gap = _dot(user, item_rows[i]) + bias[i] - _dot(user, item_rows[j]) - bias[j]
        held = max(gap, LEAST_DIFFERENCE)
        other = np.exp(-np.abs(held))  # at most 1, so there is no overflow
        losses[s] = np.log1p(other) + max(-held, float32(0))
        slope = (other if held > 0 else float32(1)) / (float32(1) + other)
        if gap < LEAST_DIFFERENCE:
            slope = float32(0)
        if not np.isfinite(gap):  # the comparisons above would hide NaN
            losses[s] = float32(np.nan)
        slopes[2 * s] = -slope
        slopes[2 * s + 1] = slope


@njit(nogil=True, cache=True, error_model="numpy")
def slope_hinge(
    user_rows: Matrix,
    item_rows: Matrix,
    bias: Matrix,
    users: Ints,
    items: Ints,
    slopes: Matrix,
    losses: Matrix,
    first: int,
    last: int,
    margin: float,
    weighted: bool,
) -> None:
    """Hinge w [m - x_i + x_j]_+ for the worst of a sample's negatives j, x = bias - squared distance.

    The weight is ln(floor(items * impostors / negatives) + 1), or 1 (Yang et al. 2018, eqs. 17 and 18).
    """
    fan = items.shape[0] // users.shape[0]
    for s in range(first, last):
        user = user_rows[users[s]]
        i = items[s * fan]
        slopes[s * fan] = 0
        score = bias[i] - _distance(user, item_rows[i])
        worst, at, impostors = float32(0), -1, 0
        broken = not np.isfinite(score)  # the comparisons below would hide NaN
        for e in range(s * fan + 1, (s + 1) * fan):
            slopes[e] = 0
            j = items[e]
            loss = float32(margin) - score + bias[j] - _distance(user, item_rows[j])
            broken = broken or not np.isfinite(loss)
            if loss > 0:
                impostors += 1
            if loss > worst:
                worst, at = loss, e
        weight = float32(1)
        if weighted:
            weight = float32(np.log(item_rows.shape[0] * impostors // (fan - 1) + 1))
        losses[s] = float32(np.nan) if broken else weight * worst
        if at >= 0:
            slopes[s * fan] = -weight
            slopes[at] = weight


@njit(nogil=True, cache=True, error_model="numpy")
def slope_squared(
    user_rows: Matrix,
    item_rows: Matrix,
    bias: Matrix,
    users: Ints,
    items: Ints,
    slopes: Matrix,
    losses: Matrix,
    first: int,
    last: int,
    positives: int,
    weight: float,
    sigmoid: bool,
) -> None:
    """Squared error c (y - x)^2 / 2: the first samples have y = 1 and c = 1, the others y = 0 and c = `weight`."""
    for s in range(first, last):
        i = items[s]
        score = _dot(user_rows[users[s]], item_rows[i]) + bias[i]
        inner = float32(1)
        broken = not np.isfinite(score)  # the sigmoid would hide NaN
        if sigmoid:
            score = float32(1) / (float32(1) + np.exp(-score))
            inner = score * (float32(1) - score)
        target = float32(1) if s < positives else float32(0)
        c = float32(1) if s < positives else float32(weight)
        losses[s] = float32(np.nan) if broken else c * (score - target) * (score - target) / float32(2)
        slopes[s] = c * (score - target) * inner


@njit(nogil=True, cache=True)
def group(rows: Ints, starts: Ints, order: Ints) -> None:
    """Sort the places of `rows` by row, those of a row in order: row r has ``order[starts[r]:starts[r + 1]]``."""
    n = starts.shape[0] - 1
    starts[:] = 0
    for place in range(rows.shape[0]):
        starts[rows[place] + 1] += 1
    for r in range(n):
        starts[r + 1] += starts[r]
    for place in range(rows.shape[0]):
        order[starts[rows[place]]] = place
        starts[rows[place]] += 1
    for r in range(n, 0, -1):  # each start has moved to its end, which is the start of the next
        starts[r] = starts[r - 1]
    starts[0] = 0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _adam(gradient: Matrix, row: Matrix, mean: Matrix, square: Matrix, out: Matrix, rate: float, scale: float) -> None:
    """Adam with dense moments: rows without a sample in the batch still move by their mean."""
    for k in range(row.shape[0]):
        g = gradient[k]
        a = BETA_1 * mean[k] + (float32(1) - BETA_1) * g
        b = BETA_2 * square[k] + (float32(1) - BETA_2) * g * g
        a = a if np.abs(a) > TINY else float32(0)
        b = b if b > TINY else float32(0)
        mean[k] = a
        square[k] = b
        out[k] = row[k] - rate * a / (np.sqrt(b) * scale + EPSILON)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_rows(
    before: Matrix,
    mean: Matrix,
    square: Matrix,
    out: Matrix,
    other: Matrix,
    partners: Ints,
    slopes: Matrix,
    starts: Ints,
    order: Ints,
    penalty: Any,
    rate: Any,
    scale: Any,
    distance: bool,
    first: int,
    last: int,
) -> None:
    """Write the rows first to last - 1 of one side after a step; the other side is that before the step.

    Parameters
    ----------
    before, out, other : array (rows, d)
        This side before and after, and the other side before.
    mean, square : array (rows, d)
        Adam's moments, updated.
    partners, slopes : array of entries
        The row of the other side, and the derivative of the loss by the score.
    starts, order : array
        From `group`: the samples (of `fan` entries each) of each row.
    penalty : float
        Lambda: a row is penalised by half of it times its squared length each time it is looked up.
    rate, scale : float
        Rate and scale of Adam's step; see `corrections`.
    distance : bool
        Whether scores are negative squared distances, instead of dot products; rows that were looked up are then
        projected to the unit ball.
    """
    fan = partners.shape[0] // order.shape[0]
    gradient = np.empty(before.shape[1], np.float32)
    for r in range(first, last):
        row, result = before[r], out[r]
        looked_up = starts[r + 1] - starts[r]
        weight = float32(penalty * looked_up)
        total = float32(0)
        gradient[:] = float32(0)
        for place in range(starts[r], starts[r + 1]):
            for e in range(order[place] * fan, (order[place] + 1) * fan):
                slope = slopes[e]
                if slope != 0:
                    total += slope
                    partner = other[partners[e]]
                    for k in range(gradient.shape[0]):
                        gradient[k] += slope * partner[k]
        if distance:
            for k in range(gradient.shape[0]):
                gradient[k] = float32(2) * (gradient[k] - total * row[k])
        for k in range(gradient.shape[0]):
            gradient[k] += weight * row[k]
        _adam(gradient, row, mean[r], square[r], result, rate, scale)
        if distance and looked_up:
            length = np.sqrt(_dot(result, result))
            if length > 1:
                for k in range(result.shape[0]):
                    result[k] /= length


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def update_bias(
    before: Matrix,
    mean: Matrix,
    square: Matrix,
    out: Matrix,
    slopes: Matrix,
    starts: Ints,
    order: Ints,
    penalty: Any,
    rate: Any,
    scale: Any,
    first: int,
    last: int,
) -> None:
    """The same as `update_rows` for the item biases, whose derivative is the slope."""
    gradient = np.empty(last - first, np.float32)
    for r in range(first, last):
        total = float32(penalty * (starts[r + 1] - starts[r])) * before[r]
        for place in range(starts[r], starts[r + 1]):
            total += slopes[order[place]]
        gradient[r - first] = total
    _adam(gradient, before[first:last], mean[first:last], square[first:last], out[first:last], rate, scale)


def corrections(step: int, learning_rate: float) -> tuple[Any, Any]:
    """Rate and scale of Adam's step, counted from 1, corrected for moments that start at 0."""
    rate = learning_rate / (1 - float(BETA_1) ** step)
    with np.errstate(over="ignore"):  # an infinite rate is detected by its results
        return np.float32(rate), np.float32(1 / np.sqrt(1 - float(BETA_2) ** step))
