"""Ids of users and items, and their codes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.arrays import Ints
from unskew.errors import DataError, check_types

_NOT_NUMBERS = ("nan", "inf", "-inf", "+inf", "infinity", "-infinity", "null", "none", "na", "n/a", "<na>", "nat")
"""What programs write for a number that they do not have; as ids of texts they may be meant."""
_PADDED, _SMALL = 8, 2**22
"""Texts of a fixed width may have this many times their characters, or this many characters in all."""
_MOST = 2**31 - 1  # codes have 32 bits
_DENSE = 8  # up to this many possible numbers per row, ids are looked up in a table


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The distinct ids in order; code k is the k-th of them.

    Text and number are the same id: ``"7"`` is ``7``. If all ids can be read as integers, they are integers, ordered by
    value; otherwise all are text, ordered by code point.

    Parameters
    ----------
    ids : array
        Distinct ids in ascending order, int64 or str; objects that are str where one long text would widen all.
    declared : bool
        Whether the user declared the ids, so that they exist even if no row has them.
    """

    ids: npt.NDArray[Any]
    declared: bool = False

    @classmethod
    def of_range(cls, n: int) -> "Vocabulary":
        """The integers 0 to n-1, where each code is its own id."""
        return cls(np.arange(n, dtype=np.int64), declared=True)

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and (self is other or np.array_equal(self.ids, other.ids))

    def same_as(self, other: "Vocabulary") -> bool:
        """Whether the ids are the same, and declared or not in both."""
        return self.declared == other.declared and self.ids.dtype == other.ids.dtype and self == other

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def is_range(self) -> bool:
        """Whether each code is its own id."""
        return self.is_numeric and bool(np.array_equal(self.ids, np.arange(len(self.ids))))

    @property
    def is_numeric(self) -> bool:
        """Whether the ids are integers."""
        return self.ids.dtype.kind == "i"

    @property
    def as_series(self) -> pl.Series:
        """The ids as a column."""
        return pl.Series(self.ids) if self.is_numeric else pl.Series(self.ids.tolist(), dtype=pl.String)

    def encode(self, ids: pl.Series) -> Ints:
        """Codes of canonical ids (see `canonical`); -1 for unknown ids."""
        if self.is_numeric:
            if ids.dtype != pl.Int64:
                ids = integers_or_null(ids)
            values = ids.fill_null(np.iinfo(np.int64).min).to_numpy()
            if self.is_range:
                return np.where((values >= 0) & (values < len(self)), values, -1).astype(np.int32)
            places = np.searchsorted(self.ids, values)
            places[places == len(self.ids)] = 0
            known = self.ids[places] == values if len(self.ids) else np.zeros(len(values), bool)
            return np.where(known, places, -1).astype(np.int32)
        table = pl.DataFrame({"id": self.as_series}).with_row_index("code")
        rows = pl.DataFrame({"id": ids.cast(pl.String)})
        joined = rows.join(table, on="id", how="left", maintain_order="left")
        return joined["code"].cast(pl.Int32).fill_null(-1).to_numpy()

    def codes_in(self, other: "Vocabulary") -> Ints:
        """The code that each of these ids has in another vocabulary; -1 where it has none."""
        if self == other or (self.is_range and other.is_range and len(self) <= len(other)):
            return np.arange(len(self), dtype=np.int32)
        return other.encode(self.as_series)

    def decode(self, codes: Ints) -> npt.NDArray[Any]:
        """Ids of the codes."""
        return self.ids[codes]

    def union(self, other: "Vocabulary") -> "Vocabulary":
        """All ids of both, in order."""
        if self == other:
            return Vocabulary(self.ids, declared=self.declared or other.declared)
        declared = self.declared or other.declared
        if self.is_numeric and other.is_numeric:
            return Vocabulary(np.union1d(self.ids, other.ids), declared=declared)
        every = pl.concat([_texts(self), _texts(other)])
        return Vocabulary(_text_ids(every), declared=declared)


def canonical(values: pl.Series | npt.ArrayLike, what: str) -> pl.Series:
    """Convert ids to their canonical type: Int64 if all can be read as integers, else String.

    Parameters
    ----------
    values : polars.Series or array
        Ids as they came.
    what : str
        What the ids are, for messages ("column 'user' of train.csv").
    """
    series = values if isinstance(values, pl.Series) else _series(values, what)
    if series.null_count():
        row = int(series.is_null().arg_max() or 0)
        raise DataError(f"{what}: row {row + 1} has no id; every row needs a user and an item")
    if series.dtype.is_integer():
        integers = series.cast(pl.Int64, strict=False)
        return series.cast(pl.String) if integers.null_count() else integers  # beyond 64 bits, as text would be
    if series.dtype.is_float():
        whole = series.is_finite() & (series == series.round(0)) & (series.abs() <= 2.0**53)
        if not whole.all():
            row = int((~whole).arg_max() or 0)
            raise DataError(f"{what}: row {row + 1} has {series[row]}; ids are integers or text")
        return series.cast(pl.Int64)
    if series.dtype == pl.Null:
        return series.cast(pl.Int64)
    if not any(series.dtype == text for text in (pl.String, pl.Categorical, pl.Enum)):  # equal, with other hashes
        raise DataError(f"{what}: {series.dtype} cannot be an id; ids are integers or text")
    text = series.cast(pl.String)
    empty = text == ""
    if empty.any():
        raise DataError(f"{what}: row {int(empty.arg_max() or 0) + 1} has no id; every row needs one")
    integers = integers_or_null(text)
    if not integers.null_count():
        return integers
    words = text.filter(integers.is_null()).unique()
    if (
        len(words) <= len(_NOT_NUMBERS)
        and words.str.to_lowercase().is_in(_NOT_NUMBERS).all()
        and len(text) > len(words)
    ):
        row = int(integers.is_null().arg_max() or 0)
        raise DataError(
            f"{what}: row {row + 1} has {text[row]!r} among numbers, which looks like a missing value; remove the row, "
            "or write all ids as text"
        )
    return text


