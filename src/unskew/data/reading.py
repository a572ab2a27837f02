"""Readers of tables, with errors that say which file, which row and what to do."""

import gzip
import hashlib
import io
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, cast

import polars as pl

from unskew.data.formats.delimited import read_delimited, to_utf8
from unskew.data.formats.file_format import STDIN, TREC, FileFormat
from unskew.data.formats.trec import read_trec
from unskew.errors import DataError

_noted: dict[str, str] = {}
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"  # how such files start


def read_table(
    path: Path, content: bytes | None = None, layout: FileFormat | None = None, *, integers: bool = False
) -> pl.DataFrame:
    """Read a CSV, TSV, Parquet or TREC file; all columns of text files stay text, unless `integers` are wanted.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    content : bytes, optional
        Its bytes, unzipped, if they have been read before.
    layout : FileFormat, optional
        Its format, where the end of its name does not say it.
    integers : bool
        Whether a column of text where each field is an integer, as it is printed, may be of integers.

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
        content = to_utf8(content, name, layout.encoding)
        if layout.kind in TREC:
            return read_trec(content, name, layout.kind)
        return _read_text(name, content, layout, integers=integers)
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
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"{path}: not a readable Parquet file; was it cut short?") from error


def _read_text(path: str, raw: bytes, layout: FileFormat, *, integers: bool) -> pl.DataFrame:
    if not raw or raw.isspace():
        also = "; only one input can be stdin" if path == shown_path(STDIN) else ""
        raise DataError(f"{path}: the file is empty; expected a header line such as user,item{also}")
    return read_delimited(raw, path, layout, integers=integers)
