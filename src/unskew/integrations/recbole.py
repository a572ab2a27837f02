"""Models of RecBole with their data set: ``full_sort_predict``, without the padding item."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from unskew.arrays import Ints
from unskew.integrations.family import Family, Given, attribute_of, has
from unskew.ranking import CallableScorer
from unskew.ranking.tensor_counts import without_gradients

NEEDS_DATASET = "does not hold its ids; give (model, dataset), or (model, test_data) for a sequential model"


def read_model_with_dataset(given: Given) -> CallableScorer:
    """Scores of all items but the padding, by the tokens of the data set."""
    if given.dataset is None:
        raise given.refuse(NEEDS_DATASET)
    data = dataset_of(given.dataset)
    sequential = "SEQUENTIAL" in str(getattr(given.model, "type", "")).upper()
    tokens = {field: np.asarray(data.field2id_token[field])[1:] for field in (data.uid_field, data.iid_field)}
    rows: Ints = np.arange(1, len(tokens[data.uid_field]) + 1)
    if sequential:
        rows = _last_rows(given, data)
        tokens[data.uid_field] = tokens[data.uid_field][np.asarray(data.inter_feat[data.uid_field])[rows] - 1]
    given.model.eval()
    given = given.with_own_ids(tokens[data.uid_field], tokens[data.iid_field])
    return CallableScorer(FullSort(given.model, data, rows, sequential), **given.labels)


@dataclass(frozen=True, eq=False)
class FullSort:
    """Scores of all items; `rows` are user numbers, or for a sequential model the rows of the data set."""

    model: Any
    data: Any
    rows: Ints
    sequential: bool

    def __call__(self, rows: Ints) -> Any:
        """Scores of these users, a tensor on the device of the model."""
        picked, batch = self.rows[rows], self.data.inter_feat
        if self.sequential:
            asked = self.data[picked]
        else:
            torch: Any = import_module("torch")
            asked = self.data.join(type(batch)({self.data.uid_field: torch.from_numpy(picked)}))
        with without_gradients():
            scores = self.model.full_sort_predict(asked.to(self.model.device))
        return scores.view(len(rows), -1)[:, 1:]


def dataset_of(data: Any) -> Any:
    """The data set, from itself or from a loader of it."""
    for holder in (data, attribute_of(data, "dataset"), attribute_of(data, "_dataset")):
        if has(holder, "field2id_token"):
            return holder
    return None


def is_dataset(data: Any) -> bool:
    """Whether this is a data set or a loader of RecBole."""
    return dataset_of(data) is not None


def _last_rows(given: Given, data: Any) -> Ints:
    """The last row of each user, which holds the sequence before it."""
    if not any(str(field).endswith("_list") for field in data.inter_feat.interaction):
        raise given.refuse("is sequential; give (model, test_data), whose rows hold the sequences")
    users = np.asarray(data.inter_feat[data.uid_field])
    _, backwards = np.unique(users[::-1], return_index=True)
    return len(users) - 1 - backwards


RECBOLE = Family(
    "RecBole",
    "(model, dataset), with full_sort_predict",
    ("full_sort_predict", "calculate_loss"),
    read_model_with_dataset,
    ("recbole",),
)
