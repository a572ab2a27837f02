"""A catalogue of all items, including those without a row."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data.columns import TableFile
from unskew.data.frames import eager, is_frame
from unskew.data.interactions import Interactions
from unskew.data.vocabulary import Vocabulary, canonical, factorise
from unskew.errors import DataError


def read_catalogue(path: Any, *, item: str = "item") -> pl.Series:
    """The ids in the item column of a table; a repeated id counts once.

    Parameters
    ----------
    path : str, Path or frame
        A file, or a frame that `eager` takes.
    item : str
        Name of the column.

    Raises
    ------
    DataError
        If there is no such column, or no row.
    """
    given, name = path, "catalogue"
    if isinstance(path, str | Path):
        file = TableFile.parse(path, ("item",))
        given, name, item = file.read(), file.name, file.names.get("item", item)
    frame = eager(given, [item], name)
    if frame.is_empty():
        raise DataError(f"{name}: has a header but no rows; give a line for every item that could be drawn")
    return canonical(frame[item], f"column {item!r} of {name}").unique(maintain_order=True)


def with_items(rows: Interactions, ids: Any) -> Interactions:
    """The same rows, with these items added to the vocabulary: ids, or a frame with a column ``item``.

    Examples
    --------
    >>> from unskew.data import Interactions, Split, with_items
    >>> train = Interactions.from_arrays(["a", "b"], [10, 20])
    >>> Split(with_items(train, [20, 30]), train).catalogue.tolist()
    [0, 1, 2]
    """
    given = read_catalogue(ids) if is_frame(ids) else canonical(ids, "items of the catalogue")
    _, stated = factorise(given)
    vocabulary = rows.item_vocabulary
    if not vocabulary.declared:  # items without a row do not exist just because they have a code
        vocabulary = Vocabulary(vocabulary.ids[np.flatnonzero(rows.item_counts)])
        rows = replace(rows, items=_among(rows, vocabulary), item_vocabulary=vocabulary)
    joined = vocabulary.union(stated)
    return rows.recode(rows.user_vocabulary, Vocabulary(joined.ids, declared=True))


def _among(rows: Interactions, used: Vocabulary) -> npt.NDArray[np.int32]:
    return rows.item_vocabulary.codes_in(used)[rows.items].astype(np.int32)
