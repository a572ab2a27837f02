"""Collaborative metric learning: a hinge on the distance, or on the estimated rank of the positive."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.models.model import check_number, check_whole
from unskew.models.training.batches import Batch
from unskew.models.training.gradient_model import GradientModel
from unskew.models.training.parameters import Parameters


@dataclass(frozen=True)
class Cml(GradientModel, word="cml"):
    r"""Users and items as points of the unit ball: items of the user's history should be nearer than others.

    .. math:: \min \sum_{(u, i, j)} \bigl[m - x_{ui} + x_{uj}\bigr]_+ + \frac{\lambda}{2} \lVert \Theta \rVert^2, \qquad
       x_{ui} = b_i - \lVert p_u - q_i \rVert^2

    One uniform negative for each positive; after each step the vectors in the batch are projected to the unit ball.
    Hsieh et al. (2017); U-CML of Yang et al. (2018), eq. 17 with the sign of the hinge corrected. Other options are
    those of `GradientModel`.

    Parameters
    ----------
    margin : float
        m.
    """

    regularisation: float = 0.1
    margin: float = 1.0

    distance: ClassVar[bool] = True
    weighted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "margin")

    @property
    def fan(self) -> int:
        """Items per sample: a positive and a negative."""
        return 2

    def slope(self, rows: Parameters, batch: Batch, first: int, last: int) -> None:
        """Write the slopes of the hinge of the worst negative."""
        from unskew.models.training.gradient_kernel import slope_hinge

        slope_hinge(
            rows.users.now, rows.items.now, rows.bias.now, batch.users, batch.items, batch.slopes, batch.losses,
            first, last,
            float(self.margin), self.weighted,
        )  # fmt: skip


@dataclass(frozen=True)
class CmlRank(Cml, word="cml-rank"):
    r"""Like `cml`, with several negatives for each positive: the worst one counts, weighted by how many are too near.

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
        """Items per sample: a positive and its negatives."""
        return 1 + self.negatives
