"""A catalogue of all items, including those without a row."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data.frames import find_column
from unskew.data.interactions import Interactions
from unskew.data.reading import read_table
from unskew.data.vocabulary import Vocabulary, canonical, factorise
from unskew.errors import DataError


def read_catalogue(path: str | Path, *, item: str = "item") -> pl.Series:
    """The ids in the item column of a table; a repeated id counts once.

    Raises
    ------
    DataError
        If there is no such column, or no row.
    """
    frame = read_table(Path(path))
    column = find_column(item, frame.columns, str(path))
    if frame.is_empty():
        raise DataError(f"{path}: has a header but no rows; give a line for every item that could be drawn")
    return canonical(frame[column], f"column {column!r} of {path}").unique(maintain_order=True)


def with_items(rows: Interactions, ids: pl.Series | npt.ArrayLike) -> Interactions:
    """The same rows, with these items added to the vocabulary.

    Examples
    --------
    >>> from unskew.data import Interactions, Split, with_items
    >>> train = Interactions.from_arrays(["a", "b"], [10, 20])
    >>> Split(with_items(train, [20, 30]), train).catalogue.tolist()
    [0, 1, 2]
    """
    _, stated = factorise(canonical(ids, "items of the catalogue"))
    vocabulary = rows.item_vocabulary
    if not vocabulary.declared:  # items without a row do not exist just because they have a code
        vocabulary = Vocabulary(vocabulary.ids[np.flatnonzero(rows.item_counts)])
        rows = replace(rows, items=_among(rows, vocabulary), item_vocabulary=vocabulary)
    joined = vocabulary.union(stated)
    return rows.recode(rows.user_vocabulary, Vocabulary(joined.ids, declared=True))


def _among(rows: Interactions, used: Vocabulary) -> npt.NDArray[np.int32]:
    return rows.item_vocabulary.codes_in(used)[rows.items].astype(np.int32)
