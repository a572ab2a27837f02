"""MovieLens 1M: a million ratings from 1 to 5 that 6,040 people gave to 3,706 films they chose."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate, read_columns

_RATINGS, _FIRST_RATINGS, _PAIRS = "ratings.dat", "ratings_first_487650_rows.dat", "user_movie_pairs.dat"
_COLUMNS = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64, "timestamp": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read ``ratings.dat``, or else the pairs without ratings, or else the ratings of the first users."""
    if find(folder, _RATINGS) is None and find(folder, _PAIRS) is not None:
        return read_pairs(folder)
    return read_ratings(folder)


def read_ratings(folder: Path) -> Interactions:
    """Read ``ratings.dat``, or else its first rows, which have the users 1 to 2999."""
    path = find(folder, _RATINGS) or find(folder, _FIRST_RATINGS) or locate(folder, _RATINGS, "ml-1m")
    frame = read_columns(read_content(path), path, _COLUMNS, separator="::")
    return Interactions.from_frame(frame, name="ml-1m")


def read_pairs(folder: Path) -> Interactions:
    """Read ``user_movie_pairs.dat``: who rated what in all of the data, without rating and time."""
    path = locate(folder, _PAIRS, "ml-1m")
    frame = read_columns(read_content(path), path, {"user": pl.Int64, "item": pl.Int64}, separator="::")
    return Interactions.from_frame(frame, name="ml-1m")


MOVIELENS_1M = Source(
    name="ml-1m",
    title="MovieLens 1M",
    licence="Research use; no redistribution and no commercial use without the owner's permission",
    citation=(
        "F. M. Harper and J. A. Konstan (2015). The MovieLens Datasets: History and Context. "
        "ACM Transactions on Interactive Intelligent Systems 5(4)"
    ),
    home="https://grouplens.org/datasets/movielens/1m/",
    forms=(
        Form({_RATINGS: None}),
        Form({_PAIRS: None}, whole=False, note="all pairs, without ratings"),
        Form({_FIRST_RATINGS: None}, whole=False, note="ratings of the users 1 to 2999 only"),
    ),
    reader=read,
    extras={
        "README": None,
        "movies.dat": "c377f92ce09ac7ec6cc78465886cf1848b49c40e1259a83bdeb51d6faa94a26a",
        "users.dat": "1dc3a95300cb19f7c10e027daf29b8cdf1d908dab65b5edfb45950aa389a10a3",
    },
    download="https://files.grouplens.org/datasets/movielens/ml-1m.zip",
    how_to_get="Download ml-1m.zip from the official home and put its files into the folder",
)
