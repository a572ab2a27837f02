"""Exact expectations over the orders of tie groups, where positives of one user may be tied together.

A group is n candidates of equal score below a others; p of the n are positives. Every order of the group is
equally likely. McSherry and Najork (2008), "Computing information retrieval performance measures efficiently
in the presence of tied scores", give the idea; the closed forms by harmonic numbers are worked out below.
"""

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit

# Below this many places a loop is as fast as the closed form, and loses no digits.
_SHORT = 64
# Up to this many rows, comparing all pairs is faster than a sort that branches.
_FEW = 128
# The recursion up in p loses about p (1 + a/n)^p units in the last place; beyond this it runs down instead.
_LOSS = 1e4
# Running down, an error in the start shrinks by 1 + a/n a step; exp(-37) is below the last place.
_DAMPING = 37


@njit(cache=True, nogil=True)
def look_up(table: Floats, sums: Floats, above: Ints, tied: Ints) -> Floats:
    """Return the mean of ``table`` over the places above, ..., above + tied; `sums` are its sums from the top."""
    values = np.empty(above.size)
    end = table.size
    for row in range(above.size):
        first, others = above[row], tied[row]
        if first >= end:
            values[row] = 0.0
        elif others == 0:
            values[row] = table[first]
        else:
            values[row] = (sums[min(first + others + 1, end)] - sums[first]) / (others + 1)
    return values


@njit(cache=True, nogil=True)
def _sort_few(above: Ints, tied: Ints, places: Ints, ties: Ints) -> None:
    """Sort by counting smaller values: n^2 comparisons, but no branch to mispredict."""
    for row in range(above.size):
        value = above[row]
        place = 0
        for other in range(above.size):
            place += above[other] < value
        while places[place] == value:  # an equal value is already there
            place += 1
        places[place] = value
        ties[place] = tied[row]


@njit(cache=True, nogil=True)
def _sort_many(above: Ints, tied: Ints, places: Ints, ties: Ints) -> None:
    """Sort short runs, then merge them two by two."""
    rows = above.size
    for start in range(0, rows, _FEW):
        stop = min(start + _FEW, rows)
        places[start:stop] = -1
        _sort_few(above[start:stop], tied[start:stop], places[start:stop], ties[start:stop])
    merged_places, merged_ties = np.empty_like(places), np.empty_like(ties)
    width = _FEW
    while width < rows:
        for start in range(0, rows, 2 * width):
            middle, stop = min(start + width, rows), min(start + 2 * width, rows)
            first, second = start, middle
            for hole in range(start, stop):
                take = second >= stop or (first < middle and places[first] <= places[second])
                source = first if take else second
                merged_places[hole], merged_ties[hole] = places[source], ties[source]
                first += take
                second += not take
        places[:], ties[:] = merged_places, merged_ties
        width *= 2


@njit(cache=True, nogil=True)
def sort_rows(offsets: Ints, above: Ints, tied: Ints, step: int) -> tuple[Ints, Ints]:
    """Sort by ``above`` inside each user, then spread equal places by ``step`` unless 0."""
    places, ties = above.copy(), tied.copy()
    for user in range(offsets.size - 1):
        start, stop = offsets[user], offsets[user + 1]
        if stop - start <= _FEW:
            places[start:stop] = -1
            _sort_few(above[start:stop], tied[start:stop], places[start:stop], ties[start:stop])
        else:
            _sort_many(above[start:stop], tied[start:stop], places[start:stop], ties[start:stop])
        if step > 0:
            for row in range(start + 1, stop):
                places[row] = max(places[row], places[row - 1] + 1)
        elif step < 0:
            for row in range(stop - 2, start - 1, -1):
                places[row] = min(places[row], places[row + 1] - 1)
    return places, ties


