"""Amazon Digital Music: ratings from 1 to 5 in reviews, the 5-core or the smaller set of SIGformer."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.amazon_reviews import read_reviews
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate, read_columns

_REVIEWS = "reviews_Digital_Music_5.json"
_PARTS = ("sigformer_train.txt", "sigformer_valid.txt", "sigformer_test.txt")
_COLUMNS = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64}


def read(folder: Path) -> Interactions:
    """Read the 5-core reviews, or else the three parts of SIGformer put together.

    The parts hold user, item and rating separated by spaces, with new ids, and are a random split. The 5-core is the
    set that Tian and Ekstrand (2020) call AZM5: 5,541 users, 3,568 items and 64,706 rows.
    """
    if find(folder, _REVIEWS) is None and find(folder, _PARTS[0]) is not None:
        return _read_parts(folder)
    return read_reviews(locate(folder, _REVIEWS, "amazon-digital-music"), "amazon-digital-music")


def _read_parts(folder: Path) -> Interactions:
    paths = [locate(folder, part, "amazon-digital-music") for part in _PARTS]
    frames = [read_columns(read_content(path), path, _COLUMNS, separator=" ") for path in paths]
    return Interactions.from_frame(pl.concat(frames), name="amazon-digital-music")


AMAZON_DIGITAL_MUSIC = Source(
    name="amazon-digital-music",
    title="Amazon Digital Music",
    licence="No licence is stated, so no right to redistribute; the owner asks for citation",
    citation=(
        "R. He and J. McAuley (2016). Ups and Downs: Modeling the Visual Evolution of Fashion Trends with "
        "One-Class Collaborative Filtering. WWW; J. McAuley, C. Targett, Q. Shi and A. van den Hengel "
        "(2015). Image-based Recommendations on Styles and Substitutes. SIGIR; for the smaller set: "
        "Chen et al. (2024). SIGformer. SIGIR"
    ),
    home="https://jmcauley.ucsd.edu/data/amazon/",
    forms=(
        Form({_REVIEWS: None}),
        Form(dict.fromkeys(_PARTS), whole=False, note="the smaller set of SIGformer, with new ids"),
    ),
    reader=read,
    how_to_get=(
        "Get the 5-core reviews reviews_Digital_Music_5.json.gz from the official home and put the file into "
        "the folder; or take train.txt, valid.txt and test.txt from data/amazon-music of "
        "https://github.com/StupidThree/SIGformer and put sigformer_ before each name"
    ),
)
