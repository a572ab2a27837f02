"""Jester as a second world: real ratings of every pair, in one to five stars."""

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data.sources.jester import read_complete
from unskew.studies.framework.completed_movielens import World
from unskew.studies.framework.study import Context, Size

DATA = "jester"
CUTS = (-5.0, -1.0, 3.0, 7.0)
"""Upper ends of one to four stars on the scale from -10 to 10: steps of a fifth of it, around the mean rating of 1.

Around 0 there would be fewer ones than fives, and REC_ONES needs a one for each five.
"""

DENSITY = Size(0.25)
"""Share of the cells that is observed: 25 jokes per person. The paper's 5 % would be five, too few to learn from."""


def jester_world(context: Context) -> World | None:
    """The ratings of the people who rated every joke, made once per run; None when the data is not available."""
    return context.once("schnabel2016 jester", lambda: _read(context))


def stars_of_jokes(ratings: Floats) -> Ints:
    """One to five stars, by fixed cuts of the scale.

    The cuts are not quantiles. With the shares of the paper's world the errors of MSE would follow from closed forms,
    whatever the ratings are, so that a second data set would add nothing to that panel.
    """
    return np.asarray(1 + np.searchsorted(CUTS, ratings, side="left"))


def _read(context: Context) -> World | None:
    if context.find(DATA) is None:
        return None
    complete = read_complete(context.place(DATA))
    stars = stars_of_jokes(complete)
    shares = ", ".join(f"{share:.3f}" for share in np.bincount(stars.ravel(), minlength=6)[1:] / stars.size)
    origin = (
        f"{DATA}, which the paper does not have: {len(complete):,} people who rated all {complete.shape[1]} jokes, so "
        "that the truth is real. Ratings from -10 to 10 become one to five stars by cuts at -5, -1, 3 and 7, with "
        f"shares of {shares}."
    )
    return World(stars, DATA, origin)
