"""Frames of any library as Polars frames, and their columns, with errors that name the column and the row."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError, DataError, Option, PropensityError, did_you_mean

FRAMES = "a pandas, Polars (eager or lazy), Arrow, DuckDB, PySpark, Ibis, Dask or Hugging Face frame"
"""The frames that `eager` takes, in words."""
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


class _Frame(NamedTuple):
    """The columns of a frame, and a function that collects some of them; both may read its source."""

    columns: Callable[[], Iterable[Any]]
    collect: Callable[[list[str]], pl.DataFrame]


def eager(frame: Any, columns: Iterable[str] | None = None, name: str = "frame") -> pl.DataFrame:
    """Collect columns of a frame of any library; no other column is read, computed or fetched.

    Parameters
    ----------
    frame : frame
        pandas, Polars (eager or lazy), an Arrow table, data set or stream, a DuckDB relation, PySpark, Ibis, Dask, a
        Hugging Face data set, or whatever else narwhals reads. None of these packages is required.
    columns : iterable of str, optional
        The columns to collect; all by default.
    name : str
        Name of the frame in messages.

    Raises
    ------
    DataError
        If the object is not a frame, a column is missing, or the source of a lazy frame cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> from unskew.data.frames import eager
    >>> eager(pl.LazyFrame({"user": [1], "item": [2], "text": ["x"]}), ["user", "item"]).columns
    ['user', 'item']
    """
    there = columns_of(frame, name)
    wanted = there if columns is None else [find_column(column, there, name) for column in dict.fromkeys(columns)]
    table: pl.DataFrame = _reading(frame, name, lambda: _open(frame, name).collect(wanted))
    return table


def columns_of(frame: Any, name: str = "frame") -> list[str]:
    """The names of the columns of a frame, from its schema if it is lazy.

    Raises
    ------
    DataError
        If the object is not a frame, its columns have no names, or the source of a lazy frame cannot be read.
    """
    there = _reading(frame, name, lambda: list(_open(frame, name).columns()))
    columns = [column for column in there if isinstance(column, str)]
    if there and not columns:
        raise DataError(
            f"{name}: the columns have no names, only {there[0]!r} and so on; name them, as in "
            "frame.columns = ['user', 'item']"
        )
    return columns


def is_frame(given: Any) -> bool:
    """Whether `eager` takes the object."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return _recognise(given, nw.from_native(given, pass_through=True)) is not None
    except DuplicateError:  # a frame, which is refused when its columns are read
        return True


def _open(frame: Any, name: str) -> _Frame:
    import narwhals as nw

    opened = _recognise(frame, nw.from_native(frame, pass_through=True))
    if opened is None:
        raise DataError(f"{name}: {_kind(frame)} is not a table; give {FRAMES}{_what_else(frame)}")
    return opened


def _recognise(frame: Any, native: Any) -> _Frame | None:
    """How a frame is read, or None if it is not one; `native` is what narwhals makes of it."""
    import narwhals as nw

    if isinstance(native, nw.DataFrame):
        return _Frame(lambda: native.columns, lambda columns: _converted(native.select(columns)))
    if isinstance(native, nw.LazyFrame):
        return _Frame(
            lambda: native.collect_schema().names(), lambda columns: _converted(native.select(columns).collect())
        )
    return None if isinstance(frame, type) else _recognise_arrow(frame)


def _recognise_arrow(frame: Any) -> _Frame | None:
    """How a table is read that is not of a library of frames, but gives its rows as Arrow tables."""
    if isinstance(frame, Mapping):  # such as the splits of a data set
        return None
    if hasattr(frame, "select_columns") and hasattr(frame, "column_names"):  # a Hugging Face data set
        return _Frame(lambda: frame.column_names or next(iter(frame)), lambda columns: _hugging_face(frame, columns))
    names = getattr(getattr(frame, "schema", None), "names", None)
    if names is not None and hasattr(frame, "to_table"):  # an Arrow data set, of files or in memory
        return _Frame(lambda: names, lambda columns: _from_arrow(frame.to_table(columns=columns)))
    if names is not None and (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")):
        return _Frame(lambda: names, lambda columns: _from_arrow(frame).select(columns))
    return None


def _hugging_face(data: Any, columns: list[str]) -> pl.DataFrame:
    chosen = data.select_columns(columns).with_format("arrow")
    if hasattr(chosen, "num_rows"):  # not a stream
        return _from_arrow(chosen[:])
    return pl.concat([_from_arrow(batch) for batch in chosen.iter(batch_size=2**16)])


def _converted(frame: Any) -> pl.DataFrame:
    """A narwhals frame as a Polars frame."""
    native = frame.to_native()
    if isinstance(native, pl.DataFrame):
        return native
    if hasattr(native, "__arrow_c_stream__") and hasattr(native, "schema"):
        return _from_arrow(native)
    return pl.DataFrame({column: to_polars(frame[column]) for column in frame.columns})


def _from_arrow(table: Any) -> pl.DataFrame:
    """An Arrow table as a Polars frame, which shares its memory; dictionaries become text."""
    return pl.DataFrame(table).with_columns(pl.col(pl.Categorical).cast(pl.String))


def _reading(frame: Any, name: str, read: Callable[[], Any]) -> Any:
    """What `read` returns; an error of another library becomes one of ours."""
    try:
        return read()
    except (DataError, MemoryError):
        raise
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        raise DataError(
            f"{name}: reading {_kind(frame)} needs a package that is not installed ({_first_line(error)}); "
            f"install it, as in 'pip install {package or 'pyarrow'}'"
        ) from error
    except Exception as error:  # each library has its own exceptions
        from narwhals.exceptions import DuplicateError

        if isinstance(error, DuplicateError):
            raise DataError(f"{name}: two columns have the same name; rename one") from error
        raise DataError(
            f"{name}: {_kind(frame)} cannot be read ({_first_line(error)}); are its file, table and connection "
            "still there?"
        ) from error


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return f"{text.splitlines()[0]:.160}" if text else type(error).__name__


def _kind(frame: Any) -> str:
    kind = type(frame)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.split('.')[0]}.{kind.__name__}"


