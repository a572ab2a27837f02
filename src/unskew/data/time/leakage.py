"""`Leakage`: how much of a test happened before rows that models train on."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints, offsets_of
from unskew.data.pairs import pair_keys
from unskew.data.split import Split


@dataclass(frozen=True)
class Leakage:
    r"""Numbers of rows of a split through which training could foresee the test.

    A recommender that serves a user at time t knows what happened before t, and nothing else. A test row at time t is
    foreseen by training rows that are later. Rows at the same moment are not counted.

    Parameters
    ----------
    test : int
        Test rows.
    train : int
        Training rows.
    foreseen : int
        Test rows that are older than the last training row, of whichever user.
    same_user : int
        Test rows that are older than the last training row of their own user.
    late : int
        Training rows that are later than the first test row. Popularity is counted on them, after the test began.
    counted : int
        The sum over test rows of the number of training rows of their item.
    counted_later : int
        How many of these are later than the test row.
    """

    test: int
    train: int
    foreseen: int
    same_user: int
    late: int
    counted: int
    counted_later: int

    @property
    def foreseen_share(self) -> float:
        """Share of the test rows that are older than the last training row."""
        return self.foreseen / self.test if self.test else 0.0

    @property
    def same_user_share(self) -> float:
        """Share of the test rows that are older than the last training row of their own user."""
        return self.same_user / self.test if self.test else 0.0

    @property
    def late_share(self) -> float:
        """Share of the training rows that are later than the first test row."""
        return self.late / self.train if self.train else 0.0

    @property
    def popularity_share(self) -> float:
        """Share of the popularity of test items, at the time of each test row, that comes from later rows."""
        return self.counted_later / self.counted if self.counted else 0.0

    def __bool__(self) -> bool:
        """Whether a test row is foreseen at all."""
        return self.foreseen > 0

    def to_dict(self) -> dict[str, Any]:
        """The numbers and the shares."""
        shares = ("foreseen_share", "same_user_share", "late_share", "popularity_share")
        return {**asdict(self), **{name: getattr(self, name) for name in shares}}


def find_leakage(split: Split) -> Leakage | None:
    """Count the rows through which training could foresee the test.

    Parameters
    ----------
    split : Split

    Returns
    -------
    Leakage or None
        None if train or test has no times. It is false if no test row is foreseen.

    Examples
    --------
    >>> from unskew import Interactions
    >>> log = Interactions.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], times=[1, 2, 3, 4])
    >>> leakage = find_leakage(Split(log.take(np.array([0, 3])), log.take(np.array([1, 2]))))
    >>> leakage.foreseen_share, leakage.same_user_share, leakage.late_share, leakage.popularity_share
    (1.0, 0.5, 0.5, 0.5)
    """
    train, test = split.train, split.test
    if train.times is None or test.times is None:
        return None
    if not len(train) or not len(test):
        return Leakage(len(test), len(train), 0, 0, 0, 0, 0)
    last = np.full(len(split.user_vocabulary), -np.inf)
    np.maximum.at(last, train.users, train.times)
    counts = np.bincount(train.items, minlength=train.n_items)
    counted = counts[test.items]
    return Leakage(
        test=len(test),
        train=len(train),
        foreseen=int(np.sum(test.times < train.times.max())),
        same_user=int(np.sum(test.times < last[test.users])),
        late=int(np.sum(train.times > test.times.min())),
        counted=int(counted.sum()),
        counted_later=int(np.sum(counted - _count_until(train.items, train.times, counts, test.items, test.times))),
    )


def _count_until(items: Ints, times: Floats, counts: Ints, wanted: Ints, moments: Floats) -> Ints:
    """For each wanted item and moment, how many rows of the item are not later."""
    known, places = np.unique(times, return_inverse=True)
    width = len(known) + 1
    ordered = np.sort(pair_keys(items, places, width))
    until = np.searchsorted(known, moments, side="right")
    return np.asarray(np.searchsorted(ordered, pair_keys(wanted, until, width)) - offsets_of(counts)[wanted])
