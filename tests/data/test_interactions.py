"""Interactions from arrays, frames and sparse matrices."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from unskew import Interactions
from unskew.errors import ConfigError, DataError, PropensityError

COLUMNS = {"user": ["b", "a", "b"], "item": [10, 9, 9], "rating": [4.0, 5.0, 1.0], "timestamp": [3, 1, 2]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def rows_of(log: Interactions) -> list[tuple[Any, ...]]:
    return log.to_polars().rows()


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_kind_of_frame_gives_the_same_rows(make: Any) -> None:
    log = Interactions.from_frame(make(COLUMNS))
    assert rows_of(log) == [("b", 10, 4, 3), ("a", 9, 5, 1), ("b", 9, 1, 2)]
    assert log.user_vocabulary.ids.tolist() == ["a", "b"]
    assert log.item_vocabulary.ids.tolist() == [9, 10]


def test_arrays_give_the_same_rows_as_frames() -> None:
    values = COLUMNS["user"], COLUMNS["item"], COLUMNS["rating"], COLUMNS["timestamp"]
    assert rows_of(Interactions.from_arrays(*values)) == rows_of(Interactions.from_frame(pl.DataFrame(COLUMNS)))


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_text_and_number_are_the_same_id_in_every_frame(make: Any) -> None:
    text = Interactions.from_frame(make({"user": ["1", "10", "9"], "item": ["3", "2", "1"]}))
    number = Interactions.from_frame(make({"user": [1, 10, 9], "item": [3, 2, 1]}))
    assert rows_of(text) == rows_of(number)
    assert text.user_vocabulary.ids.tolist() == [1, 9, 10]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("ids", [["a", None, "b"], [1, None, 2]], ids=["text", "number"])
def test_null_ids_are_refused_with_column_and_row(make: Any, ids: list[object]) -> None:
    with pytest.raises(DataError, match=r"column 'user' of log: row 2 has no id"):
        Interactions.from_frame(make({"user": ids, "item": [1, 2, 3]}), name="log")


def test_pandas_nullable_and_categorical_columns_are_read() -> None:
    frame = pd.DataFrame({"user": pd.Categorical(["b", "a"]), "item": pd.array([2, 1], dtype="Int64")})
    assert rows_of(Interactions.from_frame(frame)) == [("b", 2), ("a", 1)]
    frame["item"] = pd.array([2, None], dtype="Int64")
    with pytest.raises(DataError, match="column 'item' of frame: row 2 has no id"):
        Interactions.from_frame(frame)


def test_pandas_columns_of_mixed_objects_are_text() -> None:
    log = Interactions.from_frame(pd.DataFrame({"user": ["a", 7], "item": [1, 1]}))
    assert log.user_vocabulary.ids.tolist() == ["7", "a"]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("zone", [None, dt.UTC], ids=["naive", "utc"])
def test_dates_become_seconds(make: Any, zone: dt.tzinfo | None) -> None:
    moments = [dt.datetime(1970, 1, 2, tzinfo=zone), dt.datetime(1970, 1, 1, 0, 0, 30, tzinfo=zone)]
    log = Interactions.from_frame(make({"user": [1, 2], "item": [1, 2], "timestamp": moments}))
    assert log.times is not None
    assert log.times.tolist() == [86400.0, 30.0]


def test_a_missing_date_is_refused_with_its_row() -> None:
    frame = pd.DataFrame({"user": [1, 2], "item": [1, 2], "timestamp": pd.to_datetime(["2020-01-01", None])})
    with pytest.raises(DataError, match=r"'timestamp' of frame: row 2 has no value, expected a number or a date"):
        Interactions.from_frame(frame)


def test_other_column_names_must_exist_and_the_nearest_is_suggested() -> None:
    frame = pl.DataFrame({"member": [1], "item": [1], "stars": [5]})
    log = Interactions.from_frame(frame, user="member", rating="stars")
    assert log.values is not None
    assert log.values.tolist() == [5.0]
    with pytest.raises(DataError, match=r"no column 'star'.*did you mean 'stars'"):
        Interactions.from_frame(frame, user="member", rating="star")


@pytest.mark.parametrize("column", ["rating", "timestamp", "propensity"])
def test_missing_numbers_are_refused_with_column_and_row(column: str) -> None:
    frame = pl.DataFrame({"user": [1, 2], "item": [1, 2], column: [0.5, None]})
    expected = rf"column '{column}' of frame: row 2 has no value, expected a number.*; fill it in, or remove the row"
    with pytest.raises(DataError, match=expected):
        Interactions.from_frame(frame)


def test_without_times_the_last_of_repeated_rows_is_kept() -> None:
    log = Interactions.from_arrays([1, 2, 1, 1], [5, 5, 5, 6], values=[1, 2, 3, 4])
    assert rows_of(log) == [(2, 5, 2), (1, 5, 3), (1, 6, 4)]
    assert log.duplicates == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30), st.booleans()
)
def test_one_row_of_each_pair_is_kept(rows: list[tuple[int, int, int]], timed: bool) -> None:
    """The oracle goes through the rows: a later one replaces an earlier one, unless its time is earlier."""
    users, items, times = (np.array(column) for column in zip(*rows, strict=True))
    log = Interactions.from_arrays(users, items, np.arange(len(rows)), times if timed else None)
    kept: dict[tuple[int, int], int] = {}
    for place, (user, item, time) in enumerate(rows):
        before = kept.get((user, item))
        if before is None or not timed or time >= rows[before][2]:
            kept[user, item] = place
    assert log.values is not None
    assert log.values.tolist() == sorted(kept.values())
    assert log.duplicates == len(rows) - len(kept)


@pytest.mark.parametrize("ids", [[5, 3, 9], ["a", "ü", "a very long text"]])
def test_pieces_of_the_frame_are_the_frame(ids: list[Any]) -> None:
    log = Interactions.from_arrays(ids, ids[::-1], [1.0, 2.0, 3.5], [1, 2, 3])
    whole = log.to_polars()
    assert whole.rows() == list(zip(ids, ids[::-1], [1.0, 2.0, 3.5], [1, 2, 3], strict=True))
    pieces = list(log.frames(rows=2))  # the first of which has whole ratings only
    assert [len(piece) for piece in pieces] == [2, 1]
    assert pl.concat(pieces).equals(whole)


def test_with_times_the_latest_of_repeated_rows_is_kept() -> None:
    log = Interactions.from_arrays([1, 1, 1], [5, 5, 5], values=[1, 2, 3], times=[20, 30, 10])
    assert rows_of(log) == [(1, 5, 2, 30)]
    assert log.duplicates == 2


def test_at_the_same_time_the_last_row_is_kept() -> None:
    log = Interactions.from_arrays([1, 1, 1], [5, 5, 5], values=[1, 2, 3], times=[30, 30, 10])
    assert rows_of(log) == [(1, 5, 2, 30)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_duplicates_agree_with_a_dictionary(rows: list[tuple[int, int, int]]) -> None:
    kept: dict[tuple[int, int], tuple[int, int]] = {}
    for place, (user, item, time) in enumerate(rows):
        if (user, item) not in kept or time >= kept[user, item][0]:
            kept[user, item] = (time, place)
    users, items, times = ([row[k] for row in rows] for k in range(3))
    log = Interactions.from_arrays(users, items, values=range(len(rows)), times=times, n_users=4, n_items=4)
    assert log.values is not None
    assert log.values.tolist() == sorted(place for _, place in kept.values())
    assert log.duplicates == len(rows) - len(kept)


def test_sparse_entries_are_the_rows() -> None:
    matrix = sparse.csr_array(np.array([[0, 2.0], [3.0, 0], [0, 0]]))
    log = Interactions.from_sparse(matrix)
    assert sorted(rows_of(log)) == [(0, 1, 2), (1, 0, 3)]
    assert (log.n_users, log.n_items) == (3, 2)


def test_sparse_rows_and_columns_may_have_ids() -> None:
    matrix = sparse.coo_matrix(np.array([[0, 2.0], [3.0, 0]]))
    log = Interactions.from_sparse(matrix, user_ids=["z", "y"], item_ids=[20, 10])
    assert sorted(rows_of(log)) == [("y", 20, 3), ("z", 10, 2)]
    with pytest.raises(DataError, match="3 user_ids for 2 rows"):
        Interactions.from_sparse(matrix, user_ids=["x", "y", "z"])
    with pytest.raises(DataError, match="expected a scipy sparse matrix, got ndarray"):
        Interactions.from_sparse(np.eye(2))


def test_codes_name_all_users_and_items_even_without_rows() -> None:
    log = Interactions.from_arrays([0, 2], [1, 1], n_users=4, n_items=3)
    assert (log.n_users, log.n_items) == (4, 3)
    assert log.user_vocabulary.declared
    assert log.item_counts.tolist() == [0, 2, 0]
    assert log.user_counts.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("users", "says"),
    [
        ([0, 4], "code 4 in row 2 is outside 0 to 3"),
        ([-1, 0], "code -1 in row 1"),
        ([0.5, 1], "integers"),
        (["a", "b"], "integers"),
    ],
)
def test_codes_outside_their_range_are_refused(users: list[Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        Interactions.from_arrays(users, [0, 0], n_users=4, n_items=1)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"users": [1, 2], "items": [1]}, "2 users but 1 items"),
        ({"users": [1], "items": [1], "values": [1, 2]}, r"values of interactions: shape \(2,\), expected \(1,\)"),
        ({"users": [1], "items": [1], "values": [np.nan]}, "row 1 has no value"),
        ({"users": [1], "items": [1], "values": ["high"]}, "values of interactions: .*expected numbers"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        Interactions.from_arrays(**columns)


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.0001, np.inf])
def test_propensities_outside_their_range_are_refused(bad: float) -> None:
    with pytest.raises(PropensityError, match=r"log: propensity .* in row 2 \(1 in all\) is outside \(0, 1\]"):
        Interactions.from_arrays([1, 2], [1, 2], propensity=[1.0, bad], name="log")


def test_conditions_pick_rows() -> None:
    log = Interactions.from_arrays([1, 2, 3], [1, 2, 3], values=[3, 4, 5], times=[9, 8, 7])
    assert log.where("rating>=4").values.tolist() == [4, 5]  # type: ignore[union-attr]
    assert log.where(" rating < 4.5e0 ").values.tolist() == [3, 4]  # type: ignore[union-attr]
    assert log.where("rating != 4").values.tolist() == [3, 5]  # type: ignore[union-attr]
    assert log.where("timestamp==8").values.tolist() == [4]  # type: ignore[union-attr]
    assert log.where("rating>-1").n_users == 3


@pytest.mark.parametrize(
    "text", ["rating>=", "rating", ">=4", "rating=>4", "rating>=1.2.3", "rating>=.", "rating>=four", ""]
)
def test_conditions_that_mean_nothing_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="write one like 'rating>=4'"):
        Interactions.from_arrays([1], [1], values=[3]).where(text)


def test_conditions_on_a_column_that_is_not_there_are_refused() -> None:
    log = Interactions.from_arrays([1], [1], name="log")
    with pytest.raises(DataError, match="log has no column 'rating'"):
        log.where("rating>=4")
    with pytest.raises(
        ConfigError, match=r"unknown column 'ratings'.*name it with rating=\"ratings\" and write 'rating>=4'"
    ):
        log.where("ratings>=4")


def test_rows_grouped_by_user_are_ascending() -> None:
    log = Interactions.from_arrays([2, 0, 2, 2], [3, 1, 0, 2], n_users=4, n_items=4)
    offsets, items = log.by_user
    assert offsets.tolist() == [0, 1, 1, 4, 4]
    assert items.tolist() == [1, 0, 2, 3]


def test_the_fingerprint_depends_on_the_rows_and_not_on_how_ids_were_written() -> None:
    def fingerprint(users: list[Any], **more: Any) -> str:
        return Interactions.from_arrays(users, [5, 6], **more).sha256

    plain = fingerprint([1, 2])
    assert plain == fingerprint(["1", "2"])
    assert plain != fingerprint([2, 1])
    assert plain != fingerprint([1, 3])
    assert plain != fingerprint([1, 2], values=[1, 1])
    assert fingerprint([1, 2], values=[1, 1]) != fingerprint([1, 2], times=[1, 1])


def test_the_fingerprint_does_not_see_ids_without_rows() -> None:
    log = Interactions.from_arrays([1, 2, 3], [5, 6, 7])
    assert log.take(np.array([0, 1])).sha256 == Interactions.from_arrays([1, 2], [5, 6]).sha256


def test_a_frame_made_from_interactions_reads_back() -> None:
    log = Interactions.from_arrays(["b", "a"], [2, 1], [1.5, 2], [3, 4], [0.5, 1])
    again = Interactions.from_frame(log.to_polars())
    assert again.sha256 == log.sha256


def test_the_binary_matrix_has_a_one_a_row() -> None:
    matrix = Interactions.from_arrays([0, 1], [2, 0], values=[5, 0], n_users=2, n_items=3).to_sparse()
    assert matrix.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
