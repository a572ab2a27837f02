"""`JudgedRows`: the relevant and the held-out rows of a world, by user and item."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of, spans
from unskew.data.pairs import row_keys
from unskew.errors import ConfigError, DataError
from unskew.simulators import World

Population: TypeAlias = Literal["tested", "all"]
POPULATIONS: tuple[str, ...] = get_args(Population)


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Truth and test rows together, by user and item, so that one ranking serves both.

    The judged users have a relevant item outside train and, except in the population ``all``, a test row.

    Parameters
    ----------
    users : array
        Codes of the judged users, ascending. The rows of the k-th one are ``offsets[k]:offsets[k + 1]``, by item.
    in_truth, in_test : array of bool
        A row is in one of them or in both.
    propensity : array, optional
        P(in the test | candidate) of the test rows, in their order.
    strength : array, optional
        How much the user likes the item; 0 outside the truth.
    counts : array of int
        Training rows per item. Candidates are the items with a training row, minus the user's own.
    train_offsets, train_items : array
        The judged users' own training items.
    left_out : int
        Users with a test row who like nothing outside train.
    """

    users: Ints
    offsets: Ints
    items: Ints
    in_truth: Bools
    in_test: Bools
    propensity: Floats | None
    strength: Floats | None
    counts: Ints
    train_offsets: Ints
    train_items: Ints
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def user(self) -> Ints:
        """The place of each row's user among the judged."""
        return np.repeat(np.arange(len(self.users), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def row_users(self) -> Ints:
        """User code of each row."""
        return self.users.astype(np.int32)[self.user]

    @cached_property
    def candidates(self) -> Ints:
        """Number of candidates of each judged user: the items of the training rows, minus the user's own."""
        trained = np.diff(offsets_of(self.counts[self.train_items] > 0)[self.train_offsets])
        return np.asarray(np.count_nonzero(self.counts) - trained, dtype=np.int32)

    @cached_property
    def relevant(self) -> Ints:
        """Each judged user's number of relevant items outside train."""
        return np.bincount(self.user[self.in_truth], minlength=len(self.users))

    @cached_property
    def tested(self) -> Bools:
        """Which judged users have a test row."""
        return np.bincount(self.user[self.in_test], minlength=len(self.users)) > 0

    @cached_property
    def test_rows(self) -> Ints:
        """Places of the test rows."""
        return np.flatnonzero(self.in_test)


def judged_rows(world: World, counts: Ints | None = None, population: Population = "tested") -> JudgedRows:
    """Join truth and test of the judged users; an error if there are none.

    Parameters
    ----------
    counts : array of int, optional
        Training rows per item, if they are not those of the world itself.
    """
    from unskew.trials.kernel import merge

    if population not in POPULATIONS:
        raise ConfigError(f"population={population!r}: choose from {', '.join(POPULATIONS)}")
    tested, likes_more = world.test.user_counts > 0, world.relevant_counts > 0
    users = np.flatnonzero(likes_more if population == "all" else tested & likes_more)
    if not len(users):
        wanted = "a relevant item" if population == "all" else "a test row and a relevant item"
        raise DataError(f"{world.origin}: no user has {wanted} outside train; draw a larger world")
    order = np.argsort(row_keys(world.test, max(world.test.n_items, 1)), kind="stable")
    offsets, items, from_truth, from_test = merge(
        users,
        np.asarray(world.offsets, dtype=np.int64),
        np.asarray(world.items, dtype=np.int32),
        offsets_of(world.test.user_counts),
        world.test.items[order].astype(np.int32),
    )
    in_truth, in_test = from_truth >= 0, from_test >= 0
    propensity = None if world.test.propensity is None else world.test.propensity[order[from_test[in_test]]]
    trained, train_items = world.train.by_user
    sizes = np.diff(trained)[users]
    return JudgedRows(
        users=users,
        offsets=offsets,
        items=items,
        in_truth=in_truth,
        in_test=in_test,
        propensity=propensity,
        strength=None if world.strength is None else np.where(in_truth, world.strength[from_truth], 0.0),
        counts=world.train.item_counts if counts is None else counts,
        train_offsets=offsets_of(sizes),
        train_items=train_items[spans(trained[users], sizes)],
        left_out=int(np.sum(tested & ~likes_more)),
    )
