"""The ranks of held-out items."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data.formats.array_file import first_line, read_checked, write_checked
from unskew.errors import DataError

Ties: TypeAlias = Literal["expected", "optimistic", "pessimistic", "random", "ordinal"]
TIE_POLICIES: tuple[Ties, ...] = ("expected", "optimistic", "pessimistic", "random", "ordinal")
_KIND, _VERSION = "a file of ranks", 2
_COLUMNS = ("users", "items", "above", "tied", "candidates", "values", "listed", "pool", "known")


@dataclass(frozen=True, eq=False)
class Ranks:
    """One row per held-out item, sorted by user and item.

    Parameters
    ----------
    users, items : array of int32
        Codes in the split's vocabularies.
    above : array of int32
        How many candidates are above the item: those with a greater score and, under a tie policy other than
        ``expected``, those with the same score that the policy puts first.
    tied : array of int32
        How many other candidates have the same score, under every policy.
    candidates : array of int32
        How many candidates the user has.
    values : array of float64, optional
        Values of the rows.
    listed : array of int32, optional
        For top-N lists, the number of candidates in the user's list; a row with ``above >= listed`` is not in it.
    pool : array of int32, optional
        Under a corrected `sampled` rule, how many items the user's candidates were drawn from.
    known : array of bool, optional
        Whether the model knows the row's user; None if it knows all. For an unknown user the list is empty: all
        candidates are tied.
    ties : str
        The tie policy.
    candidate_rule : str
        The candidate rule, for the record.
    """

    users: Ints
    items: Ints
    above: Ints
    tied: Ints
    candidates: Ints
    values: Floats | None = None
    listed: Ints | None = None
    pool: Ints | None = None
    known: Bools | None = None
    ties: Ties = "expected"
    candidate_rule: str = "unseen"

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def spread(self) -> Ints:
        """How many places below `above` the item may take: its ties if their order is averaged over, else 0."""
        return self.tied if self.ties == "expected" else np.zeros_like(self.tied)

    @cached_property
    def tied_share(self) -> float:
        """Share of held-out items that are tied with another candidate."""
        return float(np.mean(self.tied > 0)) if len(self) else 0.0

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the ranks."""
        digest = hashlib.sha256(f"{self.ties} {self.candidate_rule}".encode())
        for column in (self.users, self.items, self.above, self.tied, self.candidates, self.listed):
            digest.update(b"-" if column is None else column.astype("<i4").tobytes())
        if self.pool is not None:
            digest.update(self.pool.astype("<i4").tobytes())
        if self.known is not None:
            digest.update(np.packbits(self.known).tobytes())
        return digest.hexdigest()

    def in_list(self) -> Ints | None:
        """Number of candidates in the user's list: 0 if the model does not know the user; None without lists."""
        if self.known is None:
            return self.listed
        return np.where(self.known, self.candidates if self.listed is None else self.listed, 0).astype(np.int32)

    def take(self, rows: Bools) -> "Ranks":
        """The rows of a mask."""
        columns: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in _COLUMNS
        }
        return replace(self, **columns)

    @staticmethod
    def concat(parts: "Sequence[Ranks]") -> "Ranks":
        """The joined ranks of different users or items, sorted by user and item."""
        if not parts:
            raise DataError("no ranks to join; give at least one Ranks")
        first = parts[0]
        alike = {(part.ties, part.candidate_rule, part.listed is None) for part in parts}
        if len(alike) > 1:
            raise DataError(
                "ranks with different tie policies or candidate rules, or of lists and of scores, cannot be joined"
            )
        if any(part.known is not None for part in parts):
            everybody = [np.ones(len(part), dtype=bool) for part in parts]
            parts = [
                replace(part, known=whole if part.known is None else part.known)
                for part, whole in zip(parts, everybody, strict=True)
            ]
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            if all(getattr(part, name) is not None for part in parts)
            else None
            for name in _COLUMNS
        }
        order = np.lexsort((columns["items"], columns["users"]))
        ordered: dict[str, Any] = {name: None if column is None else column[order] for name, column in columns.items()}
        return replace(first, **ordered)

    def save(self, path: str | Path) -> None:
        """Write to a .npz file; after an error no file is left."""
        arrays = {name: getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None}
        about = {"ties": self.ties, "candidates": self.candidate_rule}
        write_checked(Path(path), _KIND, _VERSION, about, arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Ranks":
        """Read a file that `save` wrote.

        Raises
        ------
        DataError
            If it is another file, or its numbers are not as they were written.
        """
        about, columns = read_checked(Path(path), _KIND, _VERSION, "make one with Ranks.save")
        try:
            ranks = cls(**columns, ties=about["ties"], candidate_rule=about["candidates"])
        except (KeyError, TypeError) as error:
            raise DataError(f"{path}: not {_KIND} ({first_line(error)}); make one with Ranks.save") from error
        ranks.check(str(path))
        return ranks

    def check(self, name: str) -> None:
        """Refuse columns that are not ranks, because compiled loops take their numbers as places in arrays.

        Raises
        ------
        DataError
            If a column has another type or length, is out of range, or rows are not in order.
        """
        columns = {column: getattr(self, column) for column in _COLUMNS if getattr(self, column) is not None}
        kinds = {"values": "f", "known": "b"}
        for column, values in columns.items():
            kind = kinds.get(column, "i")
            if not isinstance(values, np.ndarray) or values.dtype.kind != kind or values.shape != (len(self.users),):
                given = f"{getattr(values, 'dtype', type(values).__name__)} {getattr(values, 'shape', '')}"
                raise DataError(f"{name}: not {_KIND} ({column} is {given}, one number per row is needed)")
            if kind == "i" and len(values) and (values.min() < 0 or values.max() > np.iinfo(np.int32).max):
                raise DataError(f"{name}: not {_KIND} ({column} has {values.min()} to {values.max()})")
        if self.ties not in TIE_POLICIES or not isinstance(self.candidate_rule, str):
            raise DataError(f"{name}: not {_KIND} (unknown tie policy {self.ties!r:.30})")
        wrong = {
            "places beyond the candidates": self.above.astype(np.int64) + self.spread >= self.candidates,
            "more ties than candidates": self.tied.astype(np.int64) >= self.candidates,
            "lists longer than the candidates": None if self.listed is None else self.listed > self.candidates,
            "values that are not finite": None if self.values is None else ~np.isfinite(self.values),
        }
        for what, rows in wrong.items():
            if rows is not None and rows.any():
                raise DataError(f"{name}: not {_KIND} (row {int(np.argmax(rows)) + 1} has {what})")
        keys = self.users.astype(np.int64) << 32 | self.items.astype(np.int64)
        if (np.diff(keys) < 0).any():
            raise DataError(f"{name}: not {_KIND} (rows are not sorted by user and item)")
