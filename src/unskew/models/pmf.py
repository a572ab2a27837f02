"""Probabilistic matrix factorisation of clicks."""

from dataclasses import dataclass
from typing import Literal

from unskew.errors import ConfigError
from unskew.models.training.batches import Batch, Positives
from unskew.models.training.gradient_model import GradientModel
from unskew.models.training.parameters import Parameters


@dataclass(frozen=True)
class Pmf(GradientModel, word="pmf"):
    r"""Squared error, with target 1 for pairs of the log and 0 for pairs drawn from the rest.

    .. math:: \min \frac{1}{2} \sum_{(u, i)} c_{ui} (y_{ui} - x_{ui})^2 + \frac{\lambda}{2} \lVert \Theta \rVert^2,
       \qquad x_{ui} = p_u \cdot q_i + b_i

    with c = 1 for positives and 0.25 for negatives, in equal numbers. Salakhutdinov and Mnih (2007), in the form of
    Yang et al. (2018), section 4.1.2.
    Other options are those of `GradientModel`.

    Parameters
    ----------
    form : {"paper", "openrec"}
        ``openrec`` is the form of the paper's code: c = 1 for all, a fifth of a batch are positives, and the prediction
        is the sigmoid of x.
    """

    regularisation: float = 0.0
    form: Literal["paper", "openrec"] = "paper"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in {"paper", "openrec"}:
            raise ConfigError(f"pmf(form={self.form}): expected paper or openrec")

    @property
    def fan(self) -> int:
        """Items per sample: a positive or a negative."""
        return 1

    @property
    def positives(self) -> int:
        """Number of positives: half of the batch, or a fifth."""
        return max(1, self.batch // (2 if self.form == "paper" else 5))

    def draw(self, positives: Positives, batch: Batch, key: int, first: int, last: int) -> None:
        """Fill the samples after the positives with pairs outside the log."""
        from unskew.models.training.gradient_kernel import draw_strangers

        first = max(first, self.positives)
        draw_strangers(
            key, positives.offsets, positives.members, positives.n_items, batch.users, batch.items, first, last
        )

    def slope(self, rows: Parameters, batch: Batch, first: int, last: int) -> None:
        """Write the slopes of the squared error."""
        from unskew.models.training.gradient_kernel import slope_squared

        weight = 0.25 if self.form == "paper" else 1.0
        slope_squared(
            rows.users.now, rows.items.now, rows.bias.now, batch.users, batch.items, batch.slopes, batch.losses,
            first, last,
            self.positives, weight, self.form == "openrec",
        )  # fmt: skip
