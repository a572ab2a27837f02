"""Estimators of skrecsys: ``recommend`` over all items, with the ids that they were fitted on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, Matrix
from unskew.integrations.family import Family, Given
from unskew.ranking import CallableScorer


def read_estimator(given: Given) -> CallableScorer:
    """Scores of all fitted items, seen ones too: what may be recommended is for the candidate rule to say."""
    users, items = np.asarray(given.model.user_ids_), np.asarray(given.model.item_ids_)
    given = given.with_own_ids(users, items)
    return CallableScorer(FullLists(given.model, users, items), **given.labels)


@dataclass(frozen=True, eq=False)
class FullLists:
    """The full list of each user, put in the order of the items."""

    model: Any
    users: npt.NDArray[Any]
    items: npt.NDArray[Any]

    def __call__(self, rows: Ints) -> Matrix:
        """Scores of these users."""
        listed, scores = self.model.recommend(self.users[rows], n_recommendations=len(self.items), exclude_seen=False)
        order = np.argsort(self.items, kind="stable")
        columns = order[np.searchsorted(self.items, np.asarray(listed), sorter=order)]
        dense = np.empty((len(rows), len(self.items)))
        np.put_along_axis(dense, columns, np.asarray(scores, dtype=np.float64), axis=1)
        return dense


SKRECSYS = Family(
    "skrecsys",
    "a fitted recommender with recommend, user_ids_ and item_ids_",
    ("recommend", "user_ids_", "item_ids_"),
    read_estimator,
    ("skrecsys",),
)
