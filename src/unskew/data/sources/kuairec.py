"""KuaiRec: 1,411 people watched nearly all of 3,327 videos, so the truth is known."""

from pathlib import Path

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats, Ints
from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate, other_form, read_columns
from unskew.data.vocabulary import Vocabulary, vocabulary_of
from unskew.errors import DataError, first_of

SMALL_MATRIX = "small_matrix.csv"
POSITIVES, USERS, ITEMS = LISTS = ("truth_positives.csv", "small_matrix_users.txt", "small_matrix_items.txt")
LOG = "biased_log_positives.csv"
"""The log of the platform outside the grid: pairs with a watch ratio above 2, and how often each occurs."""
POSITIVE_RATIO = 2.0
"""Watch ratios above this number are positive."""
_COLUMNS = {"user_id": pl.Int64, "video_id": pl.Int64, "timestamp": pl.Float64, "watch_ratio": pl.Float64}
_NAMED = 5
"""How many ids a message names."""


def read(folder: Path) -> Interactions:
    """Read ``small_matrix.csv``, whose value is the watch ratio; else the lists of positives, whose value is a label.

    See `read_ratios` and `read_labels`.
    """
    if find(folder, SMALL_MATRIX) is None:
        return read_labels(folder, "kuairec")
    return read_ratios(folder)


def read_ratios(folder: Path) -> Interactions:
    """Read ``small_matrix.csv``, the fully observed part; the value is the watch ratio.

    Times are left out if some rows have none.
    """
    path = locate(folder, SMALL_MATRIX, "kuairec")
    frame = read_columns(read_content(path), path, _COLUMNS, separator=",", header=True)
    if frame["timestamp"].null_count():
        frame = frame.drop("timestamp")
    return Interactions.from_frame(frame, user="user_id", item="video_id", rating="watch_ratio", name="kuairec")


def read_labels(folder: Path, name: str) -> Interactions:
    """Read every pair of the grid, 4.7 million rows; the value is 1 for a positive and 0 for any other pair.

    ``truth_positives.csv`` has the pairs with a watch ratio above 2, ``small_matrix_users.txt`` and
    ``small_matrix_items.txt`` the ids of the grid. All users and items are declared.
    """
    if not any(find(folder, each) for each in LISTS):
        raise DataError(
            f"{folder}: no file {SMALL_MATRIX!r} with watch ratios, nor {', '.join(LISTS)} with labels, of the data "
            f"set {name}; see 'unskew datasets show {name}'{other_form(folder)}"
        )
    path, *ids = (locate(folder, each, name) for each in LISTS)
    users, items = map(_read_ids, ids)
    return grid_of(_labels(path, users, items), users, items, name)


def grid_of(labels: Bools, users: Vocabulary, items: Vocabulary, name: str) -> Interactions:
    """Every pair of a grid with its label."""
    return Interactions(  # constructed directly, because the rows are distinct and sorted
        np.repeat(np.arange(len(users), dtype=np.int32), len(items)),
        np.tile(np.arange(len(items), dtype=np.int32), len(users)),
        users,
        items,
        values=labels.ravel().astype(np.float64),
        name=name,
    )


def read_popularity(folder: Path, videos: Vocabulary) -> Floats | None:
    """How many events the platform's log has of each video; None without ``biased_log_positives.csv``."""
    path = find(folder, LOG)
    if path is None:
        return None
    columns = {"video_id": pl.Int64, "count": pl.Float64}
    frame = read_columns(read_content(path), path, columns, separator=",", header=True)
    codes = videos.encode(frame["video_id"])
    inside = codes >= 0  # the log has other videos too
    return np.asarray(np.bincount(codes[inside], weights=frame["count"].to_numpy()[inside], minlength=len(videos)))


def _read_ids(path: Path) -> Vocabulary:
    ids = read_columns(read_content(path), path, {"id": pl.Int64}, separator=",")["id"]
    return vocabulary_of(ids, str(path))[0]


def _labels(path: Path, users: Vocabulary, items: Vocabulary) -> Bools:
    columns = {"user_id": pl.Int64, "video_id": pl.Int64}
    frame = read_columns(read_content(path), path, columns, separator=",", header=True)
    codes = [_encode(frame[name], ids, path) for name, ids in zip(columns, (users, items), strict=True)]
    labels = np.zeros((len(users), len(items)), dtype=bool)
    labels[codes[0], codes[1]] = True
    return labels


def _encode(ids: pl.Series, vocabulary: Vocabulary, path: Path) -> Ints:
    codes = vocabulary.encode(ids)
    unknown = codes < 0
    if unknown.any():
        lacking, row = ids.filter(pl.Series(unknown)).unique(maintain_order=True), int(np.argmax(unknown))
        named = first_of([str(each) for each in lacking], _NAMED)
        raise DataError(
            f"{path}: the grid is not complete: it lacks the cells of {ids.name} {named}, first in line {row + 2}; do "
            "the files belong together?"
        )
    return codes


LISTS_FORM = Form(
    {
        POSITIVES: "f8aa78f96a73e77bb371755f6c4f2be96c9c86a1bbdac29babda3ad0776b01c5",
        USERS: "0d776e3ec1863179639adb74706ed4ad243dac21616ca2e9081b8b34aa5deae6",
        ITEMS: "60678037ce60a6f4f2d699506dcecc48064472d096379c27ecef8ce200d435ff",
    },
    note="watch ratios above 2 are positive; the 0.4 % of pairs that were never shown are negative",
)
RATIOS_FORM = Form({SMALL_MATRIX: None})
EXTRAS = {LOG: "a1276b2cb475c935b795eea8212f191a3f10daf8278a57f6dddc7d28c7566852"}

KUAIREC = Source(
    name="kuairec",
    title="KuaiRec, small matrix",
    licence="CC BY-SA 4.0",
    citation=(
        "C. Gao, S. Li, W. Lei, J. Chen, B. Li, P. Jiang, X. He, J. Mao and T.-S. Chua (2022). KuaiRec: A "
        "Fully-observed Dataset and Insights for Evaluating Recommender Systems. CIKM"
    ),
    home="https://kuairec.com",
    forms=(RATIOS_FORM, LISTS_FORM),
    reader=read,
    extras=EXTRAS,
    download="https://zenodo.org/records/18164998/files/KuaiRec.zip",
    how_to_get=(
        "Download KuaiRec.zip from the official home and put its small_matrix.csv into the folder; or the three lists "
        "of kuairec-truth, which have labels instead of watch ratios"
    ),
)
