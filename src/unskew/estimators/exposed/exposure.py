"""Items drawn at random for each user and labelled: what the estimators of exposed data start from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import DataError
from unskew.estimators.exposed.beta_binomial import BetaBinomial

UpTo: TypeAlias = Callable[[Ints], Floats]


@dataclass(frozen=True, eq=False)
class Exposure:
    """The randomly exposed rows of m users; of each, a simple random sample without replacement of the population.

    Parameters
    ----------
    user : array of int
        0 to m-1, the user of each exposed row, ascending. Every user has a row.
    positive : array of bool
        The label of each row.
    population : array of int
        L of each user: how many items the user's were drawn from, which is how many the models rank.
    """

    user: Ints
    positive: Bools
    population: Ints

    def __post_init__(self) -> None:
        if len(self.user) != len(self.positive):
            raise DataError(f"{len(self.user)} exposed rows but {len(self.positive)} labels; give one a row")
        if len(self.population) != int(self.user.max(initial=-1)) + 1 or (self.exposed == 0).any():
            raise DataError("each user needs a population and at least one exposed row")
        if (self.exposed > self.population).any():
            who = int(np.argmax(self.exposed > self.population))
            raise DataError(
                f"user {who} of the exposed ones, from 0, has {self.exposed[who]} exposed rows of a population of "
                f"{self.population[who]}; the population holds all items that could be drawn"
            )

    @property
    def n_users(self) -> int:
        """How many users have exposed rows."""
        return len(self.population)

    @cached_property
    def exposed(self) -> Ints:
        """How many rows l each user has."""
        return np.bincount(self.user, minlength=len(self.population))

    @cached_property
    def positives(self) -> Ints:
        """How many positives n are among each user's rows."""
        return np.bincount(self.user[self.positive], minlength=len(self.population))

    @cached_property
    def scale(self) -> Floats:
        """L / l of each user: how many items of the population a row stands for."""
        return np.asarray(self.population / self.exposed)

    @cached_property
    def prior(self) -> BetaBinomial:
        """How the users' shares of positives differ, as their samples tell."""
        return BetaBinomial.fit(self.positives, self.exposed)

    def sums(self, values: Floats) -> Floats:
        """Sum of row values for each user."""
        return np.asarray(np.bincount(self.user, weights=values, minlength=self.n_users))

    def positive_sums(self, values: Floats) -> Floats:
        """Sum of row values for each user, over the positives."""
        return self.sums(np.where(self.positive, values, 0.0))


@dataclass(frozen=True, eq=False)
class Worth:
    """What a metric says of the exposed rows under one model.

    Parameters
    ----------
    gains : array
        Of each exposed row, positive or not, from its rank among the whole population.
    above : array
        How many of the population stand above each row; the middle of its tie group.
    up_to : callable
        Takes numbers of places and gives, for each user (rows) and number (columns), the sum of the gains of so many
        places from the top, or of the whole population where it is smaller. Ties do not change it.
    cutoff : int, optional
        The last rank that counts.
    """

    gains: Floats
    above: Floats
    up_to: UpTo
    cutoff: int | None = None
