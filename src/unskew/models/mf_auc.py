"""Matrix factorisation for the area under the curve."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.models.pairwise import PairwiseModel


@dataclass(frozen=True)
class MfAuc(PairwiseModel, word="mf-auc"):
    r"""Factors that raise the AUC: what the user has had above any one item that the user has not.

    .. math:: \min \sum_u \frac{1}{\lvert O_u \rvert} \sum_{i \in O_u} \frac{1}{\lvert O_u^- \rvert}
       \sum_{v \notin O_u} [x_{uv} - x_{ui} + 1]_+

    A step draws one v outside the user's history, uniformly. MF-AUC of Lim, McAuley and Lanckriet (2015), section 4.
    Its options are those of `PairwiseModel`.
    """

    outside_only: ClassVar[bool] = True

    def costs(self, n_items: int) -> Floats:
        """One draw, at full cost."""
        return np.ones(1)
