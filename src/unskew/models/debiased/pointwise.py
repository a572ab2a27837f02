"""The base of models that fit a label to each pair."""

from dataclasses import dataclass
from typing import Literal

from unskew.models.debiased.model import DebiasedModel


@dataclass(frozen=True)
class PointwiseModel(DebiasedModel):
    r"""A loss for each pair and its label y, which is 1 or -1.

    The squared loss :math:`(\hat y - y)^2` is that of Chen et al. (2021), whose code Wang et al. (2024) build on. The
    latter train LightGCN with the log loss: ``loss=bce`` is
    :math:`\ln(1 + e^{\hat y}) - \hat y (1 + y) / 2`. Its derivative is also linear in y, so targets other than -1 and 1
    have a meaning with both. Other options are those of `DebiasedModel`.

    Parameters
    ----------
    loss : {"squared", "bce"}
    """

    loss: Literal["squared", "bce"] = "squared"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_choice("loss", ("squared", "bce"))
