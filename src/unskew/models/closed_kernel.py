"""Compiled loops of item-knn, als and random."""

from typing import TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints, Matrix
from unskew.compiling import njit
from unskew.ranking.seeded_draws import GOLDEN, mix

# offsets and members: those of group g are members[offsets[g] : offsets[g + 1]]
Groups: TypeAlias = tuple[Ints, Ints]


@njit(cache=True, nogil=True)
def hash_uniform(seed: np.uint64, users: Ints, out: Floats) -> None:
    """Fill one row per user with numbers in [0, 1): the SplitMix64 stream of the user, with one step for each item."""
    for row in range(len(users)):
        state = mix(seed + mix((users[row] + np.uint64(1)) * GOLDEN))
        for item in range(out.shape[1]):
            state += GOLDEN
            out[row, item] = np.float64(mix(state) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def count_shared(by_item: Groups, by_user: Groups, out: Floats) -> None:
    """Count the users that each two items share, including an item with itself."""
    for item in range(len(out)):
        _count_with(item, by_item, by_user, out[item])


@njit(cache=True, nogil=True)
def nearest_items(
    start: int,
    by_item: Groups,
    by_user: Groups,
    roots: Floats,
    shrinkage: float,
    near: Ints,
    similarity: Matrix,
    lengths: Ints,
) -> None:
    """Write the most similar items of items start, start + 1, ..., and their numbers.

    `roots` are square roots of the items' counts. The similar items come in the order of the catalogue.
    """
    counts = np.zeros(len(roots))
    others = np.empty(len(roots), dtype=np.int64)
    values = np.empty(len(roots))
    for row in range(len(near)):
        item = start + row
        _count_with(item, by_item, by_user, counts)
        n = 0
        for other in range(len(roots)):
            if counts[other] > 0 and other != item:
                others[n] = other
                values[n] = counts[other] / (roots[other] * roots[item] + shrinkage)
                n += 1
            counts[other] = 0
        lengths[row] = _keep_largest(others[:n], values[:n], near[row], similarity[row])


@njit(cache=True, nogil=True)
def solve_rows(rows: Groups, fixed: Matrix, gram: Floats, alpha: float, out: Matrix) -> None:
    """Solve (gram + alpha sum q q') p = (1 + alpha) sum q for each row, q the row's members in `fixed`."""
    offsets, members = rows
    for row in range(len(out)):
        first, last = offsets[row], offsets[row + 1]
        right = np.zeros(fixed.shape[1])
        if first < last:
            picked = fixed[members[first:last]]
            for k in range(len(picked)):
                right += picked[k]
            right *= 1 + alpha
            _solve_in_place(gram + alpha * np.dot(picked.T, picked), right)
        out[row] = right


@njit(cache=True)
def _count_with(item: int, by_item: Groups, by_user: Groups, counts: Floats) -> None:
    """Add one to each item for each user it shares with this one."""
    item_offsets, users = by_item
    user_offsets, items = by_user
    for at in range(item_offsets[item], item_offsets[item + 1]):
        user = users[at]
        for place in range(user_offsets[user], user_offsets[user + 1]):
            counts[items[place]] += 1.0


@njit(cache=True)
def _keep_largest(names: Ints, values: Floats, kept_names: Ints, kept_values: Matrix) -> int:
    """Write the largest values until the output is full, of equal ones the first; return how many."""
    n, room = len(values), len(kept_names)
    least, equals = -np.inf, 0
    if n > room:
        least = _select(values.copy(), n - room)
        equals = room - int(np.sum(values > least))
    at = 0
    for k in range(n):
        if values[k] == least:
            equals -= 1
        if values[k] > least or (values[k] == least and equals >= 0):
            kept_names[at] = names[k]
            kept_values[at] = values[k]
            at += 1
    return at


@njit(cache=True)
def _select(values: Floats, k: int) -> float:
    """The value at place k in ascending order, by quickselect, which reorders the values.

    It replaces np.partition, which takes seconds to compile.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        low, high = (low, j) if k <= j else (i, high) if k >= i else (k, k)
    return float(values[k])


@njit(cache=True)
def _solve_in_place(left: Floats, right: Floats) -> None:
    """Solve for a positive definite matrix by Cholesky; both arguments are overwritten."""
    _factor_in_place(left)
    n = len(right)
    for k in range(n):  # U' y = right
        right[k] /= left[k, k]
        for j in range(k + 1, n):
            right[j] -= right[k] * left[k, j]
    for k in range(n - 1, -1, -1):  # U x = y
        for j in range(k + 1, n):
            right[k] -= left[k, j] * right[j]
        right[k] /= left[k, k]


@njit(cache=True)
def _factor_in_place(matrix: Floats) -> None:
    """Put U with U'U = matrix into the upper triangle.

    A row uses the rows above it four at a time, which was measured to be twice as fast as one at a time.
    """
    n = len(matrix)
    for i in range(n):
        row = matrix[i]
        fours = i // 4 * 4
        for k in range(0, fours, 4):
            a, b, c, d = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
            at_a, at_b, at_c, at_d = a[i], b[i], c[i], d[i]
            for j in range(i, n):
                row[j] -= at_a * a[j] + at_b * b[j] + at_c * c[j] + at_d * d[j]
        for k in range(fours, i):
            a, at_a = matrix[k], matrix[k, i]
            for j in range(i, n):
                row[j] -= at_a * a[j]
        scale = 1 / np.sqrt(row[i])
        for j in range(i, n):
            row[j] *= scale
