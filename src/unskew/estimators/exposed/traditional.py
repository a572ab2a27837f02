"""The metric computed inside the sample, as if no other item could be recommended."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.arrays import Floats
from unskew.estimators.aoa import Aoa
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Estimator
from unskew.estimators.rows import Kind, Rows


@dataclass(frozen=True)
class Traditional(Estimator, word="traditional"):
    r"""The metric among the exposed items only, as a mean over users with a positive [wang2024].

    Positives are ranked among the user's l exposed items, so recall@5 in a sample of 20 is about the upper quarter of
    all candidates: over random rankings its mean is that of full recall at :math:`K L / l` (theorem 1), and for a given
    model not even that.
    """

    sees: ClassVar[str] = "inside"
    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list"})
    uses_propensity: ClassVar[bool] = False

    @property
    def target(self) -> str:
        """What the number estimates."""
        return "exposed items, mean over users"

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """The plain average over users."""
        if kind not in self.kinds:
            raise self.refuse(kind)
        return Aoa().terms(rows, kind)

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Equal within a user."""
        return Aoa().weights(rows, kind)
