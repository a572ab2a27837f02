"""`Dr`: imputation over all candidates, corrected by the weighted errors of the rows that were observed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError
from unskew.estimators.estimate import Terms
from unskew.estimators.imputed.dm import Imputing
from unskew.estimators.means import sum_by
from unskew.estimators.rows import Kind, Rows


@dataclass(frozen=True)
class Dr(Imputing, word="dr"):
    r"""Doubly robust: the direct method plus the weighted errors of its chances on the held-out rows.

    .. math::

       \frac{\sum q c + \sum_{obs} w (y - q) c}{\sum q + \sum_{obs} w (y - q)}, \qquad w \propto 1 / P_{sel}

    The first sums are over all candidates, the second over held-out rows, positive or not. The weights are capped at
    `cap` medians and add up to the number of candidates.

    Parameters
    ----------
    cap : float
        Largest weight, in medians.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum"})
    uses_exposure: ClassVar[bool] = True

    cap: float = 10.0

    def __post_init__(self) -> None:
        if not self.cap >= 1:
            raise ConfigError(f"cap={self.cap:g} must be at least 1; it is in medians of the weights")

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Sums over candidates, plus the weighted errors of the user's held-out rows."""
        if kind not in self.kinds:
            raise self.refuse(kind)
        logged = rows.logged
        if logged is None or logged.positive is None or logged.imputed is None or rows.total is None:
            raise DataError("dr needs held-out rows with labels and chances; give rows.logged")
        error = self.row_weights(logged.chance, float(rows.total.sum())) * (logged.positive - logged.imputed)
        size = np.ones(len(rows)) if rows.size is None else rows.size
        numerator = rows.worth + sum_by(logged.user, error * logged.worth, len(rows))
        return Terms(numerator, size + sum_by(logged.user, error, len(rows)) if kind == "mean" else size)

    def row_weights(self, chance: Floats, candidates: float) -> Floats:
        """Weights of held-out rows: inverse chances, capped, that add up to the number of candidates."""
        weight = 1 / chance
        weight = np.minimum(weight, self.cap * float(np.median(weight)))
        return np.asarray(weight * candidates / float(weight.sum()))
