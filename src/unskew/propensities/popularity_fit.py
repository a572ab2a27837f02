"""Estimation of gamma from how much more often a recommender presents popular items."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints, dot
from unskew.errors import ConfigError, DataError, PropensityError

CUT = 0.005  # share of the most popular items that the paper leaves out of the fit
LEAST_LEVELS = 3  # a line through two points has a slope, but no error
FEW_LEVELS = 10  # with at most this many points, the slope of a line is unreliable
WIDE_ERROR = 0.5  # two such errors to each side span the range from no correction to a full one, -1 to 1


@dataclass(frozen=True, eq=False)
class PresentationBias:
    r"""How often an item of each popularity is recommended (Yang et al. 2018, section 4.2).

    .. math:: f(n) = \frac{\sum_i 1\{n^*_i = n\} N_i}{\sum_i 1\{n^*_i = n\}}

    Parameters
    ----------
    levels : array of int
        The distinct popularities above 0, ascending.
    f : array
        Mean number of users who are recommended an item of the level.
    items : array of int
        How many items each level has.
    """

    levels: Ints
    f: Floats
    items: Ints

    @property
    def never(self) -> Ints:
        """Levels without a recommended item."""
        never: Ints = self.levels[self.f == 0]
        return never


@dataclass(frozen=True)
class GammaFit:
    r"""A straight line through log f against log popularity; its slope is gamma.

    Parameters
    ----------
    gamma : float
    intercept : float
        log f of an item of popularity 1, by the line.
    std_error : float
        Standard error of gamma, with the levels as points and equal spread about the line.
    residual : float
        Standard deviation of the levels about the line.
    levels : int
        Number of levels in the fit, three or more.
    never : int
        Number of levels without a recommended item, which are left out: f = 0 has no logarithm.
    cut_items : int
        Number of the most popular items, which are left out.
    items : int
        Number of items of the levels in the fit.
    recommended_items : int
        Number of items that are recommended to any user, including those cut.
    """

    gamma: float
    intercept: float
    std_error: float
    residual: float
    levels: int
    never: int
    cut_items: int
    items: int
    recommended_items: int

    @property
    def squared_error(self) -> float:
        """The mean squared distance of log f from the line, over the levels of the fit."""
        return self.residual**2 * (self.levels - 2) / self.levels

    @property
    def notes(self) -> tuple[str, ...]:
        """Reasons to doubt this gamma; empty if there are none."""
        if self.levels > FEW_LEVELS and self.std_error <= WIDE_ERROR:
            return ()
        fitted = f"{self.levels} popularity levels of {self.recommended_items:,} recommended items"
        return (f"gamma {self.gamma:.2f} is uncertain (standard error {self.std_error:.2f}): it is fitted to {fitted}",)

    @property
    def doubtful(self) -> bool:
        """Whether there is a reason to doubt this gamma."""
        return bool(self.notes)


def presentation_bias(popularity: Ints, recommended: Floats) -> PresentationBias:
    """The mean number of recommendations per item, by popularity.

    Parameters
    ----------
    popularity : array of int
        Training interactions of each item; items with none have no level.
    recommended : array
        How many users each item is recommended to, as `count_top` counts them.
    """
    popularity, recommended = np.asarray(popularity), np.asarray(recommended, dtype=float)
    if popularity.ndim != 1 or popularity.shape != recommended.shape:
        raise DataError(
            f"popularity {popularity.shape} and recommendations {recommended.shape} must be two columns with one "
            "number per item"
        )
    if not (np.isfinite(recommended).all() and (recommended >= 0).all() and (popularity >= 0).all()):
        raise DataError("popularity and recommendations are counts: 0 or more, and finite")
    known = popularity > 0
    levels, place, items = np.unique(popularity[known], return_inverse=True, return_counts=True)
    totals = np.bincount(place, weights=recommended[known], minlength=len(levels))
    return PresentationBias(levels, totals / items, items)


def fit_gamma(popularity: Ints, recommended: Floats, *, cut: float = CUT) -> GammaFit:
    r"""Fit gamma, the slope of log f on log popularity, by least squares over the distinct levels (Yang et al. 2018).

    .. math:: f(n^*) \propto (n^*)^\gamma

    The paper sums over pairs of levels, which gives the same slope. Each level counts once, however many items it has.
    The most popular items are left out first, by whole levels: a level is cut if all items down to it are within the
    share `cut` of the items that occur in training.

    Parameters
    ----------
    popularity : array of int
        Training interactions of each item.
    recommended : array
        How many users each item is recommended to.
    cut : float
        Share of the items to leave out, the most popular first.

    Raises
    ------
    PropensityError
        If fewer than three levels are left: a line through two has no error.
    """
    if not 0 <= cut < 1:
        raise ConfigError(f"cut={cut:g} must be a share of the items, 0 or more and below 1")
    bias = presentation_bias(popularity, recommended)
    from_the_top = np.cumsum(bias.items[::-1])[::-1]
    kept = from_the_top > cut * bias.items.sum()
    shown = kept & (bias.f > 0)
    recommended_items = int(np.sum(np.asarray(recommended) > 0))
    _require_levels(bias, kept, shown)
    x, y = np.log(bias.levels[shown]), np.log(bias.f[shown])
    centred = x - x.mean()
    gamma = dot(centred, y) / dot(centred, centred)
    intercept = float(y.mean() - gamma * x.mean())
    residual = float(np.sqrt(np.sum((y - intercept - gamma * x) ** 2) / (len(x) - 2)))
    return GammaFit(
        gamma=gamma,
        intercept=intercept,
        std_error=residual / float(np.sqrt(dot(centred, centred))),
        residual=residual,
        levels=len(x),
        never=int(np.sum(kept & ~shown)),
        cut_items=int(bias.items[~kept].sum()),
        items=int(bias.items[shown].sum()),
        recommended_items=recommended_items,
    )


def _require_levels(bias: PresentationBias, kept: Bools, shown: Bools) -> None:
    if shown.sum() >= LEAST_LEVELS:
        return
    hint = "give a gamma, as in popularity(gamma=1)"
    if not len(bias.levels):
        raise PropensityError("gamma is not identified: no item occurs in training; give the training rows")
    if len(bias.levels) == 1:
        raise PropensityError(
            f"gamma is not identified: every item has {bias.levels[0]} interactions, so the log "
            f"does not show how much popular items are favoured; {hint}"
        )
    if len(bias.levels) < LEAST_LEVELS:
        raise PropensityError(
            f"gamma is not identified: every item has {bias.levels[0]} or {bias.levels[1]} interactions, "
            f"and a line through two popularity levels has no error; {hint}"
        )
    raise PropensityError(
        f"gamma is not identified: recommendations show {int(shown.sum())} of {int(kept.sum())} popularity levels, "
        f"but three are needed; use another model, or {hint}"
    )
