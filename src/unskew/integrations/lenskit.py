"""LensKit: trained pipelines, whose scorer is run user by user, and collections of item lists."""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, Matrix
from unskew.integrations.family import Family, Given, last_where_missing, package_of, to_array
from unskew.integrations.recommendation_frames import read_frame
from unskew.ranking import CallableScorer, ListScorer

FEW = 3
"""Items that show whether a pipeline knows a user; if it scores none of them, it is asked for all."""
PROBED = 20
"""Users whose scores are looked at before the run, to refuse a pipeline that scores nothing."""


def read_pipeline(given: Given) -> CallableScorer:
    """Scores of the items of the split by the pipeline's component ``scorer``; an item that it cannot score is last.

    A user for whom it scores no item is one whom it does not know.
    """
    if "scorer" not in _names(given.model):
        raise given.refuse(f"has no component 'scorer' (it has {', '.join(_names(given.model))}); give its lists")
    users, items = given.ids_of("user"), given.ids_of("item")
    scorer = UserByUser(given.model, users, items)
    rows = np.arange(len(users))
    try:
        probe = scorer.raw(rows[:PROBED])
    except Exception as error:  # whatever a component of theirs raises
        raise given.refuse(f"cannot score user {users[0]} ({error}); is it trained?") from error
    scored = np.flatnonzero(~np.isnan(probe).all(axis=0))
    if not len(scored):
        raise given.refuse(
            f"scores no item for any of {len(probe)} users, such as {users[0]}; was it trained on other ids?"
        )
    few = replace(scorer, items=items[scored[:FEW]])  # one item is enough to know a user
    unsure = [row for row in rows if np.isnan(few.raw(rows[row : row + 1])).all()]
    unknown = [row for row in unsure if np.isnan(scorer.raw(rows[row : row + 1])).all()]
    users = np.delete(users, unknown)
    return CallableScorer(replace(scorer, users=users), **given.with_own_ids(users, items).labels)


@dataclass(frozen=True, eq=False)
class UserByUser:
    """The scorer of a pipeline."""

    model: Any
    users: npt.NDArray[Any]
    items: npt.NDArray[Any]

    def raw(self, rows: Ints) -> Matrix:
        """Scores of these users, NaN for what is not scored."""
        item_list: Any = import_module(f"{package_of(self.model)}.data").ItemList
        asked = item_list(self.items)
        lists = [self.model.run("scorer", query=self.users[row].item(), items=asked) for row in rows]
        return np.stack([to_array(each.scores()) for each in lists]).astype(np.float64)

    def __call__(self, rows: Ints) -> Matrix:
        """Scores of these users; an item without one ties below the others."""
        return last_where_missing(self.raw(rows))


def read_collection(given: Given) -> ListScorer:
    """The lists of a collection, by score or else by rank."""
    if not len(given.model):
        raise given.refuse("has no list; give recommendations for at least one user")
    frame = given.model.to_df()
    return replace(read_frame(replace(given, model=frame)), origin=given.origin)


def _names(pipeline: Any) -> list[str]:
    return [str(node.name) for node in pipeline.nodes()]


PIPELINE = Family(
    "LensKit",
    "a trained pipeline with a component 'scorer'",
    ("run", "run_all", "train", "nodes"),
    read_pipeline,
    ("lenskit",),
)
ITEM_LISTS = Family(
    "LensKit, lists",
    "an ItemListCollection",
    ("lists", "key_fields", "to_df", "to_arrow"),
    read_collection,
    ("lenskit",),
)
