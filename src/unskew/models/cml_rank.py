"""Collaborative metric learning that weighs a mistake by the estimated rank of the positive."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.models.cml import Cml
from unskew.models.model import check_whole


@dataclass(frozen=True)
class CmlRank(Cml, word="cml-rank"):
    r"""Like `cml`, with several negatives a positive: the worst counts, by how many are too near.

    .. math:: \min \sum_{(u, i)} \ln\Bigl(\Bigl\lfloor \frac{n\,|\{j: h_j > 0\}|}{W} \Bigr\rfloor + 1\Bigr) \max_j h_j
       + \frac{\lambda}{2} \lVert \Theta \rVert^2, \qquad h_j = \bigl[m - x_{ui} + x_{uj}\bigr]_+

    over W uniform negatives; n is the number of items, and the logarithm is not differentiated. A-CML of Yang et al.
    (2018), eq. 18, with the weight on the rank of the positive as in Hsieh et al. (2017). The options of `cml`, and:

    Parameters
    ----------
    negatives : int
        W.
    """

    negatives: int = 10

    weighted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "negatives")

    @property
    def fan(self) -> int:
        """A positive and its negatives."""
        return 1 + self.negatives
