"""Ranks of held-out items for factor models: products and counts in one pass. Arrays in, arrays out.

Scores are made in tiles that stay in the cache, and counted there; they are never all in memory. Each score is one sum
over the factors in their order, rounded once per step (fused multiply-add). So its bits do not depend on blocks, tiles,
threads, or the length of the processor's vectors, and items with equal factors are tied.

To count the candidates above many thresholds, scores become codes of one byte such that a larger score never has a
smaller code. Codes are compared 64 or 32 at once; where a code is that of a threshold, the scores decide.
"""

from typing import Any

import numpy as np
from numba import float32, int32, int64, njit, uint64

from unskew.arrays import Ints, Matrix
from unskew.ranking.factors.score_vectors import (
    CHAINS,
    CHUNK,
    GROUP,
    LANES,
    PANEL,
    TOGETHER,
    count_bits,
    count_codes,
    count_scores,
    encode,
    lowest_bit,
    multiply,
    score_some,
)

_TILE_BYTES = 1 << 18  # of item factors, in the second cache
_TILE_MOST = 2048  # items
_FEWEST = 2  # thresholds from which codes are worth their making
_RANGE = 126.5  # codes of the lowest and the highest threshold, negative and positive
_AT_ONCE = 6  # places that are written at once
_CROWDED = 50  # reciprocal of the equal codes per score and threshold from which scores are compared instead


