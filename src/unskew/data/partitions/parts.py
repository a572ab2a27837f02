"""`Parts` and `PartitionedSplit`: data sets of Parquet files, by user: all rows of a user are in one part."""

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.data.candidates import Candidates
from unskew.data.columns import Columns
from unskew.data.frames import find_column
from unskew.data.interactions import Interactions
from unskew.data.locks import held
from unskew.data.partitions.files import check_same_columns, count_rows, find_files, parts_for, read_batches, read_file
from unskew.data.partitions.keys import user_keys
from unskew.data.partitions.layout import LAYOUT, layout_of, part_name, read_layout
from unskew.data.partitions.locations import version_of
from unskew.data.partitions.write import write_parts
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, Option


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
            right = int(user_keys(pl.Series([user]))[0] % np.uint64(len(self)))
            raise DataError(
                f"{self.files[part]}: user {user} belongs to {part_name(right)}, and may be in both; write the data "
                "set again with 'unskew partition', so that all rows of a user are in one part"
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
                "both with the same number"
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
    if parts is not None and parts < 1:
        raise ConfigError(f"{Option('partitions', parts)}: must be at least 1")
    known = layout_of(str(train)) or layout_of(str(test))
    with nullcontext() if work is None else held(prepare_work(work)):
        wanted = parts or known or parts_for(sum(map(count_rows, find_files(str(train)))))
        opened = {
            name: open_by_user(str(location), names, wanted, None if work is None else Path(work) / name)
            for name, location in (("train", train), ("test", test))
        }
    return PartitionedSplit(opened["train"], opened["test"], candidates)


def prepare_work(work: str | Path) -> Path:
    """Make the folder of a run, if it is not there; refuse one that holds data."""
    folder = Path(work)
    if (folder / LAYOUT).exists():
        raise ConfigError(f"{Option('work', folder)} is a data set; name a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{Option('work', folder)}: cannot be made ({error.strerror or error}); name another folder"
        ) from None
    return folder


def open_by_user(location: str, columns: Columns, parts: int, copy: Path | None) -> Parts:
    """Open a data set in this number of parts; if it has another layout, write it again to the folder `copy`."""
    if layout_of(location) == parts:
        return open_parts(location, columns)
    files = find_files(location)
    if copy is None:
        raise DataError(
            f"{location}: its files are not by user in {parts} part{'' if parts == 1 else 's'}; name a folder for a "
            f"copy with {Option('work')}, or use 'unskew partition' and give its folder"
        )
    source = hashlib.sha256("\n".join(f"{name} {version_of(name)}" for name in files).encode()).hexdigest()
    if layout_of(str(copy)) != parts or read_layout(str(copy)).get("source") != source:
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
    expected = {part_name(part) for part in range(n)}
    others = [name for name in find_files(location) if name.rsplit("/", 1)[-1] not in expected]
    if others:
        raise DataError(
            f"{others[0]}: not one of the {n} parts of its data set, so its rows would be left out; write the whole "
            "data set again with 'unskew partition'"
        )
    check_same_columns(files)
    return Parts(location, files, columns)
