import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unskew.arrays import dot, gram, log2_of, offsets_of, powers_of, running_sums, runs_of, spans

counts = st.lists(st.integers(0, 4), max_size=6)


def test_offsets_by_hand() -> None:
    found = offsets_of(np.array([2, 0, 3], dtype=np.int32))
    assert found.tolist() == [0, 2, 2, 5]
    assert found.dtype == np.int64


def test_no_group_has_one_offset() -> None:
    assert offsets_of([]).tolist() == [0]


@given(counts)
def test_offsets_are_the_running_sums(sizes: list[int]) -> None:
    assert offsets_of(sizes).tolist() == [sum(sizes[:k]) for k in range(len(sizes) + 1)]


@given(st.lists(st.integers(0, 5), max_size=12).map(sorted))
def test_runs_are_what_unique_counts(codes: list[int]) -> None:
    values, sizes = runs_of(np.array(codes, dtype=np.int32))
    assert values.tolist() == sorted(set(codes))
    assert sizes.tolist() == [codes.count(value) for value in sorted(set(codes))]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_spans_are_ranges_one_after_another(groups: list[tuple[int, int]]) -> None:
    starts, sizes = (np.array([group[k] for group in groups], dtype=np.int64) for k in (0, 1))
    assert spans(starts, sizes).tolist() == [row for start, size in groups for row in range(start, start + size)]


def test_running_sums_are_those_of_exact_arithmetic() -> None:
    rng = np.random.default_rng(0)
    terms = rng.normal(size=500) * 10.0 ** rng.integers(-8, 8, 500)
    exact = [float(total) for total in itertools.accumulate(map(Fraction, terms.tolist()), initial=Fraction(0))]
    assert np.allclose(running_sums(terms), exact, rtol=1e-15, atol=0)
    assert not np.allclose(np.append(0.0, np.cumsum(terms)), exact, rtol=1e-15, atol=0)


def test_logarithms_and_powers_are_those_of_the_module_math() -> None:
    numbers = np.array([[1, 3], [70_000, 5]])
    assert log2_of(numbers).tolist() == [[math.log2(n) for n in row] for row in numbers.tolist()]
    assert log2_of(np.array([1 << 40])).tolist() == [40.0]
    assert log2_of(np.arange(1, 9)).tolist() == [math.log2(n) for n in range(1, 9)]
    assert log2_of(np.empty(0, dtype=np.int64)).tolist() == []
    bases = np.array([0.3, 0.0, 1.0, 0.3])
    assert powers_of(bases, 1.7).tolist() == [math.pow(base, 1.7) for base in bases.tolist()]
    assert powers_of(bases, -0.5).tolist()[1] == math.inf
    assert powers_of(np.array([1e-300]), -2.0).tolist() == [math.inf]


def test_sums_of_products_of_rows_are_those_of_single_rows() -> None:
    rows = np.random.default_rng(1).normal(size=(4, 1003))
    expected = [[dot(first, other) for other in rows] for first in rows]
    assert gram(rows).tolist() == expected
