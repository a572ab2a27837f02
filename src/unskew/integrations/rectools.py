"""Models of RecTools with their data set: vectors where there are some, else ``recommend`` over all items."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, Matrix
from unskew.data.vocabulary import canonical, vocabulary_of
from unskew.integrations.family import Family, Given, attribute_of, has, last_where_missing, to_array
from unskew.ranking import CallableScorer, FactorScorer, Scorer

NEEDS_DATASET = (
    "does not hold its ids; give (model, dataset), with the Dataset that it was fitted on, or a frame that its "
    "recommend returned"
)


def read_model_with_dataset(given: Given) -> Scorer:
    """Its vectors, compared as the model compares them, or else its lists of all items."""
    if not getattr(given.model, "is_fitted", True):
        raise given.refuse("is not fitted; call fit(dataset) first")
    if given.dataset is None and (given.user_ids is None or given.item_ids is None):
        raise given.refuse(NEEDS_DATASET)
    if given.dataset is not None:
        users, items = given.dataset.user_id_map.external_ids, given.dataset.item_id_map.external_ids
        given = given.with_own_ids(np.asarray(users), np.asarray(items))
    if hasattr(given.model, "get_vectors"):
        return _of_vectors(given)
    if given.dataset is None:
        raise given.refuse(NEEDS_DATASET)
    lists = FullFrames(given.model, given.dataset, np.asarray(given.user_ids), np.asarray(given.item_ids))
    return CallableScorer(lists, **given.labels)


@dataclass(frozen=True, eq=False)
class FullFrames:
    """Recommendations of all items; what a model leaves out ties below what it lists."""

    model: Any
    dataset: Any
    users: npt.NDArray[Any]
    items: npt.NDArray[Any]

    def __call__(self, rows: Ints) -> Matrix:
        """Scores of these users."""
        asked = self.users[rows]
        frame = self.model.recommend(asked, self.dataset, k=len(self.items), filter_viewed=False)
        (places, user_codes), (columns, item_codes) = vocabulary_of(asked, "users"), vocabulary_of(self.items, "items")
        row_of, column_of = np.argsort(user_codes), np.argsort(item_codes)
        users = row_of[places.encode(canonical(to_array(frame["user_id"]), "user_id"))]
        items = column_of[columns.encode(canonical(to_array(frame["item_id"]), "item_id"))]
        dense = np.full((len(rows), len(self.items)), np.nan)
        dense[users, items] = to_array(frame["score"])
        return last_where_missing(dense)


def is_dataset(data: Any) -> bool:
    """Whether this is a ``Dataset`` of RecTools."""
    return all(has(attribute_of(data, f"{axis}_id_map"), "external_ids") for axis in ("user", "item"))


def _of_vectors(given: Given) -> FactorScorer:
    asks_for_data = any(
        parameter.default is parameter.empty
        for parameter in inspect.signature(given.model.get_vectors).parameters.values()
    )
    if asks_for_data and given.dataset is None:
        raise given.refuse(NEEDS_DATASET)
    users, items = map(to_array, given.model.get_vectors(*([given.dataset] if asks_for_data else [])))
    metric = str(getattr(getattr(given.model, "u2i_dist", None), "name", "DOT")).upper()
    if metric == "COSINE":
        users, items = (_unit_rows(vectors) for vectors in (users, items))
    elif metric not in {"DOT", "EUCLIDEAN"}:
        raise given.refuse(f"compares vectors by {metric.lower()}; give a frame that its recommend returned")
    return FactorScorer(users, items, similarity="distance" if metric == "EUCLIDEAN" else "dot", **given.labels)


def _unit_rows(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


RECTOOLS = Family(
    "RecTools",
    "(model, dataset), or a frame that recommend returned",
    ("recommend", "recommend_to_items", "is_fitted"),
    read_model_with_dataset,
    ("rectools",),
)
