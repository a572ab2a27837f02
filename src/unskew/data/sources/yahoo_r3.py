"""Yahoo! R3: songs that 15,400 people chose to rate, and for 5,400 of them 10 songs drawn at random."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns
from unskew.data.split import Split

_TRAIN, _TEST = "ydata-ymusic-rating-study-v1_0-train.txt", "ydata-ymusic-rating-study-v1_0-test.txt"
_COLUMNS = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read the ratings of self-selected songs: user, song and rating, separated by tabs."""
    return _read(folder, _TRAIN, "yahoo-r3 train")


def read_split(folder: Path) -> Split:
    """Read both parts; the test is a random sample of the songs that the user did not rate in train."""
    return Split(
        train=read(folder),
        test=_read(folder, _TEST, "yahoo-r3 test"),
        candidates="unseen",
        origin="as published",
    )


def _read(folder: Path, file: str, name: str) -> Interactions:
    path = locate(folder, file, "yahoo-r3")
    frame = read_columns(read_content(path), path, _COLUMNS, separator="\t")
    return Interactions.from_frame(frame, name=name)


YAHOO_R3 = Source(
    name="yahoo-r3",
    title="Yahoo! R3, Music ratings for User Selected and Randomly Selected songs, version 1.0",
    licence="Academic research only, under a signed Yahoo! Data Sharing Agreement; no copies",
    citation=(
        "B. Marlin and R. Zemel (2009). Collaborative Prediction and Ranking with Non-Random Missing Data. "
        "RecSys; the data: Yahoo! Webscope, R3"
    ),
    home="https://webscope.sandbox.yahoo.com/catalog.php?datatype=r",
    forms=(Form({_TRAIN: None, _TEST: None}),),
    reader=read,
    split_reader=read_split,
    how_to_get=(
        "Sign the Data Sharing Agreement of Yahoo! Webscope, get R3 from the official home and put its two "
        "text files into the folder; coat has the same design and needs no agreement"
    ),
)
