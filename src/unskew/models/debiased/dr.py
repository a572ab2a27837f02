"""Doubly robust joint learning."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unskew.models.debiased.pointwise import PointwiseModel
from unskew.models.model import check_number, check_whole

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting


@dataclass(frozen=True)
class Dr(PointwiseModel, word="dr"):
    r"""Doubly robust joint learning: a second model g predicts the error of the first, and rows correct the prediction.

    A step first fits g, a matrix factorisation, to the errors :math:`e = y - \hat y` of the observed pairs,
    :math:`\min_g \sum_O w (g - e)^2`, and then descends on

    .. math:: \sum_{u, i} (\hat y - t)^2 + \sum_{O} w \left[(\hat y - y)^2 - (\hat y - t)^2\right], \qquad
       t = g + \mathrm{sg}(\hat y), \quad w = 1 / P(O = 1 \mid y)

    where sg stops the gradient: t counts as a constant. Wang et al. (2019), with the signed error of Chen et al.
    (2021); the propensities are those of `Ips`. The penalty applies to both models. Other options are those of
    `PointwiseModel`; with ``loss=bce`` the error is :math:`y - \tanh(\hat y / 2)`.

    Parameters
    ----------
    imputation_factors : int
        Number of factors of g.
    imputation_rate : float, optional
        Learning rate of g; five times that of the model by default, so that g keeps up with it.
    """

    regularisation: float = 50.0
    imputation_factors: int = 2
    imputation_rate: float | None = None

    needs_uniform: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "imputation_factors")
        if self.imputation_rate is not None:
            check_number(self, "imputation_rate")

    def method(self, setting: "Setting") -> "Method":
        """The steps of both models in turn."""
        from unskew.models.debiased.dr_steps import Robust

        return Robust(self, setting, *setting.inverse_propensities)
