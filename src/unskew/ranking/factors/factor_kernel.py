"""Ranks of held-out items for factor models: products and counts in one pass. Arrays in, arrays out.

Scores are made in tiles that stay in the cache, and counted there; they are never all in memory. Each score is one sum
over the factors in their order, rounded once per step (fused multiply-add). So its bits do not depend on blocks, tiles,
threads, or the length of the processor's vectors, and items with equal factors are tied.

To count the candidates above many thresholds, scores become codes of 16 bits such that a larger score never has a
smaller code. Codes are compared 32 or 16 at once; where a code may be that of a threshold, the scores decide.
"""

from typing import Any

import numpy as np
from numba import float32, int32, int64, uint8, uint64

from unskew.arrays import Ints, Matrix
from unskew.compiling import njit
from unskew.ranking.factors.score_vectors import (
    CHAINS,
    CHUNK,
    GROUP,
    HIGHEST,
    LANES,
    LOWEST,
    PANEL,
    TABLES,
    TOGETHER,
    count_bits,
    count_codes,
    count_scores,
    encode,
    lowest_bit,
    mark_codes,
    multiply,
    score_some,
)

_TILE_BYTES = 1 << 19  # of item factors, in the second cache
_TILE_MOST = 2048  # items
_FEWEST = 2  # thresholds from which codes are worth their making
_RANGE = HIGHEST - 256.5  # codes of the lowest and the highest threshold; scores beyond them have another first byte
_AT_ONCE = 4  # places that are written at once
_CROWDED = 50  # reciprocal of the marks per score and threshold from which scores are compared instead


