from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.errors import ConfigError, DataError
from unskew.metrics import UserLists


@given(places=st.lists(st.lists(st.integers(0, 500), max_size=60), min_size=1, max_size=5))
def test_rows_are_sorted_inside_users_with_their_ties(places):
    offsets = np.append(0, np.cumsum([len(user) for user in places]))
    above = np.array([place for user in places for place in user], dtype=int)
    lists = UserLists.from_rows(offsets, above, above * 2, np.full_like(above, 2000))
    want = [place for user in places for place in sorted(user)]
    np.testing.assert_array_equal(lists.above, want)
    np.testing.assert_array_equal(lists.tied, lists.above * 2)
    assert lists.above.dtype == np.int32
    assert lists.offsets.dtype == np.int64


@pytest.mark.parametrize("rows", [127, 128, 129, 256, 257, 1_000])
def test_users_with_many_rows_are_sorted_too(rows):
    rng = np.random.default_rng(rows)
    offsets, above = np.array([0, 3, rows + 3, rows + 4]), rng.integers(0, rows // 2, rows + 4)
    lists = UserLists.from_rows(offsets, above, above % 7, np.full_like(above, 9_000))
    want = np.concatenate([np.sort(above[start:stop]) for start, stop in pairwise(offsets)])
    np.testing.assert_array_equal(lists.above, want)
    np.testing.assert_array_equal(lists.tied, want % 7)


def test_equal_places_are_spread_by_the_policy():
    offsets, none = np.array([0, 4, 5]), np.zeros(5, int)
    above = np.array([5, 2, 5, 5, 5])
    made = {
        policy: UserLists.from_rows(offsets, above, none, none + 9, policy=policy).above.tolist()
        for policy in ("expected", "random", "ordinal", "optimistic", "pessimistic")
    }
    assert made["expected"] == made["random"] == made["ordinal"] == [2, 5, 5, 5, 5]
    assert made["optimistic"] == [2, 5, 6, 7, 5]
    assert made["pessimistic"] == [2, 3, 4, 5, 5]


def test_the_input_is_not_changed():
    above = np.array([3, 1], dtype=np.int32)
    UserLists.from_rows(np.array([0, 2]), above, np.zeros(2, np.int32), np.full(2, 5, np.int32))
    assert above.tolist() == [3, 1]


@pytest.mark.parametrize("offsets", [[0, 3], [1, 2], [0, 2, 1, 2], []])
def test_offsets_that_do_not_fit_are_refused(offsets):
    two = np.zeros(2, int)
    with pytest.raises(DataError, match="offsets"):
        UserLists.from_rows(np.array(offsets, dtype=int), two, two, two)


def test_an_unknown_policy_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'optimistic'"):
        UserLists.from_rows(np.zeros(1, int), *[np.zeros(0, int)] * 3, policy="optimist")
