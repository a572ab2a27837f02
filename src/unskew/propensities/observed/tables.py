"""Tables that are options of a propensity model: files or frames."""

import hashlib
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from unskew.data import Interactions
from unskew.data.frames import FRAMES, eager, is_frame
from unskew.data.reading import note_content, read_table
from unskew.errors import DataError

__all__ = ["Held", "TableLike", "hold", "open_table"]

TableLike: TypeAlias = str | Any
"""A path, a frame that `eager` takes, `Interactions`, or for a sample of ratings an array."""


@dataclass(frozen=True, eq=False)
class Held:
    """A table in memory, which prints as its type, and is equal only to itself."""

    table: Any

    def __str__(self) -> str:
        return f"<{type(self.table).__name__}>"

    @property
    def sha256(self) -> str:
        """A fingerprint of its columns and rows."""
        return hashlib.sha256(_to_frame(self.table, "table").write_csv().encode()).hexdigest()


def hold(given: TableLike | None) -> str | Held | None:
    """A path as text; a table wrapped, so that a model with it can be compared, hashed and printed."""
    if given is None or isinstance(given, str | Held):
        return given
    return fspath(given) if isinstance(given, PathLike) else Held(given)


def open_table(given: str | Held, what: str) -> tuple[pl.DataFrame, str]:
    """The table, and its name in messages.

    Columns of a CSV or TSV file become numbers if all their texts can be read as numbers. Columns of frames and Parquet
    files keep their types.
    """
    if isinstance(given, str):
        path = Path(given)
        frame = read_table(path, note_content(path))
        return (frame if path.suffix == ".parquet" else frame.with_columns(map(_interpret, frame))), given
    return _to_frame(given.table, what), f"the frame given for {what}"


def _to_frame(table: Any, what: str) -> pl.DataFrame:
    import narwhals as nw

    if isinstance(table, Interactions):
        return table.to_polars()
    if isinstance(table, np.ndarray | list | tuple) or nw.dependencies.is_into_series(table):
        return _ratings(table, what)
    if not is_frame(table):
        raise DataError(f"{what}: {type(table).__name__} is not a table; give a path, or {FRAMES}")
    return eager(table, None, what)


def _ratings(table: Any, what: str) -> pl.DataFrame:
    column = np.asarray(table)
    if column.ndim != 1:
        raise DataError(f"{what}: an array of shape {column.shape}; give a frame with named columns")
    return pl.DataFrame({"rating": column})


def _interpret(column: pl.Series) -> pl.Series:
    numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == column.null_count() and len(column) else column
