"""The Parquet files of a data set: found, read, counted and compared."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import polars as pl

from unskew.data.columns import Columns
from unskew.data.frames import find_column
from unskew.data.partitions.locations import is_url, list_files, read_bytes
from unskew.errors import DataError

ROWS = 2_000_000
"""Rows that are read at a time, and training rows per part unless a number of parts is given."""


def find_files(location: str) -> list[str]:
    """The Parquet files of a folder or URL, at any depth, in order; a single file is a data set too."""
    files = [name for name in list_files(location) if name.endswith(".parquet")]
    if not files:
        raise DataError(f"{location}: no Parquet file in it; check the path, or write some with 'unskew partition'")
    return files


def read_file(name: str) -> pl.DataFrame:
    """A whole Parquet file."""
    try:
        return pl.read_parquet(BytesIO(read_bytes(name)) if is_url(name) else name)
    except FileNotFoundError:
        raise DataError(f"{name}: no such file; is the data set complete?") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(name, error) from None


def schema_of(name: str) -> dict[str, Any]:
    """The columns of a Parquet file, and their types."""
    try:
        return dict(pl.read_parquet_schema(BytesIO(read_bytes(name)) if is_url(name) else name))
    except FileNotFoundError:
        raise DataError(f"{name}: no such file; is the data set complete?") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(f"{name}: not a readable Parquet file ({str(error).splitlines()[0]:.80}); write it again")


def count_rows(name: str) -> int:
    """Number of rows of a Parquet file."""
    source = BytesIO(read_bytes(name)) if is_url(name) else name
    try:
        return int(pl.scan_parquet(source).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(name, error) from None


def parts_for(rows: int) -> int:
    """The usual number of parts for a number of training rows."""
    return max(1, -(-rows // ROWS))


def check_same_columns(files: Sequence[str]) -> None:
    """Refuse files whose columns or types differ from those of the first."""
    first: dict[str, Any] = {}
    for name in files:
        schema = schema_of(name)
        first = first or schema
        if schema != first:
            differs = next(column for column in {**first, **schema} if first.get(column) != schema.get(column))
            here, there = (f"is {s[differs]}" if differs in s else "is missing" for s in (schema, first))
            raise DataError(
                f"{name}: column {differs!r} {here}, but {there} in {files[0]}; write all files with the same columns "
                "and types"
            )


def read_batches(files: Sequence[str], columns: Columns) -> Iterator[pl.DataFrame]:
    """Yield the rows of files, some million at a time, with the columns that interactions have."""
    check_same_columns(files)
    for name in files:
        source = BytesIO(read_bytes(name)) if is_url(name) else name
        rows = count_rows(name)
        for start in range(0, rows, ROWS):
            try:
                yield _wanted(pl.scan_parquet(source), columns, name).slice(start, ROWS).collect()
            except (pl.exceptions.PolarsError, OSError) as error:
                raise _damaged(name, error) from None


def _wanted(frame: pl.LazyFrame, columns: Columns, name: str) -> pl.LazyFrame:
    """The columns of ids, and those of `columns` and the usual ones that are there."""
    there = frame.collect_schema().names()
    for column in (columns.user, columns.item):
        find_column(column, there, name)
    given = (columns.rating, columns.timestamp, columns.propensity, columns.label)
    optional = [*filter(None, given), "rating", "timestamp", "propensity", "label", "score", "rank", "prediction"]
    return frame.select([columns.user, columns.item, *(c for c in dict.fromkeys(optional) if c in there)])
