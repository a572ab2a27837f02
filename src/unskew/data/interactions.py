"""The log: pairs of user and item with optional ratings, times and propensities."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.arrays import Bools, Floats, Ints, distinct_of, offsets_of
from unskew.data.frames import (
    COMPARE,
    all_whole,
    as_numbers,
    check_propensity,
    check_weights,
    columns_of,
    eager,
    find_column,
    parse_condition,
    to_numbers,
)
from unskew.data.pairs import latest_of, row_keys
from unskew.data.vocabulary import Vocabulary, canonical, encoded, factorise, vocabulary_of
from unskew.errors import ConfigError, DataError, Option

if TYPE_CHECKING:
    from scipy import sparse

_NAMED = {"rating": "values", "timestamp": "times", "propensity": "propensity", "weight": "weights"}
_OPTIONAL = tuple(_NAMED.values())  # columns that a log may lack


@dataclass(frozen=True, eq=False)
class Interactions:
    """Rows of (user, item) with integer codes, and the vocabularies back to the ids.

    Make one with `read`, `from_frame`, `from_arrays` or `from_sparse`; rows are distinct unless ``once=False``.

    Parameters
    ----------
    users, items : array of int32
        Codes, one per row.
    user_vocabulary, item_vocabulary : Vocabulary
        The ids behind the codes.
    values : array of float64, optional
        Ratings, play counts or other logged values.
    times : array of float64, optional
        Seconds, or any increasing number.
    propensity : array of float64, optional
        P(this row is in the test | it is a candidate), in (0, 1].
    weights : array of float64, optional
        How much each test row counts, such as its revenue; at least 0.
    duplicates : int
        How many repeated (user, item) rows were dropped.
    repeats : bool
        Whether a (user, item) may have several rows.
    whole : mapping, optional
        If these rows are a part of a larger log: how many rows of it each item has. The keys are conditions such as
        ``rating>=4``, and None for all rows.
    """

    users: Ints
    items: Ints
    user_vocabulary: Vocabulary
    item_vocabulary: Vocabulary
    values: Floats | None = None
    times: Floats | None = None
    propensity: Floats | None = None
    weights: Floats | None = None
    duplicates: int = 0
    repeats: bool = False
    whole: Mapping[str | None, Ints] | None = None
    name: str = field(default="interactions", compare=False)

    @classmethod
    def from_arrays(
        cls,
        users: npt.ArrayLike,
        items: npt.ArrayLike,
        values: npt.ArrayLike | None = None,
        times: npt.ArrayLike | None = None,
        propensity: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        *,
        n_users: int | None = None,
        n_items: int | None = None,
        name: str = "interactions",
    ) -> "Interactions":
        """Make interactions from columns.

        Parameters
        ----------
        users, items : array
            Ids (integers or text), or integer codes when `n_users` and `n_items` say how many there are.
        values, times, propensity, weights : array, optional
            As long as `users`.
        n_users, n_items : int, optional
            With these, `users` and `items` are codes 0 to n-1, and all n exist even when no row names them.
        name : str
            Name of the interactions in messages.
        """
        user_codes, user_vocabulary = encoded(users, n_users, f"users of {name}")
        item_codes, item_vocabulary = encoded(items, n_items, f"items of {name}")
        if len(user_codes) != len(item_codes):
            raise DataError(f"{name}: {len(user_codes)} users but {len(item_codes)} items; give one of each per row")
        columns: dict[str, Any] = {}
        for column, given in zip(_OPTIONAL, (values, times, propensity, weights), strict=True):
            columns[column] = None if given is None else as_numbers(given, len(user_codes), f"{column} of {name}")
        check_propensity(columns["propensity"], name)
        check_weights(columns["weights"], name)
        return cls(user_codes, item_codes, user_vocabulary, item_vocabulary, name=name, **columns).distinct()

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        user: str = "user",
        item: str = "item",
        rating: str | None = None,
        timestamp: str | None = None,
        propensity: str | None = None,
        weight: str | None = None,
        name: str = "frame",
        once: bool = True,
    ) -> "Interactions":
        """Make interactions from a frame: pandas, Polars, Arrow, DuckDB and others, eager or lazy (see `eager`).

        The columns ``rating``, ``timestamp`` and ``propensity`` are read if present; a column that is named must exist.
        Weights are read only from a column that is named.
        With ``once=False`` repeated rows are kept and count as rows, but not as seen items.
        """
        there = columns_of(frame, name)
        wanted = {"user": find_column(user, there, name), "item": find_column(item, there, name)}
        usual_names = ("rating", "timestamp", "propensity")
        for key, usual, given in zip(_OPTIONAL[:3], usual_names, (rating, timestamp, propensity), strict=True):
            if given is not None or usual in there:
                wanted[key] = find_column(given or usual, there, name)
        if weight is not None:
            wanted["weights"] = find_column(weight, there, name)
        table = eager(frame, wanted.values(), name)
        series = {key: table[column] for key, column in wanted.items()}
        users, user_vocabulary = factorise(canonical(series["user"], f"column {user!r} of {name}"))
        items, item_vocabulary = factorise(canonical(series["item"], f"column {item!r} of {name}"))
        columns: dict[str, Any] = {
            key: to_numbers(series[key], f"column {wanted[key]!r} of {name}", times=key == "times")
            for key in _OPTIONAL
            if key in series
        }
        check_propensity(columns.get("propensity"), name)
        check_weights(columns.get("weights"), name)
        rows = cls(users, items, user_vocabulary, item_vocabulary, name=name, **columns)
        return rows.distinct() if once else replace(rows, repeats=True)

    @classmethod
    def from_sparse(
        cls,
        matrix: Any,
        *,
        user_ids: npt.ArrayLike | None = None,
        item_ids: npt.ArrayLike | None = None,
        name: str = "matrix",
    ) -> "Interactions":
        """Make interactions from a scipy sparse matrix, users by items; its stored entries are the rows."""
        from scipy import sparse

        if not sparse.issparse(matrix):
            raise DataError(f"{name}: expected a scipy sparse matrix, got {type(matrix).__name__}")
        given: Any = matrix
        if given.ndim != 2:
            raise DataError(f"{name}: expected users by items, not a matrix of {given.ndim} dimensions")
        entries = given.tocoo()
        vocabularies, codes = [], []
        for ids, n, matrix_codes, what in (
            (user_ids, entries.shape[0], entries.row, "user_ids"),
            (item_ids, entries.shape[1], entries.col, "item_ids"),
        ):
            if ids is None:
                vocabulary, order = Vocabulary.of_range(n), np.arange(n, dtype=np.int32)
            else:
                vocabulary, order = vocabulary_of(ids, f"{what} of {name}")
                if len(order) != n:
                    raise DataError(f"{name}: {len(order)} {what} for {n} rows or columns of the matrix; give one each")
            vocabularies.append(vocabulary)
            codes.append(order[matrix_codes].astype(np.int32))
        values = as_numbers(entries.data, len(codes[0]), f"entries of {name}")
        users, items = codes
        return cls(users, items, vocabularies[0], vocabularies[1], values=values, name=name).distinct()

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        user: str = "user",
        item: str = "item",
        rating: str | None = None,
        timestamp: str | None = None,
        propensity: str | None = None,
        weight: str | None = None,
        columns: str | Iterable[str] | None = None,
        sep: str | None = None,
        encoding: str | None = None,
        format: str | None = None,  # noqa: A002  # as in FILE:format=qrels
    ) -> "Interactions":
        """Read a CSV, TSV, Parquet or TREC file (text may be gzipped); ``-`` is standard input.

        Column names work as in `from_frame`; `columns`, `sep`, `encoding` and `format` are explained at `FileFormat`.
        """
        from unskew.data.columns import Columns
        from unskew.data.formats.file_format import FileFormat

        layout = FileFormat.of(kind=format, columns=columns, sep=sep, encoding=encoding)
        layout.of_file(Path(path)).refuse_choice(str(path))
        return Columns(user, item, rating, timestamp, propensity, weight=weight, format=layout).read(path)

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return self.describe(self.n_users, self.n_items)

    def describe(self, users: int, items: int) -> str:
        """A description in one line, with these numbers of users and items."""
        extras = "".join(f", {key}" for key in _OPTIONAL if getattr(self, key) is not None)
        return f"Interactions({len(self):,} rows, {users:,} users, {items:,} items{extras})"

    @property
    def n_users(self) -> int:
        """How many users the vocabulary has."""
        return len(self.user_vocabulary)

    @property
    def n_items(self) -> int:
        """How many items the vocabulary has."""
        return len(self.item_vocabulary)

    def take(self, rows: Ints | Bools) -> "Interactions":
        """The given rows, by position or mask, with the same vocabularies; a row given twice is used once."""
        columns = {key: getattr(self, key) for key in _OPTIONAL}
        optional: dict[str, Any] = {key: None if each is None else each[rows] for key, each in columns.items()}
        rows_taken = replace(self, users=self.users[rows], items=self.items[rows], duplicates=0, whole=None, **optional)
        picked = rows if isinstance(rows, np.ndarray) else np.arange(len(self))[rows]
        if picked.dtype == bool:
            return rows_taken
        places = np.where(picked < 0, picked + len(self), picked)
        return rows_taken.distinct() if len(distinct_of(places)) < len(places) else rows_taken

    def with_propensity(self, propensity: npt.ArrayLike) -> "Interactions":
        """The same rows with these propensities, one per row."""
        column = as_numbers(propensity, len(self), f"propensity of {self.name}")
        check_propensity(column, self.name)
        return replace(self, propensity=column)

    def where(self, condition: str) -> "Interactions":
        """The rows for which a condition such as ``rating>=4`` holds."""
        rows = self.take(self.holds(condition))
        return rows if self.whole is None else replace(rows, whole={None: self.whole[condition]})

    def holds(self, condition: str) -> Bools:
        """Whether a condition such as ``rating>=4`` holds, row by row."""
        column, operator, number = parse_condition(condition)
        columns = {"rating": self.values, "timestamp": self.times, "propensity": self.propensity}
        if column not in columns:
            raise ConfigError(
                f"unknown column {column!r} in {condition!r}; a condition can use rating, timestamp or propensity; if "
                f"your data has {column!r}, name it with {Option('rating_col', column)} and write "
                f"'rating{operator}{number}'"
            )
        values = columns[column]
        if values is None:
            raise DataError(
                f"{self.name} has no column {column!r}, which {condition!r} needs; "
                f"name it with {Option(f'{column}_col')}"
            )
        return COMPARE[operator](values, float(number))

    def labelled(self, condition: str | None = None) -> "Interactions":
        """The same rows with labels as values: 1 where the condition holds, else 0; all 1 without a condition."""
        labels = np.ones(len(self)) if condition is None else self.holds(condition).astype(float)
        return replace(self, values=labels)

    def recode(self, user_vocabulary: Vocabulary, item_vocabulary: Vocabulary) -> "Interactions":
        """The same rows with codes of other vocabularies, which must have all ids of these."""
        if self.user_vocabulary.same_as(user_vocabulary) and self.item_vocabulary.same_as(item_vocabulary):
            return self  # with everything that it has counted and sorted
        users = _recode(self.users, self.user_vocabulary, user_vocabulary)
        items = _recode(self.items, self.item_vocabulary, item_vocabulary)
        whole = self.whole
        if whole is not None and self.item_vocabulary != item_vocabulary:
            places = self.item_vocabulary.codes_in(item_vocabulary)
            sizes = len(item_vocabulary)
            whole = {key: np.bincount(places, counts, sizes).astype(np.int64) for key, counts in whole.items()}
        return replace(
            self,
            users=users,
            items=items,
            user_vocabulary=user_vocabulary,
            item_vocabulary=item_vocabulary,
            whole=whole,
        )

    @cached_property
    def relative_weights(self) -> Floats | None:
        """The weights divided by their mean; None if there are none, or if all rows have the same."""
        if self.weights is None or not len(self) or (self.weights == self.weights[0]).all():
            return None
        return np.asarray(self.weights / self.weights.mean())

    @cached_property
    def item_counts(self) -> Ints:
        """How many rows each item has, in the whole log if these rows are a part of one."""
        return np.bincount(self.items, minlength=self.n_items) if self.whole is None else self.whole[None]

    @cached_property
    def user_counts(self) -> Ints:
        """How many rows each user has."""
        return np.bincount(self.users, minlength=self.n_users)

    @cached_property
    def seen_counts(self) -> Ints:
        """How many different items each user has."""
        return np.diff(self.by_user[0])

    @cached_property
    def by_user(self) -> tuple[Ints, Ints]:
        """Offsets and distinct items by user, ascending: those of user u are ``items[offsets[u]:offsets[u + 1]]``."""
        width = max(self.n_items, 1)
        keys = distinct_of(row_keys(self, width))
        return offsets_of(np.bincount(keys // width, minlength=self.n_users)), (keys % width).astype(np.int32)

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the rows, their order, ids and columns."""
        digest = hashlib.sha256()
        for vocabulary, codes in ((self.user_vocabulary, self.users), (self.item_vocabulary, self.items)):
            occurs = np.zeros(len(vocabulary), dtype=bool)
            occurs[codes] = True
            digest.update("\0".join(map(str, vocabulary.ids[occurs].tolist())).encode())
            digest.update((np.cumsum(occurs) - 1)[codes].astype("<i4").tobytes())
        for column in (self.values, self.times, self.propensity):
            digest.update(b"-" if column is None else column.astype("<f8").tobytes())
        digest.update(b"" if self.weights is None else self.weights.astype("<f8").tobytes())
        return digest.hexdigest()

    def to_sparse(self) -> "sparse.csr_array[Any, Any]":
        """The binary users by items matrix, float32."""
        from scipy import sparse

        ones = np.ones(len(self), dtype=np.float32)
        matrix = sparse.csr_array((ones, (self.users, self.items)), shape=(self.n_users, self.n_items))
        matrix.data[:] = 1  # repeated rows were added up
        return matrix

    def to_polars(self) -> pl.DataFrame:
        """A frame with the original ids: ``user``, ``item`` and the optional columns that are there."""
        return next(self.frames(max(len(self), 1)))

    def frames(self, rows: int = 2**20) -> Iterator[pl.DataFrame]:
        """Yield the frame of `to_polars` piece by piece, so that it is not in memory next to the rows."""
        users, items = self.user_vocabulary.as_series, self.item_vocabulary.as_series
        optional = {name: getattr(self, key) for name, key in _NAMED.items() if getattr(self, key) is not None}
        whole = {name for name, column in optional.items() if name != "propensity" and all_whole(column)}
        for start in range(0, max(len(self), 1), rows):
            part = slice(start, start + rows)
            columns = {"user": users.gather(self.users[part]), "item": items.gather(self.items[part])}
            for name, column in optional.items():
                columns[name] = pl.Series(column[part].astype(np.int64) if name in whole else column[part])
            yield pl.DataFrame(columns)

    def distinct(self) -> "Interactions":
        """One row per (user, item): that with the latest time, or without times the last."""
        kept = latest_of(row_keys(self, max(self.n_items, 1)), self.times)
        if kept is None:
            return replace(self, repeats=False) if self.repeats else self
        return replace(self.take(kept), duplicates=self.duplicates + int(np.sum(~kept)), repeats=False)


def _recode(codes: Ints, current: Vocabulary, other: Vocabulary) -> Ints:
    places = current.codes_in(other)
    return codes if np.array_equal(places, np.arange(len(places))) else places[codes].astype(np.int32)
