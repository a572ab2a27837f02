"""The naive average over observed rows."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Estimator, check_choice
from unskew.estimators.means import sum_by, weighted_mean, weights_of_mean
from unskew.estimators.rows import OVER_ALL_PAIRS, Kind, Rows


@dataclass(frozen=True)
class Aoa(Estimator, word="aoa"):
    r"""Average over all observed rows, as if nothing were missing (Yang et al. 2018, eq. 6).

    .. math:: \frac{1}{|U|}\sum_u \frac{1}{|S^*_u|}\sum_{i\in S^*_u} c_{ui}

    With weighted rows the mean within a user, or over pairs, is weighted.

    Parameters
    ----------
    per : {"auto", "user", "pair", "item"}
        ``user``: the mean of the users' means; ``pair``: the plain mean over rows, the naive counterpart of ``snips``;
        ``item``: the mean of the items' means, for metrics over all pairs. By default ``user`` for positives and
        ``pair`` for metrics over all pairs, where it is the naive estimator of Schnabel et al. (2016).
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list", "loss", "graded", "content", "scored"})
    uses_propensity: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = True
    per: Literal["auto", "user", "pair", "item"] = "auto"

    def __post_init__(self) -> None:
        check_choice("per", self.per, ("auto", "user", "pair", "item"))

    @property
    def target(self) -> str:
        """What the number estimates."""
        return "observed pairs" if self.per == "pair" else "observed items, mean over users"

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        if kind == "content":
            return "lists of the judged users"
        if kind == "scored":
            return "observed items, weighted by rarity"
        if kind not in OVER_ALL_PAIRS:
            return self.target
        return {"user": "observed pairs, mean over users", "item": "observed pairs, mean over items"}.get(
            self.per, "observed pairs"
        )

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Terms of the mean with equal weights, overall or within a user or item; or of a user's sum."""
        per = self.form(kind)
        if kind in {"sum", "scored"}:
            if per == "pair":
                raise ConfigError(
                    "aoa(per=pair) is a mean over rows, so it cannot estimate a sum over a user's items; use aoa"
                )
            sums = sum_by(rows.user, rows.weighted(rows.worth))
            return Terms(sums, np.ones_like(sums))
        return weighted_mean(rows, rows.row_weight, per, np.ones(len(rows)) if kind in OVER_ALL_PAIRS else None)

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Equal over all rows, or within a user or item; those of the rows where they have weights."""
        ones = np.ones(len(rows))
        weight = ones if kind in {"sum", "list"} else rows.weighted(ones)  # users count the same in sums
        return weights_of_mean(rows, weight, self.form(kind))

    def form(self, kind: Kind) -> str:
        """What is averaged over for a metric of this kind: pairs, users or items."""
        if self.per == "item" and kind not in OVER_ALL_PAIRS:
            raise ConfigError(f"{self} is for metrics over all pairs, such as mae; use aoa")
        return self.per if self.per != "auto" else "pair" if kind in OVER_ALL_PAIRS else "user"
