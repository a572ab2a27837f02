"""`Clock`: moments and durations, given as dates or numbers, in the unit of a log's times."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError, Option, did_you_mean

Moment: TypeAlias = str | float | date | np.datetime64
"""A date (as an object, or as ISO text) or a number in the unit of the times."""
Duration: TypeAlias = str | float | timedelta | np.timedelta64
"""A number of days, hours and so on as in ``7d``, a `timedelta`, or a number in the unit of the times."""
TimeUnit: TypeAlias = Literal["auto", "s", "ms", "us", "ns", "number"]
"""The unit of a column of times since 1970; ``number`` if the times are not dates."""

_A_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_FIRST = 1e8  # seconds; 1973-03-03
_SPAN = 1e3  # from 1973 to 5138
_LENGTHS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_DURATION = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]+)\s*")


@dataclass(frozen=True)
class Clock:
    """The unit of a column of times.

    Parameters
    ----------
    unit : {"s", "ms", "us", "ns", "number"}
        Seconds since 1970 or parts of them, or numbers that are not dates.

    Examples
    --------
    >>> clock = Clock.of(np.array([1.6e12, 1.7e12]))
    >>> clock.unit, clock.moment("2024-01-31"), clock.duration("7d"), clock.show(1.7067456e12)
    ('ms', 1706659200000.0, 604800000.0, '2024-02-01')
    """

    unit: str

    @classmethod
    def of(cls, times: Floats, unit: str = "auto") -> "Clock":
        """The clock of some times.

        With ``auto`` the largest time decides: seconds from 1e8 to 1e11, milliseconds to 1e14, microseconds to 1e17,
        nanoseconds to 1e20, which is 1973 to 5138 for each of them. Other times are numbers without a date.
        """
        if unit in _A_SECOND or unit == "number":
            return cls(unit)
        if unit != "auto":
            known = ["auto", *_A_SECOND, "number"]
            raise ConfigError(f"unknown unit of times {unit!r}{did_you_mean(unit, known)}")
        largest = float(np.max(np.abs(times), initial=0.0))
        units = [name for name, per in _A_SECOND.items() if _FIRST * per <= largest < _FIRST * per * _SPAN]
        return cls(units[0] if units else "number")

    def moment(self, given: Moment, option: Option) -> float:
        """A moment in the unit of the times; text is a number or an ISO date. `option` is named in messages."""
        if isinstance(given, np.datetime64):
            given = given.astype("datetime64[us]").item()
        if isinstance(given, date):
            return self._of_date(given, option)
        number = _number(given)
        if number is not None:
            return _finite(number, given, option)
        try:
            return self._of_date(datetime.fromisoformat(str(given).strip()), option)
        except ValueError as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(
                f"{option}: cannot read {given!r}; write a date as in 2024-01-31 or 2024-01-31T12:00, or a number in "
                "the unit of the times"
            ) from error

    def duration(self, given: Duration, option: Option) -> float:
        """A duration in the unit of the times, at least 0. `option` is named in messages."""
        if isinstance(given, np.timedelta64):
            given = given.astype("timedelta64[us]").item()
        number = _number(given)
        if isinstance(given, timedelta):
            number = self._seconds(given.total_seconds(), option)
        elif number is None:
            match = _DURATION.fullmatch(str(given))
            if match is None or match[2] not in _LENGTHS:
                raise ConfigError(
                    f"{option}: cannot read the duration {given!r}; write it as in 7d, with w, d, h, m or s, or a "
                    "number in the unit of the times"
                )
            number = self._seconds(float(match[1]) * _LENGTHS[match[2]], option)
        if _finite(number, given, option) < 0:
            raise ConfigError(f"{option}: the duration {given} is negative; give one of at least 0, as in 7d")
        return number

    def show(self, moment: float) -> str:
        """A moment as text: an ISO date in UTC, without the time of day at midnight, or a number."""
        if self.unit == "number":
            return f"{moment:.12g}"
        try:
            then = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment / _A_SECOND[self.unit])
        except OverflowError:  # beyond the year 9999
            return f"{moment:.12g}"
        midnight = then == datetime.combine(then.date(), datetime.min.time(), UTC)
        return then.date().isoformat() if midnight else then.replace(tzinfo=None).isoformat()

    def _of_date(self, given: date, option: Option) -> float:
        then = given if isinstance(given, datetime) else datetime.combine(given, datetime.min.time())
        then = then.replace(tzinfo=UTC) if then.tzinfo is None else then
        return self._seconds((then - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds(), option)

    def _seconds(self, seconds: float, option: Option) -> float:
        if self.unit == "number":
            raise ConfigError(
                f"{option} is a date or a length of time, but the times do not look like seconds or milliseconds since "
                f"1970; give a number in their unit, or name the unit with {Option('time_unit', 's')}"
            )
        return seconds * _A_SECOND[self.unit]


def _number(given: Any) -> float | None:
    try:
        return float(given)
    except (TypeError, ValueError):
        return None


def _finite(number: float, given: object, option: Option) -> float:
    if not math.isfinite(number):
        raise ConfigError(f"{option}: {given!r} is not a moment or a duration; give a finite number or a date")
    return number
