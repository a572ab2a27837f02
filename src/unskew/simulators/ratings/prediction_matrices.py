"""Five predictions of known ratings, each wrong in its own way."""

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints, SeedLike
from unskew.errors import DataError
from unskew.simulators.ratings.rating_world import stars_of


def prediction_matrices(ratings: npt.ArrayLike, rng: SeedLike = 0) -> dict[str, Floats]:
    r"""The five prediction matrices of Schnabel et al. 2016 (their Table 1).

    ========= ================================================================= ================================
    name      prediction                                                        its MAE
    ========= ================================================================= ================================
    REC_ONES  the truth, but a random one becomes 5 for each five               :math:`4 p_5`
    REC_FOURS the same with fours                                               :math:`p_5`
    ROTATE    Y - 1, and 5 if Y is 1                                            :math:`1 + 3 p_1`
    SKEWED    Normal with mean Y and deviation (6 - Y) / 2, clipped to [0, 6]   random
    COARSENED 3 if Y is at most 3, else 4                                       :math:`2 p_1 + p_2 + p_5`
    ========= ================================================================= ================================

    :math:`p_r` is the share of the rating r among all cells.

    Parameters
    ----------
    ratings : array of int, users by items
        One to five stars.
    rng : int or Generator

    Returns
    -------
    dict of arrays, users by items
        In the order of the table.

    Raises
    ------
    DataError
        If there are more fives than ones, or than fours.

    Examples
    --------
    >>> matrices = prediction_matrices([[1, 2, 3], [4, 5, 1]])
    >>> matrices["ROTATE"].tolist(), matrices["COARSENED"].tolist()
    ([[5.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[3.0, 3.0, 3.0], [4.0, 4.0, 3.0]])
    """
    stars = stars_of(ratings)
    generator = np.random.default_rng(rng)
    noise = (6 - stars) / 2
    return {
        "REC_ONES": _promote(stars, 1, generator),
        "REC_FOURS": _promote(stars, 4, generator),
        "ROTATE": np.where(stars == 1, 5.0, stars - 1.0),
        "SKEWED": np.clip(generator.normal(stars, noise), 0.0, 6.0),
        "COARSENED": np.where(stars <= 3, 3.0, 4.0),
    }


def _promote(stars: Ints, rating: int, generator: np.random.Generator) -> Floats:
    """The truth, but with one random cell of this rating at 5 for each five."""
    cells, fives = np.flatnonzero(stars == rating), int(np.count_nonzero(stars == 5))
    if fives > len(cells):
        raise DataError(
            f"ratings: {fives} cells have 5 stars but only {len(cells)} have {rating}; at least {fives} are needed"
        )
    predicted = stars.astype(np.float64)
    predicted.ravel()[generator.choice(cells, size=fives, replace=False)] = 5.0
    return predicted
