"""Readers of models: files of factors and tables of scores."""

import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data.columns import TableFile
from unskew.data.formats.array_file import DAMAGE, first_line, read_npz
from unskew.data.frames import castable, columns_of, eager, find_column
from unskew.data.partitions.locations import is_folder
from unskew.data.reading import check_readable
from unskew.errors import DataError, did_you_mean
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.scorers import FactorScorer

_REQUIRED = ("user_factors", "item_factors")
_ZIP, _NPY = b"PK", b"\x93NUMPY"  # how .npz and .npy files start
_MAPPED = ("user_factors", "item_factors")
_OPTIONAL = ("user_bias", "item_bias", "user_ids", "item_ids", "similarity")


def read_factors(path: str | Path, *, content: bytes | None = None) -> FactorScorer:
    """Read a .npz file of factors, or a folder with a .npy file of each array, which stays on disk as a memory map.

    It has ``user_factors`` (users, d), ``item_factors`` (items, d) and optionally ``user_bias``, ``item_bias``,
    ``user_ids``, ``item_ids`` and ``similarity`` (``dot`` or ``distance``); never pickled objects. `content` are its
    bytes, if they have been read before.

    Raises
    ------
    DataError
        If the file is missing, damaged or pickled, or its arrays do not fit together.
    """
    folder = content is None and is_folder(path)
    arrays: dict[str, Any] = _map_folder(Path(path)) if folder else _load(Path(path), content)
    unknown = [name for name in arrays if name not in _REQUIRED + _OPTIONAL]
    if unknown:
        raise DataError(f"{path}: unknown array {unknown[0]!r}{did_you_mean(unknown[0], _REQUIRED + _OPTIONAL)}")
    missing = [name for name in _REQUIRED if name not in arrays]
    if missing:
        raise DataError(f"{path}: no array {missing[0]!r} (it has {', '.join(arrays) or 'none'}); save both factors")
    for name in (*_REQUIRED, "user_bias", "item_bias"):
        if name in arrays and arrays[name].dtype.kind not in "fiu":
            raise DataError(f"{path}: {name} has type {arrays[name].dtype}; save it as floats")
    similarity: Any = str(arrays.pop("similarity")) if "similarity" in arrays else "dot"
    return (MappedFactors if folder else FactorScorer)(**arrays, similarity=similarity, name=str(path))


