"""KuaiRec's small matrix as a complete grid of labels: 1,411 people, 3,327 videos, 1 for a video watched over twice."""

from pathlib import Path

import numpy as np
import polars as pl

from unskew.arrays import Bools, Ints
from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.kuairec import KUAIREC
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns
from unskew.data.vocabulary import Vocabulary, vocabulary_of
from unskew.errors import DataError

_NAME = "kuairec-truth"
_POSITIVES, _USERS, _ITEMS = "truth_positives.csv", "small_matrix_users.txt", "small_matrix_items.txt"


def read(folder: Path) -> Interactions:
    """Read every pair of the grid, 4.7 million rows; the value is 1 for a positive and 0 for any other pair.

    ``truth_positives.csv`` has the pairs with a watch ratio above 2, ``small_matrix_users.txt`` and
    ``small_matrix_items.txt`` the ids of the grid. All users and items are declared.
    """
    path = locate(folder, _POSITIVES, _NAME)
    users, items = (_read_ids(locate(folder, name, _NAME)) for name in (_USERS, _ITEMS))
    labels = _labels(path, users, items)
    return Interactions(  # constructed directly, because the rows are distinct and sorted
        np.repeat(np.arange(len(users), dtype=np.int32), len(items)),
        np.tile(np.arange(len(items), dtype=np.int32), len(users)),
        users,
        items,
        values=labels.ravel().astype(np.float64),
        name=_NAME,
    )


def _read_ids(path: Path) -> Vocabulary:
    ids = read_columns(read_content(path), path, {"id": pl.Int64}, separator=",")["id"]
    return vocabulary_of(ids, str(path))[0]


def _labels(path: Path, users: Vocabulary, items: Vocabulary) -> Bools:
    columns = {"user_id": pl.Int64, "video_id": pl.Int64}
    frame = read_columns(read_content(path), path, columns, separator=",", header=True)
    codes = [_encode(frame[name], vocabulary, path) for name, vocabulary in zip(columns, (users, items), strict=True)]
    labels = np.zeros((len(users), len(items)), dtype=bool)
    labels[codes[0], codes[1]] = True
    return labels


def _encode(ids: pl.Series, vocabulary: Vocabulary, path: Path) -> Ints:
    codes = vocabulary.encode(ids)
    unknown = codes < 0
    if unknown.any():
        row = int(np.argmax(unknown))
        raise DataError(
            f"{path}: {ids.name} {ids[row]} in line {row + 2} is not in the grid; do the files belong together?"
        )
    return codes


KUAIREC_TRUTH = Source(
    name=_NAME,
    title="KuaiRec, small matrix as complete labels",
    licence="CC BY-SA 4.0, that of KuaiRec; the derived lists have no statement of their own",
    citation=KUAIREC.citation,
    home=KUAIREC.home,
    forms=(
        Form(
            {
                _POSITIVES: "f8aa78f96a73e77bb371755f6c4f2be96c9c86a1bbdac29babda3ad0776b01c5",
                _USERS: "0d776e3ec1863179639adb74706ed4ad243dac21616ca2e9081b8b34aa5deae6",
                _ITEMS: "60678037ce60a6f4f2d699506dcecc48064472d096379c27ecef8ce200d435ff",
            },
            note="watch ratios above 2 are positive; the 0.4 % of pairs that were never shown are negative",
        ),
    ),
    reader=read,
    how_to_get=(
        "Make the files from small_matrix.csv of KuaiRec.zip, which the official home offers: truth_positives.csv has "
        "the columns user_id and video_id of the rows with a watch_ratio above 2, sorted, with a header; "
        "small_matrix_users.txt and small_matrix_items.txt have all user ids and video ids, sorted, one per line"
    ),
)
