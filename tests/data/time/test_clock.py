"""Moments and durations in the unit of a log's times."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.data import Clock
from unskew.errors import ConfigError, Option

BEFORE, GAP = Option("before"), Option("gap")
NEW_YEAR = 1704067200.0  # 2024-01-01 in UTC


@pytest.mark.parametrize("unit, per_second", [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_the_size_of_the_largest_time_decides_the_unit(unit, per_second):
    for moment in ("1974-01-01", "2024-01-01", "2500-01-01"):
        seconds = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
        assert Clock.of(np.array([0.0, seconds * per_second])).unit == unit


@pytest.mark.parametrize("times", [[], [0.0], [1.0, 2021.0], [9e7], [1e20]])
def test_other_times_are_numbers(times):
    assert Clock.of(np.array(times)).unit == "number"


@pytest.mark.parametrize(
    "given_moment",
    [
        *("2024-01-01", "2024-01-01T00:00", " 2024-01-01 00:00:00 ", "2024-01-01T01:00+01:00", "1704067200", NEW_YEAR),
        *(date(2024, 1, 1), np.datetime64("2024-01-01"), np.float64(NEW_YEAR)),
        datetime(2024, 1, 1),  # noqa: DTZ001  a date without a zone is in UTC
        datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_a_moment_is_a_date_or_a_number(given_moment):
    assert Clock("s").moment(given_moment, BEFORE) == NEW_YEAR


def test_a_date_is_in_the_unit_of_the_times_and_a_number_stays():
    assert Clock("ms").moment("2024-01-01", BEFORE) == NEW_YEAR * 1e3
    assert Clock("ms").moment(5, BEFORE) == 5


@pytest.mark.parametrize(
    "length, seconds",
    [
        *(("7d", 604800), ("2w", 1209600), ("12h", 43200), ("30 m", 1800), ("1.5s", 1.5), (timedelta(days=1), 86400)),
        *((np.timedelta64(1, "h"), 3600), (60, 60), ("60", 60)),
    ],
)
def test_a_duration_is_a_length_or_a_number(length, seconds):
    assert Clock("s").duration(length, GAP) == seconds


@given(st.integers(-62135596800, 253402300799))
def test_what_is_shown_can_be_read_again(seconds):
    clock = Clock("s")
    assert clock.moment(clock.show(seconds), BEFORE) == seconds


@pytest.mark.parametrize("moment", ["yesterday", "2024-13-01", "01.02.2024", "nan", float("inf"), "", None])
def test_other_moments_are_refused(moment):
    with pytest.raises(ConfigError, match="before"):
        Clock("s").moment(moment, BEFORE)


@pytest.mark.parametrize("length", ["7 years", "7x", "d", "-7", -1.0, timedelta(days=-1), "nan"])
def test_other_durations_are_refused(length):
    with pytest.raises(ConfigError, match="gap"):
        Clock("s").duration(length, GAP)


def test_a_date_needs_times_that_are_dates():
    for call in (lambda clock: clock.moment("2024-01-01", BEFORE), lambda clock: clock.duration("7d", GAP)):
        with pytest.raises(ConfigError, match='name the unit with unit="s"'):
            call(Clock.of(np.array([1.0, 30.0])))


def test_an_unknown_unit_is_refused_with_those_that_are_known():
    with pytest.raises(ConfigError, match="known: auto, s, ms, us, ns, number"):
        Clock.of(np.array([1.0]), "days")
