"""Self-normalised inverse propensity scoring."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Weighted, all_pairs, check_choice, mean_by, sum_by
from unskew.estimators.rows import Rows, normalised


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
    when users have few rows, however many users there are. Metrics over all pairs also have ``item``, the mean over
    items of each item's own ratio.

    Parameters
    ----------
    per : {"pair", "balanced", "user", "item"}
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "loss", "graded"})
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
        return all_pairs(kind, self.per) if kind in {"loss", "graded"} else self.target

    def risk(self, rows: Rows) -> Terms:
        r"""Weighted losses and weights; their error by :math:`\sum (\delta-\hat R)^2 (1-P)/P^2 / (\sum 1/P)^2`."""
        return normalised(rows, self.inverse(rows.propensity), self.per, np.sqrt(1 - rows.propensity))

    def row_weights(self, rows: Rows) -> Floats:
        """Inverse propensity, normalised as the form has it."""
        if self.per != "item":
            return self.weights(rows.propensity, rows.user)
        weight = self.inverse(rows.propensity)
        return np.asarray(weight / np.bincount(rows.item, weights=weight)[rows.item])

    def terms(
        self, gains: Floats, propensity: Floats, user: Ints, relevant: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Weighted gains and weights, in the form asked for."""
        if self.per == "item":
            raise ConfigError(f"{self} is for metrics over all pairs, such as mae; use snips")
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
