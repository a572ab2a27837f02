"""Collaborative metric learning, with a hinge on the distance."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.models.batches import Batch
from unskew.models.model import check_number
from unskew.models.parameters import Parameters
from unskew.models.training import GradientModel


@dataclass(frozen=True)
class Cml(GradientModel, word="cml"):
    r"""Users and items as points of the unit ball: what the user has had should be nearer than what not.

    .. math:: \min \sum_{(u, i, j)} \bigl[m - x_{ui} + x_{uj}\bigr]_+ + \frac{\lambda}{2} \lVert \Theta \rVert^2, \qquad
       x_{ui} = b_i - \lVert p_u - q_i \rVert^2

    One uniform negative a positive; after each step the vectors it looked up are brought back to the unit ball.
    Hsieh et al. (2017); U-CML of Yang et al. (2018), eq. 17 with the sign of the hinge put right.
    Options beside these are those of `GradientModel`.

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
        """A positive and a negative."""
        return 2

    def slope(self, rows: Parameters, batch: Batch, first: int, last: int) -> None:
        """Of the hinge of the worst negative."""
        from unskew.models.stepping import slope_hinge

        slope_hinge(
            rows.users.now, rows.items.now, rows.bias.now, batch.users, batch.items, batch.slopes, batch.losses,
            first, last,
            float(self.margin), self.weighted,
        )  # fmt: skip
