"""AutoDebias: weights and imputed labels that are learnt from a uniform sample."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unskew.models.debiased.pointwise import PointwiseModel
from unskew.models.model import check_number, check_whole

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting


@dataclass(frozen=True)
class AutoDebias(PointwiseModel, word="autodebias"):
    r"""Weights of the observed pairs, and weights and labels of all pairs, learnt from a small uniform sample.

    .. math:: L(\theta, \phi) = \sum_{O} w^1_{ui} (\hat y_{ui} - y_{ui})^2
       + \lambda_m \sum_{u, i} w^2_{ui} (\hat y_{ui} - m_{ui})^2 + \frac{\lambda}{2} \lVert \Theta \rVert^2

    .. math:: w^1 = e^{(a_u + a_i + a_y) / 5}, \quad w^2 = e^{(b_u + b_i + b_o) / 5}, \quad m = \tanh(c_k)

    where o is whether the pair is observed and k is its label, or none. A step looks one plain gradient step ahead,
    :math:`\theta' = \theta - \eta \nabla_\theta L`, moves φ = (a, b, c) by Adam down the gradient of the loss of
    :math:`\theta'` on the uniform sample, and then θ with the new φ. All of φ starts at 0. Chen et al. (2021); the
    defaults below are theirs for Coat, except η, which suits Adam; learning rate and λ are ours. Other options are
    those of `PointwiseModel`.

    Parameters
    ----------
    imputation : float
        λ_m.
    look_ahead : float
        η; with ``optimiser=sgd`` the learning rate is used instead, as in their code.
    frozen : int
        Number of epochs before a and b are learnt.
    observed_rate, observed_decay : float
        Adam's learning rate and weight decay for a.
    pair_rate, pair_decay : float
        The same for b.
    label_rate, label_decay : float
        The same for c.
    """

    imputation: float = 0.05
    look_ahead: float = 1e-4
    frozen: int = 20
    observed_rate: float = 1e-3
    observed_decay: float = 1e-4
    pair_rate: float = 1e-3
    pair_decay: float = 1e-3
    label_rate: float = 0.1
    label_decay: float = 1e-4

    needs_uniform: ClassVar[bool] = True
    needs_both: ClassVar[bool] = False
    patient_until: ClassVar[int] = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "frozen", 0)
        check_number(self, "look_ahead")
        for option in ("imputation", "observed_rate", "pair_rate", "label_rate"):
            check_number(self, option, zero=True)
        for option in ("observed_decay", "pair_decay", "label_decay"):
            check_number(self, option, zero=True)

    def method(self, setting: "Setting") -> "Method":
        """The steps of meta-learning."""
        from unskew.models.debiased.autodebias_steps import Meta

        return Meta(self, setting)
