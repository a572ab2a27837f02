"""The loss and gradient of a rating factorisation, compiled; arrays in, arrays out."""

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit

# sums may be reordered, so that the loops over factors use the vector unit
REORDER = {"reassoc", "nsz", "contract"}


@njit(cache=True, nogil=True, fastmath=REORDER)
def loss_and_gradient(
    point: Floats,
    gradient: Floats,
    starts: Ints,
    items: Ints,
    values: Floats,
    weights: Floats,
    n_items: int,
    absolute: bool,
    penalty: float,
    offset_penalty: float,
) -> float:
    """Weighted loss plus penalty at a point, and its gradient written into an array of the same layout.

    The point holds user factors, item factors, user offsets, item offsets and the constant, one after the
    other. Rows are grouped by user: those of user u are starts[u] to starts[u + 1].
    """
    n_users = len(starts) - 1
    d = (len(point) - 1) // (n_users + n_items) - 1
    rows, columns = n_users * d, n_items * d
    V, W = point[:rows].reshape(n_users, d), point[rows : rows + columns].reshape(n_items, d)
    a, b = point[rows + columns : rows + columns + n_users], point[rows + columns + n_users : -1]
    for k in range(rows + columns):
        gradient[k] = 2 * penalty * point[k]
    for k in range(rows + columns, len(point) - 1):
        gradient[k] = 2 * offset_penalty * point[k]
    gV, gW = gradient[:rows].reshape(n_users, d), gradient[rows : rows + columns].reshape(n_items, d)
    ga, gb = gradient[rows + columns : rows + columns + n_users], gradient[rows + columns + n_users : -1]
    total, slope_sum = 0.0, 0.0
    for u in range(n_users):
        v, gv = V[u], gV[u]
        base = a[u] + point[-1]
        user_slope = 0.0
        for row in range(starts[u], starts[u + 1]):
            item = items[row]
            w, gw = W[item], gW[item]
            predicted = base + b[item]
            for k in range(d):
                predicted += v[k] * w[k]
            error = predicted - values[row]
            if absolute:
                total += weights[row] * abs(error)
                slope = weights[row] * np.sign(error)
            else:
                total += weights[row] * error * error
                slope = 2 * weights[row] * error
            for k in range(d):
                gv[k] += slope * w[k]
                gw[k] += slope * v[k]
            gb[item] += slope
            user_slope += slope
        ga[u] += user_slope
        slope_sum += user_slope
    gradient[-1] = slope_sum
    squares, offset_squares = 0.0, 0.0
    for k in range(rows + columns):
        squares += point[k] * point[k]
    for k in range(rows + columns, len(point) - 1):
        offset_squares += point[k] * point[k]
    return total + penalty * squares + offset_penalty * offset_squares
