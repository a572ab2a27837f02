"""The rows that estimators use: worth, propensity and user of each."""

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

Kind: TypeAlias = Literal["mean", "sum", "list", "loss", "graded", "content", "scored"]
"""The kind of a metric: a mean or a sum over a user's relevant items, a value of the user's whole list, a loss of each
pair, a sum over a user's rated items, or what is in the user's list; see the guide to metrics."""
OVER_ALL_PAIRS = frozenset({"loss", "graded"})
"""Kinds of metric that are over all pairs of a user and an item, relevant or not."""


@dataclass(frozen=True, eq=False)
class Places:
    """The gains of a metric at the places of a model's lists, which are known without labels; for exposed rows.

    Parameters
    ----------
    above : array
        How many items of the population are above each row; the middle of its tie group.
    up_to : callable
        Takes numbers of places and returns, for each user (rows) and number (columns), the sum of the gains of that
        many places from the top, or of the whole population if it is smaller. Ties do not change it.
    cutoff : int, optional
        The last rank that counts.
    ideal : callable, optional
        The ideal sum for each number of positives, if the metric is a share of it.
    """

    above: Floats
    up_to: Callable[[Ints], Floats]
    cutoff: int | None = None
    ideal: Callable[[Ints], Floats] | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    r"""The rows of m users that an estimate uses.

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
        P(the row is observed), in (0, 1]; None if no estimator needs it.
    item : array of int, optional
        The item of each row, from 0.
    size : array, optional
        s of each row; None for 1.
    total : array, optional
        For each user: the number of relevant items, if known; for metrics over all pairs the sum of s over all of the
        user's pairs, first of the m users with rows, then of those without; for exposed rows the population L, the
        number of items that the user's were drawn from and that the models rank.
    positive : array of bool, optional
        The label of each exposed row.
    places : Places, optional
        Used to reduce the variance of estimates from exposed rows.
    empty : int
        Number of further users without observations, who count as 0.
    kept : array of bool, optional
        Which rows of the sample these are; None for all.
    imputed : array, optional
        Chance that each row is relevant, for held-out rows of estimators that impute.
    logged : Rows, optional
        Where a row is a user with all of the user's candidates: the held-out rows of the log, whose users are rows
        here.
    mass : array, optional
        Where a row is a user: the sum of the chances of the user's candidates.
    who : array of int, optional
        The code of each of the m users.
    row_weight : array, optional
        How much each row counts in the target; None if all rows count the same.
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
    imputed: Floats | None = None
    logged: "Rows | None" = None
    mass: Floats | None = None
    who: Ints | None = None
    row_weight: Floats | None = None

    def __post_init__(self) -> None:
        if self.positive is not None and self.imputed is None:  # else the labels of a log, which was not drawn
            self._check_draw()

    @classmethod
    def of_matrix(cls, worth: Floats, propensity: Floats, observed: Bools) -> "Rows":
        """The rows of the observed cells of a users by items matrix of losses.

        Parameters
        ----------
        worth, propensity : array, users by items
            The propensity may be anything that broadcasts to the shape of the losses.
        observed : array of bool, users by items
        """
        worth, observed = np.asarray(worth, dtype=float), np.asarray(observed, dtype=bool)
        if worth.ndim != 2 or worth.shape != observed.shape:
            raise DataError(f"loss {worth.shape} and observed {observed.shape} must be matrices of the same shape")
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
            Worth of all rows of the sample; the rows kept here are selected.
        places : Places, optional
        """
        other = copy.copy(self)  # with the cached properties, which depend only on users and labels
        object.__setattr__(other, "worth", worth if self.kept is None else worth[self.kept])
        object.__setattr__(other, "places", places)
        object.__setattr__(other, "_first", vars(self).get("_first", self))  # keeps the prior, which is slow to fit
        return other

    def __len__(self) -> int:
        return len(self.user)

    @property
    def chance(self) -> Floats:
        """P of each row; an error if there is none."""
        if self.propensity is None:
            raise DataError("these rows have no propensities, which the estimator needs; give one per row")
        return self.propensity

    @cached_property
    def n_users(self) -> int:
        """How many users have rows."""
        first = vars(self).get("_first", self)
        return int(self.user.max(initial=-1)) + 1 if first is self else first.n_users

    @cached_property
    def counts(self) -> Ints:
        """How many rows each user has; l for exposed rows."""
        first = vars(self).get("_first", self)  # has the same users
        return np.bincount(self.user, minlength=self.n_users) if first is self else first.counts

    @cached_property
    def labels(self) -> Bools:
        """Which of the exposed rows are positive."""
        if self.positive is None:
            raise DataError("these rows have no labels, which estimators of exposed rows need; give one per row")
        return self.positive

    @cached_property
    def population(self) -> Ints:
        """L of each user of exposed rows."""
        assert self.total is not None  # checked with the labels
        return self.total.astype(np.int64)

    @cached_property
    def positives(self) -> Ints:
        """n, the number of positives among each user's exposed rows."""
        return np.bincount(self.user[self.labels], minlength=self.n_users)

    @cached_property
    def scale(self) -> Floats:
        """L / l of each user: how many items of the population an exposed row represents."""
        return np.asarray(self.population / self.counts)

    @cached_property
    def prior(self) -> "BetaBinomial":
        """The distribution of the users' shares of positives, fitted to their samples."""
        from unskew.estimators.exposed.beta_binomial import BetaBinomial  # its package imports this module

        first: Rows = vars(self).get("_first", self)
        return BetaBinomial.fit(self.positives, self.counts) if first is self else first.prior

    def weighted(self, values: Floats) -> Floats:
        """Values times the weights of the rows, where there are any."""
        return values if self.row_weight is None else values * self.row_weight

    def sums(self, values: Floats) -> Floats:
        """Sum of row values for each user."""
        return np.asarray(np.bincount(self.user, weights=values, minlength=self.n_users))

    def positive_sums(self, values: Floats) -> Floats:
        """Sum of row values for each user, over the positives."""
        return self.sums(np.where(self.labels, values, 0.0))

    def _check_draw(self) -> None:
        """Refuse exposed rows that cannot be a random sample without replacement of each user's population."""
        if len(self.user) != len(self.labels):
            raise DataError(f"{len(self.user)} exposed rows but {len(self.labels)} labels; give one per row")
        if self.total is None or len(self.total) != self.n_users or (self.counts == 0).any():
            raise DataError("each user needs a population and at least one exposed row")
        if (self.counts > self.population).any():
            who = int(np.argmax(self.counts > self.population))
            raise DataError(
                f"exposed user {who} (counting from 0) has {self.counts[who]} exposed rows of a population of "
                f"{self.population[who]}; the population is all items that could be drawn"
            )
