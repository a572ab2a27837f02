"""Likes without structure: every item is liked at random."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import SeedLike
from unskew.simulators.lda import poisson_bound, truncated_poisson
from unskew.simulators.preference_world import LARGEST, PreferenceWorld
from unskew.simulators.preferences import Preferences


@dataclass(frozen=True)
class UniformLikes(PreferenceWorld, word="uniform"):
    """Each user likes a random set of items with equal chances; popularity is random.

    Parameters
    ----------
    items : int
    likes : float
        Expected likes of a user: a Poisson number, truncated to between 1 and the number of items.

    Examples
    --------
    >>> likes = UniformLikes(users=10, items=20, likes=5).like(rng=1)
    >>> likes.n_users, likes.n_items
    (10, 20)
    """

    smaller = "use fewer likes"

    items: int = 1000
    likes: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.items <= LARGEST:
            raise self._outside("items", f"1 to {LARGEST:,}")
        if not 0 < self.likes < np.inf:
            raise self._outside("likes", "a number above 0")

    def expected_likes(self) -> float:
        """An upper bound of the expected number of likes."""
        return poisson_bound(self.likes, self.items) * self.users

    def like(self, rng: SeedLike = 0) -> Preferences:
        """Draw the likes of all users."""
        from unskew.simulators.lda_kernel import choose_evenly

        generator = np.random.default_rng(rng)
        counts = truncated_poisson(self.likes, self.items, self.users, generator)
        offsets, items = choose_evenly(self.items, counts, generator)
        return Preferences(offsets, items, self.items)
