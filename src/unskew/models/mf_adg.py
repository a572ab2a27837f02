"""Matrix factorisation for the average discounted gain, and for the area under the curve."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.models.model import check_least
from unskew.models.training.pair_model import PairwiseModel


@dataclass(frozen=True)
class MfAdg(PairwiseModel, word="mf-adg"):
    r"""Factors that maximise the average discounted gain: the loss grows with the rank, fastest at the top.

    .. math:: \min \sum_u \frac{1}{\lvert O_u \rvert} \sum_{i \in O_u} C(r_{ui}), \qquad
       C(k) = 1 - \frac{1}{\log_2(k + 2)},

    with r the number of items whose scores are above that of i minus a margin of 1. A step draws v from all items but i
    until one is; if it is the N-th draw, r is estimated as :math:`\lfloor (I - 1) / N \rfloor`, and the pair counts
    :math:`C(r)` times. After :math:`\lceil (I - 1)/\gamma \rceil` draws the step is skipped: i is estimated to be among
    the first γ. Algorithm 1 of Lim, McAuley and Lanckriet (2015), with N counting the draw that succeeds, as in WARP
    (Weston, Bengio and Usunier 2011): in print it does not, which divides by 0 if the first draw succeeds. Other
    options are those of `PairwiseModel`.

    Parameters
    ----------
    gamma : float
        γ, at least 1: larger values skip earlier, and leave more of the top unchanged.
    """

    gamma: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(self, "gamma", 1)

    def costs(self, n_items: int) -> Floats:
        """C of the rank that each number of draws implies."""
        draws = np.arange(1, self.budget(n_items) + 1)
        return rank_cost((n_items - 1) // draws)

    def budget(self, n_items: int) -> int:
        """Largest number of items v that a step draws."""
        return int(np.ceil((n_items - 1) / self.gamma))


def rank_cost(above: Any) -> Floats:
    r"""The loss of a positive with k items above it: :math:`C(k) = 1 - 1/\log_2(k + 2)`.

    The average discounted gain is 1 minus its mean. It is a sum of decreasing steps,
    :math:`C(k) = \sum_{j \le k} \alpha_j` with :math:`\alpha_1 > \alpha_2 > \ldots > 0`, so the top counts most
    [lim2015].

    Examples
    --------
    >>> from unskew.models.mf_adg import rank_cost
    >>> rank_cost([0, 1, 2, 3]).round(4).tolist()
    [0.0, 0.3691, 0.5, 0.5693]
    """
    return np.asarray(1 - 1 / np.log2(np.asarray(above) + 2.0))


@dataclass(frozen=True)
class MfAuc(PairwiseModel, word="mf-auc"):
    r"""Factors that maximise the AUC: items of the user's history should rank above any item outside it.

    .. math:: \min \sum_u \frac{1}{\lvert O_u \rvert} \sum_{i \in O_u} \frac{1}{\lvert O_u^- \rvert}
       \sum_{v \notin O_u} [x_{uv} - x_{ui} + 1]_+

    A step draws one v outside the user's history, uniformly. MF-AUC of Lim, McAuley and Lanckriet (2015), section 6.
    Its options are those of `PairwiseModel`.
    """

    outside_only: ClassVar[bool] = True

    def costs(self, n_items: int) -> Floats:
        """A single draw, at full cost."""
        return np.ones(1)
