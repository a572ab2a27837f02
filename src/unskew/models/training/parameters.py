"""The parameters of gradient descent: factors and biases with Adam's moments, in pairs of buffers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Matrix

START_SCALE = 0.01
WIDEST_START = 2.0  # in units of the scale; numbers beyond are drawn again


@dataclass(eq=False)
class Rows:
    """Parameters of one kind, before and after a step, and the moments of their gradients.

    A step reads `now` of all kinds and writes `then`, so the order in which rows are updated does not matter.
    """

    now: Matrix
    then: Matrix
    mean: Matrix
    square: Matrix

    @classmethod
    def starting_at(cls, values: Matrix) -> "Rows":
        """These parameters, before any step."""
        return cls(values, np.empty_like(values), np.zeros_like(values), np.zeros_like(values))

    def swap(self) -> None:
        """End a step."""
        self.now, self.then = self.then, self.now


@dataclass(eq=False)
class Parameters:
    """Users, items and item biases."""

    users: Rows
    items: Rows
    bias: Rows

    @classmethod
    def start(cls, n_users: int, n_items: int, factors: int, rng: np.random.Generator) -> "Parameters":
        """Small random factors, from a normal distribution cut at two standard deviations; biases of 0."""
        users, items = (_truncated_normal(rng, (n, factors)) for n in (n_users, n_items))
        return cls(*map(Rows.starting_at, (users, items, np.zeros(n_items, dtype=np.float32))))

    def swap(self) -> None:
        """End a step."""
        for rows in (self.users, self.items, self.bias):
            rows.swap()

    def arrays(self) -> dict[str, Matrix]:
        """Everything that the next step depends on, by name."""
        return {
            f"{name}_{part}": getattr(rows, part)
            for name, rows in (("users", self.users), ("items", self.items), ("bias", self.bias))
            for part in ("now", "mean", "square")
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, Matrix]) -> "Parameters":
        """The inverse of `arrays`."""
        kinds = []
        for name in ("users", "items", "bias"):
            now, mean, square = (np.ascontiguousarray(arrays[f"{name}_{part}"]) for part in ("now", "mean", "square"))
            kinds.append(Rows(now, np.empty_like(now), mean, square))
        return cls(*kinds)


def _truncated_normal(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    values = rng.standard_normal(shape)
    while (far := np.abs(values) > WIDEST_START).any():
        values[far] = rng.standard_normal(int(far.sum()))
    return (values * START_SCALE).astype(np.float32)
