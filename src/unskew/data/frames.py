"""Columns of data frames of any library, with errors that name the column and the row."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError, DataError, Option, PropensityError, did_you_mean

# a number, a date or a clock time, as the first line of a file without a header would hold
_LOOKS_LIKE_DATA = re.compile(r"-?[\d.:\-/TZ ]*\d[\d.:\-/TZ ]*(_duplicated_\d+)?")


_CONDITION = re.compile(r"\s*([A-Za-z_][\w\- ]*?)\s*(>=|<=|==|!=|>|<)\s*(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")
COMPARE: dict[str, Callable[[Floats, float], Bools]] = {
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
    ">": np.greater,
    "<": np.less,
}


def parse_condition(condition: str) -> tuple[str, str, str]:
    """Column, operator and number of a condition such as ``rating>=4``."""
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise ConfigError(f"cannot read the condition {condition!r}; write one like 'rating>=4'")
    column, operator, number = match.groups()
    return column, operator, number


def find_column(column: str, columns: list[str], name: str) -> str:
    """The name of the column, if it exists; otherwise an error that says what may be wrong."""
    if column in columns:
        return column
    shown = ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
    hint = did_you_mean(column, columns) if columns else ""
    if columns and all(_LOOKS_LIKE_DATA.fullmatch(c) for c in columns):
        hint = "; the first line looks like data: add a header line such as user,item"
    elif len(columns) == 1 and re.search(r"[\t;|]|::", columns[0]):
        hint = "; it seems to use another separator: commas in .csv, tabs in .tsv"
    elif "did you mean" not in hint:
        named = f"{Option('user_col')}, {Option('item_col')} and so on"
        hint = f"; is the header line missing? if not, name the column with {named}"
    raise DataError(f"{name}: no column {column!r} (it has {shown}){hint}")


def to_polars(series: Any) -> pl.Series:
    """A narwhals series as a polars series, with null for all missing values."""
    native = series.to_native()
    if isinstance(native, pl.Series):
        return native
    missing = series.is_null().to_list()
    if series.dtype.is_numeric() and not any(missing):
        return pl.Series(series.to_numpy())
    values = [None if gone or value != value else value for value, gone in zip(series.to_list(), missing, strict=True)]  # noqa: PLR0124
    if any(isinstance(value, str) for value in values):
        values = [None if value is None else str(value) for value in values]
    return pl.Series(values, strict=False)


def to_numbers(series: pl.Series, what: str, *, times: bool) -> Floats:
    """The column as numbers; with `times`, dates become seconds."""
    dated = series.dtype.is_temporal() or (times and _holds_words(series))
    numbers = _seconds(series) if dated else None
    if numbers is None:
        numbers = series.cast(pl.Float64, strict=False)
    missing = numbers.is_null() | numbers.is_nan()
    if missing.any():
        row = int(missing.arg_max() or 0)
        empty = series[row] is None
        shown, hint = ("no value", "; fill it in, or remove the row") if empty else (repr(series[row]), "")
        raise DataError(f"{what}: row {row + 1} has {shown}, expected a number{' or a date' if times else ''}{hint}")
    return numbers.to_numpy()


def _holds_words(series: pl.Series) -> bool:
    return series.dtype == pl.String and bool(series.cast(pl.Float64, strict=False).null_count())


def _seconds(series: pl.Series) -> pl.Series | None:
    """Seconds since 1970, or None for text that is not a date."""
    try:
        moments = series.str.to_datetime(strict=False, time_unit="us") if series.dtype == pl.String else series
        return moments.cast(pl.Datetime("us")).dt.timestamp("us").cast(pl.Float64) / 1e6
    except pl.exceptions.PolarsError:
        return None


def check_propensity(propensity: Floats | None, name: str) -> None:
    """Refuse propensities outside (0, 1]."""
    if propensity is None:
        return
    bad = ~((propensity > 0) & (propensity <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise PropensityError(
            f"{name}: propensity {propensity[row]:g} in row {row + 1} ({int(bad.sum())} in all) is outside (0, 1]; "
            "a propensity is the probability that the row was observed"
        )


def check_weights(weights: Floats | None, name: str) -> None:
    """Refuse weights that are negative or infinite, and rows that have no weight at all."""
    if weights is None or not len(weights):
        return
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"{name}: weight {weights[row]:g} in row {row + 1} ({int(bad.sum())} in all) is negative or infinite; a "
            "weight says how much a row counts, so give 0 or more"
        )
    if not weights.any():
        raise DataError(f"{name}: all weights are 0, so no row counts; name another column with {Option('weight_col')}")


def as_numbers(values: npt.ArrayLike, length: int, what: str) -> Floats:
    """Numbers, one per row; an error if there are others, or none for a row."""
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: {error}; expected numbers") from error
    if column.shape != (length,):
        raise DataError(f"{what}: shape {column.shape}, expected ({length},)")
    missing = np.isnan(column)
    if missing.any():
        raise DataError(f"{what}: row {int(np.argmax(missing)) + 1} has no value; fill it in or remove the row")
    return column