@njit(cache=True, nogil=True)
def precision_sums(offsets: Ints, above: Ints, tied: Ints, limits: Ints, harmonic: Floats) -> Floats:
    """Return per user the expected sum, over positives within the limit, of the precision at their place."""
    sums = np.zeros(offsets.size - 1)
    for user in range(offsets.size - 1):
        start, stop, limit = offsets[user], offsets[user + 1], limits[user]
        row = start
        while row < stop and above[row] < limit:
            a, n, p = above[row], tied[row] + 1, 1
            if n == 1:
                sums[user] += (row - start + 1) / (a + 1)
            else:
                while row + p < stop and above[row + p] == a:
                    p += 1
                sums[user] += _group_precision(a, n, p, row - start, min(n, limit - a), harmonic)
            row += p
    return sums


@njit(cache=True, nogil=True)
def _group_precision(a: int, n: int, p: int, before: int, seen: int, harmonic: Floats) -> float:
    # Place t of the group holds a positive with chance p/n; the t-1 places before it then hold
    # (t-1)(p-1)/(n-1) further positives on average. So the sum is
    # (p/n) sum_t (before + 1 + (t-1)(p-1)/(n-1)) / (a + t),
    # and (t-1)/(a+t) = 1 - (a+1)/(a+t) leaves harmonic numbers only.
    slope = (p - 1) / (n - 1)
    if seen <= _SHORT:
        total = 0.0
        for t in range(1, seen + 1):
            total += (before + 1 + (t - 1) * slope) / (a + t)
    else:
        span = harmonic[a + seen] - harmonic[a]
        total = (before + 1) * span + slope * (seen - (a + 1) * span)
    return total * p / n


@njit(cache=True, nogil=True)
def reciprocal_ranks(offsets: Ints, above: Ints, tied: Ints, limits: Ints, harmonic: Floats) -> Floats:
    """Return per user the expected 1/rank of the first positive, 0 past the limit, NaN without one."""
    values = np.full(offsets.size - 1, np.nan)
    for user in range(offsets.size - 1):
        start, stop = offsets[user], offsets[user + 1]
        if start == stop:
            continue
        a, n, p = above[start], tied[start] + 1, 1
        if n == 1:
            values[user] = 1 / (a + 1) if a < limits[user] else 0.0
        else:
            while start + p < stop and above[start + p] == a:
                p += 1
            values[user] = _group_reciprocal(a, n, p, min(n, limits[user] - a), harmonic)
    return values


@njit(cache=True, nogil=True)
def _group_reciprocal(a: int, n: int, p: int, seen: int, harmonic: Floats) -> float:
    if seen == n and n > _SHORT:
        return _first_of_group(a, n, p, harmonic)
    value, chance = 0.0, p / n  # chance: the first positive is at place t of the group
    for t in range(1, min(seen, n - p + 1) + 1):
        value += chance / (a + t)
        if chance < 1e-18 * value:
            break
        if t < n:
            chance *= (n - t - p + 1) / (n - t)
    return value


@njit(cache=True, nogil=True)
def _first_of_group(a: int, n: int, p: int, harmonic: Floats) -> float:
    # G_p = sum_t C(n-t, p-1) / C(n, p) / (a + t) obeys
    # G_q = q / ((q-1)(n-q+1)) ((n + a - q + 2) G_{q-1} - 1),
    # with G_1 = (H(a+n) - H(a)) / n and G_n = 1 / (a+1).
    if p * (1 + a / n) ** p < _LOSS:
        value = float((harmonic[a + n] - harmonic[a]) / n)
        for q in range(2, p + 1):
            value = q / ((q - 1) * (n - q + 1)) * ((n + a - q + 2) * value - 1)
        return value
    start = n if a == 0 else min(n, p + 1 + int(_DAMPING / np.log1p(a / n)))
    value = 1 / (a + (n + 1) / (start + 1))  # 1 over the mean rank: exact when start is n, else damped away
    for q in range(start, p, -1):
        value = (1 + value * (q - 1) * (n - q + 1) / q) / (n + a - q + 2)
    return value


