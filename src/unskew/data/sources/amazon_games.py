"""Amazon Video Games: ratings from 1 to 5 in reviews, with users, items and times as their owner has them."""

from collections.abc import Callable
from pathlib import Path

from unskew.data.interactions import Interactions
from unskew.data.sources.amazon_reviews import read_blocks, read_ratings, read_reviews
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate

_RATINGS, _BLOCKS, _REVIEWS = "ratings_Video_Games.csv", "Video_Games.txt", "reviews_Video_Games_5.json"
_READERS: dict[str, Callable[[Path, str], Interactions]] = {
    _RATINGS: read_ratings,
    _BLOCKS: read_blocks,
    _REVIEWS: read_reviews,
}


def read(folder: Path) -> Interactions:
    """Read all ratings, or else the reviews up to 2013, or else the reviews of the 5-core.

    Every row is kept, whatever its stars. Lim et al. (2015) have 17,437 users, 17,915 items and 201,154 rows with at
    least 4 stars after making the data denser. They state neither the rule nor the file.
    """
    there = next((name for name in _READERS if find(folder, name) is not None), _RATINGS)
    return _READERS[there](locate(folder, there, "amazon-games"), "amazon-games")


AMAZON_GAMES = Source(
    name="amazon-games",
    title="Amazon Video Games, ratings and reviews",
    licence="No licence is stated, so no right to redistribute; the owner asks for citation",
    citation=(
        "R. He and J. McAuley (2016). Ups and Downs: Modeling the Visual Evolution of Fashion Trends with "
        "One-Class Collaborative Filtering. WWW; for the blocks: J. McAuley and J. Leskovec (2013). Hidden Factors "
        "and Hidden Topics: Understanding Rating Dimensions with Review Text. RecSys"
    ),
    home="https://jmcauley.ucsd.edu/data/amazon/",
    forms=(
        Form({_RATINGS: None}),
        Form({_BLOCKS: None}, whole=False, note="reviews up to 2013, without those by unknown users"),
        Form({_REVIEWS: None}, whole=False, note="the 5-core: users and items with at least five reviews each"),
    ),
    reader=read,
    how_to_get=(
        "Get ratings_Video_Games.csv, the file of ratings only, from the official home and put it into the folder; "
        "when it is not there, Video_Games.txt.gz of the older collection at SNAP or the reviews of the 5-core, "
        "reviews_Video_Games_5.json.gz, are read"
    ),
)
