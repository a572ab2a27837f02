"""`Grouping`: which users, items or test rows belong to each group, from a table, from popularity or from time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Split
from unskew.data.frames import columns_of, eager
from unskew.data.pairs import find, pair_keys, row_keys
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, did_you_mean

Level = Literal["user", "item", "row"]
MOST = 50
"""Groups that a grouping may have; more are ids or numbers, not groups."""
STRATA = ("head", "middle", "tail")
PERIODS = {"day": "1d", "week": "1w", "month": "1mo"}
BETWEEN = "|"
"""What separates several labels of one item, as genres have."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of users, items or test rows. An item may be in several groups, or in none.

    Parameters
    ----------
    name : str
        What the groups are by, as in ``gender``.
    level : {"user", "item", "row"}
        What is grouped.
    groups : mapping
        For each group, which codes are in it: of users or items; for ``row`` which rows of the test.
    """

    name: str
    level: Level
    groups: Mapping[str, Bools]

    def __post_init__(self) -> None:
        if not self.groups:
            raise DataError(f"{self.name}: no test user or item has a label; do its ids match those of the log?")
        if len(self.groups) > MOST:
            raise DataError(
                f"{self.name}: {len(self.groups)} different values, at most {MOST} can be groups; bin them first"
            )

    def rows_of(self, users: Ints, items: Ints, split: Split) -> dict[str, Bools]:
        """Which of the given rows, by their codes, are in each group."""
        if self.level == "user":
            return {name: member[users] for name, member in self.groups.items()}
        if self.level == "item":
            return {name: member[items] for name, member in self.groups.items()}
        width = len(split.item_vocabulary)
        keys = row_keys(split.test, width)
        order = np.argsort(keys, kind="stable")
        places, present = find(keys[order], pair_keys(users, items, width))
        return {name: member[order][places] & present for name, member in self.groups.items()}


def grouping_of(split: Split, groups: Any, column: str | None = None) -> Grouping:
    """The grouping of a word, a table or a grouping."""
    if isinstance(groups, Grouping):
        return groups
    if not isinstance(groups, str):
        return group_by_frame(split, groups, column)
    if groups == "popularity":
        return group_by_popularity(split)
    part, _, period = groups.partition(":")
    if part == "test" and period:
        return group_by_time(split, period)
    known = ["popularity", *(f"test:{each}" for each in PERIODS)]
    raise ConfigError(
        f"cannot group by {groups!r}{did_you_mean(groups, known)}; give one of {', '.join(known)}, or a table with a "
        "column user or item"
    )


def find_groups(frame: Any, column: str | None, name: str) -> tuple[str, str]:
    """What a table of groups is about, ``user`` or ``item``, and its column of labels, which may be the only one."""
    there = columns_of(frame, name)
    ids = [each for each in ("user", "item") if each in there]
    if len(ids) != 1:
        raise DataError(
            f"{name}: a table of groups needs a column user or a column item, and not both (it has "
            f"{', '.join(there[:8])})"
        )
    (level,) = ids
    others = [each for each in there if each != level]
    if column is None and len(others) == 1:
        column = others[0]
    if column is None or column not in others:
        raise DataError(f"{name}: no column {column or ''!r} to group by{did_you_mean(column or '', others)}")
    return level, column


def group_by_frame(split: Split, frame: Any, column: str | None = None, *, name: str = "frame") -> Grouping:
    """Groups of users or items by a column of a table that has a column ``user`` or ``item``.

    Labels such as ``Action|Comedy`` put an item into both groups.
    """
    level, column = find_groups(frame, column, name)
    table = eager(frame, [level, column], name).drop_nulls()
    vocabulary = split.user_vocabulary if level == "user" else split.item_vocabulary
    codes = vocabulary.encode(canonical(table[level], f"column {level!r} of {name}"))
    labels = table[column].cast(pl.String).to_list()
    groups: dict[str, Bools] = {}
    for code, text in zip(codes.tolist(), labels, strict=True):
        for label in text.split(BETWEEN) if code >= 0 else ():
            groups.setdefault(label, np.zeros(len(vocabulary), dtype=bool))[code] = True
    return Grouping(column, "user" if level == "user" else "item", dict(sorted(groups.items())))


def group_by_popularity(split: Split) -> Grouping:
    """Items in three strata, each with about a third of the training rows: head, middle and tail.

    Items that no training row has are in the tail. Items with the same count may be in different strata; among them
    the order is that of their codes.
    """
    counts = np.zeros(len(split.item_vocabulary))
    known = split.train.item_counts
    counts[: len(known)] = known
    order = np.argsort(-counts, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    stratum = np.empty(len(counts), dtype=np.int64)
    stratum[order] = np.minimum(len(STRATA) * before // max(counts.sum(), 1.0), len(STRATA) - 1).astype(np.int64)
    stratum[counts == 0] = len(STRATA) - 1
    members = {name: stratum == place for place, name in enumerate(STRATA)}
    return Grouping("popularity", "item", {name: member for name, member in members.items() if member.any()})


def group_by_time(split: Split, period: str = "week") -> Grouping:
    """Test rows by the day, week (from Monday) or month of their time, in seconds since 1970."""
    if period not in PERIODS:
        raise ConfigError(f"test:{period}: group test rows by {', '.join(PERIODS)}{did_you_mean(period, PERIODS)}")
    times: Floats | None = split.test.times
    if times is None:
        raise DataError(f"test:{period}: the test has no times; it needs a column timestamp")
    starts = pl.Series(times * 1e6).cast(pl.Int64).cast(pl.Datetime("us")).dt.truncate(PERIODS[period])
    labels = starts.dt.strftime("%Y-%m" if period == "month" else "%Y-%m-%d")
    return Grouping(period, "row", {name: (labels == name).to_numpy() for name in labels.unique().sort().to_list()})
