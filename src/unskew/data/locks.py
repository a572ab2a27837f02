"""`held`: a folder that one run uses at a time."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unskew.errors import DataError

_here: Counter[Path] = Counter()  # folders that this process has, and how often


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder. The lock ends with the process, also if it is killed, and leaves no file.

    Inside another such context for the folder, it does nothing.

    Raises
    ------
    DataError
        If another run has the folder.
    """
    try:
        import fcntl
    except ImportError:  # Windows cannot lock a folder
        yield
        return
    place = folder.resolve()
    handle = os.open(place, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system without locks
            try:
                if not _here[place]:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DataError(f"{folder}: used by another run; wait until that ends, or name another") from None
        _here[place] += 1
        try:
            yield
        finally:
            _here[place] -= 1
    finally:
        os.close(handle)
