"""Array types that all layers share, and functions for rows that are sorted by group."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Ints", "Matrix", "SeedLike", "distinct_of", "dot", "offsets_of", "runs_of", "spans"]

Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
SeedLike: TypeAlias = int | np.random.Generator


def dot(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """The sum of products, in one order on every machine: that of BLAS depends on its kernel and its threads.

    Examples
    --------
    >>> dot([1, 2], [0.5, 3])
    6.5
    """
    return float(np.sum(np.multiply(first, second)))


def offsets_of(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Offsets of groups with these sizes: group g has rows ``offsets[g]:offsets[g + 1]``.

    Examples
    --------
    >>> offsets_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    return np.append(np.int64(0), np.cumsum(counts, dtype=np.int64))


def runs_of(codes: Ints) -> tuple[Ints, npt.NDArray[np.int64]]:
    """Distinct values of a sorted array, and how often each occurs.

    Examples
    --------
    >>> runs_of(np.array([4, 4, 7]))
    (array([4, 7]), array([2, 1]))
    """
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])) if len(codes) else np.empty(0, np.int64)
    return codes[starts], np.diff(np.append(starts, len(codes)))


def distinct_of(values: Ints) -> Ints:
    """Distinct values, ascending: for millions of values many times faster than `numpy.unique`, which hashes them.

    Examples
    --------
    >>> distinct_of(np.array([7, 4, 4]))
    array([4, 7])
    """
    ordered = np.sort(values, kind="stable")  # which is fastest if most are in order, as in a log by user
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def spans(starts: Ints, counts: Ints) -> Ints:
    """Row numbers of several groups, one group after another, given where each starts and how many rows it has.

    Examples
    --------
    >>> spans(np.array([10, 0]), np.array([2, 3]))
    array([10, 11,  0,  1,  2])
    """
    offsets = offsets_of(counts)
    return np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])
