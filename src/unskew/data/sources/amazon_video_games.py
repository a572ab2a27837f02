"""Amazon Video Games as prepared for SASRec: what 31,013 people reviewed, 23,715 items."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns


def read(folder: Path) -> Interactions:
    """Read ``Video.txt``: user and item, separated by a space, each user's rows in order of time.

    There are no times. A row's place among its user's rows replaces them, which is right within a user only:
    leave-one-out is sound, a temporal split over all users is not.
    """
    path = locate(folder, "Video.txt", "amazon-video-games")
    frame = read_columns(read_content(path), path, {"user": pl.Int64, "item": pl.Int64}, separator=" ")
    ordered = frame.with_columns(pl.int_range(pl.len()).over("user").cast(pl.Float64).alias("timestamp"))
    return Interactions.from_frame(ordered, name="amazon-video-games")


AMAZON_VIDEO_GAMES = Source(
    name="amazon-video-games",
    title="Amazon Video Games, as prepared for SASRec",
    licence="No licence is stated, so no right to redistribute; cite the paper when you use the data",
    citation=(
        "W.-C. Kang and J. McAuley (2018). Self-Attentive Sequential Recommendation. ICDM; the reviews: "
        "R. He and J. McAuley (2016). Ups and Downs. WWW"
    ),
    home="https://github.com/kang205/SASRec",
    forms=(
        Form(
            {"Video.txt": "b7376fe24430743f411dc7f567285657b2adb3f74361cc7ba0aee94f3024b651"},
            note="has places within a user instead of times: leave-one-out is sound, a temporal split is not",
        ),
    ),
    reader=read,
    download="https://raw.githubusercontent.com/kang205/SASRec/master/data/Video.txt",
    how_to_get="Download data/Video.txt from the official home and put it into the folder",
)
