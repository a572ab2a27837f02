"""Arrays kept on disk: fits and runs that take minutes are read back by another table, or after a stop."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from unskew.data.formats.array_file import DAMAGE, read_npz
from unskew.errors import DataError, Option

Arrays = dict[str, Any]


def key_of(*identity: object, length: int = 16) -> str:
    """A name for a file from all that its content depends on, by their `repr`."""
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:length]


def read_arrays(path: Path | None, names: Sequence[str], optional: Sequence[str] = ()) -> Arrays | None:
    """The arrays of a file by name; None without a file, or where it is damaged or lacks one of the names.

    It may lack the optional ones.
    """
    if path is None or not path.exists():
        return None
    try:
        kept = read_npz(path)
        return {name: kept[name] for name in (*names, *(name for name in optional if name in kept))}
    except DAMAGE:
        return None


def write_arrays(path: Path | None, arrays: Mapping[str, Any]) -> None:
    """Write the file whole or not at all; without a path nothing is written."""
    if path is None:
        return
    part = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    try:
        np.savez(part, allow_pickle=False, **arrays)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error}); choose another {Option('cache')}"
        ) from error
