"""Splits at moments: `split_by_time`, and `rolling` windows with all of the training before each."""

import re
from dataclasses import replace

import numpy as np

from unskew.arrays import Floats
from unskew.data.interactions import Interactions
from unskew.data.split import Split
from unskew.data.time.clock import Clock, Duration, Moment
from unskew.errors import ConfigError, DataError, Option

_ROLLING = re.compile(r"\s*(\d+)\s*[xX×]\s*(.+?)\s*")


def split_by_time(
    log: Interactions,
    *,
    before: Moment,
    until: Moment | None = None,
    gap: Duration | None = None,
    unit: str = "auto",
) -> Split:
    r"""Train on what happened before a moment, and test on what happened from then on.

    With b the moment, e the end and g the gap, train has the rows at :math:`t < b - g` and the test those at
    :math:`b \le t < e`; other rows are in neither. The test does not depend on the gap, so runs with different gaps
    are judged on the same rows. In a log that keeps repeated rows (``once=False``) each part keeps the last row of a
    (user, item), so that no later row replaces a training row.

    Parameters
    ----------
    log : Interactions
    before : date, str or float
        Where the test begins: a date in UTC, ISO text such as ``2024-01-31`` or ``2024-01-31T12:00``, or a number in
        the unit of the log's times.
    until : date, str or float, optional
        Where the test ends; a row at that moment is not in it. By default after the last row.
    gap : str, timedelta or float, optional
        A length of time before the test that is not in train either, as in ``7d``, ``12h`` or ``30m``: for instance
        the time from training a model to its release.
    unit : {"auto", "s", "ms", "us", "ns", "number"}
        The unit of the log's times since 1970. With ``auto`` the largest time decides; see `Clock.of`.

    Examples
    --------
    >>> log = Interactions.from_arrays([0, 0, 1, 1], [0, 1, 0, 2], times=[10, 20, 30, 40])
    >>> split = split_by_time(log, before=30, until=40, gap=10)
    >>> split.train.times, split.test.times, split.origin
    (array([10.]), array([30.]), 'time(before=30, until=40, gap=10)')
    """
    times = _times(log)
    clock = Clock.of(times, unit)
    start = clock.moment(before, Option("before"))
    end = None if until is None else clock.moment(until, Option("until"))
    if end is not None and end <= start:
        raise ConfigError(
            f"{Option('before')} is {clock.show(start)} and {Option('until')} is {clock.show(end)}, so no row can be "
            "in the test; let the test end after it begins"
        )
    lag = 0.0 if gap is None else clock.duration(gap, Option("gap"))
    return _cut(log, times, clock, start, end, lag, _origin(clock, start, end, gap))


def rolling(
    log: Interactions,
    windows: int = 4,
    length: Duration = "7d",
    *,
    gap: Duration | None = None,
    until: Moment | None = None,
    unit: str = "auto",
) -> tuple[Split, ...]:
    r"""Split a log into test windows of equal length, one after another, each with all of the training before it.

    With e the end of the last window, window k of n is :math:`[e - (n-k+1) l,\ e - (n-k) l)`, and train has the rows
    before it as in `split_by_time`. Without `until` the last window ends one unit after the last row (a second, or
    whatever the unit of the times is), rounded down.

    Parameters
    ----------
    log : Interactions
    windows : int
    length : str, timedelta or float
        Of each window, as in ``7d``.
    gap, until, unit
        As in `split_by_time`; `until` is the end of the last window.

    Returns
    -------
    tuple of Split
        The earliest first.
    """
    if isinstance(windows, bool) or not isinstance(windows, (int, np.integer)) or windows < 1:
        raise ConfigError(f"{windows!r} windows: give a whole number of at least 1, as in {Option('rolling', '4x7d')}")
    times = _times(log)
    clock = Clock.of(times, unit)
    span, lag = clock.duration(length, Option("rolling")), 0.0 if gap is None else clock.duration(gap, Option("gap"))
    if span <= 0:
        raise ConfigError(f"{Option('rolling')}: windows of length {length} are empty; give a length as in 7d")
    end = float(np.floor(times.max())) + 1 if until is None else clock.moment(until, Option("until"))
    splits = []
    for place in range(int(windows)):
        start, stop = end - (windows - place) * span, end - (windows - place - 1) * span
        splits.append(_cut(log, times, clock, start, stop, lag, _origin(clock, start, stop, gap), place + 1))
    return tuple(splits)


def parse_rolling(text: str) -> tuple[int, str]:
    """Number and length of the windows of a text such as ``4x7d``."""
    match = _ROLLING.fullmatch(text)
    if match is None or int(match[1]) < 1:
        raise ConfigError(f"cannot read {text!r} as rolling windows; write number x length, as in 4x7d for four weeks")
    Clock("s").duration(match[2], Option("rolling"))  # refuses what is not a length
    return int(match[1]), match[2]


def _times(log: Interactions) -> Floats:
    if log.times is None:
        raise DataError(
            f"{log.name} has no column 'timestamp', which a split by time needs; name it with {Option('timestamp_col')}"
        )
    if not len(log):
        raise DataError(f"{log.name} has no rows to split")
    return log.times


def _origin(clock: Clock, start: float, end: float | None, gap: Duration | None) -> str:
    until = "" if end is None else f", until={clock.show(end)}"
    return f"time(before={clock.show(start)}{until}{'' if gap is None else f', gap={gap}'})"


def _cut(
    log: Interactions,
    times: Floats,
    clock: Clock,
    start: float,
    end: float | None,
    lag: float,
    origin: str,
    window: int | None = None,
) -> Split:
    train = times < start - lag
    test = (times >= start) & (times < (np.inf if end is None else end))
    if not train.any() or not test.any():
        here = f"{log.name}: " if window is None else f"{log.name}, window {window}: "
        first, last = clock.show(float(times.min())), clock.show(float(times.max()))
        what, where = (
            ("no row for train", f"before {clock.show(start - lag)}")
            if not train.any()
            else (
                "no row for the test",
                f"from {clock.show(start)}" + ("" if end is None else f" until {clock.show(end)}"),
            )
        )
        advice = "choose other moments" if window is None else f"use fewer or other windows, or {Option('until')}"
        dates = "" if clock.unit == "number" else "; a date is written 2024-01-31"
        raise DataError(f"{here}{what}, {where}; the log is from {first} to {last}; {advice}{dates}")
    # not a random part, so the propensity of being in it is not known
    held = replace(log.take(test), propensity=None).distinct()
    return Split(train=log.take(train).distinct(), test=held, origin=origin)
