"""What estimators of randomly exposed data share."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, Option
from unskew.estimators.estimator import Estimator


@dataclass(frozen=True)
class ExposedEstimator(Estimator):
    """An estimator that needs a test whose items were drawn at random, labelled positive or not."""

    uses_propensity: ClassVar[bool] = False

    def terms(
        self, gains: Floats, propensity: Floats, user: Ints, relevant: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Refused: held-out positives alone do not tell from how many items they were drawn."""
        raise ConfigError(
            f"{self} is for items that were drawn at random and labelled; give them with {Option('exposed')}, or use "
            "snips"
        )
