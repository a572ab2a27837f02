"""Sums over all candidates of a row with 32 bits: a faster road for most rows. Arrays in, arrays out.

Each score is assigned to one of many cells, which hold about equally many scores if these are about normal. Score and
chance are moved together to where their cell begins, and a sorting network puts the scores of each cell in order. The
order is exact. Rows that do not suit it, such as those with many equal scores, are refused.
"""

from typing import Any

import numpy as np
from numba import int32, int64, types, uint16, uint32, uint64
from numba.extending import intrinsic

from unskew.arrays import Floats, Ints, Matrix
from unskew.compiling import njit
from unskew.ranking.all_candidates.sorting_network import BEHIND, LOWEST_PAIR, REACH, STEP, sort_and_sum

FEWEST, MOST = 256, (1 << 16) - 1  # scores of a row; places have 16 bits, so that counters fit into the first cache
_CELLS = 0.52  # per score
_CHUNK = 32  # scores that are assigned to cells while earlier ones are counted
_SAMPLED = 256  # scores that decide the widths of the cells
_WIDTH = 5.64  # mean deviations from the centre to the last cell
_CROWDED = 2  # squares of large cells, per score; inserting takes a quarter of it
_HUGE = 1e30


def _float_of_bits(_context: Any, _bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return types.float32(types.uint32), build


_as_float: Any = intrinsic(_float_of_bits)


@njit(nogil=True, cache=True)
def cells_of(n: int) -> Any:
    """How many cells finite scores have, less one; a multiple of four."""
    return int(n * _CELLS) // 4 * 4 + 4


@njit(nogil=True, cache=True)
def pair_space(n: int) -> tuple[Any, ...]:
    """The arrays that `sum_pairs` writes to, for rows of n scores."""
    return (
        np.empty(n // 4 * 4 + 4, np.uint16),  # cells
        np.empty(cells_of(n) + 4, np.uint16),  # where each begins
        np.empty(cells_of(n) // 4 + 1, np.uint32),  # groups of four cells with a large one
        np.empty(n + STEP + BEHIND, np.uint64),  # pairs
        np.empty(n // STEP + 1, np.uint8),  # steps that may have equal scores
    )


@njit(nogil=True, cache=True)
def arranged(table: Floats, n: int) -> Floats:
    """A table of gains for `sum_pairs`: in each step even places come first, and there is no gain after its end."""
    steps = n // STEP + 1
    by_step = np.zeros(steps * STEP)
    for place in range(min(n, table.shape[0])):
        by_step[_entry(place)] = table[place]
    return by_step


@njit(nogil=True, cache=True)
def _entry(place: int) -> Any:
    """Where the network stores the pair of a place."""
    inside = place % STEP
    return place - inside + (inside & 1) * (STEP // 2) + inside // 2


@njit(nogil=True, cache=True)
def _shape(row: Matrix, lowest: Any) -> tuple[Any, Any, Any, Any]:
    """The mean of some finite scores, inverse mean deviations of those above and below it, and the share above."""
    step = max(row.shape[0] // _SAMPLED, 1)
    total, count = np.float32(0), 0
    for j in range(0, row.shape[0], step):
        finite = row[j] >= lowest
        total += row[j] if finite else np.float32(0)
        count += int(finite)
    centre = total / np.float32(max(count, 1))
    up, both, above = np.float32(0), np.float32(0), 0
    for j in range(0, row.shape[0], step):
        deviation = row[j] - centre if row[j] >= lowest else np.float32(0)
        both += abs(deviation)
        up += max(deviation, np.float32(0))
        above += int(deviation > 0)
    down, below = both - up, count - above
    if not (up > 0 and down > 0 and both < _HUGE and abs(centre) < _HUGE):
        return centre, 0.0, 0.0, 0.0
    return centre, above / float(up), below / float(down), above / count


@njit(nogil=True, cache=True, fastmath={"contract"})
def _cell(score: Any, lowest: Any, scale: Any) -> Any:
    """The cell of a score, larger scores first; the last cell is for minus infinity only.

    The share of scores beyond a deviation of x is about (1 - x)^4. Each operation rounds to the nearest number, so a
    larger score is never in a later cell.
    """
    centre, of_above, of_below, n_above, n_below, last_finite = scale
    zero, one = np.float32(0), np.float32(1)
    deviation = score - centre
    above = deviation > zero
    beyond = max(one - abs(deviation) * (of_above if above else of_below), zero)
    beyond *= beyond
    beyond *= beyond
    cell = int32(beyond * (n_above if above else n_below) + (zero if above else np.float32(last_finite)))
    return uint16(cell if score >= lowest else int32(last_finite + int32(1)))


@njit(nogil=True, cache=True)
def _count(row: Matrix, lowest: Any, scale: Any, cells: Ints, counts: Ints) -> None:
    """Write the cell of each score, and count the scores of each cell."""
    counts[:] = 0
    mask = uint64(0xFFFF)
    fours = cells.view(np.uint64)  # four are loaded at once
    size: int = row.shape[0]
    n, chunk = uint64(size), uint64(_CHUNK)
    lag = chunk + chunk  # what was stored just now cannot be loaded at once
    whole = n // chunk * chunk
    for start in range(uint64(0), whole, chunk):
        for k in range(chunk):
            cells[start + k] = _cell(row[start + k], lowest, scale)
        if start >= lag:
            for k in range((start - lag) >> uint64(2), (start - chunk) >> uint64(2)):
                four = fours[k]
                counts[four & mask] += uint16(1)
                counts[(four >> uint64(16)) & mask] += uint16(1)
                counts[(four >> uint64(32)) & mask] += uint16(1)
                counts[four >> uint64(48)] += uint16(1)
    for j in range(whole, n):
        cells[j] = _cell(row[j], lowest, scale)
    for j in range(whole - min(lag, whole), n):
        counts[cells[j]] += uint16(1)


@njit(nogil=True, cache=True)
def _begin(starts: Ints, large: Ints) -> Any:
    """Replace the numbers of scores by where they begin; write which fours have a large cell, and return how many."""
    ones = uint64(0x0001000100010001)
    top, room = uint64(0x8000) * ones, uint64(0x7FFF - REACH) * ones  # a number over `REACH` reaches the top bit
    fours = starts.view(np.uint64)
    before, n_large = uint64(0), 0
    n_fours: int = fours.shape[0]
    for k in range(uint64(n_fours)):
        counts = fours[k]
        sums = counts * ones  # the product has the sums of the lower parts
        fours[k] = sums - counts + before * ones
        before += sums >> uint64(48)
        if ((counts + room) | counts) & top != uint64(0):
            large[n_large] = k
            n_large += 1
    return n_large


@njit(nogil=True, cache=True)
def _is_crowded(starts: Ints, large: Ints, last_finite: int, n: int) -> Any:
    """Whether sorting large cells by insertion would take too long."""
    effort = 0
    for four in large:
        for cell in range(int64(four) * 4, min(int64(four) * 4 + 4, last_finite + 1)):
            count = int64(starts[cell + 1]) - int64(starts[cell])
            if count > REACH:
                effort += count * count
    return effort > _CROWDED * n


@njit(nogil=True, cache=True)
def _pair(score: Any, chance: Any) -> Any:
    return (uint64(score) << uint64(32)) | uint64(chance)


@njit(nogil=True, cache=True)
def _move(scores: Ints, chances: Ints, cells: Ints, starts: Ints, pairs: Ints) -> None:
    """Put the bits of score and chance where their cell begins, which then begins one later."""
    mask, one = uint64(0xFFFF), uint64(1)
    fours = cells.view(np.uint64)
    n: int = scores.shape[0]
    for k in range(uint64(n // 4)):
        four, at = fours[k], k << uint64(2)
        cell = four & mask
        place = starts[cell]
        starts[cell] = place + uint16(1)
        pairs[place] = _pair(scores[at], chances[at])
        cell, at = (four >> uint64(16)) & mask, at + one
        place = starts[cell]
        starts[cell] = place + uint16(1)
        pairs[place] = _pair(scores[at], chances[at])
        cell, at = (four >> uint64(32)) & mask, at + one
        place = starts[cell]
        starts[cell] = place + uint16(1)
        pairs[place] = _pair(scores[at], chances[at])
        cell, at = four >> uint64(48), at + one
        place = starts[cell]
        starts[cell] = place + uint16(1)
        pairs[place] = _pair(scores[at], chances[at])
    for j in range(uint64(n // 4 * 4), uint64(n)):
        place = starts[cells[j]]
        starts[cells[j]] = place + uint16(1)
        pairs[place] = _pair(scores[j], chances[j])


@njit(nogil=True, cache=True)
def _key(pair: Any) -> Any:
    """A signed number in the order of the scores, as in the network."""
    signed = int64(pair)
    return signed ^ ((signed >> int64(63)) & int64(0x7FFFFFFF00000000))


@njit(nogil=True, cache=True)
def _sort_large(pairs: Ints, ends: Ints, large: Ints, last_finite: int) -> None:
    """Sort the pairs of large cells, which the network cannot."""
    for four in large:
        for cell in range(int64(four) * 4, min(int64(four) * 4 + 4, last_finite + 1)):
            first, end = int64(ends[cell - 1]) if cell > 0 else 0, int64(ends[cell])
            if end - first <= REACH:
                continue
            for k in range(first + 1, end):
                pair, hole = pairs[k], k
                while hole > first and _key(pairs[hole - 1]) < _key(pair):
                    pairs[hole] = pairs[hole - 1]
                    hole -= 1
                pairs[hole] = pair


@njit(nogil=True, cache=True)
def _score(pairs: Ints, place: int) -> Any:
    """The upper half of a sorted pair: equal for equal scores; those of -0.0 and 0.0 are next to each other."""
    half = int64(pairs[_entry(place)]) >> int64(32)
    return int64(0) if half == -1 else half


@njit(nogil=True, cache=True)
def chance_at(pairs: Ints, place: int) -> Any:
    """The chance of a sorted place."""
    return np.float64(_as_float(uint32(pairs[_entry(place)])))


@njit(nogil=True, cache=True)
def tied_from(pairs: Ints, marks: Ints, finite: int, first: int) -> tuple[Any, Any]:
    """The next group of equal scores from a place on: its first place and the one after its last.

    Both are `finite` if there is none.
    """
    place = first
    while place + 1 < finite:
        step = (place + 1) // STEP
        if marks[step] == 0:
            place = (step + 1) * STEP - 1
            continue
        end = place + 1
        score = _score(pairs, place)
        while end < finite and _score(pairs, end) == score:
            end += 1
        if end - place > 1:
            return place, end
        place = end
    return finite, finite


@njit(nogil=True, cache=True)
def sum_pairs(
    row: Matrix,
    chances: Matrix,
    candidates: int,
    lowest: Any,
    table: Floats,
    ahead: tuple[Matrix, Matrix],
    work: tuple[Any, ...],
) -> tuple[Any, Any, Any, Any]:
    """Sort the candidates of a row, best first, and sum over them with ties in any order.

    Parameters
    ----------
    row : array of float32
        Without NaN and plus infinity.
    chances : array of float32
    candidates : int
        How many scores should be finite.
    lowest : float32
        The smallest finite number.
    table : array
        Gains, from `arranged`.
    ahead : tuple
        Scores and chances of the next row.
    work : tuple
        From `pair_space`. Its last two arrays are for `tied_from` and `chance_at` then.

    Returns
    -------
    tuple
        Whether the row suits, and the sums of chances, of chance times place and of chance times gain.
    """
    cells, starts, large, pairs, marks = work
    n = row.shape[0]
    last_finite = cells_of(n)
    centre, of_above, of_below, share = _shape(row, lowest)
    if not (0 < of_above < _HUGE and 0 < of_below < _HUGE):
        return False, 0.0, 0.0, 0.0
    above = np.round(share * last_finite)  # whole, so that both sides end at the same cell
    scale = (
        centre,
        np.float32(of_above / _WIDTH),
        np.float32(of_below / _WIDTH),
        np.float32(above),
        np.float32(above - last_finite),
        int32(last_finite),
    )
    _count(row, lowest, scale, cells, starts)
    n_large = _begin(starts, large)
    if starts[last_finite + 1] != candidates or _is_crowded(starts, large[:n_large], last_finite, n):
        return False, 0.0, 0.0, 0.0
    _move(row.view(np.uint32), chances.view(np.uint32), cells, starts, pairs)
    _sort_large(pairs, starts, large[:n_large], last_finite)
    steps = (candidates + STEP - 1) // STEP
    pairs[candidates : steps * STEP + BEHIND] = uint64(LOWEST_PAIR)
    mass, places, gains, valid = sort_and_sum(pairs, table, int64(steps), marks, ahead[0], ahead[1])
    return valid, mass, places, gains
