"""Inverse propensity scoring with the naive Bayes propensity of a label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unskew.models.debiased.pointwise import PointwiseModel

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting


@dataclass(frozen=True)
class Ips(PointwiseModel, word="ips"):
    r"""Labels of the observed pairs, weighted by the inverse chance that a pair of that label is observed.

    .. math:: \min \sum_{(u, i) \in O} \frac{(\hat y_{ui} - y_{ui})^2}{P(O = 1 \mid y_{ui})}
       + \frac{\lambda}{2} \lVert \Theta \rVert^2, \qquad
       P(O = 1 \mid y) = \frac{P(y \mid O = 1)\, P(O = 1)}{P(y)}

    P(y) comes from the uniform sample, the rest from the log. Schnabel et al. (2016), in the form of Chen et al.
    (2021) and Wang et al. (2024). Its options are those of `PointwiseModel`.
    """

    regularisation: float = 50.0

    needs_uniform: ClassVar[bool] = True

    def method(self, setting: "Setting") -> "Method":
        """Steps with one weight per label."""
        from unskew.models.debiased.pointwise_steps import Weighted

        return Weighted(self, setting, *setting.inverse_propensities)
