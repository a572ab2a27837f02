"""A small simulated log whose rows are not all positive, with a slice of random rows and the truth of all pairs."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from unskew import Interactions
from unskew.arrays import Bools
from unskew.simulators import SelectionDraw, SelectionWorld

HELD_OUT = 0.25
LIKED, DISLIKED = 5, 2  # ratings
POSITIVE = "rating>=4"


@dataclass(frozen=True, eq=False)
class Example:
    """The parts of a log that was drawn from a world; ratings are 5 for relevant pairs and 2 for others."""

    world: SelectionDraw
    held: Bools  # which observed pairs are the test

    @classmethod
    def draw(cls, name: str, seed: int = 1) -> "Example":
        """Draw a log of the world of this name, with 500 users, 300 items and 12 % of the pairs observed."""
        world = SelectionWorld.preset(name, users=500, items=300, density=0.12, base=-1.2).draw(rng=seed)
        return cls(world, np.random.default_rng(seed).random(world.observed.shape) < HELD_OUT)

    @cached_property
    def train(self) -> Interactions:
        """The rows that models learn from."""
        return self._rated(self.world.observed & ~self.held)

    @cached_property
    def test(self) -> Interactions:
        """The rows that were held out, relevant or not."""
        return self._rated(self.world.observed & self.held)

    @cached_property
    def truth(self) -> Interactions:
        """All relevant pairs that are not in train."""
        return self._rated(self.world.relevant & ~(self.world.observed & ~self.held))

    def slice_of(self, size: int, seed: int = 2) -> Interactions:
        """Random pairs that are not in train, with labels 1 and 0."""
        return self.world.random_slice(size, rng=seed, outside=self.world.observed & ~self.held)

    def write_files(self, size: int, folder: str | Path = ".") -> None:
        """Write ``train.csv``, ``test.csv`` and ``slice.csv``, a slice of that many pairs."""
        place = Path(folder)
        for name, part in {"train": self.train, "test": self.test}.items():
            part.to_polars().with_columns(pl.col("rating").cast(int)).write_csv(place / f"{name}.csv")
        drawn = self.slice_of(size)
        assert drawn.values is not None
        columns = {"user": drawn.users, "item": drawn.items, "label": drawn.values.astype(int)}
        pl.DataFrame(columns).write_csv(place / "slice.csv")

    def _rated(self, mask: Bools) -> Interactions:
        users, items = np.nonzero(mask)
        ratings = np.where(self.world.relevant[users, items], LIKED, DISLIKED)
        n_users, n_items = mask.shape
        return Interactions.from_arrays(users, items, ratings, n_users=n_users, n_items=n_items)
