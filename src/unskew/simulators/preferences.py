"""The items that users like, whether observed or not."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Preferences:
    """The items that each user likes, by code.

    Parameters
    ----------
    offsets : array of int64
        The items of user u are ``items[offsets[u]:offsets[u + 1]]``.
    items : array of int32
        Ascending within a user.
    n_items : int
        Size of the catalogue.
    strength : array of float64, optional
        How much each of them is liked, at least 1; None if all are liked equally.
    """

    offsets: Ints
    items: Ints
    n_items: int
    strength: Floats | None = None

    def __len__(self) -> int:
        return len(self.items)

    @property
    def n_users(self) -> int:
        """Number of users, including those without likes."""
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> Ints:
        """How many items each user likes."""
        return np.diff(self.offsets)

    @cached_property
    def row_users(self) -> Ints:
        """The user of each like."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), self.counts)

    @cached_property
    def popularity(self) -> Ints:
        """How many users like each item."""
        return np.bincount(self.items, minlength=self.n_items)
