"""Splits at moments, and rolling windows."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.data import rolling, split_by_time
from unskew.data.time.splits import parse_rolling
from unskew.errors import ConfigError, DataError

DAY = 86400.0


def daily(days: int = 28, start: str = "2024-01-01", unit: float = 1.0) -> Interactions:
    """Two users and an item of each day, at midnight."""
    first = np.datetime64(start, "s").astype(float)
    users, items = np.tile([0, 1], days), np.repeat(np.arange(days), 2)
    return Interactions.from_arrays(users, items, times=(first + DAY * items) * unit, name="log")


def days_of(part: Interactions) -> list[int]:
    return sorted(set(part.items.tolist()))


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6])
def test_train_is_before_the_moment_and_the_test_from_it_on(unit):
    split = split_by_time(daily(unit=unit), before="2024-01-22", until="2024-01-25")
    assert days_of(split.train) == list(range(21))
    assert days_of(split.test) == [21, 22, 23]
    assert split.origin == "time(before=2024-01-22, until=2024-01-25)"


def test_without_an_end_the_test_goes_to_the_last_row():
    assert days_of(split_by_time(daily(), before="2024-01-22").test) == list(range(21, 28))


def test_a_gap_is_taken_from_train_and_the_test_stays():
    split = split_by_time(daily(), before="2024-01-22", gap="7d")
    assert days_of(split.train) == list(range(14))
    assert days_of(split.test) == list(range(21, 28))


def test_four_weeks_by_hand():
    """28 days: the windows of 7 days end with the last one, and all days before are the training of each."""
    splits = rolling(daily(35), 4, "7d")
    assert [days_of(split.test) for split in splits] == [list(range(k, k + 7)) for k in (7, 14, 21, 28)]
    assert [days_of(split.train) for split in splits] == [list(range(k)) for k in (7, 14, 21, 28)]


def test_windows_may_end_earlier_and_have_a_gap():
    splits = rolling(daily(), 2, "7d", until="2024-01-22", gap="2d")
    assert [days_of(split.test) for split in splits] == [list(range(7, 14)), list(range(14, 21))]
    assert [days_of(split.train) for split in splits] == [list(range(5)), list(range(12))]


@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 30), st.integers(0, 10**6))
def test_windows_partition_the_end_of_the_log_and_train_is_always_earlier(windows, length, gap, seed):
    rng = np.random.default_rng(seed)
    times = np.arange(400) // 2
    log = Interactions.from_arrays(rng.integers(0, 20, 400), np.arange(400), times=times)
    try:
        splits = rolling(log, windows, length, gap=gap)
    except DataError:
        assert windows * length + gap >= 200
        return
    tested = np.concatenate([split.test.times for split in splits])
    assert np.array_equal(np.sort(tested), times[times >= 200 - windows * length])
    for split in splits:
        assert split.train.times.max() < split.test.times.min() - gap
        assert np.ptp(split.test.times) < length


def test_a_later_row_does_not_replace_a_training_row_in_a_log_with_repeats():
    frame = pl.DataFrame({"user": [0, 0, 0, 1], "item": [5, 5, 6, 6], "timestamp": [1, 12, 13, 2]})
    split = split_by_time(Interactions.from_frame(frame, once=False), before=10)
    assert split.train.times.tolist() == [1, 2]
    assert split.test.times.tolist() == [12, 13]
    once = split_by_time(Interactions.from_frame(frame), before=10)
    assert once.train.times.tolist() == [2]  # the row of 12 replaced that of 1


def test_the_propensity_of_a_part_in_time_is_not_known():
    log = Interactions.from_arrays([0, 0], [0, 1], times=[1, 2], propensity=[0.5, 0.5])
    assert split_by_time(log, before=2).test.propensity is None


@pytest.mark.parametrize(
    "options, says",
    [
        ({"before": "2023-01-01"}, "no row for train, before 2023-01-01; the log is from 2024-01-01 to 2024-01-28"),
        ({"before": "2024-03-01"}, "no row for the test, from 2024-03-01; "),
        ({"before": "2024-01-05T01:00", "until": "2024-01-05T02:00"}, "from 2024-01-05T01:00:00 until 2024-01-05T02"),
        ({"before": 2024}, "a date is written 2024-01-31"),
    ],
)
def test_an_empty_part_is_refused_with_what_the_log_has(options, says):
    with pytest.raises(DataError, match=says):
        split_by_time(daily(), **options)


def test_an_end_before_the_beginning_is_refused():
    with pytest.raises(ConfigError, match=r"before=... is 2024-01-10 and until=... is 2024-01-09"):
        split_by_time(daily(), before="2024-01-10", until="2024-01-09")


def test_a_log_without_times_or_rows_is_refused():
    timeless = Interactions.from_arrays([0, 1], [0, 1])
    with pytest.raises(DataError, match="has no column 'timestamp'"):
        split_by_time(timeless, before=1)
    with pytest.raises(DataError, match="has no rows"):
        rolling(daily().take(np.empty(0, dtype=int)))


def test_an_empty_window_is_named():
    log = Interactions.from_arrays([0] * 4, range(4), times=[0, 1, 2, 30])
    with pytest.raises(DataError, match=r"window 2: no row for the test, from 11 until 21"):
        rolling(log, 3, 10, until=31)


@pytest.mark.parametrize("windows, length", [(0, "7d"), (-1, "7d"), (1.5, "7d"), (True, "7d"), (2, 0), (2, "0d")])
def test_windows_that_are_none_are_refused(windows, length):
    with pytest.raises(ConfigError):
        rolling(daily(), windows, length)


def test_the_words_of_rolling_windows():
    assert parse_rolling("4x7d") == (4, "7d")
    assert parse_rolling(" 12 X 3600 ") == (12, "3600")
    for text in ("7d", "x7d", "0x7d", "4x", "4x7y", "4*7d"):
        with pytest.raises(ConfigError):
            parse_rolling(text)
