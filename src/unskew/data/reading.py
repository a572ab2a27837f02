"""Readers of tables, with errors that say which file, which row and what to do."""

import codecs
import csv
import gzip
import hashlib
import io
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, cast

import polars as pl

from unskew.data.formats.file_format import BLANKS, SKIPPED, STDIN, TREC, FileFormat, fields_text, with_tabs
from unskew.data.formats.trec import read_trec
from unskew.errors import DataError, Option

_noted: dict[str, str] = {}
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"  # how such files start
_UNIT = "\x1f"  # a separator that no text has
_SEPARATED = {",": "comma-separated", "\t": "tab-separated"}


def read_table(path: Path, content: bytes | None = None, layout: FileFormat | None = None) -> pl.DataFrame:
    """Read a CSV, TSV, Parquet or TREC file; all columns of text files stay text.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    content : bytes, optional
        Its bytes, unzipped, if they have been read before.
    layout : FileFormat, optional
        Its format, where the end of its name does not say it.

    Raises
    ------
    DataError
        If the file is missing, a directory, empty, binary, ragged or damaged.
    """
    layout, name = (layout or FileFormat()).of_file(path), shown_path(path)
    if content is None:
        check_readable(path)
    try:
        if content is None and (path == STDIN or layout.kind != "parquet"):
            content = read_content(path)
        if layout.kind == "parquet" or (path == STDIN and content and content.startswith(_PARQUET)):
            return _read_parquet(name, path if content is None else io.BytesIO(content))
        assert content is not None
        _check_text(content, name)
        return read_trec(content, name, layout.kind) if layout.kind in TREC else _read_text(name, content, layout)
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error}); check the path") from error


def shown_path(path: str | Path) -> str:
    """The path as messages show it."""
    return "stdin" if Path(path) == STDIN else str(path)


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, or is a directory, and standard input from a keyboard."""
    if path == STDIN:
        if sys.stdin is None or sys.stdin.isatty():
            raise DataError("stdin: nothing is piped into it; write 'cat FILE | unskew ...', or name a file")
        return
    try:
        folder = stat.S_ISDIR(path.stat().st_mode)  # exists() and is_dir() hide errors from Python 3.14 on
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise DataError(f"{path}: no such file; check the path") from None
    except OSError as error:  # a name too long, a folder without permission
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    if folder:
        raise DataError(f"{path}: this is a directory; name a file in it")


def open_content(path: Path) -> IO[bytes]:
    """Open the file, unzipped when its name ends in ``.gz``."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def read_content(path: Path) -> bytes:
    """The bytes of the file, unzipped when its name ends in ``.gz``; standard input is unzipped by its first bytes."""
    try:
        if path == STDIN:
            content = sys.stdin.buffer.read()
            return gzip.decompress(content) if content.startswith(_GZIP) else content
        with open_content(path) as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{shown_path(path)}: not a complete gzip file; was it cut short?") from error
    except OSError as error:
        raise DataError(f"{shown_path(path)}: cannot be read ({error.strerror or error}); check the path") from error


def note_content(path: Path) -> bytes:
    """Read a file that the record of a run lists, and keep the sha256 of its content for `noted_sha256`."""
    check_readable(path)
    content = read_content(path)
    _noted[str(path)] = hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()
    return content


def noted_sha256(path: Path) -> str | None:
    """The sha256, with LF line ends, of what `note_content` last read from this path; None if it read nothing."""
    return _noted.get(str(path))


def _read_parquet(path: str, source: Path | io.BytesIO) -> pl.DataFrame:
    try:
        return pl.read_parquet(source)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: not a readable Parquet file; was it cut short?") from error


def _check_text(raw: bytes, path: str) -> None:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path}: UTF-16 text; save the file as UTF-8")
    if b"\0" in raw[:65536]:
        raise DataError(f"{path}: binary data; expected CSV or TSV text, or a file named .parquet")


def _read_text(path: str, raw: bytes, layout: FileFormat) -> pl.DataFrame:
    if not raw.strip():
        also = "; only one input can be stdin" if path == shown_path(STDIN) else ""
        raise DataError(f"{path}: the file is empty; expected a header line such as user,item{also}")
    raw, separator = _one_character(raw, layout.separator)
    if layout.columns:
        return _read_headerless(path, raw, separator, layout.columns)
    _check_header(raw, separator, path)
    return _read_separated(path, raw, separator)


