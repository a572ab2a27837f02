"""The base of models that learn factors by gradient descent on batches of the log."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from unskew.data import Interactions
from unskew.models.model import Observed, check_whole
from unskew.models.training.batches import Batch, Positives
from unskew.models.training.parameters import Parameters
from unskew.models.training.stepwise import StepwiseModel

if TYPE_CHECKING:
    from unskew.models.training.gradient_run import Descent

PENALTIES = (0.1, 0.01, 0.001, 1e-4, 1e-5)
"""The grid of Yang et al. (2018) for the regularisation."""


@dataclass(frozen=True)
class GradientModel(StepwiseModel):
    """Factors learnt by Adam on batches of samples.

    Other options are those of `StepwiseModel`.

    Parameters
    ----------
    regularisation : float
        λ: a row is penalised by λ/2 times its squared length each time a batch looks it up.
    tune : bool
        Choose the regularisation among 0.1, 0.01, ... 1e-5 by the validation metric, in an evaluation.
    batch : int
        Number of samples per step.
    """

    batch: int = 8000

    distance: ClassVar[bool] = False
    """Whether scores are negative squared distances, and rows stay in the unit ball."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "batch")

    @property
    @abstractmethod
    def fan(self) -> int:
        """Number of items per sample."""

    @property
    def positives(self) -> int:
        """How many samples of a batch start from a row of the log."""
        return self.batch

    @abstractmethod
    def slope(self, rows: Parameters, batch: Batch, first: int, last: int) -> None:
        """Write the losses of samples first to last - 1 and the derivatives by the scores of their entries."""

    def draw(self, positives: Positives, batch: Batch, key: int, first: int, last: int) -> None:
        """Fill in the negatives of samples first to last - 1: items outside the user's history."""
        from unskew.models.training.gradient_kernel import draw_negatives

        draw_negatives(
            key, positives.offsets, positives.members, positives.n_items, batch.users, batch.items, first, last
        )

    def settings_to_try(self) -> tuple[Self, ...]:
        """The regularisations of Yang et al. (2018)."""
        return tuple(replace(self, regularisation=penalty, tune=False) for penalty in PENALTIES)

    def effort(self, train: Interactions) -> float:
        """Its steps, each over all factors of a batch."""
        return 1e-9 * self.iterations * self.batch * self.factors

    def start(self, observed: Observed, train: Interactions, seed: int, threads: int) -> "Descent":
        """A run before its first step."""
        from unskew.models.training.gradient_run import Descent

        return Descent(self, observed, Positives.of(observed, train.name), seed, threads)
