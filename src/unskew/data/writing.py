"""Files that are whole or not there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unskew.errors import DataError


@contextmanager
def written(path: Path, mode: str = "w") -> Iterator[Any]:
    """Open a temporary file beside the path and rename it when the block ends well; else leave nothing.

    Raises
    ------
    DataError
        When the place cannot be written to.
    """
    check_writable(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        text = "b" not in mode
        with os.fdopen(handle, mode, encoding="utf-8" if text else None, newline="\n" if text else None) as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # mkstemp makes it private; a plain file would follow the umask
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written to, before long work is done for it."""
    if path.is_dir():
        raise DataError(f"{path}: this is a directory; name a file in it")
    if not path.parent.is_dir():
        raise DataError(f"{path}: the folder {path.parent} does not exist; make it first")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise DataError(f"{path}: cannot be written to; check its permissions")
