"""Writing files, so that a file is either complete or absent."""

import errno
import json
import os
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from unskew.errors import DataError

if TYPE_CHECKING:
    import polars as pl

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of errors that say that a disk, a quota or a limit has no room."""
_NUMBER = re.compile(r"\(os error (\d+)\)")


class AsJson(ABC):
    """A result that is written as JSON: `to_dict` returns the data, `json_style` the options of `json.dumps`."""

    json_style: ClassVar[Mapping[str, Any]] = {"indent": 2, "ensure_ascii": False, "allow_nan": False}

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text, also written to a file if one is named."""
        return saved(json.dumps(self.to_dict(), **self.json_style) + "\n", path)


def saved(text: str, path: str | Path | None) -> str:
    """The text, also written to a file if one is named."""
    if path is not None:
        with written(Path(path)) as stream:
            stream.write(text)
    return text


@contextmanager
def written(path: Path, mode: str = "w") -> Iterator[Any]:
    """Open a temporary file in the same folder and rename it at the end of the block; after an error nothing is left.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    check_writable(path)
    place = path.resolve()  # a link stays a link
    try:
        with _plain(place, mode) if _is_device(place) else _renamed(place, mode) as stream:
            yield stream
    except OSError as error:
        raise not_written(path, error) from error


def write_parquet(frame: "pl.DataFrame", place: Any) -> None:
    """Write a frame to a path or a stream; what fails is an `OSError`, as if Python had written it."""
    from polars.exceptions import PolarsError

    try:
        frame.write_parquet(place)
    except PolarsError as error:
        number = _NUMBER.search(str(error))
        if number is None:
            raise
        raise OSError(int(number.group(1)), os.strerror(int(number.group(1)))) from error


def not_written(path: Path, error: OSError) -> DataError:
    """What to raise because a file could not be written: why, and what to do."""
    said = _NUMBER.search(str(error))  # of a frame that is written as text
    number = int(said.group(1)) if said and error.errno is None else error.errno
    hint = "make room, or name another place" if number in FULL else "check the path"
    return DataError(f"{path}: cannot be written ({os.strerror(number) if number else error}); {hint}")


@contextmanager
def _renamed(path: Path, mode: str) -> Iterator[Any]:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".unskew-", suffix=".part")
    try:
        with _plain(handle, mode) as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp makes the file private; apply the umask as for a plain file
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _plain(place: Path | int, mode: str) -> IO[Any]:
    text = "b" not in mode
    return open(place, mode, encoding="utf-8" if text else None, newline="\n" if text else None)  # noqa: PTH123


def _is_device(path: Path) -> bool:
    """Whether this is a device such as /dev/null or a pipe, which must not be replaced by a file."""
    return path.exists() and not path.is_file()


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written to, before long work."""
    folder = path.parent
    try:
        with suppress(FileNotFoundError, NotADirectoryError, ValueError):
            path.stat()  # is_dir() and exists() hide errors from Python 3.14 on
        if path.is_dir():
            raise DataError(f"{path}: this is a directory; name a file in it")
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{path}: {folder} is a file, not a folder; name another path")
        if not folder.is_dir():
            raise DataError(f"{path}: the folder {folder} does not exist; create it first")
        if not os.access(path if _is_device(path) else folder, os.W_OK):
            raise DataError(f"{path}: cannot be written to; check the permissions of {folder}")
        if path.exists() and not os.access(path, os.W_OK):
            raise DataError(f"{path}: cannot be written to; check its permissions")
    except OSError as error:
        raise DataError(f"{path}: cannot be written to ({error.strerror or error}); check the path") from error
