"""Items that exist although no row names them."""

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
    """Read the ids of all items from a table with a column of them; one that stands there twice counts once.

    Raises
    ------
    DataError
        When there is no such column, or no row.
    """
    frame = read_table(Path(path))
    column = find_column(item, frame.columns, str(path))
    if frame.is_empty():
        raise DataError(f"{path}: there is a header but no row; give a line for every item that could be drawn")
    return canonical(frame[column], f"column {column!r} of {path}").unique(maintain_order=True)


def with_items(rows: Interactions, ids: pl.Series | npt.ArrayLike) -> Interactions:
    """The same rows, where these items exist beside those that the rows name.

    Examples
    --------
    >>> from unskew.data import Interactions, Split, with_items
    >>> train = Interactions.from_arrays(["a", "b"], [10, 20])
    >>> Split(with_items(train, [20, 30]), train).catalogue.tolist()
    [0, 1, 2]
    """
    _, stated = factorise(canonical(ids, "items of the catalogue"))
    own = rows.item_vocabulary
    if not own.declared:  # what no row names does not exist by being coded
        own = Vocabulary(own.ids[np.flatnonzero(rows.item_counts)])
        rows = replace(rows, items=_among(rows, own), item_vocabulary=own)
    joined = own.union(stated)
    return rows.recode(rows.user_vocabulary, Vocabulary(joined.ids, declared=True))


def _among(rows: Interactions, used: Vocabulary) -> npt.NDArray[np.int32]:
    return rows.item_vocabulary.codes_in(used)[rows.items].astype(np.int32)
