"""Readers of tables, with errors that say which file, which row and what to do."""

import codecs
import csv
import gzip
import hashlib
import io
import zlib
from pathlib import Path
from typing import IO, cast

import polars as pl

from unskew.errors import DataError

_noted: dict[str, str] = {}


def read_table(path: Path, content: bytes | None = None) -> pl.DataFrame:
    """Read a CSV, TSV or Parquet file; all columns of text files stay text.

    `content` are its bytes, unzipped, if they have been read before.

    Raises
    ------
    DataError
        If the file is missing, a directory, empty, binary, ragged or damaged.
    """
    if content is None:
        check_readable(path)
    try:
        if path.suffix == ".parquet":
            return _read_parquet(path, path if content is None else io.BytesIO(content))
        return _read_text(path, read_content(path) if content is None else content)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, or is a directory."""
    try:
        there, folder = path.exists(), path.is_dir()
    except OSError as error:  # a name too long, a folder without permission
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    if not there:
        raise DataError(f"{path}: no such file; check the path")
    if folder:
        raise DataError(f"{path}: this is a directory; name a file in it")


def open_content(path: Path) -> IO[bytes]:
    """Open the file, unzipped when its name ends in ``.gz``."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def read_content(path: Path) -> bytes:
    """The bytes of the file, unzipped when its name ends in ``.gz``."""
    try:
        with open_content(path) as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a complete gzip file; was it cut short?") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error


def note_content(path: Path) -> bytes:
    """Read a file that the record of a run lists, and keep the sha256 of its content for `noted_sha256`."""
    check_readable(path)
    content = read_content(path)
    _noted[str(path)] = hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()
    return content


def noted_sha256(path: Path) -> str | None:
    """The sha256, with LF line ends, of what `note_content` last read from this path; None if it read nothing."""
    return _noted.get(str(path))


def _read_parquet(path: Path, source: Path | io.BytesIO) -> pl.DataFrame:
    try:
        return pl.read_parquet(source)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a readable Parquet file; was it cut short?") from error


def _read_text(path: Path, raw: bytes) -> pl.DataFrame:
    if not raw.strip():
        raise DataError(f"{path}: the file is empty; expected a header line such as user,item")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path}: UTF-16 text; save the file as UTF-8")
    if b"\0" in raw[:65536]:
        raise DataError(f"{path}: binary data; expected CSV or TSV text, or a file named .parquet")
    separator = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".tab")) else ","
    _check_header(raw, separator, path)
    try:
        frame = pl.read_csv(io.BytesIO(raw), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(_what_is_wrong(raw, separator, path)) from error
    if frame[frame.columns[-1]].null_count() == 0:  # so no line is short
        return frame
    blank = _blank_rows(raw, separator, path)
    return frame.filter(~pl.int_range(pl.len()).is_in(blank)) if blank else frame


def _check_header(raw: bytes, separator: str, path: Path) -> None:
    first = raw.split(b"\n", 1)[0].decode("utf-8", errors="replace")
    names = next(csv.reader([first], delimiter=separator), [])
    twice = {name for name in names if names.count(name) > 1}
    if twice and not all(name.replace(".", "").isdigit() for name in twice):
        raise DataError(f"{path}: column {min(twice)!r} occurs twice in the header; rename one")


def _blank_rows(raw: bytes, separator: str, path: Path) -> list[int]:
    """Positions of blank lines, which polars fills with nulls; a short line that is not blank is an error."""
    rows = csv.reader(io.StringIO(raw.decode("utf-8-sig").lstrip("\r\n")), delimiter=separator)
    skipped = raw.count(b"\n", 0, len(raw) - len(raw.lstrip(b"\r\n")))
    width = len(next(rows))
    blank = []
    for place, row in enumerate(rows):
        if len(row) >= width:
            continue
        if "".join(row).strip():
            problem = f"line {rows.line_num + skipped} has {_fields(len(row))}, the header {width}"
            raise DataError(f"{path}: {problem}; give every line the same number of fields")
        blank.append(place)
    return blank


def _fields(n: int) -> str:
    return f"{n} field{'' if n == 1 else 's'}"


def _what_is_wrong(raw: bytes, separator: str, path: Path) -> str:
    """A message that names the first bad line, because polars does not."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return f"{path}: line {line} is not UTF-8 text; save the file as UTF-8"
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    width = len(next(rows))
    for row in rows:
        if row and len(row) > width:
            problem = f"line {rows.line_num} has {_fields(len(row))}, the header {width}"
            return f"{path}: {problem}; quote fields that contain the separator"
    kind = "tab" if separator != "," else "comma"
    return f"{path}: cannot be read as {kind}-separated text; check that every quote is closed"
