"""Data sets of Parquet files, of which each part holds all rows of its users: reading, checking and writing."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data.candidates import Candidates
from unskew.data.columns import Columns
from unskew.data.frames import find_column
from unskew.data.interactions import Interactions
from unskew.data.locations import is_url, list_files, read_bytes, version_of
from unskew.data.vocabulary import canonical, integers_or_null
from unskew.data.writing import written
from unskew.errors import DataError, Option

LAYOUT = "_unskew.json"
"""The file of a data set that says how many parts it has."""
VERSION = 1
MOST = 100_000
"""The largest number of parts."""
ROWS = 2_000_000
"""Rows that are read at a time, and training rows per part unless a number of parts is given."""
Keys = npt.NDArray[np.uint64]


def mix(numbers: Keys) -> Keys:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection of 64-bit integers."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def user_keys(ids: pl.Series) -> Keys:
    """A 64-bit key of each canonical id. It depends on the id alone, and is the same for ``7`` and ``"7"``.

    Examples
    --------
    >>> int(user_keys(pl.Series([7]))[0]) == int(user_keys(pl.Series(["7"]))[0])
    True
    """
    if ids.dtype == pl.Int64:
        return mix(ids.to_numpy().view(np.uint64))
    distinct = ids.unique()
    integers = integers_or_null(distinct)
    keys = mix(integers.fill_null(0).to_numpy().view(np.uint64))
    for place in np.flatnonzero(integers.is_null().to_numpy()):
        digest = hashlib.blake2b(distinct[int(place)].encode(), digest_size=8).digest()
        keys[place] = int.from_bytes(digest, "little")
    table = pl.DataFrame({"id": distinct, "key": keys})
    return pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["key"].to_numpy()


def part_name(part: int) -> str:
    """The file name of a part."""
    return f"part-{part:05d}.parquet"


@dataclass(frozen=True)
class Parts:
    """A data set of Parquet files, one per part. All rows of a user are in one part.

    `open_parts` opens one. The part of a user is the key of the user's id modulo the number of parts.
    """

    location: str
    files: tuple[str, ...]
    columns: Columns = field(default_factory=Columns)

    def __len__(self) -> int:
        return len(self.files)

    def read(self, part: int, *, strict: bool = True) -> Interactions:
        """The rows of a part.

        Raises
        ------
        DataError
            If the file is damaged, or a user belongs to another part.
        """
        frame = read_file(self.files[part])
        columns, name = self.columns, self.files[part]
        find_column(columns.user, frame.columns, name)
        users = canonical(frame[columns.user], f"column {columns.user!r} of {name}")
        self.check_users(users, part)
        named: dict[str, Any] = {"rating": columns.rating, "timestamp": columns.timestamp}
        named["propensity"] = columns.propensity
        if not strict:
            named = {key: column if column in frame.columns else None for key, column in named.items()}
        return Interactions.from_frame(frame, user=columns.user, item=columns.item, name=name, **named)

    def check_users(self, users: pl.Series, part: int) -> None:
        """Refuse users who belong to another part, because a user must not be in two."""
        wrong = (user_keys(users) % np.uint64(len(self))) != part
        if wrong.any():
            user = users[int(np.argmax(wrong))]
            own = int(user_keys(pl.Series([user]))[0] % np.uint64(len(self)))
            raise DataError(
                f"{self.files[part]}: user {user} belongs to {part_name(own)}, and may be in both; all rows of a user "
                f"must be in one part: write the data set again with 'unskew partition'"
            )


@dataclass(frozen=True)
class PartitionedSplit:
    """Train and test as data sets of Parquet files, larger than memory, whose parts have the same users.

    `open_split` opens one. `evaluate` reads a part at a time.

    Parameters
    ----------
    train, test : Parts
    candidates : str or Candidates
        ``unseen`` (default), ``all``, ``trained`` or ``listed``.
    """

    train: Parts
    test: Parts
    candidates: str | Candidates = "unseen"

    def __post_init__(self) -> None:
        if isinstance(self.candidates, str):
            object.__setattr__(self, "candidates", Candidates.from_word(self.candidates))
        if len(self.train) != len(self.test):
            raise DataError(
                f"{self.train.location} has {len(self.train)} parts and {self.test.location} {len(self.test)}; write "
                "both with the same number, as in 'unskew partition --partitions 64'"
            )

    def __len__(self) -> int:
        return len(self.train)

    @property
    def rule(self) -> Candidates:
        """The candidate rule, parsed."""
        assert isinstance(self.candidates, Candidates)
        return self.candidates


def open_split(
    train: str | Path,
    test: str | Path,
    *,
    columns: Columns | None = None,
    candidates: str | Candidates = "unseen",
    work: str | Path | None = None,
    parts: int | None = None,
) -> PartitionedSplit:
    """Open train and test, data sets of Parquet files in folders or at URLs.

    Data sets that `write_parts` did not write, or whose numbers of parts differ, are written again to `work`.

    Parameters
    ----------
    train, test : str or Path
        Folders of Parquet files in any layout, or URLs that fsspec opens.
    columns : Columns, optional
        Names of their columns.
    candidates : str or Candidates
    work : str or Path, optional
        A folder for data sets that are written again; an error if it is needed and not given.
    parts : int, optional
        How many parts to write; by default one per two million training rows.
    """
    names = columns or Columns()
    known = layout_of(str(train)) or layout_of(str(test))
    wanted = parts or known or parts_for(sum(map(count_rows, find_files(str(train)))))
    opened = {
        name: open_by_user(str(location), names, wanted, None if work is None else Path(work) / name)
        for name, location in (("train", train), ("test", test))
    }
    return PartitionedSplit(opened["train"], opened["test"], candidates)


def open_by_user(location: str, columns: Columns, parts: int, copy: Path | None) -> Parts:
    """Open a data set in this number of parts; if it has another layout, write it again to the folder `copy`."""
    if layout_of(location) == parts:
        return open_parts(location, columns)
    if copy is None:
        raise DataError(
            f"{location}: not written by user in {parts} parts; name a folder for a copy with {Option('work')}, or use "
            f"'unskew partition --partitions {parts}'"
        )
    files = find_files(location)
    source = hashlib.sha256("\n".join(f"{name} {version_of(name)}" for name in files).encode()).hexdigest()
    if layout_of(str(copy)) != parts or _layout(str(copy)).get("source") != source:
        write_parts(read_batches(files, columns), copy, parts, columns, source=source)
    return open_parts(str(copy), columns)


def open_parts(location: str, columns: Columns) -> Parts:
    """Open a data set that `write_parts` wrote.

    Raises
    ------
    DataError
        If a part is missing or damaged, or has other columns or types than the first one.
    """
    n = layout_of(location)
    if n is None:
        raise DataError(f"{location}: no file {LAYOUT}, so its parts are not by user; use 'unskew partition'")
    base = location.rstrip("/")
    files = tuple(f"{base}/{part_name(part)}" for part in range(n))
    check_same_columns(files)
    return Parts(location, files, columns)


def check_same_columns(files: Sequence[str]) -> None:
    """Refuse files whose columns or types differ from those of the first."""
    first: dict[str, Any] = {}
    for name in files:
        schema = schema_of(name)
        first = first or schema
        if schema != first:
            differs = next(column for column in {**first, **schema} if first.get(column) != schema.get(column))
            here, there = (f"{s[differs]}" if differs in s else "no such column" for s in (schema, first))
            raise DataError(
                f"{name}: column {differs!r} is {here}, but {there} in {files[0]}; write all files with the same "
                "columns and types"
            )


def layout_of(location: str) -> int | None:
    """The number of parts of a data set that was written by user; None for any other layout."""
    layout = _layout(location)
    parts = layout.get("partitions")
    if layout and (layout.get("version") != VERSION or not isinstance(parts, int) or not 1 <= parts <= MOST):
        raise DataError(f"{location}: cannot read its {LAYOUT}; write the data set again with 'unskew partition'")
    return parts


def _layout(location: str) -> dict[str, Any]:
    """The content of the layout file; empty if there is none."""
    place = f"{location.rstrip('/')}/{LAYOUT}"
    if not is_url(place) and not Path(place).is_file():
        return {}
    try:
        layout = json.loads(read_bytes(place))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError):
        layout = None
    return layout if isinstance(layout, dict) else {"version": None}


def find_files(location: str) -> list[str]:
    """The Parquet files of a folder or URL, at any depth, in order; a single file is a data set too."""
    files = [name for name in list_files(location) if name.endswith(".parquet")]
    if not files:
        raise DataError(f"{location}: no Parquet file in it; check the path")
    return files


def read_file(name: str) -> pl.DataFrame:
    """A whole Parquet file."""
    try:
        return pl.read_parquet(BytesIO(read_bytes(name)) if is_url(name) else name)
    except FileNotFoundError:
        raise DataError(f"{name}: no such file; is the data set complete?") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(name, error) from None


def schema_of(name: str) -> dict[str, Any]:
    """The columns of a Parquet file, and their types."""
    try:
        return dict(pl.read_parquet_schema(BytesIO(read_bytes(name)) if is_url(name) else name))
    except FileNotFoundError:
        raise DataError(f"{name}: no such file; is the data set complete?") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(f"{name}: not a readable Parquet file ({str(error).splitlines()[0]:.80}); write it again")


def count_rows(name: str) -> int:
    """Number of rows of a Parquet file."""
    source = BytesIO(read_bytes(name)) if is_url(name) else name
    try:
        return int(pl.scan_parquet(source).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(name, error) from None


def parts_for(rows: int) -> int:
    """The usual number of parts for a number of training rows."""
    return max(1, -(-rows // ROWS))


def read_batches(files: Sequence[str], columns: Columns) -> Iterator[pl.DataFrame]:
    """Yield the rows of files, some million at a time, with the columns that interactions have."""
    check_same_columns(files)
    for name in files:
        source = BytesIO(read_bytes(name)) if is_url(name) else name
        rows = count_rows(name)
        for start in range(0, rows, ROWS):
            try:
                yield _wanted(pl.scan_parquet(source), columns, name).slice(start, ROWS).collect()
            except (pl.exceptions.PolarsError, OSError) as error:
                raise _damaged(name, error) from None


def _wanted(frame: pl.LazyFrame, columns: Columns, name: str) -> pl.LazyFrame:
    """The columns of ids, and those of `columns` and the usual ones that are there."""
    there = frame.collect_schema().names()
    for column in (columns.user, columns.item):
        find_column(column, there, name)
    given = (columns.rating, columns.timestamp, columns.propensity, columns.label)
    optional = [*filter(None, given), "rating", "timestamp", "propensity", "label", "score", "rank", "prediction"]
    return frame.select([columns.user, columns.item, *(c for c in dict.fromkeys(optional) if c in there)])


def write_parts(
    batches: Iterable[pl.DataFrame], out: Path, parts: int, columns: Columns | None = None, *, source: str = ""
) -> int:
    """Write rows as a data set by user, one file per part; return the number of rows.

    No more than one batch and one part are in memory. The folder is complete or absent.

    Parameters
    ----------
    batches : iterable of polars.DataFrame
        With the same columns.
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
    made = Path(tempfile.mkdtemp(dir=out.parent, prefix=".unskew-", suffix=".part"))
    try:
        total = _write_chunks(batches, made, parts, names)
        with written(made / LAYOUT) as stream:
            json.dump({"version": VERSION, "partitions": parts, "user": names.user, "source": source}, stream)
        made.chmod(0o755)
        if out.exists():
            shutil.rmtree(out)
        made.rename(out)
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror or error}); check the path") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return total


def _write_chunks(batches: Iterable[pl.DataFrame], made: Path, parts: int, columns: Columns) -> int:
    """Write each part of each batch to a file of its own, then join the files of a part."""
    chunks: list[list[Path]] = [[] for _ in range(parts)]
    total, empty = 0, None
    for number, batch in enumerate(batches):
        empty = batch.clear() if empty is None else empty
        total += len(batch)
        users = canonical(batch[columns.user], f"column {columns.user!r}")
        part_of = (user_keys(users) % np.uint64(parts)).astype(np.int64)
        order = np.argsort(part_of, kind="stable")
        ends = np.cumsum(np.bincount(part_of, minlength=parts))
        ordered = batch[order]
        for part, end in enumerate(ends):
            start = ends[part - 1] if part else 0
            if end > start:
                chunks[part].append(made / f"{part}-{number}.chunk")
                ordered[int(start) : int(end)].write_parquet(chunks[part][-1])
    if empty is None:
        raise DataError("there is no row to write; check the path")
    for part, names in enumerate(chunks):
        rows = pl.concat([pl.read_parquet(name) for name in names]) if names else empty
        rows.write_parquet(made / part_name(part))
        for name in names:
            name.unlink()
    return total
