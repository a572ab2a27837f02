"""The plain method: observed labels without a correction."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unskew.models.debiased.pointwise import PointwiseModel

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting


@dataclass(frozen=True)
class Bias(PointwiseModel, word="bias"):
    r"""Labels of the observed pairs, as if observed at random.

    .. math:: \min \sum_{(u, i) \in O} (\hat y_{ui} - y_{ui})^2 + \frac{\lambda}{2} \lVert \Theta \rVert^2,
       \qquad y_{ui} \in \{-1, 1\}

    The baseline "Bias" of Wang et al. (2024). Its options are those of `PointwiseModel`.
    """

    def method(self, setting: "Setting") -> "Method":
        """Steps with equal weights."""
        from unskew.models.debiased.pointwise_steps import Weighted

        return Weighted(self, setting, 1.0, 1.0)
