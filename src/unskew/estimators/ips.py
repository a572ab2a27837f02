"""Inverse propensity scoring."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Weighted, all_pairs
from unskew.estimators.means import sum_by
from unskew.estimators.rows import OVER_ALL_PAIRS, Kind, Rows


@dataclass(frozen=True)
class Ips(Weighted, word="ips"):
    r"""Each observed row counts for 1/P relevant ones: unbiased if P is right (Yang et al. 2018, eq. 7).

    .. math:: \frac{1}{|U|}\sum_u \frac{1}{|S_u|}\sum_{i\in S^*_u} \frac{c_{ui}}{P_{ui}}

    It needs propensities in absolute terms and, for a mean metric, every user's number of relevant items. Users without
    observations count as 0. For metrics over all pairs it is :math:`\frac{1}{UI}\sum \delta_{ui} / P_{ui}` over the
    observed pairs (Schnabel et al. 2016, eq. 10).
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "loss", "graded"})
    needs_absolute: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True
    needs_relevant: ClassVar[bool] = True
    counts_empty_users: ClassVar[bool] = True

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        return all_pairs(kind, "pair") if kind in OVER_ALL_PAIRS else self.target

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        r"""Weighted sums and their divisors: the number of relevant items, 1, or that of all pairs.

        For metrics over all pairs the variance is :math:`\sum \delta^2 (1-P)/P^2 / (UI)^2`.
        """
        if kind not in self.kinds:
            raise self.refuse(kind)
        weighted = rows.weighted(rows.worth * self.inverse(rows.chance))
        sums = sum_by(rows.user, weighted)
        if kind in OVER_ALL_PAIRS:
            assert rows.total is not None
            whole = np.zeros(len(rows.total))
            whole[: len(sums)] = sums
            return Terms(whole, rows.total, weighted * np.sqrt(1 - rows.chance) / float(np.sum(rows.total)))
        if kind == "mean":
            sums = sums / self._relevant(rows)
        return Terms(np.append(sums, np.zeros(rows.empty)), np.ones(len(sums) + rows.empty))

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Inverse propensity, divided by the number of relevant items if that is known."""
        inverse = rows.weighted(self.inverse(rows.chance))
        return inverse if kind != "mean" or rows.total is None else np.asarray(inverse / rows.total[rows.user])

    @staticmethod
    def _relevant(rows: Rows) -> Floats:
        if rows.total is None:
            raise ConfigError("ips of a mean metric needs each user's number of relevant items; give relevant counts")
        return rows.total