def _what_else(given: Any) -> str:
    """A hint for an object that is not a frame."""
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return "; it is a path: read the file first, as in Interactions.read(path)"
    if isinstance(given, Mapping) and given and is_frame(next(iter(given.values()))):
        return f"; choose one of its tables, as in data[{next(iter(given))!r}]"
    hints = {
        "; make a frame of it, as in polars.DataFrame(data)": isinstance(given, Mapping | list | tuple),
        "; arrays go in by Interactions.from_arrays": isinstance(given, np.ndarray),
        "; a sparse matrix goes in by Interactions.from_sparse": hasattr(given, "tocoo"),
        "; it is a single column: give a frame with named columns": hasattr(given, "to_frame"),
    }
    return next((hint for hint, fits in hints.items() if fits), "")


def find_column(column: str, columns: list[str], name: str) -> str:
    """The name of the column, if it exists; otherwise an error that says what may be wrong."""
    if column in columns:
        return column
    shown = ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
    hint = did_you_mean(column, columns) if columns else ""
    if columns and all(_LOOKS_LIKE_DATA.fullmatch(c) for c in columns):
        hint = "; the first line looks like data: add a header line such as user,item, or name the columns with "
        hint += f"{Option('columns', 'user,item')}"
    elif len(columns) == 1 and re.search(r"[\t;|]|::", columns[0]):
        hint = "; it seems to use another separator: commas in .csv, tabs in .tsv, others with "
        hint += f"{Option('sep')}"
        if re.match(r"-?\d", columns[0]):
            hint += f", and without a header line {Option('columns', 'user,item')}"
    else:
        named = f"{Option('user_col')}, {Option('item_col')} and so on"
        near = f"{hint} if not," if "did you mean" in hint else "; is the header line missing? if not,"
        hint = f"{near} name the column with {named}"
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
    series = castable(series, what, times=times)
    dated = series.dtype.is_temporal() or (times and _holds_words(series))
    numbers = _seconds(series) if dated else None
    if numbers is None:
        numbers = series.cast(pl.Float64, strict=False)
    missing = numbers.is_null() | ~numbers.is_finite()
    if missing.any():
        row = int(missing.arg_max() or 0)
        empty = series[row] is None
        shown, hint = ("no value", "; fill it in, or remove the row") if empty else (repr(series[row]), "")
        expected = f"a {'' if numbers[row] is None else 'finite '}number{' or a date' if times else ''}"
        raise DataError(f"{what}: row {row + 1} has {shown}, expected {expected}{hint}")
    return numbers.to_numpy()


def castable(series: pl.Series, what: str, *, times: bool = False) -> pl.Series:
    """The column, if its type can be cast to numbers; categories become text, and only `times` may be dates."""
    kind = series.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Object) or (kind.is_temporal() and not times):
        raise DataError(f"{what}: {kind} cannot be a number; name a column of numbers")
    return series.cast(pl.String) if kind in (pl.Categorical, pl.Enum) else series


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
        given = np.asarray(values)
        if given.dtype.kind in "cmM":
            raise TypeError(f"they are {given.dtype}")  # noqa: TRY301
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{what}: {error}; expected numbers") from error
    if column.shape != (length,):
        raise DataError(f"{what}: shape {column.shape}, expected ({length},)")
    missing = np.isnan(column)
    if missing.any():
        raise DataError(f"{what}: row {int(np.argmax(missing)) + 1} has no value; fill it in or remove the row")
    return column


def all_whole(column: Floats, rows: int = 2**20) -> bool:
    """Whether all numbers are whole, and small enough to be exact."""
    parts = (column[start : start + rows] for start in range(0, len(column), rows))
    return all(bool(np.all((part == np.floor(part)) & (np.abs(part) < 2.0**53))) for part in parts)
