"""`LogAudit` and `Strata`: how often each item of a log occurs, and which items are head, middle and tail."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.data.concentration import gini
from unskew.errors import DataError, Option

STRATA = ("head", "middle", "tail")
TOP_SHARES = (0.01, 0.05, 0.1, 0.2)
RULE = (
    "items are sorted from the most popular down: the head has the first third of the rows, the tail the last third "
    "and items that were never seen; equally popular items stay together, in the part where the middle of their rows "
    "lies; the most popular ones are always in the head, the least popular ones always in the tail"
)


@dataclass(frozen=True)
class TopShare:
    """The share of the rows (`rows`) of the most popular items (`share` of the items, rounded up)."""

    share: float
    items: int
    rows: float


@dataclass(frozen=True, eq=False)
class LogAudit:
    """The popularity :math:`n^*` of the items of a log."""

    users: int  # with a row
    items: int  # with a row
    rows: int
    never: int  # items that were declared but have no row
    density: float  # rows over users times items
    levels: Ints  # the distinct n*, ascending
    items_at: Ints  # number of items at each level (Yang et al. 2018, fig. 2)
    gini: float  # of n* over the items, those never seen included
    top: tuple[TopShare, ...]

    @property
    def largest(self) -> int:
        """The n* of the most popular item."""
        return int(self.levels[-1])

    @property
    def median(self) -> float:
        """The median n* of the items seen."""
        return float(np.median(np.repeat(self.levels, self.items_at)))

    @property
    def once(self) -> int:
        """Number of items with a single row."""
        return int(self.items_at[0]) if self.levels[0] == 1 else 0

    @property
    def popularity(self) -> Ints:
        """The n* of each item, ascending, those never seen included."""
        return np.append(np.zeros(self.never, dtype=np.int64), np.repeat(self.levels, self.items_at))

    def top_share(self, share: float) -> TopShare:
        """The rows of this share of the items."""
        return next(part for part in self.top if part.share == share)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "users": self.users,
            "items": self.items,
            "rows": self.rows,
            "items_never_seen": self.never,
            "density": self.density,
            "gini": self.gini,
            "largest": self.largest,
            "median": self.median,
            "seen_once": self.once,
            "top": [{"share": part.share, "items": part.items, "rows": part.rows} for part in self.top],
            "levels": self.levels.tolist(),
            "items_at": self.items_at.tolist(),
        }


def measure_log(log: Interactions, *, shares: Sequence[float] = TOP_SHARES) -> LogAudit:
    """Count how often each item occurs, and how uneven that is; `shares` are shares of the most popular items."""
    popularity = log.item_counts[catalogue_of(log)]
    seen = popularity[popularity > 0]
    if not len(seen):
        raise DataError(f"{log.name}: no row to audit; check the file and {Option('positive')}")
    if len(popularity) < 2:
        raise DataError(
            f"{log.name}: there is only one item, so popularity cannot be skewed; check {Option('item_col')}"
        )
    users = int(np.count_nonzero(log.user_counts))
    levels, items_at = np.unique(seen, return_counts=True)
    return LogAudit(
        users=users,
        items=len(seen),
        rows=len(log),
        never=len(popularity) - len(seen),
        density=len(log) / (users * len(seen)),
        levels=levels,
        items_at=items_at,
        gini=gini(popularity.astype(float)),
        top=tuple(_top_share(popularity, share) for share in shares),
    )


def catalogue_of(log: Interactions) -> Ints:
    """Codes of the items of a log: those that occur, or all when they were declared."""
    return np.arange(log.n_items) if log.item_vocabulary.declared else np.flatnonzero(log.item_counts)


def _top_share(popularity: Ints, share: float) -> TopShare:
    items = int(np.ceil(np.round(share * len(popularity), 9)))  # 0.07 x 100 must not become 8
    rows = np.sort(popularity)[::-1][:items].sum() / popularity.sum()
    return TopShare(share, items, float(rows))


@dataclass(frozen=True, eq=False)
class Strata:
    """Items split by popularity into head, middle and tail; see `RULE`."""

    popularity: Ints  # training rows of each item, by code
    of_item: Ints  # 0 (head), 1 (middle) or 2 (tail) for each item code
    catalogue: Bools  # which items count, by code

    @property
    def items(self) -> Ints:
        """Number of items in each stratum."""
        return np.bincount(self.of_item[self.catalogue], minlength=len(STRATA))

    @property
    def rows(self) -> Ints:
        """Number of training rows in each stratum."""
        return np.bincount(self.of_item, weights=self.popularity, minlength=len(STRATA)).astype(np.int64)

    @property
    def never(self) -> int:
        """Items of the catalogue without a training row; they are in the tail."""
        return int(np.sum(self.catalogue & (self.popularity == 0)))

    @property
    def levels(self) -> int:
        """Number of distinct popularities among the items seen."""
        return len(np.unique(self.popularity[self.popularity > 0]))

    def bounds(self, stratum: int) -> tuple[int, int] | None:
        """The smallest and largest popularity in a stratum; None for an empty one."""
        counts = self.popularity[self.catalogue & (self.of_item == stratum)]
        return (int(counts.min()), int(counts.max())) if len(counts) else None

    def shares(self, amounts: Floats) -> Floats:
        """The share of each stratum in amounts by item code; 0 if all amounts are 0."""
        sums = np.bincount(self.of_item, weights=amounts, minlength=len(STRATA))
        return np.asarray(sums / sums.sum() if sums.sum() > 0 else sums)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        items, rows, total = self.items, self.rows, max(int(self.rows.sum()), 1)
        parts = []
        for k, name in enumerate(STRATA):
            low, high = self.bounds(k) or (None, None)
            parts.append(
                {
                    "stratum": name,
                    "items": int(items[k]),
                    "rows": int(rows[k]),
                    "share_of_items": float(items[k] / max(items.sum(), 1)),
                    "share_of_rows": float(rows[k] / total),
                    "least_popular": low,
                    "most_popular": high,
                }
            )
        return {"rule": RULE, "items_never_seen": self.never, "parts": parts}


def part_items(train: Interactions, catalogue: Ints | None = None) -> Strata:
    """Split the items by popularity; `catalogue` has codes of further items, which count without a training row."""
    popularity = train.item_counts
    counted = np.zeros(train.n_items, dtype=bool)
    counted[catalogue_of(train)] = True
    if catalogue is not None:
        counted[catalogue] = True
    return Strata(popularity, stratum_of(popularity), counted)


def stratum_of(popularity: Ints) -> Ints:
    """0 (head), 1 (middle) or 2 (tail) for each item, from how many rows it has; see `RULE`."""
    levels, place = np.unique(popularity, return_inverse=True)
    mass = levels.astype(np.int64) * np.bincount(place)
    total = int(mass.sum())
    before = total - np.cumsum(mass)  # rows of the more popular items
    twice_middle = 2 * before + mass
    stratum = np.where(3 * twice_middle <= 2 * total, 0, np.where(3 * twice_middle <= 4 * total, 1, 2))
    seen = np.flatnonzero(levels)
    if len(seen) > 1:
        stratum[seen[-1]], stratum[seen[0]] = 0, 2
    stratum[levels == 0] = 2
    return np.asarray(stratum[place])