@njit(nogil=True, cache=True)
def _tile_panels(d: int, n_panels: int) -> int:
    """Panels of a tile: some that fit into the second cache, and a whole number of chunks."""
    step = CHUNK // PANEL
    fitting = min(_TILE_BYTES // (4 * (d + 1)), _TILE_MOST) // CHUNK * step
    return min(max(fitting, step), n_panels)


@njit(nogil=True, cache=True)
def score_rows(packed: Matrix, d: int, panels: Matrix, out: Matrix) -> None:
    """Write the scores of users for the first items of the panels; users and items are packed."""
    n = out.shape[0]
    size = (d + 1) * PANEL
    n_items = out.shape[1]
    n_panels = panels.shape[0] // size
    step = max(_tile_panels(d, n_panels), 1)
    tile = np.empty(GROUP * PANEL, np.float32)
    for first in range(0, n_panels, step):
        for group in range(0, n, GROUP):
            for p in range(first, min(first + step, n_panels)):
                begin = p * PANEL
                if group + GROUP <= n and begin + PANEL <= n_items:
                    multiply(panels, p * size, packed, group * d, d, out, group * n_items + begin, n_items)
                    continue
                multiply(panels, p * size, packed, group * d, d, tile, 0, PANEL)
                for u in range(group, min(group + GROUP, n)):
                    for j in range(begin, min(begin + PANEL, n_items)):
                        out[u, j] = tile[(u - group) * PANEL + j - begin]


@njit(nogil=True, cache=True)
def _score_listed(
    users: Matrix,
    u: int,
    items: Matrix,
    columns: Ints,
    constants: Matrix,
    listed: Ints,
    first: int,
    last: int,
    out: Matrix,
    to: int,
) -> None:
    """Write the scores of a user for ``listed[first:last]`` to out[to:]."""
    d = users.shape[1]
    starts = np.zeros(CHAINS, np.int64)
    scores = np.zeros(CHAINS, np.float32)
    for k in range(first, last, CHAINS):
        some = min(CHAINS, last - k)
        for j in range(some):
            row = columns[listed[k + j]]
            starts[j] = max(row, 0) * d
            scores[j] = -np.inf if row < 0 else constants[row] if constants.shape[0] else 0.0
        score_some(items, starts, 0, users, u * d, d, scores)
        for j in range(some):
            out[to + k - first + j] = scores[j]


@njit(nogil=True, cache=True)
def _ascending(items: Ints, first: int, last: int) -> bool:
    for j in range(first + 1, last):  # noqa: SIM110  # numba compiles a loop faster than a generator
        if items[j] < items[j - 1]:
            return False
    return True


@njit(nogil=True, cache=True)
def _scale(held: Matrix, first: int, last: int) -> tuple[Any, Any]:
    """Scale and shift of the codes of a user; the scale is 0 if scores are to be compared."""
    lowest, highest, n = float32(np.inf), float32(-np.inf), 0
    for k in range(first, last):
        if held[k] > -np.inf:
            lowest, highest = min(lowest, held[k]), max(highest, held[k])
            n += 1
    if n < _FEWEST or not lowest < highest:
        return float32(0), float32(0)
    scale = float32(2 * _RANGE / (float(highest) - float(lowest)))
    shift = float32(-_RANGE - float(lowest) * float(scale))
    if not (np.isfinite(scale) and np.isfinite(shift) and scale > 0):
        return float32(0), float32(0)
    return scale, shift


@njit(nogil=True, cache=True)
def _count_exactly(
    scores: Matrix,
    at: int,
    n: int,
    held: Matrix,
    first: int,
    last: int,
    counts: Ints,
    sign: int,
    above: Ints,
    tied: Ints,
) -> None:
    """Add the numbers of n scores above and equal to each threshold, times sign; `held` has some room at its end."""
    for begin in range(first, last, TOGETHER):
        count_scores(scores, at, n // LANES, held, begin, counts)
        for k in range(begin, min(begin + TOGETHER, last)):
            above[k] += sign * counts[k - begin]
            tied[k] += sign * (counts[k - begin + TOGETHER] - counts[k - begin])


@njit(nogil=True, cache=True)
def _choose(codes: Ints, held: Matrix, first: int, last: int, head: Ints, kinds: Ints, chosen: Ints, to: int) -> int:
    """Write the distinct codes of a user's thresholds to chosen[to:], and which of them each has; return their number.

    Thresholds of minus infinity have none. There is a whole number of steps of `TOGETHER`, the last with repeats.
    """
    n = 0
    for k in range(first, last):
        kinds[k] = -1
        if held[k] == -np.inf:
            continue
        place = int64(codes[k]) + 128
        if head[place] < 0:
            head[place] = n
            chosen[to + n] = codes[k]
            n += 1
        kinds[k] = head[place]
    for k in range(n):
        head[int64(chosen[to + k]) + 128] = -1
    for k in range(n, (n + TOGETHER - 1) // TOGETHER * TOGETHER):
        chosen[to + k] = chosen[to]
    return n


@njit(nogil=True, cache=True)
def _find(words: Ints, n_words: int, equal_places: Ints) -> Any:
    """Write the places of all bits, and some more; return how many there are.

    Always writing `_AT_ONCE` places is faster than to ask after each whether it was the last.
    """
    n = uint64(0)
    for w in range(uint64(n_words)):
        word = words[w]
        end = n + uint64(count_bits(word))
        while True:
            for k in range(uint64(_AT_ONCE)):
                equal_places[n + k] = int32(w * uint64(64)) + int32(lowest_bit(word))
                word &= word - 1
            n += uint64(_AT_ONCE)
            if n >= end:
                break
        n = end
    return int64(n)


@njit(nogil=True, cache=True)
def _resolve(
    tile: Matrix,
    at: int,
    codes: Ints,
    equal_places: Ints,
    n_found: int,
    held: Matrix,
    held_codes: Ints,
    kinds: Ints,
    first: int,
    last: int,
    head: Ints,
    behind: Ints,
    above: Ints,
    tied: Ints,
) -> None:
    """Compare the scores at these places with the thresholds of the same code."""
    for k in range(last - 1, first - 1, -1):  # the thresholds of a code, each with the one behind it
        if kinds[k] >= 0:
            place = int64(held_codes[k]) + 128
            behind[k] = head[place]
            head[place] = k
    for j in range(uint64(n_found)):  # unsigned, because the compiler need not ask whether they are negative
        place = uint64(equal_places[j])
        score = tile[uint64(at) + place]
        k = head[uint64(int64(codes[place]) + 128)]
        while k >= 0:
            threshold = uint64(k)
            above[threshold] += int32(score > held[threshold])
            tied[threshold] += int32(score == held[threshold])
            k = behind[threshold]
    for k in range(first, last):
        if kinds[k] >= 0:
            head[int64(held_codes[k]) + 128] = -1


@njit(nogil=True, cache=True)
def _finish(
    held: Matrix,
    first: int,
    last: int,
    history: Matrix,
    begin: int,
    end: int,
    padded: Matrix,
    counts: Ints,
    n_items: int,
    n_known: int,
    above: Ints,
    tied: Ints,
) -> None:
    """Take what the user has seen and the item itself away, and set the counts of thresholds of minus infinity."""
    known = 0
    for j in range(begin, end):
        padded[j - begin] = history[j]
        known += int(history[j] > -np.inf)
    n = end - begin
    whole = (n + LANES - 1) // LANES * LANES
    for j in range(n, whole):
        padded[j] = -np.inf
    _count_exactly(padded, 0, whole, held, first, last, counts, -1, above, tied)
    for k in range(first, last):
        if held[k] == -np.inf:
            above[k], tied[k] = n_known - known, n_items - n_known - (n - known)
        tied[k] -= 1


@njit(nogil=True, cache=True)
def count_factor_ranks(
    users: Matrix,
    packed: Matrix,
    items: Matrix,
    columns: Ints,
    constants: Matrix,
    panels: Matrix,
    n_known: int,
    offsets: Ints,
    held_items: Ints,
    seen_offsets: Ints,
    seen: Ints,
) -> tuple[Ints, Ints]:
    """Count, per held-out item, the candidates above it and the others tied with it. Products must be finite.

    Parameters
    ----------
    users : array (users, d) of float32
        One row per user of the block.
    packed : array of float32
        The same, from `packing.pack_users`.
    items, columns, constants
        As in `packing.pack_panels`.
    panels : array of float32
        From `packing.pack_panels`, with minus infinity for items without a row.
    n_known : int
        How many items of the catalogue have a row.
    offsets, held_items, seen_offsets, seen
        As in `kernel.count_ranks`.

    Returns
    -------
    above, tied : array of int32, aligned with held_items
    """
    n, d = users.shape
    n_items = columns.shape[0]
    size = (d + 1) * PANEL
    n_panels = panels.shape[0] // size
    step = _tile_panels(d, n_panels)
    width = step * PANEL
    start, seen_start = offsets[0], seen_offsets[0]
    n_held = offsets[-1] - start
    above, tied = np.zeros(n_held, np.int32), np.zeros(n_held, np.int32)

    held = np.zeros(n_held + CHUNK, np.float32)
    held_codes, kinds = np.zeros(n_held + CHUNK, np.int8), np.empty(n_held, np.int32)
    scales, shifts = np.empty(n, np.float32), np.empty(n, np.float32)
    chosen = np.zeros(n_held + (n + 1) * TOGETHER, np.int8)  # the distinct codes of each user's thresholds
    higher = np.zeros(n_held + (n + 1) * TOGETHER, np.int64)  # how many codes are above each of them
    n_chosen = np.zeros(n, np.int64)
    head = np.empty(256, np.int64)  # by code, something of its first threshold; -1 between uses
    for code in range(256):
        head[code] = -1
    history = np.empty(seen_offsets[-1] - seen_start, np.float32)
    reached = np.empty(n, np.int64)  # in the list of what each user has seen
    widest = longest = 0
    for u in range(n):
        first, last = offsets[u] - start, offsets[u + 1] - start
        widest = max(widest, last - first)
        longest = max(longest, seen_offsets[u + 1] - seen_offsets[u])
        _score_listed(users, u, items, columns, constants, held_items, offsets[u], offsets[u + 1], held, first)
        scales[u], shifts[u] = _scale(held, first, last)
        if scales[u] > 0:
            encode(held, first, (last - first + CHUNK - 1) // CHUNK, held_codes, first, scales[u], shifts[u])
            n_chosen[u] = _choose(held_codes, held, first, last, head, kinds, chosen, first + u * TOGETHER)
        reached[u] = seen_offsets[u]
        if not _ascending(seen, seen_offsets[u], seen_offsets[u + 1]):  # then they cannot be taken from the tiles
            reached[u] = seen_offsets[u + 1]
            to = seen_offsets[u] - seen_start
            _score_listed(users, u, items, columns, constants, seen, seen_offsets[u], reached[u], history, to)

    counts = np.empty(2 * TOGETHER, np.int64)
    padded = np.empty(longest + LANES, np.float32)
    tile = np.empty(GROUP * width, np.float32)
    codes = np.empty(width, np.int8)
    words = np.zeros((width + 63) // 64, np.int64)
    marks = words.view(np.uint8)
    equal_places = np.empty(width + _AT_ONCE, np.int32)
    fresh = np.empty(widest + TOGETHER, np.int64)
    behind = np.empty(n_held, np.int64)
    for first_panel in range(0, n_panels, step):
        last_panel = min(first_panel + step, n_panels)
        begin, filled = first_panel * PANEL, (last_panel - first_panel) * PANEL
        chunks = filled // CHUNK
        for group in range(0, n, GROUP):
            for p in range(first_panel, last_panel):
                multiply(panels, p * size, packed, group * d, d, tile, (p - first_panel) * PANEL, width)
            for u in range(group, min(group + GROUP, n)):
                at = (u - group) * width
                first, last = offsets[u] - start, offsets[u + 1] - start
                while reached[u] < seen_offsets[u + 1] and seen[reached[u]] < begin + filled:
                    history[reached[u] - seen_start] = tile[at + seen[reached[u]] - begin]
                    reached[u] += 1
                if not scales[u] > 0:
                    _count_exactly(tile, at, filled, held, first, last, counts, 1, above, tied)
                    continue
                encode(tile, at, chunks, codes, 0, scales[u], shifts[u])
                to = first + u * TOGETHER
                words[(filled - 1) // 64] = 0  # the chunks may fill half of the last word
                for k in range(0, n_chosen[u], TOGETHER):
                    count_codes(codes, 0, chunks, chosen, to + k, fresh, k, marks, -1 if k else 0)
                equal = _find(words, (filled + 63) // 64, equal_places)
                if equal * _CROWDED > (last - first) * filled:  # as with scores of few values
                    scales[u] = 0
                    _count_exactly(tile, at, filled, held, first, last, counts, 1, above, tied)
                    continue
                for k in range(n_chosen[u]):
                    higher[to + k] += fresh[k]
                _resolve(
                    tile,
                    at,
                    codes,
                    equal_places,
                    equal,
                    held,
                    held_codes,
                    kinds,
                    first,
                    last,
                    head,
                    behind,
                    above,
                    tied,
                )
    for u in range(n):
        first, last = offsets[u] - start, offsets[u + 1] - start
        if n_chosen[u]:
            for k in range(first, last):
                if kinds[k] >= 0:
                    above[k] += higher[first + u * TOGETHER + kinds[k]]
        begin, end = seen_offsets[u] - seen_start, seen_offsets[u + 1] - seen_start
        _finish(held, first, last, history, begin, end, padded, counts, n_items, n_known, above, tied)
    return above, tied
