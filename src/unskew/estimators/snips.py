"""Self-normalised inverse propensity scoring."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.estimators.estimator import Weighted, check_choice, mean_by, sum_by


@dataclass(frozen=True)
class Snips(Weighted, word="snips"):
    r"""Weights 1/P, normalised by their own sum, so P is needed only up to scale.

    With :math:`w = 1/P`, three forms that differ in what is normalised:

    ========== ======================================================================== ==========================
    per        value                                                                    target
    ========== ======================================================================== ==========================
    pair       :math:`\sum w c / \sum w` over all rows (Schnabel et al. 2016)           mean over relevant pairs
    balanced   :math:`\sum_u \overline{w c}_u / \sum_u \overline{w}_u`                  nearly the mean over users
    user       :math:`\frac{1}{|U|}\sum_u (\sum w c / \sum w)` (Yang et al. 2018, "UB") mean over users
    ========== ======================================================================== ==========================

    The ratio of a user with one held-out row is that row's gain whatever its weight, so ``per=user`` hardly corrects
    when users have few rows, however many users there are.

    Parameters
    ----------
    per : {"pair", "balanced", "user"}
    """

    per: Literal["pair", "balanced", "user"] = "pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("per", self.per, ("pair", "balanced", "user"))

    @property
    def target(self) -> str:
        """What the number estimates."""
        return {
            "pair": "relevant pairs",
            "balanced": "relevant items, nearly mean over users",
            "user": "relevant items, mean over users",
        }[self.per]

    def terms(
        self, gains: Floats, propensity: Floats, user: Ints, relevant: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Weighted gains and weights, in the form asked for."""
        weight = self.inverse(propensity)
        if self.per == "balanced":
            return mean_by(user, weight * gains), mean_by(user, weight)
        numerator, denominator = sum_by(user, weight * gains), sum_by(user, weight)
        if self.per == "pair":
            return numerator, denominator
        return numerator / denominator, np.ones_like(denominator)

    def weights(self, propensity: Floats, user: Ints, relevant: Floats | None = None) -> Floats:
        """Inverse propensity, normalised as the form has it."""
        weight = self.inverse(propensity)
        if self.per == "balanced":
            return np.asarray(weight / np.bincount(user)[user])
        return weight if self.per == "pair" else np.asarray(weight / sum_by(user, weight)[user])
