"""Covariates of users and items, read from tables with one row per id."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from unskew.arrays import Floats, Ints
from unskew.data import Interactions, Vocabulary
from unskew.data.frames import find_column
from unskew.data.vocabulary import canonical, factorise
from unskew.errors import ConfigError, DataError
from unskew.propensities.observed.tables import Held, hold, open_table

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Covariate", "Covariates", "read_covariates", "read_sides"]

MOST_LEVELS = 255
"""Largest number of texts in a column: boosting takes no more, and more are rather names than categories."""
_TEXT = (pl.String, pl.Categorical, pl.Enum)


@dataclass(frozen=True, eq=False)
class Covariate:
    """One column, aligned with a vocabulary.

    Parameters
    ----------
    name : str
        Name of the column.
    values : array
        Numbers, or codes of texts.
    levels : tuple of str
        The texts behind the codes; empty for numbers.
    """

    name: str
    values: Floats
    levels: tuple[str, ...] = ()

    @property
    def varies(self) -> bool:
        """Whether the values differ between ids."""
        return len(self.values) > 0 and bool(np.any(self.values != self.values[0]))

    def columns(self) -> Floats:
        """Columns of a linear model: an indicator per text, zeros and ones unchanged, other numbers standardised."""
        if self.levels:
            return np.asarray(self.values[:, None] == np.arange(len(self.levels)), dtype=np.float64)
        if np.isin(self.values, (0.0, 1.0)).all():  # an indicator is like a text with two levels
            return self.values[:, None]
        standardised: Floats = (self.values - self.values.mean()) / self.values.std()
        return standardised[:, None]


@dataclass(frozen=True, eq=False)
class Covariates:
    """All covariates of users or of items, aligned with the vocabulary; none if no table was given.

    Parameters
    ----------
    count : int
        How many ids there are.
    columns : tuple of Covariate
        The columns that vary.
    notes : tuple of str
        Notes on columns and ids that were left out.
    """

    count: int
    columns: tuple[Covariate, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def table(self) -> Floats:
        """Numbers and codes, one column per covariate."""
        return np.column_stack([np.zeros((self.count, 0)), *(column.values for column in self.columns)])

    @cached_property
    def profiles(self) -> tuple[Ints, Ints]:
        """The first id of each distinct row of `table`, and the number of the distinct row of each id."""
        if not self.columns:
            return np.zeros(min(1, self.count), np.int64), np.zeros(self.count, np.int64)
        _, first, profile = np.unique(self.table, axis=0, return_index=True, return_inverse=True)
        return first, profile.reshape(-1)

    def design(self) -> "sparse.csr_array[Any, Any]":
        """A constant and the linear columns, one row per id."""
        from scipy import sparse

        parts = [np.ones((self.count, 1)), *(column.columns() for column in self.columns)]
        return sparse.csr_array(np.hstack(parts))


def read_sides(
    users: str | Held | None, items: str | Held | None, log: Interactions
) -> tuple[Covariates, Covariates, tuple[str, ...]]:
    """Covariates of users and of items, and notes on both; a table that is not given has none."""
    of_users = Covariates(log.n_users) if users is None else read_covariates(users, "user", log.user_vocabulary)
    of_items = Covariates(log.n_items) if items is None else read_covariates(items, "item", log.item_vocabulary)
    return of_users, of_items, of_users.notes + of_items.notes


def hold_sides(model: Any) -> None:
    """Wrap the tables ``users`` and ``items`` of a frozen model, so that they can be options; one may be left out."""
    if model.users is None and model.items is None:
        word, sample = model.word, "mcar=sample.csv, " if hasattr(model, "mcar") else ""
        raise ConfigError(f"{word!r} needs covariates, as in {word}({sample}users=users.csv, items=items.csv)")
    for side in ("users", "items"):
        object.__setattr__(model, side, hold(getattr(model, side)))


def read_covariates(given: str | Held, side: Literal["user", "item"], vocabulary: Vocabulary) -> Covariates:
    """The covariates of users or of items, from a table.

    Parameters
    ----------
    given : path or held frame
        A table with a column ``user`` or ``item`` of ids, and one column per covariate.
    side : str
        ``user`` or ``item``.
    vocabulary : Vocabulary
        The ids of the log, which must all be there; others are ignored and counted in a note.
    """
    frame, name = open_table(given, f"{side}s")
    ids = canonical(frame[find_column(side, frame.columns, name)], f"column {side!r} of {name}")
    if ids.n_unique() != len(ids):
        twice = ids.filter(ids.is_duplicated())[0]
        raise DataError(f"{name}: {side} {twice!r} occurs more than once; give one row per {side}")
    rows, notes = _align(ids, vocabulary, side, name)
    others = [column for column in frame.columns if column != side]
    if not others:
        raise DataError(f"{name}: has only the column {side!r}; add at least one covariate")
    columns = tuple(c for c in (_covariate(frame[column], rows, column, name) for column in others) if c.varies)
    if not columns:
        raise DataError(f"{name}: no column differs between the {side}s of the log; leave the table out")
    return Covariates(len(vocabulary), columns, notes)


def _align(ids: pl.Series, vocabulary: Vocabulary, side: str, name: str) -> tuple[Ints, tuple[str, ...]]:
    """The row of each id of the vocabulary."""
    codes = vocabulary.encode(ids)
    rows = np.full(len(vocabulary), -1, dtype=np.int64)
    rows[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    lacking = np.flatnonzero(rows < 0)
    if len(lacking):
        first = vocabulary.decode(lacking[:1]).tolist()[0]
        raise DataError(
            f"{name}: {len(lacking):,} of {len(vocabulary):,} {side}s of the log are missing, "
            f"the first one is {first!r}; add a row for each"
        )
    unknown = int((codes < 0).sum())
    if not unknown:
        return rows, ()
    said = f"{name} names {unknown:,} {side}{'' if unknown == 1 else 's'} that the log does not have; they are ignored"
    return rows, (said,)


def _covariate(series: pl.Series, rows: Ints, column: str, name: str) -> Covariate:
    if series.dtype in _TEXT:
        return _text(series.cast(pl.String), rows, column, name)
    if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        raise DataError(f"{name}: column {column!r} has the type {series.dtype}; a covariate is a number or a text")
    numbers = series.cast(pl.Float64)
    _check_there(numbers.is_null() | ~numbers.is_finite(), column, name)
    return Covariate(column, numbers.to_numpy()[rows])


def _text(series: pl.Series, rows: Ints, column: str, name: str) -> Covariate:
    _check_there(series.is_null() | (series.str.strip_chars() == ""), column, name)
    codes, levels = factorise(series.gather(rows))
    if len(levels) > MOST_LEVELS:
        raise DataError(
            f"{name}: column {column!r} has {len(levels):,} different texts, but at most {MOST_LEVELS} can be used; "
            "group them or drop the column"
        )
    return Covariate(column, codes.astype(np.float64), tuple(levels.ids.tolist()))


def _check_there(missing: pl.Series, column: str, name: str) -> None:
    gone = missing.fill_null(value=True)
    if gone.any():
        row = int(gone.arg_max() or 0)
        raise DataError(f"{name}: row {row + 1} has no value in column {column!r}; fill it in or drop the column")
