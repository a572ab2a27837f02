"""The loops of `kernel` that a short run needs, with NumPy: the same integers, without a compiler."""

from collections.abc import Iterator

import numpy as np

from unskew.arrays import Ints, Matrix


def count_ranks(scores: Matrix, offsets: Ints, items: Ints, seen_offsets: Ints, seen: Ints) -> tuple[Ints, Ints]:
    """Count, per held-out item, the candidates above it and the others tied with it; see `kernel.count_ranks`."""
    counts: list[tuple[Ints, Ints]] = []
    for row, held, excluded in _rows(scores, offsets, items, seen_offsets, seen):
        (above, level), (above_seen, level_seen) = _count(row, held), _count(row[excluded], held)
        counts.append((above - above_seen, level - level_seen - (above - above_seen) - 1))
    return _joined(counts)


def count_ranks_among(
    scores: Matrix, offsets: Ints, items: Ints, among_offsets: Ints, among: Ints
) -> tuple[Ints, Ints]:
    """Like `count_ranks`, with a list of the candidates of each row, which must include the held-out items."""
    counts: list[tuple[Ints, Ints]] = []
    for row, held, candidates in _rows(scores, offsets, items, among_offsets, among):
        above, level = _count(row[candidates], held)
        counts.append((above, level - above - 1))
    return _joined(counts)


def first_not_finite(scores: Matrix) -> tuple[int, int]:
    """Row and column of the first NaN or infinity, or (-1, -1)."""
    bad = ~np.isfinite(scores)
    if not bad.any():
        return -1, -1
    row, column = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return int(row), int(column)


def hash_rows(words: Ints) -> Ints:
    """A 64-bit hash of each row of 32-bit words; equal rows have equal hashes."""
    mixers = np.empty(words.shape[1], np.uint64)
    mixer = 0x9E3779B97F4A7C15
    for j in range(len(mixers)):
        mixer = (mixer * 0xD1342543DE82EF95 + 1) % (1 << 64)
        mixers[j] = mixer | 1
    return np.asarray((words.astype(np.uint64) * mixers).sum(axis=1, dtype=np.uint64))


def _rows(
    scores: Matrix, offsets: Ints, items: Ints, listed_offsets: Ints, listed: Ints
) -> Iterator[tuple[Matrix, Matrix, Ints]]:
    """Scores, scores of held-out items, and listed columns of each row."""
    for k, row in enumerate(scores):
        yield row, row[items[offsets[k] : offsets[k + 1]]], listed[listed_offsets[k] : listed_offsets[k + 1]]


def _count(scores: Matrix, held: Matrix) -> tuple[Ints, Ints]:
    """How many scores are above each of the held ones, and how many at least equal."""
    above = np.count_nonzero(scores > held[:, None], axis=1)
    return above, np.count_nonzero(scores >= held[:, None], axis=1)


def _joined(counts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    above, tied = (np.concatenate([np.empty(0, np.int32), *column]) for column in zip(*counts, strict=True))
    return above.astype(np.int32), tied.astype(np.int32)
