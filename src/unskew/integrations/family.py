"""`Family`: a kind of foreign model that is recognised; `Given`: such a model, and what is known of its ids."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data import Split
from unskew.data.vocabulary import Vocabulary, canonical, vocabulary_of
from unskew.display.phrases import counted
from unskew.errors import DataError, first_of
from unskew.ranking import Scorer
from unskew.ranking.tensor_counts import as_array, is_tensor

SHOWN_IDS = 3


@dataclass(frozen=True, eq=False)
class Given:
    """A model as it was given.

    Parameters
    ----------
    model : object
    name : str
        Its name in the run.
    split : Split, optional
        The split that it is judged on; None if that is read part by part.
    user_ids, item_ids : array, optional
        Ids of its rows, if they were given with it.
    history : sparse, optional
        The matrix that it scores from, if it was given with it.
    dataset : object, optional
        The data set of its own package that it was fitted on.
    columns : mapping, optional
        The columns of a frame by role, if they were given with it.
    """

    model: Any
    name: str = "model"
    split: Split | None = None
    user_ids: Any = None
    item_ids: Any = None
    history: Any = None
    dataset: Any = None
    columns: Mapping[str, str] | None = None

    @property
    def origin(self) -> str:
        """Package and class of the model, as in ``implicit.AlternatingLeastSquares``."""
        return origin_of(self.model)

    @property
    def labels(self) -> dict[str, Any]:
        """The fields that every scorer has: ids, name and origin."""
        return {
            "user_ids": self.user_ids,
            "item_ids": self.item_ids,
            "name": f"model {self.name!r}",
            "origin": self.origin,
        }

    def with_own_ids(self, user_ids: Any, item_ids: Any) -> "Given":
        """The same, with the ids that the model has, unless others were given."""
        return replace(
            self,
            user_ids=user_ids if self.user_ids is None else self.user_ids,
            item_ids=item_ids if self.item_ids is None else self.item_ids,
        )

    def refuse(self, problem: str) -> DataError:
        """An error that names the model and its class."""
        return DataError(f"model {self.name!r} ({self.origin}) {problem}")

    def ids_of(self, axis: str) -> npt.NDArray[Any]:
        """The ids of users or items: those given, else those of the split."""
        ids = getattr(self, f"{axis}_ids")
        if ids is not None:
            return np.asarray(ids)
        if self.split is None:
            raise self.refuse(f"has no {axis} ids, and a part of the data does not show them; {WITH_IDS}")
        vocabulary: Vocabulary = getattr(self.split, f"{axis}_vocabulary")
        return vocabulary.ids[self.split.rows_of("user" if axis == "user" else "item")]

    def named(self, axis: str, listed: pl.Series) -> pl.Series:
        """What lists hold, by id: the row numbers 0, 1, ... of the ids that were given with them; else as it is."""
        ids = getattr(self, f"{axis}_ids")
        if ids is None:
            return listed
        names = canonical(ids, f"{axis}_ids of model {self.name!r}")
        rows = listed if listed.dtype.is_integer() else pl.Series([-1])
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < len(names):  # type: ignore[arg-type]
            outside = listed.filter((rows < 0) | (rows >= len(names)))[0] if listed.dtype.is_integer() else listed[0]
            raise self.refuse(
                f"has {axis} {outside}, and {axis}_ids has {len(names)} ids; with {axis}_ids, {axis}s are row numbers "
                f"from 0 to {len(names) - 1}; leave {axis}_ids out if they are ids"
            )
        return names.gather(rows)


WITH_IDS = "give them with unskew.integrations.with_ids(model, user_ids=..., item_ids=...)"


@dataclass(frozen=True, eq=False)
class Family:
    """A kind of model that is recognised by its attributes.

    Parameters
    ----------
    name : str
        As messages and the documentation name it.
    takes : str
        What is taken, in a few words.
    signs : tuple of str
        The attributes that show it; all must be there.
    read : callable
        ``read(given)`` returns a scorer.
    packages : tuple of str
        Packages whose objects are most likely of this family.
    recognises : callable, optional
        ``recognises(model) -> bool``, where attributes are not enough.
    """

    name: str
    takes: str
    signs: tuple[str, ...]
    read: Callable[[Given], Scorer]
    packages: tuple[str, ...] = ()
    recognises: Callable[[Any], bool] | None = None

    def is_of(self, model: Any) -> bool:
        """Whether the model is recognised."""
        signed = all(has(model, sign) for sign in self.signs)
        return signed and (self.recognises is None or self.recognises(model))

    def likeness(self, model: Any) -> float:
        """How near the model comes: its package, then the share of the signs that it has."""
        share = sum(hasattr(model, sign) for sign in self.signs) / max(len(self.signs), 1)  # None before a fit
        return share + (package_of(model) in self.packages)

    def missing(self, model: Any) -> list[str]:
        """The signs that the model lacks."""
        return [sign for sign in self.signs if not has(model, sign)]


def has(model: Any, attribute: str) -> bool:
    """Whether the model has the attribute and it is not None; properties are not run."""
    return inspect.getattr_static(model, attribute, None) is not None or attribute_of(model, attribute) is not None


def attribute_of(model: Any, attribute: str) -> Any:
    """The attribute, or None if there is none or asking for it fails, as in a frame whose connection is closed."""
    try:
        return getattr(model, attribute, None)
    except Exception:  # noqa: BLE001  # each library has its own
        return None


def package_of(model: Any) -> str:
    """The top-level package that the class of the model is from."""
    return type(model).__module__.partition(".")[0]


def origin_of(model: Any) -> str:
    """Package and class of a model; only the class of what Python has itself, and the name of a function."""
    if inspect.isroutine(model):
        return f"function {getattr(model, '__name__', '')}".strip()
    package, kind = package_of(model), type(model).__qualname__
    return kind if package in {"builtins", "__main__"} else f"{package}.{kind}"


def required_arguments(function: Any) -> int:
    """The number of positional arguments without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a compiled function that does not say
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(p.kind in positional and p.default is p.empty for p in parameters)
    return needed or int(any(p.kind in (*positional, inspect.Parameter.VAR_POSITIONAL) for p in parameters))


