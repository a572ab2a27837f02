"""MovieLens 100K: 100,000 ratings from 1 to 5 that 943 people gave to 1,682 films they chose."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns

_COLUMNS = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64, "timestamp": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read ``u.data``: user, item, rating and Unix time, separated by tabs."""
    path = locate(folder, "u.data", "ml-100k")
    frame = read_columns(read_content(path), path, _COLUMNS, separator="\t")
    return Interactions.from_frame(frame, name="ml-100k")


MOVIELENS_100K = Source(
    name="ml-100k",
    title="MovieLens 100K",
    licence="Research use; no redistribution and no commercial use without the owner's permission",
    citation=(
        "F. M. Harper and J. A. Konstan (2015). The MovieLens Datasets: History and Context. "
        "ACM Transactions on Interactive Intelligent Systems 5(4)"
    ),
    home="https://grouplens.org/datasets/movielens/100k/",
    forms=(Form({"u.data": "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"}),),
    reader=read,
    extras={
        "README": None,  # the owner's text differs between releases
        "u.genre": "9757e0d3e6b298159a80dd48eaf938114690e911e39af97a76949ef1663610bb",
        "u.info": "5b0a40b2e47a729ee6203063f6dcf8790c2e63f5a18663e6ee318a72c5f3c27b",
        "u.item": "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
        "u.occupation": "cd5fbec9afe345d993a62fc7817df1a4a9079c4feb267b3118763b8fd942137d",
        "u.user": "f120e114da2e8cf314fd28f99417c94ae9ddf1cb6db8ce0e4b5995d40e90e62c",
    },
    download="https://files.grouplens.org/datasets/movielens/ml-100k.zip",
    how_to_get="Download ml-100k.zip from the official home and put its files into the folder",
)
