"""Array types that all layers share, and functions for rows that are sorted by group."""

import math
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bools",
    "Floats",
    "Ints",
    "Matrix",
    "SeedLike",
    "distinct_of",
    "dot",
    "gram",
    "log2_of",
    "offsets_of",
    "powers_of",
    "running_sums",
    "runs_of",
    "spans",
]

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


def gram(rows: Floats) -> Floats:
    """The sums of products of each row with each, as `dot` adds them.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    products = np.empty((len(rows), len(rows)))
    for place, row in enumerate(rows):
        products[place, place:] = products[place:, place] = np.sum(rows[place:] * row, axis=1)
    return products


def running_sums(terms: npt.ArrayLike) -> Floats:
    """Zero and the sums of the first terms, as if added with twice the digits: long doubles differ between processors.

    Examples
    --------
    >>> running_sums([1.0, 1e-20, -1.0])[-1]
    np.float64(1e-20)
    """
    given = np.asarray(terms, dtype=np.float64)
    sums = np.append(0.0, np.cumsum(given))
    before, after = sums[:-1], sums[1:]
    added = after - before
    lost = (before - (after - added)) + (given - added)  # what each addition rounded away, exactly (Knuth)
    sums[1:] += np.cumsum(lost)
    return sums


def log2_of(numbers: Ints) -> Floats:
    """Logarithms of whole numbers from 1, from a table: those of NumPy depend on the vectors of the processor.

    Examples
    --------
    >>> log2_of(np.array([1, 8]))
    array([0., 3.])
    """
    largest = int(numbers.max(initial=1))
    if largest > max(2 * numbers.size, 1 << 16):
        return np.array([math.log2(number) for number in numbers.ravel().tolist()]).reshape(numbers.shape)
    return _logarithms(largest.bit_length())[numbers]


@lru_cache(maxsize=4)
def _logarithms(bits: int) -> Floats:
    return np.array([-math.inf, *map(math.log2, range(1, 1 << bits))])


def powers_of(bases: Floats, exponent: float) -> Floats:
    """Powers of numbers of 0 or more, few of them distinct, by `math.pow`; infinite where they are too large.

    Examples
    --------
    >>> powers_of(np.array([0.25, 0.0, 0.25]), 0.5)
    array([0.5, 0. , 0.5])
    """
    levels, place = np.unique(bases, return_inverse=True)
    return np.array([_power(level, exponent) for level in levels.tolist()])[place]


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):  # the second is 0 to a negative power
        return math.inf


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