def factorise(ids: pl.Series) -> tuple[Ints, Vocabulary]:
    """Codes of canonical ids, and the vocabulary of those that occur."""
    if ids.dtype == pl.Int64:
        numbers = ids.to_numpy()
        low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
        if high - low < _DENSE * len(numbers):  # a table of all numbers between is faster than sorting
            there = np.zeros(high - low + 1, dtype=bool)
            there[numbers - low] = True
            code = np.cumsum(there, dtype=np.int32) - np.int32(1)
            return code[numbers - low], Vocabulary(np.flatnonzero(there) + low)
        distinct, codes = np.unique(numbers, return_inverse=True)
        return codes.astype(np.int32), Vocabulary(distinct)
    vocabulary = Vocabulary(_text_ids(ids))
    return vocabulary.encode(ids), vocabulary


def encoded(ids: npt.ArrayLike, n: int | None, what: str) -> tuple[Ints, Vocabulary]:
    """Codes of ids, and their vocabulary; with `n` the ids are codes already, of 0 to n-1."""
    if n is None:
        return factorise(canonical(ids, what))
    check_types("a whole number", {f"the number of {what}": n})
    if not 0 <= n <= _MOST:
        raise DataError(f"{what}: there cannot be {n:,} of them; the most are {_MOST:,}")
    try:
        codes = np.asarray(ids)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:  # lists of different lengths
        raise DataError(f"{what}: not a column of codes ({error!s:.60})") from error
    if codes.size == 0:
        codes = codes.astype(np.int32)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise DataError(f"{what}: with n_users and n_items, expected codes: integers in one dimension")
    outside = (codes < 0) | (codes >= n)
    if outside.any():
        row = int(np.argmax(outside))
        raise DataError(f"{what}: code {codes[row]} in row {row + 1} is outside 0 to {n - 1}")
    return codes.astype(np.int32), Vocabulary.of_range(n)


def _texts(vocabulary: Vocabulary) -> pl.Series:
    return vocabulary.as_series.cast(pl.String)


def _text_ids(ids: pl.Series) -> npt.NDArray[Any]:
    """The distinct texts in order, by code point.

    They have a fixed width, which is fast, unless one long text would cost memory for all; then each is an object.
    """
    distinct = ids.unique().sort()  # by UTF-8 bytes, which is the order of code points
    lengths = distinct.str.len_chars().to_numpy().astype(np.int64)
    padded = int(lengths.max(initial=0)) * len(distinct)
    wasteful = padded > max(_PADDED * int(lengths.sum()), _SMALL)
    return np.asarray(distinct.to_list(), dtype=object if wasteful else str)


def vocabulary_of(ids: npt.ArrayLike | pl.Series, what: str) -> tuple[Vocabulary, Ints]:
    """The vocabulary of declared, distinct ids, and the code of each in the given order."""
    series = canonical(ids, what)
    if series.n_unique() != len(series):
        twice = series.filter(series.is_duplicated())[0]
        raise DataError(f"{what}: id {twice!r} occurs more than once; keep it once")
    codes, vocabulary = factorise(series)
    return Vocabulary(vocabulary.ids, declared=True), codes


def _series(values: npt.ArrayLike, what: str) -> pl.Series:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:  # lists of different lengths
        raise DataError(f"{what}: not a column of ids ({error!s:.60})") from error
    if array.ndim != 1:
        raise DataError(f"{what}: expected one dimension, not shape {array.shape}")
    if array.dtype.kind in "cmMV":
        raise DataError(f"{what}: {array.dtype} cannot be an id; ids are integers or text")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind in "OUT":
        texts = [None if value is None or value != value else str(value) for value in array.tolist()]  # noqa: PLR0124
        return pl.Series(texts, dtype=pl.String)
    return pl.Series(array)


def integers_or_null(text: pl.Series) -> pl.Series:
    """Int64 where the text is exactly the printed integer, else null, so that "07" stays text."""
    integers = text.cast(pl.Int64, strict=False)
    same = integers.cast(pl.String) == text
    return pl.select(pl.when(same).then(integers).otherwise(None)).to_series()
