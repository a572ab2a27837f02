"""Inverse propensity scoring."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimator import Weighted, sum_by


@dataclass(frozen=True)
class Ips(Weighted, word="ips"):
    r"""Each observed row stands for 1/P relevant ones: unbiased when P is right (Yang et al. 2018, eq. 7).

    .. math:: \frac{1}{|U|}\sum_u \frac{1}{|S_u|}\sum_{i\in S^*_u} \frac{c_{ui}}{P_{ui}}

    It needs propensities in absolute terms and, for a mean metric, every user's number of relevant items. Users with
    nothing observed count as 0.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum"})
    needs_absolute: ClassVar[bool] = True
    needs_relevant: ClassVar[bool] = True
    counts_empty_users: ClassVar[bool] = True

    def terms(
        self, gains: Floats, propensity: Floats, user: Ints, relevant: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Weighted gains over the number of relevant items, and 1."""
        if relevant is None:
            raise ConfigError("ips of a mean metric needs each user's number of relevant items")
        sums = sum_by(user, gains * self.inverse(propensity)) / relevant
        return sums, np.ones_like(sums)

    def totals(self, gains: Floats, propensity: Floats, user: Ints) -> tuple[Floats, Floats]:
        """Weighted gains and 1."""
        sums = sum_by(user, gains * self.inverse(propensity))
        return sums, np.ones_like(sums)

    def weights(self, propensity: Floats, user: Ints, relevant: Floats | None = None) -> Floats:
        """Inverse propensity, over the number of relevant items where that is known."""
        inverse = self.inverse(propensity)
        return inverse if relevant is None else np.asarray(inverse / relevant[user])