def _one_character(raw: bytes, separator: str) -> tuple[bytes, str]:
    """The text with a separator of one character, because polars takes no other."""
    if separator == BLANKS:
        return with_tabs(raw), "\t"
    if len(separator.encode()) == 1:
        return raw, separator
    return raw.replace(separator.encode(), _UNIT.encode()), _UNIT


def _read_headerless(path: str, raw: bytes, separator: str, columns: tuple[str, ...]) -> pl.DataFrame:
    """Read a text without a header: one is put before it."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    first = next(csv.reader([raw.split(b"\n", 1)[0].decode("utf-8", errors="replace")], delimiter=separator), [])
    if len(first) != len(columns):
        raise DataError(
            f"{path}: line 1 has {fields_text(len(first))}, but {Option('columns', ','.join(columns))} names "
            f"{len(columns)}; name each of them ({SKIPPED} for those that are not needed), and check {Option('sep')}"
        )
    names = [name if name != SKIPPED else f"{SKIPPED}{place}" for place, name in enumerate(columns)]
    if set(map(str.lower, first)) & {name.lower() for name in columns if name != SKIPPED}:
        raise DataError(f"{path}: line 1 is a header, because it has names of columns; leave out {Option('columns')}")
    header = io.StringIO()
    csv.writer(header, delimiter=separator, lineterminator="\n").writerow(names)
    frame = _read_separated(path, header.getvalue().encode() + raw, separator, added=1)
    return frame.select(name for name in columns if name != SKIPPED)


def _read_separated(path: str, raw: bytes, separator: str, added: int = 0) -> pl.DataFrame:
    """Read a text with a header; `added` is how many lines of it are not in the file."""
    try:
        frame = pl.read_csv(io.BytesIO(raw), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(_what_is_wrong(raw, separator, path, added)) from error
    if frame[frame.columns[-1]].null_count() == 0:  # so no line is short
        return frame
    blank = _blank_rows(raw, separator, path, added)
    return frame.filter(~pl.int_range(pl.len()).is_in(blank)) if blank else frame


def _check_header(raw: bytes, separator: str, path: str) -> None:
    first = raw.split(b"\n", 1)[0].decode("utf-8", errors="replace")
    names = next(csv.reader([first], delimiter=separator), [])
    twice = {name for name in names if names.count(name) > 1}
    if twice and not all(name.replace(".", "").isdigit() for name in twice):
        raise DataError(f"{path}: column {min(twice)!r} occurs twice in the header; rename one")


def _blank_rows(raw: bytes, separator: str, path: str, added: int) -> list[int]:
    """Positions of blank lines, which polars fills with nulls; a short line that is not blank is an error."""
    rows = csv.reader(io.StringIO(raw.decode("utf-8-sig").lstrip("\r\n")), delimiter=separator)
    skipped = raw.count(b"\n", 0, len(raw) - len(raw.lstrip(b"\r\n")))
    width = len(next(rows))
    blank = []
    for place, row in enumerate(rows):
        if len(row) >= width:
            continue
        if "".join(row).strip():
            problem = f"line {rows.line_num + skipped - added} has {fields_text(len(row))}, {_header(added)} {width}"
            raise DataError(f"{path}: {problem}; give every line the same number of fields")
        blank.append(place)
    return blank


def _header(added: int) -> str:
    return str(Option("columns")) if added else "the header"


def _what_is_wrong(raw: bytes, separator: str, path: str, added: int) -> str:
    """A message that names the first bad line, because polars does not."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1 - added
        return f"{path}: line {line} is not UTF-8 text; save the file as UTF-8"
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    width = len(next(rows))
    for row in rows:
        if row and len(row) > width:
            problem = f"line {rows.line_num - added} has {fields_text(len(row))}, {_header(added)} {width}"
            return f"{path}: {problem}; quote fields that contain the separator"
    kind = _SEPARATED.get(separator, "separated")
    return f"{path}: cannot be read as {kind} text; check that every quote is closed"
