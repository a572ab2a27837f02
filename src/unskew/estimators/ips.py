"""Inverse propensity scoring."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Weighted, all_pairs, sum_by
from unskew.estimators.rows import Rows


@dataclass(frozen=True)
class Ips(Weighted, word="ips"):
    r"""Each observed row stands for 1/P relevant ones: unbiased when P is right (Yang et al. 2018, eq. 7).

    .. math:: \frac{1}{|U|}\sum_u \frac{1}{|S_u|}\sum_{i\in S^*_u} \frac{c_{ui}}{P_{ui}}

    It needs propensities in absolute terms and, for a mean metric, every user's number of relevant items. Users with
    nothing observed count as 0. For metrics over all pairs it is :math:`\frac{1}{UI}\sum \delta_{ui} / P_{ui}` over
    the observed ones (Schnabel et al. 2016, eq. 10).
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "loss", "graded"})
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

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        return all_pairs(kind, "pair") if kind in {"loss", "graded"} else self.target

    def risk(self, rows: Rows) -> Terms:
        r"""Weighted losses, and how many pairs there are; their error by :math:`\sum \delta^2 (1-P)/P^2 / (UI)^2`."""
        weighted = rows.loss * self.inverse(rows.propensity)
        sums = np.zeros(len(rows.total))
        sums[: int(rows.user.max(initial=-1)) + 1] = np.bincount(rows.user, weights=weighted)
        errors = weighted * np.sqrt(1 - rows.propensity) / float(np.sum(rows.total))
        return Terms(sums, rows.total, errors)

    def weights(self, propensity: Floats, user: Ints, relevant: Floats | None = None) -> Floats:
        """Inverse propensity, over the number of relevant items where that is known."""
        inverse = self.inverse(propensity)
        return inverse if relevant is None else np.asarray(inverse / relevant[user])