def to_array(values: Any) -> npt.NDArray[Any]:
    """An array of this process, from an array, a tensor or a matrix on an accelerator."""
    if is_tensor(values):
        return as_array(values.detach())
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def last_where_missing(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The scores, with what the model did not score (NaN) tied below the rest of its row."""
    missing = np.isnan(scores)
    if not missing.any():
        return scores
    lowest = np.where(missing, np.inf, scores).min(axis=1, keepdims=True, initial=np.inf)
    lowest = np.where(np.isinf(lowest), 0.0, lowest)  # nothing is scored, so all items tie
    return np.where(missing, lowest - np.maximum(np.abs(lowest), 1.0), scores)


def check_shared_ids(given: Given, scorer: Any) -> None:
    """Refuse a model that has none of the users, or none of the items, of the split."""
    if given.split is None:
        return
    for axis in ("user", "item"):
        ids = getattr(scorer, f"{axis}_ids", None)
        if ids is None:
            continue
        vocabulary, _ = vocabulary_of(ids, f"{axis}_ids of model {given.name!r}")
        known: Vocabulary = getattr(given.split, f"{axis}_vocabulary")
        if len(vocabulary) and not (vocabulary.codes_in(known) >= 0).any():
            raise given.refuse(
                f"was trained on other ids: none of its {counted(len(vocabulary), axis)} ({_some(vocabulary)}) is in "
                f"train or test ({_some(known)}); {WITH_IDS}"
            )


def _some(vocabulary: Vocabulary) -> str:
    return first_of([str(each) for each in vocabulary.ids[:SHOWN_IDS]] + ["..."] * (len(vocabulary) > SHOWN_IDS), 9)
