"""The uniform propensity: every relevant item is equally likely to be observed."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.propensities.propensity import PropensityModel


@dataclass(frozen=True)
class Uniform(PropensityModel, word="uniform"):
    """P is the same for all items and known only up to scale, so each estimator equals its naive counterpart."""

    uses_test = False

    def fit(self, train: Interactions, test: Interactions) -> "FittedUniform":
        """The uniform propensity, which needs no data."""
        return FittedUniform()


@dataclass(frozen=True)
class FittedUniform:
    """The same for all."""

    absolute: bool = False

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """The same P for each row."""
        return np.ones(len(items))
