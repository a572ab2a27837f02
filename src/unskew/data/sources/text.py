"""Readers of the plain text files of public data sets, gzipped or not."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl

from unskew.arrays import Floats
from unskew.data.reading import open_content, read_content
from unskew.errors import DataError, first_of

Columns: TypeAlias = Mapping[str, type[pl.DataType]]


_NAMED = 5
"""How many files a message names."""


def find(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, plain or with ``.gz`` added; None when there is neither."""
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def locate(folder: Path, name: str, source: str) -> Path:
    """The file of that name in the folder, plain or with ``.gz`` added; an error when there is neither."""
    path = find(folder, name)
    if path is None:
        raise DataError(f"{folder}: no file {name!r} of the data set {source}; see 'unskew datasets show {source}'")
    return path


def other_form(folder: Path) -> str:
    """What a folder has instead of the files that are expected, in brackets; empty if there is none."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    return f" (the folder has {first_of(names, _NAMED)}, which is another form)" if names else ""


def read_columns(
    content: bytes,
    path: Path,
    columns: Columns,
    *,
    separator: str,
    header: bool = False,
    quotes: bool = False,
    first: int = 1,
) -> pl.DataFrame:
    """Parse separated text with known columns; without a header, every line must have all of them.

    Parameters
    ----------
    content : bytes
        The text.
    path : Path
        Where it comes from, for messages.
    columns : dict
        Names and types of all columns; with a header, of the columns to read, in any order.
    separator : str
        One character, or several, which then must not occur within a field.
    header : bool
        Whether the first line names the columns.
    quotes : bool
        Whether fields may be quoted.
    first : int
        The number of the first line, where the text is a part of the file.
    """
    written = separator
    if len(separator) > 1:
        content, separator = content.replace(separator.encode(), b"\t"), "\t"
    try:
        frame = pl.read_csv(
            content,
            separator=separator,
            has_header=header,
            columns=list(columns) if header else None,
            schema=None if header else dict(columns),
            schema_overrides=columns if header else None,
            infer_schema=False,
            quote_char='"' if quotes else None,
        )
    except pl.exceptions.PolarsError as error:
        where = "" if header or quotes else _first_bad(content, columns, separator, first)
        expected = f"{', '.join(columns)} separated by {written!r}"
        raise DataError(f"{path}: cannot be read as {expected}{where}; is it the original file?") from error
    if frame.is_empty():
        raise DataError(f"{path}: has no rows; was it cut short?")
    if not header and not quotes:
        _check_whole(frame, path, first)
    return frame


def _first_bad(content: bytes, columns: Columns, separator: str, first: int) -> str:
    """The first line that cannot be read, which polars does not name: by its number of fields, or else by a type."""
    mark = separator.encode()
    for number, line in enumerate(content.splitlines(), start=first):
        fields = line.count(mark) + 1
        if fields != len(columns):
            return f" (line {number} has {fields} field{'' if fields == 1 else 's'})"
    try:
        texts = pl.read_csv(
            content,
            separator=separator,
            has_header=False,
            schema=dict.fromkeys(columns, pl.String),
            quote_char=None,
            encoding="utf8-lossy",
        )
    except pl.exceptions.PolarsError:  # its lines are not those of Python
        return ""
    for name, kind in columns.items():
        bad = texts[name].is_not_null() & texts[name].cast(kind, strict=False).is_null()
        if bad.any():
            row = int(bad.arg_max() or 0)
            return f" (line {first + row} has {texts[name][row]!r} for {name})"
    return ""


def _check_whole(frame: pl.DataFrame, path: Path, first: int) -> None:
    for name in frame.columns:
        if frame[name].null_count():
            row = int(frame[name].is_null().arg_max() or 0)
            raise DataError(f"{path}: line {first + row} has no {name}; was the file cut or changed?")


def read_lines(path: Path, size: int = 1 << 26) -> Iterator[tuple[int, list[bytes]]]:
    """Blocks of whole lines, each with the number of its first line, counted from 1.

    Parameters
    ----------
    path : Path
    size : int
        About how many bytes a block has.
    """
    first = 1
    try:
        with open_content(path) as file:
            while lines := file.readlines(size):
                yield first, lines
                first += len(lines)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a complete gzip file; was it cut short?") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error


def read_matrix(path: Path) -> Floats:
    """Parse a matrix of numbers separated by spaces."""
    lines = [line for line in read_content(path).split(b"\n") if line.strip()]
    if not lines:
        raise DataError(f"{path}: the file is empty; expected a matrix, users by items")
    try:
        return np.loadtxt([line.decode() for line in lines], dtype=np.float64, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path}: not a matrix of numbers ({error}); is it the original file?") from error
