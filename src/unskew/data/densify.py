"""Reduce a log to a denser part: popular items and active users with enough rows each."""

from dataclasses import dataclass, replace

import numpy as np

from unskew.arrays import Bools, Ints
from unskew.data.interactions import Interactions
from unskew.data.vocabulary import Vocabulary
from unskew.errors import ConfigError, DataError


@dataclass(frozen=True)
class Size:
    """How many users and items have a row, and how many rows there are."""

    users: int
    items: int
    rows: int

    def __str__(self) -> str:
        return f"{self.users:,} users, {self.items:,} items, {self.rows:,} rows"


@dataclass(frozen=True, eq=False)
class Densified:
    """A log after `densify`.

    Parameters
    ----------
    log : Interactions
        The rows left; its vocabularies have only the users and items with a row.
    before, after : Size
        Size of the log before and after.
    rule : str
        What was kept, in words.
    """

    log: Interactions
    before: Size
    after: Size
    rule: str


def densify(
    log: Interactions,
    *,
    users: int | None = None,
    items: int | None = None,
    user_least: int = 1,
    item_least: int = 1,
) -> Densified:
    """Keep the most popular items and the most active users, if they have enough rows.

    Three steps, in this order: the `items` items with the most rows; the `users` users with the most rows among what
    is left; then users with fewer than `user_least` rows and items with fewer than `item_least` are removed,
    repeatedly, until none is left. Of equal counts, the one whose id comes first is kept. Items and users without a row
    are removed from the vocabularies and so from the catalogue.

    Lim et al. (2015) keep popular items and active users, but do not print the rule; this one is ours.

    Parameters
    ----------
    log : Interactions
    users, items : int, optional
        Largest number to keep; all by default.
    user_least, item_least : int
        Least number of rows of a user and of an item, in the result.
    """
    asked = {"users": users, "items": items, "user_least": user_least, "item_least": item_least}
    for name, number in asked.items():
        if number is not None and number < 1:
            raise ConfigError(f"{name} {number} must be 1 or more; leave it out to keep all")
    rule = _rule(users, items, user_least, item_least)
    keep = np.ones(len(log), dtype=bool)
    if items is not None:
        keep &= _largest(log.item_counts, items)[log.items]
    if users is not None:
        keep &= _largest(_counts(log.users, keep, log.n_users), users)[log.users]
    keep = _core(log, keep, user_least, item_least)
    if not keep.any():
        raise DataError(f"{log.name}: no row of {_size(log)} is left after keeping {rule}; lower these limits")
    dense = _trim(log.take(keep))
    return Densified(dense, before=_size(log), after=_size(dense), rule=rule)


def _rule(users: int | None, items: int | None, user_least: int, item_least: int) -> str:
    steps = []
    if items is not None:
        steps.append(f"the {items:,} most popular items")
    if users is not None:
        steps.append(f"the {users:,} most active users")
    steps.append(f"users with at least {user_least:,} and items with at least {item_least:,} of the rows left")
    return ", then ".join(steps)


def _size(log: Interactions) -> Size:
    return Size(int(np.count_nonzero(log.user_counts)), int(np.count_nonzero(log.item_counts)), len(log))


def _counts(codes: Ints, keep: Bools, n: int) -> Ints:
    return np.bincount(codes[keep], minlength=n)


def _largest(counts: Ints, n: int) -> Bools:
    """Codes with the n largest counts; of equal counts the first, because codes are in the order of ids."""
    chosen = np.zeros(len(counts), dtype=bool)
    chosen[np.argsort(-counts, kind="stable")[:n]] = True
    return chosen


def _core(log: Interactions, keep: Bools, user_least: int, item_least: int) -> Bools:
    """Rows left after removing users and items with too few rows until none has too few."""
    while True:
        enough_users = _counts(log.users, keep, log.n_users) >= user_least
        enough_items = _counts(log.items, keep, log.n_items) >= item_least
        kept = keep & enough_users[log.users] & enough_items[log.items]
        if np.array_equal(kept, keep):
            return kept
        keep = kept


def _trim(log: Interactions) -> Interactions:
    """The same rows with vocabularies of just the ids that occur."""
    users, user_vocabulary = _occurring(log.users, log.user_vocabulary)
    items, item_vocabulary = _occurring(log.items, log.item_vocabulary)
    return replace(log, users=users, items=items, user_vocabulary=user_vocabulary, item_vocabulary=item_vocabulary)


def _occurring(codes: Ints, vocabulary: Vocabulary) -> tuple[Ints, Vocabulary]:
    kept = np.flatnonzero(np.bincount(codes, minlength=len(vocabulary)))
    new_codes = np.searchsorted(kept, codes).astype(np.int32)
    return new_codes, Vocabulary(vocabulary.ids[kept], declared=vocabulary.declared)
