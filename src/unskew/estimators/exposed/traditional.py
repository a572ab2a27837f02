"""The metric inside the sample, as if nothing else could be recommended."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.estimators.exposed.exposed_estimator import ExposedEstimator


@dataclass(frozen=True)
class Traditional(ExposedEstimator, word="traditional"):
    r"""The metric among the exposed items alone, the mean over users with a positive [wang2024].

    Positives are ranked among the user's l exposed items, so recall@5 in a sample of 20 asks where the upper quarter
    of all candidates is: over rankings drawn at random its mean is that of full recall at :math:`K L / l` (theorem 1),
    and for a given model not even that.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list"})

    @property
    def target(self) -> str:
        """What the number estimates."""
        return "exposed items, mean over users"
