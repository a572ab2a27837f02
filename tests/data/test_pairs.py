from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unskew.arrays import Ints
from unskew.data.pairs import contains, contains_few, count_shared, find, is_among, look_up, pair_keys, row_keys

rows_of = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=12)


@dataclass(frozen=True, eq=False)
class Rows:
    users: Ints
    items: Ints

    @classmethod
    def of(cls, pairs: list[tuple[int, int]]) -> "Rows":
        codes = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        return cls(codes[:, 0], codes[:, 1])


def test_keys_do_not_overflow_the_codes() -> None:
    codes = np.array([2_000_000], dtype=np.int32)
    assert pair_keys(codes, codes, 2_000_001).tolist() == [2_000_000 * 2_000_001 + 2_000_000]


@given(rows_of)
def test_keys_are_in_the_order_of_user_and_item(pairs: list[tuple[int, int]]) -> None:
    keys = row_keys(Rows.of(pairs), 6)
    assert [pairs[k] for k in np.argsort(keys, kind="stable")] == sorted(pairs)


@given(rows_of, rows_of)
def test_rows_that_are_among_others(pairs: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    shared = [pair in others for pair in pairs]
    assert is_among(Rows.of(pairs), Rows.of(others), 6).tolist() == shared
    assert count_shared(Rows.of(pairs), Rows.of(others)) == sum(shared)


@given(st.sets(st.integers(0, 20)), st.lists(st.integers(-2, 25)))
def test_wanted_keys_are_found_where_they_are(keys: set[int], wanted: list[int]) -> None:
    ordered, asked = np.array(sorted(keys), dtype=np.int64), np.array(wanted, dtype=np.int64)
    places, found = find(ordered, asked)
    assert found.tolist() == contains(ordered, asked).tolist() == [key in keys for key in wanted]
    assert ordered[places[found]].tolist() == asked[found].tolist()
    values = look_up(ordered, ordered / 2, asked)
    np.testing.assert_array_equal(values, [key / 2 if key in keys else np.nan for key in wanted])


@given(st.lists(st.integers(0, 50), max_size=8), st.lists(st.integers(0, 50), max_size=40), st.booleans())
def test_few_keys_are_looked_up_as_all_are(keys: list[int], wanted: list[int], wide: bool) -> None:
    """`wide` keys differ only in what is left of the table's bits."""
    scale = 2**22 if wide else 1
    ordered, rows = np.unique(np.array(keys, dtype=np.int64)) * scale, np.array(wanted, dtype=np.int64) * scale
    assert contains_few(ordered, rows).tolist() == contains(ordered, rows).tolist()
