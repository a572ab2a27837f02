"""`read_model`: a scorer of any model that is recognised, by what it has and never by importing its package."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, cast

from unskew.data import Split
from unskew.errors import DataError
from unskew.integrations import lightfm, recbole, rectools
from unskew.integrations.cornac import CORNAC
from unskew.integrations.family import Family, Given, attribute_of, check_shared_ids, origin_of, required_arguments
from unskew.integrations.identified import Identified
from unskew.integrations.implicit import FACTORS, ITEM_ITEM
from unskew.integrations.lenskit import ITEM_LISTS, PIPELINE
from unskew.integrations.listed_items import BY_ROW, BY_USER
from unskew.integrations.pytorch import CALLABLE, TENSOR
from unskew.integrations.recommendation_frames import FRAME
from unskew.integrations.score_matrices import ARRAY, SPARSE
from unskew.integrations.skrecsys import SKRECSYS
from unskew.integrations.surprise import ALGORITHM, PREDICTIONS
from unskew.models import Model
from unskew.models.model import is_file_name
from unskew.ranking import CallableScorer, Predictions, Ranks, Scorer

FAMILIES = (
    CORNAC,
    PIPELINE,
    ITEM_LISTS,
    rectools.RECTOOLS,
    recbole.RECBOLE,
    lightfm.LIGHTFM,
    ALGORITHM,
    PREDICTIONS,
    SKRECSYS,
    FACTORS,
    ITEM_ITEM,
    FRAME,
    BY_USER,
    BY_ROW,
    SPARSE,
    ARRAY,
    TENSOR,
    CALLABLE,
)
"""What is recognised, in the order in which it is tried: what has many signs first, then plain data, then functions."""
OWN = (str, Model, Ranks, Predictions)
NOT_A_MODEL = (int, float, complex, bool, bytes, type(None))


def is_dataset(data: Any) -> bool:
    """Whether this is a data set of a package whose models need one for their ids."""
    return any(package.is_dataset(data) for package in (rectools, recbole, lightfm))


def read_model(given: Any, name: str, split: Split | None = None) -> Any:
    """A scorer of a foreign model; what `evaluate` knows itself is returned as it is.

    Parameters
    ----------
    given : object
        A model, a pair ``(model, dataset)`` or what `with_ids` returned.
    name : str
        Its name in the run.
    split : Split, optional
        The split that it is judged on, for models that have no ids of their own or score from users' histories.

    Raises
    ------
    DataError
        If the model is not recognised, not fitted, or does not fit the split.
    """
    joined = Identified(*given[:1], dataset=given[1]) if isinstance(given, tuple) and len(given) == 2 else given
    given = joined if isinstance(joined, Identified) else Identified(given)
    model = given.model
    if given.columns is not None and not FRAME.is_of(model):
        raise DataError(f"model {name!r} is {origin_of(model)}, which has no columns to name; leave out columns=...")
    if isinstance(model, str) and is_file_name(model):
        raise DataError(f"model {name!r} is {model!r}, which ends like a file{_how_to_read(model)}")
    if isinstance(model, OWN):
        return model
    if _scores(model) and not CORNAC.is_of(model):
        return _named(model, given)
    for family in FAMILIES:
        if not isinstance(model, (type, *NOT_A_MODEL)) and family.is_of(model):
            extras = (given.user_ids, given.item_ids, given.history, given.dataset, given.columns)
            described = Given(model, name, split, *extras)
            scorer = family.read(described)
            check_shared_ids(described, scorer)
            return scorer
    raise _unknown(model, name)


def _scores(model: Any) -> bool:
    """Whether this is a scorer, and not an estimator whose ``score`` needs more than users."""
    score = attribute_of(model, "score")
    if isinstance(model, type) or not callable(score):
        return False  # a pandas frame has its columns as attributes, score among them
    return required_arguments(score) == 1


def _named(scorer: Scorer, given: Identified) -> Scorer:
    """The scorer with the ids that were given, if there are some."""
    ids = {axis: getattr(given, axis) for axis in ("user_ids", "item_ids") if getattr(given, axis) is not None}
    if not ids:
        return scorer
    if set(getattr(scorer, "__dataclass_fields__", ())) >= set(ids):
        return cast("Scorer", replace(cast("Any", scorer), **ids))
    present = {axis: getattr(scorer, axis, None) for axis in ("user_ids", "item_ids")}
    ratings = bool(getattr(scorer, "ratings", False))
    return CallableScorer(scorer.score, **{**present, **ids}, ratings=ratings, origin=origin_of(scorer))


def _unknown(model: Any, name: str) -> DataError:
    """What was given, the nearest family, and the list of families."""
    if isinstance(model, type):
        return DataError(f"model {name!r} is the class {model.__name__}; give a fitted object of it")
    near = max(FAMILIES, key=lambda family: family.likeness(model)) if model is not None else FRAME
    hint = ""
    if callable(score := attribute_of(model, "score")):
        hint = f"; its method score needs {required_arguments(score)} arguments, not the users alone"
    elif near.likeness(model) >= 0.5 and near.signs:
        lacks = " and ".join(near.missing(model)) or "what its family has"
        hint = f"; the nearest is {near.name} ({near.takes}), but it has no {lacks}: is it fitted?"
    else:
        hint = _hint(model)
    kinds = ", ".join(dict.fromkeys(family.name.partition(",")[0] for family in FAMILIES))
    return DataError(
        f"model {name!r} is {origin_of(model)}, which is not recognised{hint}; give an object with a method "
        f"score(users), Ranks, Predictions, a word such as 'als', or a model or output of one of: {kinds}"
    )


def _hint(model: Any) -> str:
    """What to do with an object of a kind that is often given."""
    rows = model if isinstance(model, list) else None
    hints = {
        f"; it is a path{_how_to_read(str(model))}": isinstance(model, PathLike),
        "; it gives its values only once: make a list of lists of it, as in list(model), or {user: [items]}": (
            isinstance(model, Iterator)
        ),
        "; it is empty, so no user has a list": rows == [],
        "; make a frame of its rows, as in polars.DataFrame(model), with the columns user, item and score": (
            bool(rows) and isinstance(model[0], Mapping)
        ),
        "; it must have a list of items for each user, as in [[items], ...], or give {user: [items]}": rows is not None,
        "; it is a single column: give a frame with columns for users, items and a score": (
            callable(attribute_of(model, "to_frame"))
        ),
        "; predict alone does not say what it takes: a model of Surprise also has estimate, test and a trainset; of "
        "another, give its scores as a frame with the columns user, item and score, or a function of user rows and "
        "item columns that calls predict": callable(attribute_of(model, "predict")),
    }
    return next((hint for hint, fits in hints.items() if fits), "")


def _how_to_read(path: str) -> str:
    """How a file of this name becomes a model."""
    if path.endswith(".npz"):
        return ": read its factors with unskew.ranking.read_factors(path)"
    if path.endswith(".npy"):
        return ": read its matrix with numpy.load(path)"
    return ": read it first, with unskew.ranking.read_scores(path), or as a frame with polars.read_csv(path)"


def families_table() -> list[tuple[str, str]]:
    """The name of each family and what is taken, for the documentation."""
    return [(family.name, family.takes) for family in FAMILIES]


__all__ = ["FAMILIES", "Family", "families_table", "is_dataset", "read_model"]
