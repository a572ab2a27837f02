"""The batches of stochastic training: shuffled passes over the positives, reproducible from any step on."""

from dataclasses import dataclass, field

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.errors import DataError
from unskew.models.model import Observed

LEAST_STRETCH = 2**13  # places shuffled by one generator, because creating one takes longer than a short pass


@dataclass(frozen=True, eq=False)
class Positives:
    """The rows of a training log from which batches are drawn.

    Parameters
    ----------
    offsets, members : array
        Each user's items, ascending: ``members[offsets[u]:offsets[u + 1]]``.
    n_items : int
    rows : array
        The members that can be drawn: those of users who do not have every item.
    owners : array
        The user of each member.
    """

    offsets: Ints
    members: Ints
    n_items: int
    rows: Ints
    owners: Ints

    @classmethod
    def of(cls, observed: Observed, name: str) -> "Positives":
        """The positives without users who have every item, because these have no negatives.

        Raises
        ------
        DataError
            If no user is left.
        """
        offsets = observed.matrix.indptr.astype(np.int64)
        n_items = observed.matrix.shape[1]
        lengths = np.diff(offsets)
        owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        rows = np.flatnonzero(lengths[owners] < n_items).astype(np.int32)
        if not len(rows):
            raise DataError(
                f"{name}: every user has all {n_items} items, so there are no negatives to learn from; "
                "give a larger catalogue"
            )
        return cls(offsets, observed.matrix.indices.astype(np.int32), n_items, rows, owners)

    def picks(self, seed: int, first: int, count: int, width: int) -> Ints:
        """Places in `members` of the positives of steps first, first + 1, ..., one row per step.

        Steps cut a stream of shuffled passes into pieces of `width`. A pass depends only on the seed and its number, so
        a resumed run has the same batches.
        """
        n = len(self.rows)
        passes = max(1, LEAST_STRETCH // n)
        start, stop = first * width, (first + count) * width
        stretches = range(start // (n * passes), -(-stop // (n * passes)))
        stream = np.concatenate([_shuffled(seed, k, n, passes) for k in stretches])
        skipped = stretches[0] * n * passes
        chosen = stream[start - skipped : stop - skipped].reshape(count, width)
        # sorted by user within a batch, so that a user's rows are close in memory
        return np.sort(self.rows[chosen], axis=1)


def _shuffled(seed: int, number: int, n: int, passes: int) -> Ints:
    """A stretch of the stream: consecutive passes over n places."""
    rng = np.random.default_rng([seed, number])
    return np.concatenate([rng.permutation(n) for _ in range(passes)])


@dataclass(eq=False)
class Batch:
    """The arrays of one batch: samples of a user and `fan` items each.

    Parameters
    ----------
    size, fan : int
        Number of samples, and of items of each.
    n_users, n_items : int
    """

    size: int
    fan: int
    n_users: int
    n_items: int
    users: Ints = field(init=False)
    items: Ints = field(init=False)
    owners: Ints = field(init=False)
    slopes: Matrix = field(init=False)
    losses: Matrix = field(init=False)
    user_starts: Ints = field(init=False)
    item_starts: Ints = field(init=False)
    user_order: Ints = field(init=False)
    item_order: Ints = field(init=False)

    def __post_init__(self) -> None:
        entries = self.size * self.fan
        for name, length in (("users", self.size), ("items", entries), ("owners", entries)):
            setattr(self, name, np.zeros(length, dtype=np.int32))
        self.slopes, self.losses = np.zeros(entries, dtype=np.float32), np.zeros(self.size, dtype=np.float32)
        self.user_starts, self.item_starts = (np.zeros(n + 1, dtype=np.int32) for n in (self.n_users, self.n_items))
        self.user_order, self.item_order = np.zeros(self.size, dtype=np.int32), np.zeros(entries, dtype=np.int32)
