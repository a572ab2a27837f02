import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unskew.arrays import offsets_of, runs_of, spans

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
