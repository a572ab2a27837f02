"""Models of LightFM: representations of users and items, with biases."""

from typing import Any

from unskew.integrations.family import Family, Given, has, to_array
from unskew.ranking import FactorScorer


def read_representations(given: Given) -> FactorScorer:
    """The dot product of the representations plus both biases; ids are those of the LightFM ``Dataset``, if given.

    A model of features needs them to represent users and items, so its representations are those of single features
    here; their number does not fit the ids then.
    """
    user_bias, users = map(to_array, given.model.get_user_representations())
    item_bias, items = map(to_array, given.model.get_item_representations())
    if given.dataset is not None:
        user_map, _, item_map, _ = given.dataset.mapping()
        given = given.with_own_ids(_by_row(user_map), _by_row(item_map))
    for axis, representations, ids in (("user", users, given.user_ids), ("item", items, given.item_ids)):
        if ids is not None and len(ids) != len(representations):
            raise given.refuse(
                f"represents {len(representations)} {axis}s or features of {axis}s, but there are {len(ids)} {axis} "
                "ids; if it was fitted with features, give a FactorScorer of get_user_representations(features) and "
                "get_item_representations(features)"
            )
    return FactorScorer(users, items, user_bias, item_bias, **given.labels)


def is_dataset(data: Any) -> bool:
    """Whether this is a LightFM ``Dataset``."""
    return all(has(data, name) for name in ("mapping", "fit_partial", "build_interactions"))


def _by_row(rows: Any) -> list[Any]:
    """The ids of a map from id to row, in the order of the rows."""
    return sorted(rows, key=rows.__getitem__)


LIGHTFM = Family(
    "LightFM",
    "a fitted model with get_user_representations and get_item_representations, or (model, dataset) with its ids",
    ("get_user_representations", "get_item_representations"),
    read_representations,
    ("lightfm",),
)
