"""Every relevant item equally likely to be observed."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.propensities.propensity import PropensityModel


@dataclass(frozen=True)
class Uniform(PropensityModel, word="uniform"):
    """P is the same for all, and how large is not known; each estimator then equals its naive counterpart."""

    def fit(self, train: Interactions, test: Interactions) -> "FittedUniform":
        """Nothing to fit."""
        return FittedUniform()


@dataclass(frozen=True)
class FittedUniform:
    """The same for all."""

    absolute: bool = False

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """One for each row."""
        return np.ones(len(items))
