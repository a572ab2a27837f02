"""Tables from files, with errors that say which file, which row and what to do."""

import csv
import gzip
import io
import zlib
from pathlib import Path

import polars as pl

from unskew.errors import DataError


def read_table(path: Path) -> pl.DataFrame:
    """Read a CSV, TSV or Parquet file; text columns stay text, for the caller to interpret.

    Raises
    ------
    DataError
        When the file is missing, a directory, empty, binary, ragged or damaged.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file; check the path")
    if path.is_dir():
        raise DataError(f"{path}: this is a directory; name a file in it")
    try:
        return _read_parquet(path) if path.suffix == ".parquet" else _read_text(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a readable Parquet file; was it cut short?") from error


def _read_text(path: Path) -> pl.DataFrame:
    raw = _bytes(path)
    if not raw.strip():
        raise DataError(f"{path}: the file is empty; expected a header line such as user,item")
    if b"\0" in raw[:65536]:
        raise DataError(f"{path}: binary data; expected CSV or TSV text, or a file named .parquet")
    separator = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".tab")) else ","
    _check_header(raw, separator, path)
    try:
        return pl.read_csv(io.BytesIO(raw), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(_what_is_wrong(raw, separator, path)) from error


def _bytes(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a whole gzip file; was it cut short?") from error


def _check_header(raw: bytes, separator: str, path: Path) -> None:
    first = raw.split(b"\n", 1)[0].decode("utf-8", errors="replace")
    names = next(csv.reader([first], delimiter=separator), [])
    twice = {name for name in names if names.count(name) > 1}
    if twice and not all(name.replace(".", "").isdigit() for name in twice):
        raise DataError(f"{path}: column {min(twice)!r} stands twice in the header; rename one")


def _what_is_wrong(raw: bytes, separator: str, path: Path) -> str:
    """Find the first bad line, which polars does not name."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return f"{path}: line {line} is not UTF-8 text; save the file as UTF-8"
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    width = len(next(rows))
    for row in rows:
        if row and len(row) > width:
            found = f"line {rows.line_num} has {len(row)} fields, the header {width}"
            return f"{path}: {found}; quote fields that hold a separator"
    return f"{path}: cannot be read as {'tab' if separator != ',' else 'comma'}-separated text"
