"""MovieLens 10M: ten million ratings from 0.5 to 5 that 69,878 people gave to 10,677 films they chose."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns

_RATINGS = "ratings.dat"
_COLUMNS = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64, "timestamp": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read ``ratings.dat``: user, film, stars in halves and time, separated by ``::``.

    Half stars are not rounded, so ``rating>=4`` selects 4, 4.5 and 5.
    """
    path = locate(folder, _RATINGS, "ml-10m")
    return Interactions.from_frame(read_columns(read_content(path), path, _COLUMNS, separator="::"), name="ml-10m")


MOVIELENS_10M = Source(
    name="ml-10m",
    title="MovieLens 10M",
    licence="Research use; no redistribution and no commercial use without the owner's permission",
    citation=(
        "F. M. Harper and J. A. Konstan (2015). The MovieLens Datasets: History and Context. "
        "ACM Transactions on Interactive Intelligent Systems 5(4)"
    ),
    home="https://grouplens.org/datasets/movielens/10m/",
    forms=(Form({_RATINGS: None}),),
    reader=read,
    extras={"README.html": None, "movies.dat": None},
    download="https://files.grouplens.org/datasets/movielens/ml-10m.zip",
    how_to_get="Download ml-10m.zip from the official home and put the files of ml-10M100K into the folder",
)
