"""The base of models that learn from one pair at a time: a positive and an item that should rank below it."""

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from unskew.arrays import Floats
from unskew.data import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.models.model import Observed, check_number
from unskew.models.training.batches import Positives
from unskew.models.training.stepwise import StepwiseModel

if TYPE_CHECKING:
    from unskew.models.training.pair_run import PairwiseRun

LEARNING_RATES = (0.01, 0.05, 0.1)
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3)
"""The grid of `tune`; the paper states none."""


@dataclass(frozen=True)
class PairwiseModel(StepwiseModel):
    r"""Factors learnt from one pair of items per step, by plain stochastic gradient descent with a hinge.

    .. math:: x_{ui} = \theta_u \cdot \theta_i + b_i

    A step draws (see `per`) a user, one of the user's items i, and items v until one has
    :math:`x_{ui} - x_{uv} < 1`; it then descends on
    :math:`c\,(x_{uv} - x_{ui} + 1) + \frac{\lambda}{2}(\lVert\theta_u\rVert^2 + \lVert\theta_i\rVert^2 +
    \lVert\theta_v\rVert^2)`; biases are not penalised. A model defines which v may be drawn, how many at most, and c.
    Two models of this kind with the same seed, factors and init have the same initial factors. Other options are those
    of `StepwiseModel`.

    Parameters
    ----------
    regularisation : float
        λ, on the three vectors of a step.
    iterations : int
        Number of steps, which are pairs drawn.
    learning_rate : float
        The learning rate, which is constant.
    tune : bool
        Choose learning rate (0.01, 0.05, 0.1) and regularisation (1e-5, ... 0.01, 0.1, 0.2, 0.3) by the validation
        metric.
    init : float
        Standard deviation of the initial factors, which are normal; the initial biases are 0.
    propensity : str
        The word of a propensity model: positives are then drawn in proportion to 1/P instead of uniformly, which
        compensates for popularity. An evaluation fits it and adds the propensities to the rows (and chooses by
        ``snips``); in Python, the rows must have them.
    per : {"user", "pair"}
        What a step draws first: a user, with equal chances, and then one of the user's items, as published; or a pair
        of the log, so that users with more items, or with larger weights, are drawn more often.
    """

    regularisation: float = 0.1
    iterations: int = 1_000_000
    learning_rate: float = 0.05
    every: int = 100_000
    patience: int = 0
    init: float = 0.1
    propensity: str = ""
    per: Literal["user", "pair"] = "user"

    one_core: ClassVar[bool] = True
    outside_only: ClassVar[bool] = False
    """Whether v must be outside the user's history."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "init")
        if self.per not in {"user", "pair"}:
            raise ConfigError(f"{self.word}(per={self.per}): expected user or pair")
        plain = {field.name: field.default for field in fields(self)}
        if self.tune and any(getattr(self, option) != plain[option] for option in ("learning_rate", "regularisation")):
            raise ConfigError(
                f"{self}: tune chooses learning-rate and regularisation; leave them out, or leave out tune"
            )
        if self.learning_rate * self.regularisation >= 1:
            raise ConfigError(
                f"{self}: learning-rate times regularisation must be below 1, or a step reverses the factors"
            )

    @property
    def uses_propensity(self) -> bool:
        """Whether rows are weighted."""
        return bool(self.propensity)

    @abstractmethod
    def costs(self, n_items: int) -> Floats:
        """Return c for a v that is found with the first, second, ... draw; their number limits the draws."""

    def settings_to_try(self) -> tuple[Self, ...]:
        """All combinations of a learning rate and a regularisation."""
        return tuple(
            replace(self, learning_rate=rate, regularisation=penalty, tune=False)
            for rate in LEARNING_RATES
            for penalty in PENALTIES
        )

    def start(self, observed: Observed, train: Interactions, seed: int, threads: int) -> "PairwiseRun":
        """A run before its first step; it uses one thread."""
        from unskew.models.training.pair_run import PairwiseRun

        weights = self._weights(observed, train) if self.uses_propensity else None
        return PairwiseRun(self, observed, Positives.of(observed, train.name), weights, seed)

    def _weights(self, observed: Observed, train: Interactions) -> Floats:
        """1/P of each member of the training matrix."""
        if train.propensity is None:
            raise PropensityError(
                f"{train.name}: {self} needs the propensity of each row, but there are none; use "
                "train.with_propensity(...), or name the model in an evaluation"
            )
        train = train.distinct()  # like the matrix
        chances = np.asarray(train.propensity, dtype=float)
        if not (np.isfinite(chances).all() and (chances > 0).all()):
            raise PropensityError(f"{train.name}: {self} needs propensities above 0 for all training rows")
        order = np.lexsort((train.items, train.users))  # the order of the matrix: by user, then by item
        return np.asarray(1 / chances[order])