@njit(nogil=True, cache=True)
def _tile_panels(d: int, n_panels: int) -> int:
    """Panels of a tile: some that fit into the second cache."""
    return min(max(min(_TILE_BYTES // (4 * (d + 1)), _TILE_MOST) // PANEL, 1), n_panels)


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
    scores: Matrix, at: int, n: int, held: Matrix, first: int, last: int, counts: Ints, above: Ints, tied: Ints
) -> None:
    """Add the numbers of n scores above and equal to each threshold; `held` has some room at its end."""
    for begin in range(first, last, TOGETHER):
        count_scores(scores, at, n // LANES, held, begin, counts)
        for k in range(begin, min(begin + TOGETHER, last)):
            above[k] += counts[k - begin]
            tied[k] += counts[k - begin + TOGETHER] - counts[k - begin]


@njit(nogil=True, cache=True)
def _enter(code: int, tables: Ints, at: int) -> None:
    """Enter both bytes of a code, as `mark_codes` looks for them."""
    for half in range(2):
        byte = (int64(code) >> 8 * half) & 255
        tables[at + 32 * half + 16 * (byte >> 7) + (byte & 15)] |= uint8(1 << ((byte >> 4) & 7))


@njit(nogil=True, cache=True)
def _find(words: Ints, n_words: int, places: Ints) -> Any:
    """Write the places of all marks, and some more; return how many there are.

    Always writing `_AT_ONCE` places is faster than to ask after each whether it was the last.
    """
    n = uint64(0)
    for w in range(uint64(n_words)):
        word = words[w]
        end = n + uint64(count_bits(word))
        while True:
            for k in range(uint64(_AT_ONCE)):
                places[n + k] = int32(w * uint64(64)) + int32(lowest_bit(word))
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
    places: Ints,
    n_places: int,
    held: Matrix,
    held_codes: Ints,
    first: int,
    last: int,
    head: Ints,
    behind: Ints,
    above: Ints,
    tied: Ints,
) -> None:
    """Compare the scores at these places with the thresholds of the same code.

    A list of thresholds for each low byte leads to them. Places whose list has more than one are kept for a second
    round, because a loop without branches is faster.
    """
    for k in range(first, last):
        byte = int64(held_codes[k]) & 255
        behind[k] = head[byte]
        head[byte] = k
    again = uint64(0)
    for j in range(uint64(n_places)):  # unsigned, because the compiler need not ask whether they are negative
        place = places[j]
        score, code = tile[uint64(at) + uint64(place)], codes[uint64(place)]
        k = uint64(head[uint64(int64(code) & 255)])
        same = held_codes[k] == code
        above[k] += int32(same & (score > held[k]))
        tied[k] += int32(same & (score == held[k]))
        places[again] = place
        again += uint64(behind[k] >= 0)
    for j in range(again):
        place = uint64(places[j])
        score, code = tile[uint64(at) + place], codes[place]
        k = behind[head[int64(code) & 255]]
        while k >= 0:
            if held_codes[k] == code:
                above[k] += int32(score > held[k])
                tied[k] += int32(score == held[k])
            k = behind[k]
    for k in range(first, last):
        head[int64(held_codes[k]) & 255] = -1


@njit(nogil=True, cache=True)
def _hide(tile: Matrix, at: int, begin: int, end: int, seen: Ints, first: int, last: int) -> int:
    """Make scores minus infinity, from the first item of the list to one that is not in the tile; return its place."""
    while first < last and begin <= seen[first] < end:
        tile[at + seen[first] - begin] = -np.inf
        first += 1
    return first


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
    start = offsets[0]
    n_held = offsets[-1] - start
    above, tied = np.zeros(n_held, np.int32), np.zeros(n_held, np.int32)

    held = np.zeros(n_held + CHUNK, np.float32)
    held_codes = np.zeros(n_held + CHUNK, np.int16)
    scales, shifts = np.empty(n, np.float32), np.empty(n, np.float32)
    tables = np.zeros(n * TABLES, np.uint8)
    reached = seen_offsets[:-1].copy()  # in the list of what each user has seen
    ordered = np.empty(n, np.bool_)  # whether that list is ascending
    widest = 0
    for u in range(n):
        first, last = offsets[u] - start, offsets[u + 1] - start
        widest = max(widest, last - first)
        _score_listed(users, u, items, columns, constants, held_items, offsets[u], offsets[u + 1], held, first)
        scales[u], shifts[u] = _scale(held, first, last)
        encode(held, first, (last - first + CHUNK - 1) // CHUNK, held_codes, first, scales[u], shifts[u])
        for k in range(first, last):
            if held[k] == -np.inf:
                held_codes[k] = LOWEST - 1
            _enter(held_codes[k], tables, u * TABLES)
        ordered[u] = _ascending(seen, seen_offsets[u], seen_offsets[u + 1])

    counts = np.empty(2 * TOGETHER, np.int64)
    tile = np.empty(GROUP * width, np.float32)
    codes = np.empty(width, np.int16)
    words = np.zeros((width + 63) // 64, np.int64)
    marks = words.view(np.uint8)
    higher = np.empty(widest + TOGETHER, np.int64)
    places = np.empty(width + 64 + _AT_ONCE, np.int32)
    head, behind = np.full(256, -1), np.empty(n_held, np.int64)
    for first_panel in range(0, n_panels, step):
        last_panel = min(first_panel + step, n_panels)
        begin, filled = first_panel * PANEL, (last_panel - first_panel) * PANEL
        chunks, n_words = filled // CHUNK, (filled + 63) // 64
        words[n_words - 1] = 0  # the chunks may fill a part of the last word
        for group in range(0, n, GROUP):
            for p in range(first_panel, last_panel):
                multiply(panels, p * size, packed, group * d, d, tile, (p - first_panel) * PANEL, width)
            for u in range(group, min(group + GROUP, n)):
                at = (u - group) * width
                first, last = offsets[u] - start, offsets[u + 1] - start
                end = seen_offsets[u + 1]
                reached[u] = _hide(tile, at, begin, begin + filled, seen, reached[u], end)
                if not ordered[u]:
                    for j in range(seen_offsets[u], end):
                        _hide(tile, at, begin, begin + filled, seen, j, j + 1)
                if scales[u] > 0:
                    encode(tile, at, chunks, codes, 0, scales[u], shifts[u])
                    for k in range(first, last, TOGETHER):
                        count_codes(codes, 0, chunks, held_codes, k, higher, k - first)
                    mark_codes(codes, chunks, tables, u * TABLES, marks)
                    n_marks = _find(words, n_words, places)
                    if n_marks * _CROWDED <= (last - first) * filled:
                        for k in range(first, last):
                            above[k] += higher[k - first]
                        _resolve(
                            tile, at, codes, places, n_marks, held, held_codes, first, last, head, behind, above, tied
                        )
                        continue
                    scales[u] = 0  # as with scores of few values
                _count_exactly(tile, at, filled, held, first, last, counts, above, tied)
    for u in range(n):
        known = -1
        for k in range(offsets[u] - start, offsets[u + 1] - start):
            if held[k] == -np.inf:  # the other items without a row are tied
                if known < 0:
                    known = 0
                    for j in range(seen_offsets[u], seen_offsets[u + 1]):
                        known += int(columns[seen[j]] >= 0)
                n_seen = seen_offsets[u + 1] - seen_offsets[u]
                above[k], tied[k] = n_known - known, n_items - n_known - (n_seen - known)
            tied[k] -= 1
    return above, tied
