"""Models of Cornac: ``score`` of one user after the other, or vectors where they give the same scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.integrations.family import Family, Given, to_array
from unskew.ranking import CallableScorer, FactorScorer, Scorer

PROBED = 3
"""Users for whom vectors are compared with ``score`` before they are used."""


def read_recommender(given: Given) -> Scorer:
    """Scores of the users and items of training, by the ids of the model's maps."""
    holders = (given.model, getattr(given.model, "train_set", None))  # the model has had the maps since Cornac 2
    holder = next((each for each in holders if getattr(each, "uid_map", None) is not None), None)
    if holder is None:
        raise given.refuse("is not fitted; call fit(train_set) first")
    users, items = (_ids(holder, axis) for axis in ("user", "item"))
    given = given.with_own_ids(users, items)
    scores = OneByOne(given.model, len(items))
    factors = _vectors(given, scores, len(users), len(items))
    return CallableScorer(scores, **given.labels) if factors is None else factors


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Scores of all items, user by user."""

    model: Any
    n_items: int

    def __call__(self, rows: Ints) -> Matrix:
        """Scores of these users."""
        return np.stack([to_array(self.model.score(int(row))).ravel()[: self.n_items] for row in rows]).astype(
            np.float64
        )


def _ids(holder: Any, axis: str) -> list[Any]:
    """The ids of training in the order of the model's rows; those of a test come after them."""
    places = holder.uid_map if axis == "user" else holder.iid_map
    n: int = holder.num_users if axis == "user" else holder.num_items
    return sorted(places, key=places.__getitem__)[:n]


def _vectors(given: Given, scores: OneByOne, n_users: int, n_items: int) -> FactorScorer | None:
    """The vectors that the model gives to indexes, if their products are its scores up to a constant per user."""
    if not getattr(given.model, "_ann_supported", False) or not n_users:
        return None
    users, items = (to_array(vectors()) for vectors in (given.model.get_user_vectors, given.model.get_item_vectors))
    if users.shape != (n_users, items.shape[1]) or len(items) != n_items:
        return None
    rows = np.unique(np.linspace(0, n_users - 1, PROBED).astype(np.int64))
    expected, product = scores(rows), users[rows].astype(np.float64) @ items.astype(np.float64).T
    gap = expected - product
    gap -= gap.mean(axis=1, keepdims=True)
    if np.abs(gap).max() > 1e-5 * max(float(np.ptp(expected)), 1e-12):
        return None
    return FactorScorer(users, items, **given.labels)


def _is_cornac(model: Any) -> bool:
    return hasattr(model, "uid_map") or hasattr(getattr(model, "train_set", None), "uid_map")


CORNAC = Family(
    "Cornac",
    "a fitted model with score, rate and the maps of its ids",
    ("score", "rate"),
    read_recommender,
    ("cornac",),
    _is_cornac,
)