class MappedFactors(FactorScorer):
    """Factors in memory maps; another process opens the files again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return read_factors, (self.name,)


def _map_folder(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a folder of .npy files, as memory maps."""
    arrays = {}
    for file in sorted(path.glob("*.npy")):
        try:
            arrays[file.stem] = np.load(file, mmap_mode="r" if file.stem in _MAPPED else None, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise DataError(f"{file}: not a readable .npy file ({error}); save it again, without objects") from None
    return arrays


def read_scores(
    path: str | Path, *, user: str = "user", item: str = "item", content: bytes | None = None
) -> ListScorer:
    """Read a CSV, TSV or Parquet file with columns ``user``, ``item`` and ``score``: a dense table or top-N lists.

    Instead of ``score`` there may be ``rank``, where 1 is the best. A TREC run is read by its scores. A file may have
    column names of its own, as in ``lists.csv:user=uid,score=points``; see `unskew.data.TableFile`.

    Parameters
    ----------
    path : str or Path
    user, item : str
        Names of the id columns.
    content : bytes, optional
        The bytes of the file, unzipped, if they have been read before.
    """
    return _read_table(path, user, item, "score", content)


def read_predictions(path: str | Path, *, user: str = "user", item: str = "item") -> ListScorer | FactorScorer:
    """Read predicted ratings: a CSV, TSV or Parquet file with columns ``user``, ``item`` and ``prediction``.

    A .npz file of factors, as in `read_factors`, is possible too, if its scores are ratings.

    Parameters
    ----------
    path : str or Path
    user, item : str
        Names of the id columns.
    """
    if Path(path).suffix == ".npz":
        return replace(read_factors(path), ratings=True)
    return _read_table(path, user, item, "prediction")


def scores_from_frame(frame: Any, *, name: str = "scores", user: str = "user", item: str = "item") -> ListScorer:
    """A scorer of the scores in a frame of any library that `eager` takes.

    The columns are ``user``, ``item`` and ``score``, where larger is better, or ``rank``, where 1 is the best; a frame
    with ``prediction`` instead has predicted ratings.

    Parameters
    ----------
    frame : frame
    name : str
        Name of the model in messages.
    user, item : str
        Names of the id columns.
    """
    columns = columns_of(frame, name)
    users = find_column(user if user in columns else "user", columns, name)
    items = find_column(item if item in columns else "item", columns, name)
    wanted = next((column for column in ("score", "rank", "prediction") if column in columns), "score")
    kept = (users, items, *([wanted] if wanted in columns else []))
    return _from_frame(eager(frame, kept, name), users, items, wanted, name)


def _read_table(path: str | Path, user: str, item: str, role: str, content: bytes | None = None) -> ListScorer:
    file = TableFile.parse(path, ("user", "item", *(("score", "rank") if role == "score" else (role,))))
    frame, names = file.read(content), file.names
    users = find_column(names.get("user", user if user in frame.columns else "user"), frame.columns, file.name)
    items = find_column(names.get("item", item if item in frame.columns else "item"), frame.columns, file.name)
    lacks_scores = role == "score" and role not in names and role not in frame.columns
    if "rank" in names or (lacks_scores and "rank" in frame.columns):
        role = "rank"
    return _from_frame(frame, users, items, role, file.name, names.get(role, role))


def _from_frame(
    frame: pl.DataFrame, users: str, items: str, role: str, name: str, column: str | None = None
) -> ListScorer:
    """A scorer of a table; `role` says what the numbers are: ``score``, ``rank`` or ``prediction``."""
    column = column or role
    if column not in frame.columns:
        near = did_you_mean(column, frame.columns)
        hint = near if "did you mean" in near else f"; expected user, item and {column}"
        raise DataError(f"{name}: no column {column!r} (it has {', '.join(frame.columns[:8])}){hint}")
    if frame.is_empty():
        raise DataError(f"{name}: has a header but no rows; check the file")
    scores = castable(frame[column], f"column {column!r} of {name}").cast(pl.Float64, strict=False)
    if scores.null_count():
        row = int(scores.is_null().arg_max() or 0)
        shown = f"no {column}" if frame[column][row] is None else f"{column} {frame[column][row]!r}"
        raise DataError(f"{name}: row {row + 1} has {shown}; expected a number")
    numbers = -scores.to_numpy() if role == "rank" else scores.to_numpy()
    return ListScorer.from_table(frame[users], frame[items], numbers, name=name, ratings=role == "prediction")


def _load(path: Path, content: bytes | None) -> dict[str, npt.NDArray[Any]]:
    if content is None:
        check_readable(path)
        try:
            with path.open("rb") as stream:
                start = stream.read(len(_NPY))
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror or error}); check its permissions") from error
    else:
        start = content[: len(_NPY)]
    if start.startswith(_NPY):
        raise DataError(f"{path}: a single array; expected a .npz file with user_factors and item_factors")
    if start and not start.startswith(_ZIP):
        raise DataError(f"{path}: not a .npz file; save plain arrays with numpy.savez")
    try:
        return read_npz(path if content is None else content)
    except DAMAGE as error:
        if "pickle" in str(error):
            raise DataError(f"{path}: contains pickled objects, which are not loaded; save plain arrays") from error
        cut = isinstance(error, EOFError | zipfile.BadZipFile | zlib.error)
        hint = (
            "not a complete .npz file; was it cut short?"
            if cut
            else f"not a readable .npz file ({first_line(error)}); "
        )
        raise DataError(f"{path}: {hint}{'' if cut else 'save it again'}") from error
