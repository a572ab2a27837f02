"""The naive average."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Estimator, check_choice, mean_by, sum_by
from unskew.estimators.rows import Rows, normalised


@dataclass(frozen=True)
class Aoa(Estimator, word="aoa"):
    r"""Average over all observed rows, as if nothing were missing (Yang et al. 2018, eq. 4).

    .. math:: \frac{1}{|U|}\sum_u \frac{1}{|S^*_u|}\sum_{i\in S^*_u} c_{ui}

    Parameters
    ----------
    per : {"auto", "user", "pair", "item"}
        ``user``: the mean of the users' means; ``pair``: the plain mean over rows, the naive counterpart of ``snips``;
        ``item``: the mean of the items' means, for metrics over all pairs. By default ``user`` for positives and
        ``pair`` for metrics over all pairs, where it is the naive estimator of Schnabel et al. (2016).
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list", "loss", "graded"})
    uses_propensity: ClassVar[bool] = False
    per: Literal["auto", "user", "pair", "item"] = "auto"

    def __post_init__(self) -> None:
        check_choice("per", self.per, ("auto", "user", "pair", "item"))

    @property
    def target(self) -> str:
        """What the number estimates."""
        return "observed pairs" if self.per == "pair" else "observed items, mean over users"

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        if kind not in {"loss", "graded"}:
            return self.target
        return {"user": "observed pairs, mean over users", "item": "observed pairs, mean over items"}.get(
            self.per, "observed pairs"
        )

    def risk(self, rows: Rows) -> Terms:
        """Mean loss of the observed pairs, all of the same weight."""
        ones = np.ones_like(rows.loss)
        return normalised(rows, ones, "pair" if self.per == "auto" else self.per, ones)

    def row_weights(self, rows: Rows) -> Floats:
        """Equal over all rows, or within a user or item."""
        group = {"user": rows.user, "item": rows.item}.get(self.per)
        return np.ones(len(rows.loss)) if group is None else np.asarray(1 / np.bincount(group)[group])

    def terms(
        self, gains: Floats, propensity: Floats, user: Ints, relevant: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Mean gain and 1, or total gain and number of rows."""
        if self.per == "pair":
            return sum_by(user, gains), np.bincount(user).astype(float)
        means = mean_by(user, gains)
        return means, np.ones_like(means)

    def totals(self, gains: Floats, propensity: Floats, user: Ints) -> tuple[Floats, Floats]:
        """Total gain and 1."""
        if self.per == "pair":
            raise ConfigError("aoa(per=pair) is a mean over rows, which a sum over a user's items has not; use aoa")
        sums = sum_by(user, gains)
        return sums, np.ones_like(sums)

    def weights(self, propensity: Floats, user: Ints, relevant: Floats | None = None) -> Floats:
        """Equal within a user, and over all rows when per pair."""
        return np.ones(len(user)) if self.per == "pair" else np.asarray(1 / np.bincount(user)[user])
