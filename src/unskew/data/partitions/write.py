"""`write_parts`: write rows as a data set by user."""

import errno
import json
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.data.columns import Columns
from unskew.data.frames import eager, find_column
from unskew.data.partitions.keys import user_keys
from unskew.data.partitions.layout import LAYOUT, MOST, VERSION, part_name
from unskew.data.vocabulary import canonical
from unskew.data.writing import not_written, write_parquet
from unskew.errors import DataError


def write_parts(
    batches: Iterable[Any], out: Path, parts: int, columns: Columns | None = None, *, source: str = ""
) -> int:
    """Write rows as a data set by user, one file per part; return the number of rows.

    No more than one batch and one part are in memory. The folder is complete or absent.

    Parameters
    ----------
    batches : iterable of frames
        With the same columns; Polars frames, or others that `eager` takes.
    out : Path
        The folder; one of an earlier data set is replaced.
    parts : int
    columns : Columns, optional
    source : str
        What the rows are a copy of, for the record.
    """
    names = columns or Columns()
    if not 1 <= parts <= MOST:
        raise DataError(f"{parts} parts: must be from 1 to {MOST:,}")
    if out.exists() and not (out / LAYOUT).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out}: exists and is not a data set of 'unskew partition'; name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=out.parent, prefix=".unskew-", suffix=".part"))
    try:
        total = _write_chunks(batches, temporary, parts, names)
        layout = {"version": VERSION, "partitions": parts, "user": names.user, "source": source}
        (temporary / LAYOUT).write_text(json.dumps(layout), encoding="utf-8")
        temporary.chmod(0o755)
        _put(temporary, out)
    except OSError as error:
        raise not_written(out, error) from error
    finally:
        _remove(temporary)
    return total


def _put(new: Path, out: Path) -> None:
    """Rename a folder. One that is in the way goes aside as a whole first, so that no run ever sees a part of it."""
    while True:
        try:
            new.rename(out)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
        else:
            return
        aside = Path(tempfile.mkdtemp(dir=out.parent, prefix=".unskew-", suffix=".part"))
        try:
            with suppress(FileNotFoundError):  # another run moved it
                out.rename(aside / out.name)
        finally:
            _remove(aside)


def _remove(folder: Path) -> None:
    """Remove a folder if it is there, also if Ctrl-C comes a second time."""
    while folder.exists():
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except KeyboardInterrupt:
            continue
        return


def _write_chunks(batches: Iterable[Any], temporary: Path, parts: int, columns: Columns) -> int:
    """Write each part of each batch to a file of its own, then join the files of a part."""
    chunks: list[list[Path]] = [[] for _ in range(parts)]
    total, empty = 0, None
    for number, given in enumerate(batches):
        batch = eager(given, name="rows")
        empty = batch.clear() if empty is None else empty
        total += len(batch)
        users = canonical(batch[find_column(columns.user, batch.columns, "rows")], f"column {columns.user!r}")
        part_of = (user_keys(users) % np.uint64(parts)).astype(np.int64)
        order = np.argsort(part_of, kind="stable")
        ends = np.cumsum(np.bincount(part_of, minlength=parts))
        ordered = batch[order]
        for part, end in enumerate(ends):
            start = ends[part - 1] if part else 0
            if end > start:
                chunks[part].append(temporary / f"{part}-{number}.chunk")
                write_parquet(ordered[int(start) : int(end)], chunks[part][-1])
    if empty is None:
        raise DataError("there is no row to write; check the path")
    for part, names in enumerate(chunks):
        rows = pl.concat([pl.read_parquet(name) for name in names]) if names else empty
        write_parquet(rows, temporary / part_name(part))
        for name in names:
            name.unlink()
    return total
