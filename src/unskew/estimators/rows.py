"""What an estimator sees: the worth of each row, how likely it was seen, and whose it is."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import DataError

if TYPE_CHECKING:
    from unskew.estimators.exposed.beta_binomial import BetaBinomial

Kind: TypeAlias = Literal["mean", "sum", "list", "loss", "graded"]
"""What a metric is: a mean or a sum over a user's relevant items, a value of the user's whole list, a loss of each
pair or a sum over a user's rated items; see the guide to metrics."""
OVER_ALL_PAIRS = frozenset({"loss", "graded"})
"""Kinds of metric that are over all pairs of a user and an item, relevant or not."""


@dataclass(frozen=True, eq=False)
class Places:
    """What a metric gains at the places of a model's lists, known without any label; for exposed rows.

    Parameters
    ----------
    above : array
        How many of the population stand above each row; the middle of its tie group.
    up_to : callable
        Takes numbers of places and gives, for each user (rows) and number (columns), the sum of the gains of that many
        places from the top, or of the whole population where it is smaller. Ties do not change it.
    cutoff : int, optional
        The last rank that counts.
    ideal : callable, optional
        The ideal sum for each number of positives, of a metric that is a share of it.
    """

    above: Floats
    up_to: Callable[[Ints], Floats]
    cutoff: int | None = None
    ideal: Callable[[Ints], Floats] | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    r"""The rows of m users that an estimate is made from.

    For a metric over all pairs the quantity of interest is :math:`\sum \delta / \sum s` over all pairs, observed or
    not. For a rating loss s is 1, which makes it the mean over pairs; for a sum over a user's items s is 1 over the
    number of the user's pairs, which makes it the mean over users.

    Parameters
    ----------
    worth : array
        Gain or loss of each row.
    user : array of int
        0 to m-1, the user of each row; every user has a row.
    propensity : array, optional
        P(the row is observed), in (0, 1]; None where no estimator asks for it.
    item : array of int, optional
        The item of each row, from 0.
    size : array, optional
        s of each row; None for 1.
    total : array, optional
        Of each user: the number of relevant items, where known; for metrics over all pairs the sum of s over all of the
        user's pairs, first of the m users with rows, then of those without; of exposed rows the population, L: how many
        items the user's were drawn from, which is how many the models rank.
    positive : array of bool, optional
        The label of each row, of exposed ones.
    places : Places, optional
        What reduces the variance of estimates from exposed rows.
    empty : int
        Further users, with nothing observed, who count as 0.
    kept : array of bool, optional
        Which rows of the sample these are; None for all.
    """

    worth: Floats
    user: Ints
    propensity: Floats | None = None
    item: Ints | None = None
    size: Floats | None = None
    total: Floats | None = None
    positive: Bools | None = None
    places: Places | None = None
    empty: int = 0
    kept: Bools | None = None

    def __post_init__(self) -> None:
        if self.positive is not None:
            self._check_draw()

    @classmethod
    def of_matrix(cls, worth: Floats, propensity: Floats, observed: Bools) -> "Rows":
        """Rows of a users by items matrix of losses, of which the observed cells are known.

        Parameters
        ----------
        worth, propensity : array (users, items)
            The propensity may be anything that broadcasts to the shape of the losses.
        observed : array of bool (users, items)
        """
        worth, observed = np.asarray(worth, dtype=float), np.asarray(observed, dtype=bool)
        if worth.ndim != 2 or worth.shape != observed.shape:
            raise DataError(f"loss {worth.shape} and observed {observed.shape} must be two matrices of one shape")
        users, items = np.nonzero(observed)
        chance = np.broadcast_to(np.asarray(propensity, dtype=float), worth.shape)
        return cls(
            worth=worth[observed],
            user=np.unique(users, return_inverse=True)[1],
            propensity=chance[observed],
            item=np.unique(items, return_inverse=True)[1],
            total=np.full(worth.shape[0], float(worth.shape[1])),
        )

    def with_worth(self, worth: Floats, places: Places | None = None) -> "Rows":
        """The same rows under another model or metric.

        Parameters
        ----------
        worth : array
            Of all rows of the sample; those that are kept here are taken from it.
        places : Places, optional
        """
        other = copy.copy(self)  # with what is cached, because all of it is of users and labels alone
        object.__setattr__(other, "worth", worth if self.kept is None else worth[self.kept])
        object.__setattr__(other, "places", places)
        object.__setattr__(other, "_first", vars(self).get("_first", self))  # keeps the prior, which is slow to fit
        return other

    def __len__(self) -> int:
        return len(self.user)

    @property
    def chance(self) -> Floats:
        """P of each row, which an estimator that weights by it needs."""
        if self.propensity is None:
            raise DataError("these rows have no propensities, which the estimator needs; give one a row")
        return self.propensity

    @cached_property
    def n_users(self) -> int:
        """How many users have rows."""
        return int(self.user.max(initial=-1)) + 1

    @cached_property
    def counts(self) -> Ints:
        """How many rows each user has: of exposed rows, l."""
        return np.bincount(self.user, minlength=self.n_users)

    @cached_property
    def labels(self) -> Bools:
        """Which of the exposed rows are positive."""
        if self.positive is None:
            raise DataError("these rows have no labels; estimators of exposed rows need which of them are positive")
        return self.positive

    @cached_property
    def population(self) -> Ints:
        """L of each user of exposed rows."""
        assert self.total is not None  # checked with the labels
        return self.total.astype(np.int64)

    @cached_property
    def positives(self) -> Ints:
        """How many positives n are among each user's exposed rows."""
        return np.bincount(self.user[self.labels], minlength=self.n_users)

    @cached_property
    def scale(self) -> Floats:
        """L / l of each user: how many items of the population an exposed row stands for."""
        return np.asarray(self.population / self.counts)

    @cached_property
    def prior(self) -> "BetaBinomial":
        """How the users' shares of positives differ, as their samples show."""
        from unskew.estimators.exposed.beta_binomial import BetaBinomial  # its package is made of estimators

        first: Rows = vars(self).get("_first", self)
        return BetaBinomial.fit(self.positives, self.counts) if first is self else first.prior

    def sums(self, values: Floats) -> Floats:
        """Sum of row values for each user."""
        return np.asarray(np.bincount(self.user, weights=values, minlength=self.n_users))

    def positive_sums(self, values: Floats) -> Floats:
        """Sum of row values for each user, over the positives."""
        return self.sums(np.where(self.labels, values, 0.0))

    def _check_draw(self) -> None:
        """Refuse exposed rows that are no simple random sample without replacement of each user's population."""
        if len(self.user) != len(self.labels):
            raise DataError(f"{len(self.user)} exposed rows but {len(self.labels)} labels; give one a row")
        if self.total is None or len(self.total) != self.n_users or (self.counts == 0).any():
            raise DataError("each user needs a population and at least one exposed row")
        if (self.counts > self.population).any():
            who = int(np.argmax(self.counts > self.population))
            raise DataError(
                f"user {who} of the exposed ones, from 0, has {self.counts[who]} exposed rows of a population of "
                f"{self.population[who]}; the population holds all items that could be drawn"
            )
