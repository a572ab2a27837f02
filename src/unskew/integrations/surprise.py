"""Surprise: fitted algorithms, and lists of predictions; both predict ratings."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.integrations.family import Family, Given, origin_of
from unskew.ranking import CallableScorer, ListScorer


def read_algorithm(given: Given) -> CallableScorer:
    """Ratings of the users and items of training as ``predict`` gives them, within the scale of the ratings."""
    trainset = getattr(given.model, "trainset", None)
    if trainset is None:
        raise given.refuse("is not fitted; call fit(trainset) first")
    users = [trainset.to_raw_uid(row) for row in range(trainset.n_users)]
    items = [trainset.to_raw_iid(column) for column in range(trainset.n_items)]
    given = given.with_own_ids(users, items)
    return CallableScorer(EveryPair(given.model, tuple(users), tuple(items)), **given.labels, ratings=True)


@dataclass(frozen=True, eq=False)
class EveryPair:
    """Predicted ratings of every pair, one after the other."""

    model: Any
    users: tuple[Any, ...]
    items: tuple[Any, ...]

    def __call__(self, rows: Ints) -> Matrix:
        """Ratings of all items for these users."""
        return np.array([[self.model.predict(self.users[row], item).est for item in self.items] for row in rows])


def read_predictions_list(given: Given) -> ListScorer:
    """A table of predicted ratings."""
    rows = given.model
    users, items = ([getattr(row, name) for row in rows] for name in ("uid", "iid"))
    table = ListScorer.from_table(users, items, [row.est for row in rows], name=given.labels["name"], ratings=True)
    return replace(table, origin=origin_of(rows[0]))


def _is_predictions(model: Any) -> bool:
    return (
        isinstance(model, list)
        and bool(model)
        and all(all(hasattr(row, name) for name in ("uid", "iid", "est")) for row in model)
    )


ALGORITHM = Family(
    "Surprise",
    "a fitted algorithm with predict and estimate",
    ("predict", "estimate", "test"),
    read_algorithm,
    ("surprise",),
)
PREDICTIONS = Family(
    "Surprise, predictions",
    "a list of Prediction, as test returns it",
    (),
    read_predictions_list,
    recognises=_is_predictions,
)