@njit(cache=True, nogil=True)
def hit_chances(offsets: Ints, above: Ints, tied: Ints, limits: Ints) -> Floats:
    """Return per user the chance that a positive ranks within the limit, NaN without a positive."""
    values = np.full(offsets.size - 1, np.nan)
    for user in range(offsets.size - 1):
        start, stop, limit = offsets[user], offsets[user + 1], limits[user]
        if start == stop:
            continue
        a, n = above[start], tied[start] + 1
        if a >= limit or a + n <= limit:
            values[user] = 1.0 if a < limit else 0.0
            continue
        missed, p = 1.0, 0  # all positives of the group are among its last places
        while start + p < stop and above[start + p] == a:
            missed *= max(n - (limit - a) - p, 0) / (n - p)
            p += 1
        values[user] = 1.0 - missed
    return values


@njit(cache=True, nogil=True)
def reciprocal_ranks_of_part(
    offsets: Ints, above: Ints, tied: Ints, limits: Ints, harmonic: Floats, sizes: Ints
) -> Floats:
    """Return per user the expected 1/rank of the first of ``sizes`` positives, chosen at random."""
    values = np.full(offsets.size - 1, np.nan)
    for user in range(offsets.size - 1):
        row, stop, limit, size = offsets[user], offsets[user + 1], limits[user], sizes[user]
        if row == stop:
            continue
        values[user], none = 0.0, 1.0  # none: chance that no positive above this row is chosen
        while row < stop and above[row] < limit and none > 0:
            a, n, left = above[row], tied[row] + 1, stop - row
            if n == 1:
                values[user] += none * size / left / (a + 1)
                none *= (left - size) / left
                row += 1
                continue
            p = _group_size(above, row, stop)
            chances = _chances_chosen(p, left, size)
            for j in range(1, chances.size):
                if chances[j] > 0:
                    first = _group_reciprocal(a, n, j, min(n, limit - a), harmonic)
                    values[user] += none * chances[j] * first
            none *= chances[0]
            row += p
    return values


@njit(cache=True, nogil=True)
def hit_chances_of_part(offsets: Ints, above: Ints, tied: Ints, limits: Ints, sizes: Ints) -> Floats:
    """Return per user the chance that one of ``sizes`` positives, chosen at random, ranks within the limit."""
    values = np.full(offsets.size - 1, np.nan)
    for user in range(offsets.size - 1):
        row, stop, limit, size = offsets[user], offsets[user + 1], limits[user], sizes[user]
        if row == stop:
            continue
        missed = 1.0
        while row < stop and above[row] < limit and missed > 0:
            a, n, left = above[row], tied[row] + 1, stop - row
            if a + n <= limit:
                missed *= (left - size) / left
                row += 1
                continue
            p = _group_size(above, row, stop)
            chances = _chances_chosen(p, left, size)
            outside, below = 0.0, 1.0  # below: all chosen ones of the group are among its last places
            for j in range(chances.size):
                if j > 0:
                    below *= max(n - (limit - a) - (j - 1), 0) / (n - (j - 1))
                outside += chances[j] * below
            missed *= outside
            row += p
        values[user] = 1.0 - missed
    return values


@njit(cache=True, nogil=True)
def _group_size(above: Ints, row: int, stop: int) -> int:
    p = 1
    while row + p < stop and above[row + p] == above[row]:
        p += 1
    return p


@njit(cache=True, nogil=True)
def _chances_chosen(p: int, left: int, size: int) -> Floats:
    """Return the chances that 0, 1, ... of p positives are chosen, when ``size`` of the ``left`` ones are."""
    # From the likeliest number outwards by ratios: neither end underflows the rest, and no digits are lost.
    rest = left - p - size
    low, high = max(0, -rest), min(p, size)
    chances = np.zeros(high + 1)
    likeliest = min(max((size + 1) * (p + 1) // (left + 2), low), high)
    chances[likeliest] = 1.0
    for j in range(likeliest, high):
        chances[j + 1] = chances[j] * (p - j) * (size - j) / ((j + 1) * (rest + j + 1))
    for j in range(likeliest, low, -1):
        chances[j - 1] = chances[j] * j * (rest + j) / ((p - j + 1) * (size - j + 1))
    chances /= chances.sum()
    return chances
