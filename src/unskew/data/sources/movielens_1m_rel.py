"""MovieLens 1M as three levels of relevance: all its pairs, with 0 for ratings up to 3, 1 for 4 and 2 for 5."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.movielens_1m import MOVIELENS_1M
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns
from unskew.errors import DataError

_NAME, _FILE = "ml-1m-rel", "relevance012.dat"
_COLUMNS = {"user": pl.Int64, "item": pl.Int64, "relevance": pl.Int64}
_HIGHEST = 2


def read(folder: Path) -> Interactions:
    """Read ``relevance012.dat``; the value of a row is its relevance, which is 1 or 2 where the rating is at least 4.

    The rows are those of ``ratings.dat``, in the same order. So ``rating>=1`` here and ``rating>=4`` of the data set
    ml-1m are the same log.
    """
    path = locate(folder, _FILE, _NAME)
    frame = read_columns(read_content(path), path, _COLUMNS, separator="::")
    outside = ~frame["relevance"].is_between(0, _HIGHEST)
    if outside.any():
        row = int(outside.arg_max() or 0)
        raise DataError(
            f"{path}: line {row + 1} has relevance {frame['relevance'][row]}, not 0, 1 or {_HIGHEST}; were ratings "
            "left as they are? 1 to 3 become 0, 4 becomes 1 and 5 becomes 2"
        )
    return Interactions.from_frame(frame.rename({"relevance": "rating"}), name=_NAME)


MOVIELENS_1M_REL = Source(
    name=_NAME,
    title="MovieLens 1M, as three levels of relevance",
    licence=MOVIELENS_1M.licence,
    citation=MOVIELENS_1M.citation,
    home=MOVIELENS_1M.home,
    forms=(
        Form(
            {_FILE: "876c45ab6b4f7aafee3c139b587eb596ad3c6cbe1d4c1e3e4dd420e5667f3cf1"},
            note="0 for ratings 1 to 3, 1 for 4, 2 for 5; without times",
        ),
    ),
    reader=read,
    how_to_get=(
        "Make relevance012.dat from ratings.dat of ml-1m.zip, which the official home offers: in the same order, a "
        "line UserID::MovieID::relevance for each rating, with relevance 0 for 1 to 3, 1 for 4 and 2 for 5. If you "
        "have ratings.dat, you do not need it: the data set ml-1m has the ratings themselves"
    ),
)
