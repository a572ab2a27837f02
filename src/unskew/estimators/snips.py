"""Self-normalised inverse propensity scoring."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Weighted, all_pairs, check_choice
from unskew.estimators.means import weighted_mean, weights_of_mean
from unskew.estimators.rows import OVER_ALL_PAIRS, Kind, Rows


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

    The ratio of a user with one held-out row is the gain of that row, whatever its weight, so ``per=user`` hardly
    corrects if users have few rows, however many users there are. Metrics over all pairs also have ``item``, the mean
    over items of the ratio of each item. With weighted rows w is the weight of the row divided by P; for ``balanced``
    the mean of a user is weighted.

    Parameters
    ----------
    per : {"pair", "balanced", "user", "item"}
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "loss", "graded"})
    takes_weights: ClassVar[bool] = True
    per: Literal["pair", "balanced", "user", "item"] = "pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("per", self.per, ("pair", "balanced", "user", "item"))

    @property
    def target(self) -> str:
        """What the number estimates."""
        return {
            "pair": "relevant pairs",
            "balanced": "relevant items, nearly mean over users",
            "user": "relevant items, mean over users",
            "item": "relevant pairs, mean over items",
        }[self.per]

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        return all_pairs(kind, self.per) if kind in OVER_ALL_PAIRS else self.target

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        r"""Weighted gains or losses, and weights, in the form of `per`.

        For metrics over all pairs the variance is
        :math:`\sum (\delta-\hat R)^2 (1-P)/P^2 / (\sum 1/P)^2`.
        """
        self._check(kind)
        spread = np.sqrt(1 - rows.chance) if kind in OVER_ALL_PAIRS else None
        return weighted_mean(rows, self._weight(rows), self.per, spread)

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Inverse propensity, normalised as in the form of `per`."""
        self._check(kind)
        return weights_of_mean(rows, self._weight(rows), self.per)

    def _weight(self, rows: Rows) -> Floats:
        """1 / P times the weight of the row, which is relative to the user's mean weight in ``balanced``."""
        weight = rows.weighted(self.inverse(rows.chance))
        if self.per != "balanced" or rows.row_weight is None:
            return weight
        return weight * (rows.counts / rows.sums(rows.row_weight))[rows.user]

    def _check(self, kind: Kind) -> None:
        if kind not in self.kinds:
            raise self.refuse(kind)
        if self.per == "item" and kind not in OVER_ALL_PAIRS:
            raise ConfigError(f"{self} is for metrics over all pairs, such as mae; use snips")
