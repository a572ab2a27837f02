"""Amazon Books: 22.5 million ratings of books by 8 million people, or the 5-core of their reviews."""

from pathlib import Path

from unskew.data.interactions import Interactions
from unskew.data.sources.amazon_reviews import read_ratings, read_reviews
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find, locate

_RATINGS, _REVIEWS = "ratings_Books.csv", "reviews_Books_5.json"


def read(folder: Path) -> Interactions:
    """Read all ratings (user, book, stars and time), or else the reviews of the 5-core.

    Every row is kept, whatever its stars; as implicit feedback each is a positive. Yang et al. (2018) have 99,473
    users, 450,166 books and 996,938 rows of it, and do not say which. With 2.2 rows per book it is not the 5-core.
    """
    ratings = find(folder, _RATINGS)
    if ratings is None and find(folder, _REVIEWS) is not None:
        return read_reviews(locate(folder, _REVIEWS, "amazon-book"), "amazon-book")
    return read_ratings(ratings or locate(folder, _RATINGS, "amazon-book"), "amazon-book")


AMAZON_BOOK = Source(
    name="amazon-book",
    title="Amazon Books",
    licence="No licence is stated, so no right to redistribute; the owner asks for citation",
    citation=(
        "R. He and J. McAuley (2016). Ups and Downs: Modeling the Visual Evolution of Fashion Trends with "
        "One-Class Collaborative Filtering. WWW; J. McAuley, C. Targett, Q. Shi and A. van den Hengel "
        "(2015). Image-based Recommendations on Styles and Substitutes. SIGIR"
    ),
    home="https://jmcauley.ucsd.edu/data/amazon/",
    forms=(
        Form({_RATINGS: None}),
        Form({_REVIEWS: None}, whole=False, note="the 5-core: users and books with at least five reviews each"),
    ),
    reader=read,
    how_to_get=(
        "Get ratings_Books.csv, the file of ratings only (about 900 MB), from the official home and put it into the "
        "folder; the reviews of the 5-core, reviews_Books_5.json.gz, are read when it is not there"
    ),
)
