"""Worlds in which all ratings are known, and better ratings are observed more often."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.arrays import Bools, Floats, Ints, SeedLike
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError, PropensityError

MARGINALS = (28417 / 54000, 13064 / 54000, 7770 / 54000, 3371 / 54000, 1378 / 54000)
"""Shares of one to five stars in the random sample of Yahoo! R3: .52624, .24193, .14389, .06243 and .02552."""


def relabel(completed: npt.ArrayLike, marginals: Sequence[float] = MARGINALS) -> Ints:
    r"""Ratings 1, 2, ... with given shares, from a completed matrix, by quantiles over all cells.

    With n cells and shares :math:`p`, divided by their sum, the cell at place j of the ascending order gets

    .. math:: r_j = 1 + \#\bigl\{ s : \mathrm{round}\bigl(n (p_1 + \ldots + p_s)\bigr) \le j \bigr\}, \qquad 0 \le j < n

    So counts are differences of rounded cumulative counts: they are exact, add up to n, and each is within one of
    :math:`n p_r`. Equal cells are ordered by their place in the matrix, row by row. Only the order matters, not the
    scale of the completed matrix (Schnabel et al. 2016).

    Parameters
    ----------
    completed : array, users by items
        Scores of all cells; higher for a better rating.
    marginals : sequence of float
        Share of each rating from 1 up; they add up to 1.

    Returns
    -------
    array of int, users by items

    Examples
    --------
    >>> relabel([[0.1, 0.9], [0.5, 0.5]], marginals=(0.5, 0.25, 0.25)).tolist()
    [[1, 3], [1, 2]]
    """
    scores = _matrix(completed, "completed matrix")
    shares = np.asarray(marginals, dtype=np.float64)
    if shares.ndim != 1 or not shares.size or not np.all(shares >= 0) or abs(shares.sum() - 1) > 1e-3:
        raise ConfigError(f"marginals={tuple(shares.ravel().tolist())}: expected shares of 0 or more that add up to 1")
    ends = np.rint(np.cumsum(shares) / shares.sum() * scores.size).astype(np.int64)
    ratings = np.empty(scores.size, dtype=np.int64)
    order = np.argsort(scores.ravel(), kind="stable")
    ratings[order] = 1 + np.searchsorted(ends[:-1], np.arange(scores.size), side="right")
    return ratings.reshape(scores.shape)


def observation(ratings: npt.ArrayLike, alpha: float, density: float = 0.05) -> Floats:
    r"""The propensity of every rating: low ratings are given less often (Schnabel et al. 2016).

    .. math:: P_{ui} = k\,\alpha^{\max(4 - Y_{ui},\, 0)}, \qquad
       k = \frac{\text{density}}{\frac{1}{UI} \sum_{u,i} \alpha^{\max(4 - Y_{ui},\, 0)}}

    With this k the expected share of observed cells of these ratings is `density`.

    Parameters
    ----------
    ratings : array of int, users by items
        One to five stars.
    alpha : float
        In (0, 1]; 1 observes all ratings equally.
    density : float
        In (0, 1).

    Returns
    -------
    array, users by items

    Raises
    ------
    PropensityError
        If k is above 1: this density is not possible at this alpha.
    """
    stars = stars_of(ratings)
    if not 0 < alpha <= 1:
        raise ConfigError(f"alpha={alpha:g}: expected a number above 0 and at most 1")
    if not 0 < density < 1:
        raise ConfigError(f"density={density:g}: expected a share of cells between 0 and 1")
    relative = float(alpha) ** np.maximum(4 - np.arange(6), 0)
    reach = float(relative[stars].mean())
    if density > reach:
        raise PropensityError(
            f"density={density:g} at alpha={alpha:g} needs P = {density / reach:.3g} for four and five stars, "
            f"above 1; these ratings allow a density of at most {reach:.3g}"
        )
    return np.asarray((density / reach * relative)[stars])


def draw_observed(propensity: npt.ArrayLike, rng: SeedLike = 0) -> Bools:
    """Whether each cell is observed, drawn independently with these probabilities."""
    chance = np.asarray(propensity, dtype=np.float64)
    bad = ~((chance >= 0) & (chance <= 1))
    if bad.any():
        raise PropensityError(
            f"propensity {chance[bad][0]:g} ({int(bad.sum())} in all) is not a probability; expected 0 to 1"
        )
    return np.asarray(np.random.default_rng(rng).random(chance.shape) < chance)


@dataclass(frozen=True, eq=False)
class RatingWorld:
    """All ratings, and how likely each is to be observed.

    Parameters
    ----------
    ratings : array of int, users by items
        One to five stars.
    propensity : array, users by items
        P of each cell, in (0, 1].
    alpha : float
        The alpha of `observation` that gave P; 1 observes all ratings equally.

    Examples
    --------
    >>> world = RatingWorld.skewed(relabel(np.random.default_rng(0).random((40, 50))), alpha=0.25)
    >>> bool(world.draw(rng=1).values.mean() > world.ratings.mean())
    True
    """

    ratings: Ints
    propensity: Floats
    alpha: float

    def __post_init__(self) -> None:
        stars_of(self.ratings)
        if self.propensity.shape != self.ratings.shape:
            raise DataError(
                f"propensity has shape {self.propensity.shape}, ratings {self.ratings.shape}; every cell needs a P"
            )
        if not np.all((self.propensity > 0) & (self.propensity <= 1)):
            raise PropensityError("a propensity of the world is outside (0, 1]; every cell needs a chance above 0")

    @classmethod
    def skewed(cls, ratings: npt.ArrayLike, alpha: float, density: float = 0.05) -> "RatingWorld":
        """The world with the P of `observation`."""
        return cls(stars_of(ratings), observation(ratings, alpha, density), alpha)

    @property
    def n_users(self) -> int:
        """Number of users, observed or not."""
        return int(self.ratings.shape[0])

    @property
    def n_items(self) -> int:
        """Size of the catalogue."""
        return int(self.ratings.shape[1])

    def draw(self, rng: SeedLike = 0) -> Interactions:
        """A log of observed ratings, with value and P; all users and items are declared."""
        observed = draw_observed(self.propensity, rng)
        users, items = np.nonzero(observed)
        return Interactions.from_arrays(
            users,
            items,
            values=self.ratings[observed],
            propensity=self.propensity[observed],
            n_users=self.n_users,
            n_items=self.n_items,
            name="ratings",
        )


def stars_of(ratings: npt.ArrayLike) -> Ints:
    """The ratings as whole numbers; an error unless all are 1, 2, 3, 4 or 5."""
    given = _matrix(ratings, "ratings")
    bad = ~np.isin(given, (1, 2, 3, 4, 5))
    if bad.any():
        user, item = np.argwhere(bad)[0].tolist()
        raise DataError(f"ratings: {given[user, item]:g} of user {user}, item {item} is not a whole number from 1 to 5")
    return given.astype(np.int64)


def _matrix(values: npt.ArrayLike, what: str) -> Floats:
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: {error}; expected numbers") from error
    if matrix.ndim != 2 or not matrix.size:
        raise DataError(f"{what}: shape {matrix.shape}; expected users by items, at least one of each")
    bad = ~np.isfinite(matrix)
    if bad.any():
        user, item = np.argwhere(bad)[0].tolist()
        raise DataError(f"{what}: user {user}, item {item} is {matrix[user, item]}; every cell needs a number")
    return matrix
