"""Bayesian personalised ranking."""

from dataclasses import dataclass

from unskew.models.training.batches import Batch
from unskew.models.training.gradient_model import GradientModel
from unskew.models.training.parameters import Parameters


@dataclass(frozen=True)
class Bpr(GradientModel, word="bpr"):
    r"""Factors that rank an item of the user's history above an item outside it.

    .. math:: \min \sum_{(u, i, j)} -\ln \sigma(x_{ui} - x_{uj}) + \frac{\lambda}{2} \lVert \Theta \rVert^2, \qquad
       x_{ui} = p_u \cdot q_i + b_i

    One uniform negative j outside the user's history for each positive i; λ counts a row each time it is looked up.
    Rendle et al. (2009), as used by Yang et al. (2018), eq. 16 (where the sigmoid is missing in print). Its options are
    those of `GradientModel`.
    """

    @property
    def fan(self) -> int:
        """Items per sample: a positive and a negative."""
        return 2

    def slope(self, rows: Parameters, batch: Batch, first: int, last: int) -> None:
        """Write the slopes of the logistic loss of the difference."""
        from unskew.models.training.gradient_kernel import slope_pairwise

        slope_pairwise(
            rows.users.now,
            rows.items.now,
            rows.bias.now,
            batch.users,
            batch.items,
            batch.slopes,
            batch.losses,
            first,
            last,
        )
