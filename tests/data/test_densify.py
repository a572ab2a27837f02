"""The denser part of a log: counts by hand, the k-core against a slow one, and what is left out is gone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.data import Size, densify, split_per_user
from unskew.errors import ConfigError, DataError

# b has 3 rows, a and c 2, d 1; without d's row the user 3 has none
ROWS = [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "b"), (3, "d"), (4, "b"), (4, "c")]


def log_of(rows: list[tuple[int, str]]) -> Interactions:
    users, items = zip(*rows, strict=True)
    return Interactions.from_arrays(list(users), list(items), values=np.arange(len(rows)), name="log")


def rows_of(log: Interactions) -> list[tuple[int, str]]:
    return [(user, item) for user, item, *_ in log.to_polars().iter_rows()]


def test_popular_items_come_first_and_of_equal_ones_the_first_id() -> None:
    dense = densify(log_of(ROWS), items=2)
    assert rows_of(dense.log) == [(1, "a"), (1, "b"), (2, "a"), (2, "b"), (4, "b")]
    assert dense.before == Size(users=4, items=4, rows=8)
    assert dense.after == Size(users=3, items=2, rows=5)
    assert str(dense.after) == "3 users, 2 items, 5 rows"


def test_users_are_chosen_by_the_rows_that_the_items_leave_them() -> None:
    """Of the items a and b the users 1 and 2 have two rows each; in all, 4 has as many as 2."""
    dense = densify(log_of([*ROWS, (4, "d")]), users=2, items=2)
    assert rows_of(dense.log) == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


def test_columns_stay_with_their_rows() -> None:
    dense = densify(log_of(ROWS), items=2).log
    assert dense.values is not None
    assert dense.values.tolist() == [0, 1, 3, 4, 6]


def test_too_few_rows_are_left_out_until_nobody_has_too_few() -> None:
    """Without user 3 and d nothing changes; items with 3 rows leave b, whose users then have a row each."""
    assert rows_of(densify(log_of(ROWS), user_least=2).log) == [row for row in ROWS if row[0] != 3]
    assert rows_of(densify(log_of(ROWS), item_least=3).log) == [(1, "b"), (2, "b"), (4, "b")]


def slow_core(rows: set[tuple[int, str]], user_least: int, item_least: int) -> set[tuple[int, str]]:
    """Leave out one user or item at a time."""
    for side, least in ((0, user_least), (1, item_least)):
        for one in {row[side] for row in rows}:
            if sum(row[side] == one for row in rows) < least:
                return slow_core({row for row in rows if row[side] != one}, user_least, item_least)
    return rows


@given(
    rows=st.sets(st.tuples(st.integers(0, 8), st.sampled_from("abcdefg")), min_size=1),
    user_least=st.integers(1, 4),
    item_least=st.integers(1, 4),
)
def test_the_core_is_that_of_leaving_out_one_at_a_time(
    rows: set[tuple[int, str]], user_least: int, item_least: int
) -> None:
    expected = slow_core(rows, user_least, item_least)
    if not expected:
        with pytest.raises(DataError, match="no row of"):
            densify(log_of(sorted(rows)), user_least=user_least, item_least=item_least)
        return
    dense = densify(log_of(sorted(rows)), user_least=user_least, item_least=item_least)
    assert rows_of(dense.log) == sorted(expected)


def test_what_is_left_out_is_in_no_vocabulary_and_no_catalogue() -> None:
    """A log whose ids are codes, all declared, keeps them as ids: the 30 items become those kept."""
    users, items = np.repeat(np.arange(10), 10), np.tile(np.arange(10), 10)
    log = Interactions.from_arrays(users, 2 * items, n_users=10, n_items=30)
    dense = densify(log, items=7).log
    assert dense.item_vocabulary.ids.tolist() == [0, 2, 4, 6, 8, 10, 12]
    assert dense.item_counts.tolist() == [10] * 7
    split = split_per_user(dense, 0.2)
    assert len(split.catalogue) == 7


def test_an_item_whose_users_are_gone_is_gone_too() -> None:
    dense = densify(log_of(ROWS), users=1)
    assert rows_of(dense.log) == [(1, "a"), (1, "b"), (1, "c")]
    assert dense.after == Size(users=1, items=3, rows=3)


def test_asking_for_more_than_there_is_keeps_all() -> None:
    dense = densify(log_of(ROWS), users=100, items=100)
    assert rows_of(dense.log) == ROWS
    assert dense.before == dense.after


def test_the_order_of_the_rows_does_not_matter() -> None:
    log = log_of(ROWS)
    turned = densify(log.take(np.arange(len(log))[::-1].copy()), users=2, items=3)
    assert sorted(rows_of(turned.log)) == sorted(rows_of(densify(log, users=2, items=3).log))


def test_the_rule_is_said_in_words() -> None:
    assert densify(log_of(ROWS), users=1000, items=2000, user_least=2).rule == (
        "the 2,000 most popular items, then the 1,000 most active users, "
        "then users with at least 2 and items with at least 1 of the rows left"
    )


def test_nothing_left_is_refused_with_what_there_was_and_a_hint() -> None:
    with pytest.raises(
        DataError,
        match=r"log: no row of 4 users, 4 items, 8 rows is left after keeping users with at least 4",
    ):
        densify(log_of(ROWS), user_least=4)


@pytest.mark.parametrize("option", ["users", "items", "user_least", "item_least"])
@pytest.mark.parametrize("number", [0, -1])
def test_numbers_below_one_are_refused(option: str, number: int) -> None:
    with pytest.raises(ConfigError, match=rf"{option} {number} must be 1 or more; leave it out"):
        densify(log_of(ROWS), **{option: number})
