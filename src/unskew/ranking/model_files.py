"""Models from files: factors and tables of scores."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.data.reading import read_table
from unskew.errors import DataError, did_you_mean
from unskew.ranking.lists import ListScorer
from unskew.ranking.scorers import FactorScorer

_REQUIRED = ("user_factors", "item_factors")
_OPTIONAL = ("user_bias", "item_bias", "user_ids", "item_ids", "similarity")


def read_factors(path: str | Path) -> FactorScorer:
    """Read a .npz file of factors.

    It holds ``user_factors`` (users, d), ``item_factors`` (items, d) and optionally ``user_bias``, ``item_bias``,
    ``user_ids``, ``item_ids`` and ``similarity`` (``dot`` or ``distance``); never pickled objects.

    Raises
    ------
    DataError
        When the file is missing, damaged, pickled, or its arrays do not fit.
    """
    arrays = _load(Path(path))
    unknown = [name for name in arrays if name not in _REQUIRED + _OPTIONAL]
    if unknown:
        raise DataError(f"{path}: unknown array {unknown[0]!r}{did_you_mean(unknown[0], _REQUIRED + _OPTIONAL)}")
    missing = [name for name in _REQUIRED if name not in arrays]
    if missing:
        raise DataError(f"{path}: no array {missing[0]!r} (it has {', '.join(arrays) or 'none'}); save both factors")
    for name in (*_REQUIRED, "user_bias", "item_bias"):
        if name in arrays and arrays[name].dtype.kind not in "fiu":
            raise DataError(f"{path}: {name} has type {arrays[name].dtype}; expected numbers")
    similarity: Any = str(arrays.pop("similarity")) if "similarity" in arrays else "dot"
    return FactorScorer(**arrays, similarity=similarity, name=str(path))


def read_scores(path: str | Path, *, user: str = "user", item: str = "item") -> ListScorer:
    """Read a CSV, TSV or Parquet file with columns ``user``, ``item`` and ``score``: a dense table or top-N lists.

    Parameters
    ----------
    path : str or Path
    user, item : str
        Other names the id columns may have.
    """
    frame = read_table(Path(path))
    names = {
        "user": user if user in frame.columns else "user",
        "item": item if item in frame.columns else "item",
        "score": "score",
    }
    for column in names.values():
        if column not in frame.columns:
            shown = ", ".join(frame.columns[:8])
            hint = did_you_mean(column, frame.columns)
            raise DataError(f"{path}: no column {column!r} (it has {shown}){hint if 'did' in hint else ''}")
    if frame.is_empty():
        raise DataError(f"{path}: there is a header but no row; nothing to work with")
    scores = frame["score"].cast(pl.Float64, strict=False)
    if scores.null_count():
        row = int(scores.is_null().arg_max() or 0)
        raise DataError(f"{path}: row {row + 1} has score {frame['score'][row]!r}; expected a number")
    return ListScorer.from_table(frame[names["user"]], frame[names["item"]], scores.to_numpy(), name=str(path))


def _load(path: Path) -> dict[str, npt.NDArray[Any]]:
    if not path.exists():
        raise DataError(f"{path}: no such file; check the path")
    if path.is_dir():
        raise DataError(f"{path}: this is a directory; name a file in it")
    try:
        stored = np.load(path, allow_pickle=False)
        arrays = {name: stored[name] for name in stored.files} if hasattr(stored, "files") else None
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise DataError(f"{path}: holds pickled objects, which are not loaded; save plain arrays") from error
        raise DataError(f"{path}: not a readable .npz file ({error})") from error
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path}: not a whole .npz file; was it cut short?") from error
    if arrays is None:
        raise DataError(f"{path}: a single array; expected a .npz file with user_factors and item_factors")
    stored.close()
    return arrays
