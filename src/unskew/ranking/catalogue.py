"""The catalogue of a run, and the rows and columns that each model has for its users and items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints
from unskew.data.split import Split
from unskew.data.vocabulary import Vocabulary, vocabulary_of
from unskew.errors import DataError
from unskew.ranking.scorers import Scorer


@dataclass(frozen=True, eq=False)
class Binding:
    """A model's rows for the users of a split and its columns for the items of a catalogue; -1 if it has none.

    `width` is the number of columns of the model, whether candidates or not.
    """

    rows: Ints
    columns: Ints
    width: int

    @cached_property
    def places(self) -> Ints:
        """The place of each column of the model in the catalogue; -1 if it is not in it."""
        places = np.full(self.width, -1, dtype=np.int32)
        known = self.columns >= 0
        places[self.columns[known]] = np.flatnonzero(known)
        return places

    @property
    def unknown_items(self) -> int:
        """How many items of the catalogue the model does not know."""
        return int(np.sum(self.columns < 0))


@dataclass(frozen=True, eq=False)
class JoinedCatalogue:
    """The items that are ranked, in the order of their ids.

    Parameters
    ----------
    ids : array
        Ids of the items.
    places : array of int32
        The place of each item code of the split in the catalogue; -1 if it is not in it.
    bindings : mapping
        The rows and columns of each model.
    """

    ids: npt.NDArray[Any]
    places: Ints
    bindings: Mapping[str, Binding]

    def __len__(self) -> int:
        return len(self.ids)


def join_catalogue(
    models: Mapping[str, Scorer],
    split: Split,
    *,
    trained: bool,
    tested: bool = False,
    also: Sequence[npt.ArrayLike] = (),
) -> JoinedCatalogue:
    """The catalogue: the items of train and of all models, or only those that occur in training.

    Parameters
    ----------
    models : mapping of Scorer
    split : Split
    trained : bool
        Whether only items seen in training are ranked.
    tested : bool
        Whether the items of the test are ranked too, known to a model or not.
    also : sequence of array
        Ids of further items.
    """
    item_vocabularies = {name: _item_vocabulary(scorer, split, name) for name, scorer in models.items()}
    known_items = [*item_vocabularies.values(), *(vocabulary_of(ids, "item_ids of a model") for ids in also)]
    vocabulary = split.item_vocabulary
    for model_vocabulary, _ in known_items:
        vocabulary = vocabulary.union(model_vocabulary)
    to_joined = split.item_vocabulary.codes_in(vocabulary)
    member = np.zeros(len(vocabulary), dtype=bool)
    if trained:
        member[to_joined[split.train.item_counts > 0]] = True
    else:
        member[to_joined[split.catalogue]] = True
        if tested:
            member[to_joined[split.test.item_counts > 0]] = True
        for model_vocabulary, codes in known_items:
            member[model_vocabulary.codes_in(vocabulary)[codes]] = True
    catalogue = np.flatnonzero(member)
    place = np.where(member, np.cumsum(member) - 1, -1).astype(np.int32)
    bindings = {
        name: Binding(
            _user_rows(scorer, split, name),
            _item_columns(item_vocabularies[name], vocabulary, catalogue),
            len(item_vocabularies[name][1]),
        )
        for name, scorer in models.items()
    }
    return JoinedCatalogue(vocabulary.ids[catalogue], place[to_joined], bindings)


def _item_vocabulary(scorer: Scorer, split: Split, name: str) -> tuple[Vocabulary, Ints]:
    """The vocabulary of a model's items, or without ids that of the split, and the code of each column."""
    ids = getattr(scorer, "item_ids", None)
    if ids is not None:
        return vocabulary_of(ids, f"item_ids of model {name!r}")
    return split.item_vocabulary, _codes_without_ids(scorer, split, "item", name)


def _user_rows(scorer: Scorer, split: Split, name: str) -> Ints:
    """The model's row for each user code of the split."""
    rows = np.full(len(split.user_vocabulary), -1, dtype=np.int64)
    ids = getattr(scorer, "user_ids", None)
    if ids is None:
        codes = _codes_without_ids(scorer, split, "user", name)
        if len(codes) == len(rows):
            return np.arange(len(codes))
        rows[codes] = np.arange(len(codes))
        return rows
    vocabulary, codes = vocabulary_of(ids, f"user_ids of model {name!r}")
    model_codes = split.user_vocabulary.codes_in(vocabulary)
    row_of_code = np.empty(len(codes), dtype=np.int64)
    row_of_code[codes] = np.arange(len(codes))
    return np.where(model_codes >= 0, row_of_code[model_codes], -1) if len(codes) else rows


def _codes_without_ids(scorer: Scorer, split: Split, axis: Literal["user", "item"], name: str) -> Ints:
    codes = split.rows_of(axis)
    shape = getattr(scorer, "shape", None)
    if shape is not None:
        n = shape[0 if axis == "user" else 1]
        if n != len(codes):
            foreign = " with unskew.integrations.with_ids(model, ...)" if getattr(scorer, "origin", "") else ""
            raise DataError(
                f"model {name!r} has {n} {axis} rows but train and test have {len(codes)} distinct {axis}s; "
                f"give {axis}_ids to identify them{foreign}"
            )
    return codes


def _item_columns(coded: tuple[Vocabulary, Ints], vocabulary: Vocabulary, catalogue: Ints) -> Ints:
    """The model's column for each place of the catalogue."""
    model_vocabulary, codes = coded
    joined = model_vocabulary.codes_in(vocabulary)[codes]
    column_of = np.full(len(vocabulary), -1, dtype=np.int64)
    column_of[joined] = np.arange(len(joined))
    return column_of[catalogue]
