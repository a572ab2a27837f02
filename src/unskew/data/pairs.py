"""Keys of (user, item) pairs: one integer per pair, which sort by user and then item."""

from typing import Protocol

import numpy as np

from unskew.arrays import Bools, Floats, Ints, distinct_of

_FEW, _TABLE, _ROWS = 2**18, 2**22, 2**20


class Coded(Protocol):
    """Rows with codes of users and items, such as `Interactions` and `Ranks`."""

    @property
    def users(self) -> Ints:
        """The user of each row."""

    @property
    def items(self) -> Ints:
        """The item of each row."""


def pair_keys(users: Ints, items: Ints, width: int) -> Ints:
    """One key per pair; `width` is larger than any item.

    Examples
    --------
    >>> pair_keys(np.array([0, 2]), np.array([3, 1]), 10)
    array([ 3, 21])
    """
    return np.asarray(users, dtype=np.int64) * width + items


def row_keys(rows: Coded, width: int) -> Ints:
    """The key of each row."""
    return pair_keys(rows.users, rows.items, width)


def is_among(rows: Coded, others: Coded, width: int) -> Bools:
    """Whether each row is one of the others."""
    return contains(np.sort(row_keys(others, width)), row_keys(rows, width))


def count_shared(rows: Coded, others: Coded) -> int:
    """How many rows are also among the others; both must have the same codes, as the parts of a split do."""
    width = max(int(part.items.max(initial=0)) for part in (rows, others)) + 1
    return int(is_among(rows, others, width).sum())


def find(ordered: Ints, wanted: Ints) -> tuple[Ints, Bools]:
    """Position of each wanted key in sorted keys, and whether the key is there.

    Examples
    --------
    >>> find(np.array([2, 5, 9]), np.array([5, 6, 99]))
    (array([1, 2, 2]), array([ True, False, False]))
    """
    if not len(ordered):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return places, ordered[places] == wanted


def contains(ordered: Ints, wanted: Ints) -> Bools:
    """Whether each wanted key is among sorted keys."""
    present = np.empty(len(wanted), dtype=bool)
    for start in range(0, len(wanted), _ROWS):  # so that the places of all are not in memory
        present[start : start + _ROWS] = find(ordered, wanted[start : start + _ROWS])[1]
    return present


def contains_few(ordered: Ints, wanted: Ints) -> Bools:
    """The same as `contains`, faster where few keys are sorted and most of many wanted keys are not there."""
    if len(ordered) > _FEW:
        return contains(ordered, wanted)
    there = np.zeros(_TABLE, dtype=bool)  # by the last bits of a key
    there[ordered % _TABLE] = True
    present = np.zeros(len(wanted), dtype=bool)
    for start in range(0, len(wanted), _ROWS):
        part = wanted[start : start + _ROWS]
        maybe = np.flatnonzero(there[part % _TABLE])
        present[start + maybe] = contains(ordered, part[maybe])
    return present


def latest_of(keys: Ints, times: Floats | None) -> Bools | None:
    """Which rows to keep so that every key has one: the latest by time, else the last; None for all of them."""
    ascending = np.sort(keys)
    if not (ascending[1:] == ascending[:-1]).any():  # the usual case, and faster to see than to repair
        return None
    several = distinct_of(ascending[1:][ascending[1:] == ascending[:-1]])
    del ascending
    rows = np.flatnonzero(contains_few(several, keys))  # the others stay, and only these are put in order
    some = keys[rows]
    order = np.argsort(some, kind="stable") if times is None else np.lexsort((times[rows], some))
    ordered = some[order]
    kept = np.ones(len(keys), dtype=bool)
    kept[rows[order[:-1][ordered[1:] == ordered[:-1]]]] = False
    return kept


def look_up(ordered: Ints, values: Floats, wanted: Ints) -> Floats:
    """The value of each wanted key, given sorted keys and their values; NaN if the key is not there."""
    places, present = find(ordered, wanted)
    result = np.full(len(wanted), np.nan)
    result[present] = values[places[present]]
    return result
