"""The base of models of ratings, the weighted ratings that they learn from, and their predictions."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from unskew.arrays import Floats, Ints, offsets_of
from unskew.data import Interactions
from unskew.data.pairs import pair_keys
from unskew.errors import DataError, Option, PropensityError
from unskew.models.model import Model, Progress
from unskew.ranking.scorers import FactorScorer, Scorer


@dataclass(frozen=True, eq=False)
class Rated:
    """Observed ratings with their weights, ordered by user and item.

    Parameters
    ----------
    users, items : array of int
        Codes 0 to n-1, one per row, in any order; each (user, item) at most once.
    values : array of float
        Ratings.
    weights : array of float
        How many pairs each row represents: the inverse propensity, or users times items over rows for all.
    n_users, n_items : int
        Numbers of users and items, including those without a row.
    """

    users: Ints
    items: Ints
    values: Floats
    weights: Floats
    n_users: int
    n_items: int

    def __post_init__(self) -> None:
        users, items = np.asarray(self.users, dtype=np.int64), np.asarray(self.items, dtype=np.int64)
        values, weights = np.asarray(self.values, dtype=np.float64), np.asarray(self.weights, dtype=np.float64)
        if not users.shape == items.shape == values.shape == weights.shape or users.ndim != 1 or not len(users):
            raise DataError(
                f"ratings: users {users.shape}, items {items.shape}, values {values.shape} and weights {weights.shape} "
                "must be columns of the same length, of at least one row"
            )
        outside = (users < 0) | (users >= self.n_users) | (items < 0) | (items >= self.n_items)
        bad = ~(np.isfinite(values) & np.isfinite(weights) & (weights > 0))
        if (outside | bad).any():
            row = int(np.argmax(outside | bad))
            raise DataError(
                f"ratings: row {row + 1} has user {users[row]}, item {items[row]}, value {values[row]:g} and "
                f"weight {weights[row]:g}; codes must be below {self.n_users} and {self.n_items}, values finite "
                "and weights above 0"
            )
        keys = pair_keys(users, items, self.n_items)
        order = np.argsort(keys, kind="stable")
        if np.any(keys[order][1:] == keys[order][:-1]):
            raise DataError("ratings: a (user, item) pair occurs twice; keep one row of each")
        for name, column in (("users", users), ("items", items), ("values", values), ("weights", weights)):
            object.__setattr__(self, name, np.ascontiguousarray(column[order]))

    @classmethod
    def unweighted(cls, users: Ints, items: Ints, values: Floats, n_users: int, n_items: int) -> "Rated":
        """Ratings as if observed at random: each row represents U I / n pairs."""
        weights = np.full(len(users), n_users * n_items / max(len(users), 1))
        return cls(users, items, values, weights, n_users, n_items)

    def __len__(self) -> int:
        return len(self.users)

    @property
    def starts(self) -> Ints:
        """Where each user's rows begin, and the end of the last."""
        counts = np.bincount(self.users, minlength=self.n_users)
        return offsets_of(counts)

    def take(self, rows: Ints, *, scale: float = 1, most: float = np.inf) -> "Rated":
        """These rows, with weights scaled and then cut at a largest one."""
        weights = np.minimum(self.weights[rows] * scale, most)
        return Rated(self.users[rows], self.items[rows], self.values[rows], weights, self.n_users, self.n_items)


class LearntRatings(Protocol):
    """What a model of ratings has learnt: predictions for users and items of a log."""

    def scorer(self, train: Interactions, users: Ints, items: Ints, name: str, /) -> Scorer:
        """A scorer of all users of a log, given the codes of the users and items that were learnt from."""
        ...


@dataclass(frozen=True, eq=False)
class RatingFactors:
    r"""Predicted ratings of every pair, as factors.

    .. math:: \hat y_{ui} = v_u \cdot w_i + a_u + b_i + c

    Parameters
    ----------
    user_factors, item_factors : array (users, d) and (items, d)
        v and w.
    user_offsets, item_offsets : array
        a and b.
    constant : float
        c.
    newcomer : array (d,)
        The factors of a user without a training row; the offset is 0.
    """

    user_factors: Floats
    item_factors: Floats
    user_offsets: Floats
    item_offsets: Floats
    constant: float
    newcomer: Floats

    def predict(self, users: Ints, items: Ints) -> Floats:
        """Predicted ratings of these pairs."""
        products = np.einsum("kd,kd->k", self.user_factors[users], self.item_factors[items])
        return np.asarray(products + self.user_offsets[users] + self.item_offsets[items] + self.constant)

    def matrix(self) -> Floats:
        """Predicted ratings of all pairs, users by items."""
        products = self.user_factors @ self.item_factors.T
        return np.asarray(products + self.user_offsets[:, None] + self.item_offsets + self.constant)

    def scorer(self, train: Interactions, users: Ints, items: Ints, name: str) -> FactorScorer:
        """A scorer of all users of a log. One without a training row is a newcomer."""
        user_factors = np.tile(self.newcomer, (train.n_users, 1))
        user_factors[users] = self.user_factors
        user_bias = np.zeros(train.n_users)
        user_bias[users] = self.user_offsets
        return FactorScorer(
            user_factors,
            self.item_factors,
            user_bias,
            self.item_offsets + self.constant,
            user_ids=train.user_vocabulary.ids,
            item_ids=train.item_vocabulary.ids[items],
            name=name,
            ratings=True,
        )


class RatingModel(Model):
    """A model that learns ratings; its scores are predicted ratings.

    It can score any user: one without a training row gets the prediction for an unknown user. A subclass defines
    `learn_ratings`.
    """

    uses_propensity: ClassVar[bool] = False
    """Whether rows are weighted by the inverse of their propensity, which the log must then have."""

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> Scorer:
        """Learn from the rated rows, for the users and items that a model knows."""
        users = _known(train.user_counts, declared=train.user_vocabulary.declared)
        items = _known(train.item_counts, declared=train.item_vocabulary.declared)
        return self.learn_ratings(self._rated(train, users, items), rng, progress).scorer(
            train, users, items, str(self)
        )

    @abstractmethod
    def learn_ratings(self, rated: Rated, rng: np.random.Generator, progress: Progress) -> LearntRatings:
        """Learn from ratings and weights; the weights are all the same unless `uses_propensity`."""

    def _rated(self, train: Interactions, users: Ints, items: Ints) -> Rated:
        if train.values is None:
            raise DataError(
                f"{train.name}: has no ratings, which {self} needs; name their column with {Option('rating_col')}"
            )
        codes = np.searchsorted(users, train.users), np.searchsorted(items, train.items)
        if not self.uses_propensity:
            return Rated.unweighted(*codes, train.values, len(users), len(items))
        if train.propensity is None:
            raise PropensityError(
                f"{train.name}: has no propensities, which {self} needs; give a column "
                f"({Option('propensity_col')}) or a propensity model, as in {self.word}(propensity=uniform)"
            )
        return Rated(*codes, train.values, 1 / train.propensity, len(users), len(items))


def _known(counts: Ints, *, declared: bool) -> Ints:
    """Codes that a model knows: those with a row, or all if they were declared."""
    return np.arange(len(counts)) if declared else np.flatnonzero(counts)
