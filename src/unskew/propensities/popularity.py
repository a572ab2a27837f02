"""Popular items are more likely to be observed."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.propensities.propensity import PropensityModel


@dataclass(frozen=True)
class Popularity(PropensityModel, word="popularity"):
    r"""A power of the item's count in training (Yang et al. 2018, with the exponent derived, not as printed).

    .. math:: P_i = \left(\frac{n^*_i + s}{\max_j n^*_j + s}\right)^{(\gamma+1)/2}

    Known only up to scale.

    Parameters
    ----------
    gamma : float
        How strongly the logging system favoured popular items; -1 means no correction.
    smoothing : float
        Added to each count, so that items never seen in training are kept; with 0 they have no propensity, and their
        rows are dropped and counted, as the paper's code does.
    """

    gamma: float = 0.0
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.gamma):
            raise ConfigError(f"gamma={self.gamma} must be a finite number")
        if not 0 <= self.smoothing < np.inf:
            raise ConfigError(f"smoothing={self.smoothing:g} must be 0 or more")

    def fit(self, train: Interactions, test: Interactions) -> "FittedPopularity":
        """Count the training rows of each item."""
        counts = train.item_counts + self.smoothing
        if not counts.any():
            raise PropensityError("no training row to count popularity from")
        relative = counts / counts.max()
        with np.errstate(divide="ignore"):
            by_item = relative ** ((self.gamma + 1) / 2)
        tiny = (by_item <= 0) & (counts > 0)
        if tiny.any():
            raise PropensityError(
                f"gamma={self.gamma:g} makes the propensity of rare items vanish in floating point; use a smaller gamma"
            )
        by_item[counts == 0] = np.nan
        return FittedPopularity(by_item / np.nanmax(by_item))


@dataclass(frozen=True, eq=False)
class FittedPopularity:
    """Propensities by item code."""

    by_item: Floats
    absolute: bool = False

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """Look the items up."""
        return self.by_item[items]
