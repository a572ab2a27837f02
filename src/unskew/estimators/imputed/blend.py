"""`Blend`: the mean of imputation and of weighting by exposure, whose errors have opposite signs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.errors import DataError
from unskew.estimators.estimate import Terms
from unskew.estimators.imputed.dm import Dm, Imputing
from unskew.estimators.means import sum_by
from unskew.estimators.rows import Kind, Rows


@dataclass(frozen=True)
class Blend(Imputing, word="blend"):
    r"""The mean of ``dm`` and of ``snips`` with the propensity ``exposure``.

    .. math::

       \frac12 \left(\frac{\sum q c}{\sum q} + \frac{\sum_{obs} w c}{\sum_{obs} w}\right), \qquad w = P_{sel}^{-0.75}

    Imputation errs towards what is good on average, because q knows nothing personal. Weighted rows err towards what
    was shown, because the weights correct only a part of the selection. The two errors have opposite signs on most
    logs. A sum metric is its mean times the number of relevant items per user, :math:`\sum q / |U|`. A list metric is
    that of ``dm``, because weighted rows have no list.

    With a slice of random rows, it is a weighted mean of these two and of what the slice shows; see
    `blend_with_slice`.
    """

    uses_exposure: ClassVar[bool] = True

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Terms of the mean of both, linearised: the sum over users is the value, and the influences add up."""
        if kind not in self.kinds:
            raise self.refuse(kind)
        direct = Dm(q=self.q).terms(rows, kind)
        if kind == "list":
            return direct
        if rows.logged is None:
            raise DataError("blend needs held-out rows with propensities; give rows.logged")
        weight = 1 / rows.logged.chance
        count = len(rows)
        weighted = Terms(
            sum_by(rows.logged.user, weight * rows.logged.worth, count), sum_by(rows.logged.user, weight, count)
        )
        if direct.value is None or weighted.value is None:
            return direct
        scale, spread = 1.0, np.zeros(count)
        if kind == "sum":
            assert rows.mass is not None
            scale = float(rows.mass.sum()) / count
            spread = (rows.mass - scale) / count  # the influence of the scale, which is a mean over users
        value = (direct.value + scale * weighted.value) / 2
        influence = (direct.influence + scale * weighted.influence + weighted.value * spread) / 2
        return Terms(value + count * influence, np.ones(count))
