"""KuaiRec: 1,411 people watched nearly all of 3,327 videos, so the truth is known."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns

_COLUMNS = {"user_id": pl.Int64, "video_id": pl.Int64, "timestamp": pl.Float64, "watch_ratio": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read ``small_matrix.csv``, the fully observed part; the value is the watch ratio.

    Times are left out if some rows have none.
    """
    path = locate(folder, "small_matrix.csv", "kuairec")
    frame = read_columns(read_content(path), path, _COLUMNS, separator=",", header=True)
    if frame["timestamp"].null_count():
        frame = frame.drop("timestamp")
    return Interactions.from_frame(frame, user="user_id", item="video_id", rating="watch_ratio", name="kuairec")


KUAIREC = Source(
    name="kuairec",
    title="KuaiRec, small matrix",
    licence="CC BY-SA 4.0",
    citation=(
        "C. Gao, S. Li, W. Lei, J. Chen, B. Li, P. Jiang, X. He, J. Mao and T.-S. Chua (2022). KuaiRec: A "
        "Fully-observed Dataset and Insights for Evaluating Recommender Systems. CIKM"
    ),
    home="https://kuairec.com",
    forms=(Form({"small_matrix.csv": None}),),
    reader=read,
    download="https://zenodo.org/records/18164998/files/KuaiRec.zip",
    how_to_get="Download KuaiRec.zip from the official home and put its small_matrix.csv into the folder",
)
