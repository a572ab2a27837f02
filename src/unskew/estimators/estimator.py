"""From gains of held-out rows to a numerator and a denominator a user."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.rows import Rows
from unskew.notation import Named


@dataclass(frozen=True)
class Estimator(Named, family="estimator"):
    """An estimate is the sum of numerators over the sum of denominators, one pair a user.

    A subclass says what it needs and writes `weights`, the weight of each row in its user's numerator; `terms` and
    `totals` follow, unless it writes them itself.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean"})
    """Kinds of metric it can estimate: mean, sum, list, loss, graded."""
    needs_absolute: ClassVar[bool] = False
    """Whether the propensity must be known, not just up to scale."""
    needs_relevant: ClassVar[bool] = False
    """Whether a mean metric needs each user's number of relevant items."""
    counts_empty_users: ClassVar[bool] = False
    """Whether users with nothing observed count as 0."""
    uses_propensity: ClassVar[bool] = True

    @property
    def corrects(self) -> bool:
        """Whether it corrects for what was observed, and is no plain average."""
        return self.uses_propensity

    @property
    def target(self) -> str:
        """What the number estimates, in words."""
        return "relevant items, mean over users"

    @abstractmethod
    def terms(
        self, gains: Floats, propensity: Floats, user: Ints, relevant: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Numerator and denominator of each user, for a mean over the user's relevant items.

        Parameters
        ----------
        gains : array
            Worth of each held-out row.
        propensity : array
            P of each row, in (0, 1].
        user : array of int
            0 to m-1, the user of each row; every user has a row.
        relevant : array, optional
            Each user's number of relevant items, where known.
        """

    def totals(self, gains: Floats, propensity: Floats, user: Ints) -> tuple[Floats, Floats]:
        """Numerator and denominator of each user, for a sum over the user's relevant items."""
        raise ConfigError(f"{self} cannot estimate a sum metric")

    def risk(self, rows: Rows) -> Terms:
        """Terms of a mean over all pairs of a user and an item, from the observed ones (Schnabel et al. 2016)."""
        raise ConfigError(f"{self} cannot estimate a metric over all pairs")

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind; loss and graded metrics are over all pairs."""
        return self.target

    def weights(self, propensity: Floats, user: Ints, relevant: Floats | None = None) -> Floats:
        """Weight of each row in the estimate, up to scale; diagnostics are made from it."""
        return np.asarray(1 / propensity)

    def row_weights(self, rows: Rows) -> Floats:
        """Weight of each row in the estimate of a metric over all pairs, up to scale."""
        return self.weights(rows.propensity, rows.user)

    def clipped_share(self, propensity: Floats) -> float:
        """Share of the weights that clipping changes; none by default."""
        return 0.0


@dataclass(frozen=True)
class Weighted(Estimator):
    """Shared by estimators that weight by inverse propensity.

    Parameters
    ----------
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    """

    clip: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.clip <= 1:
            raise ConfigError(f"clip={self.clip:g} must lie between 0 and 1: it is relative to the largest propensity")

    def inverse(self, propensity: Floats) -> Floats:
        """1 / P, clipped."""
        return np.asarray(1 / (np.maximum(propensity, self._floor(propensity)) if self.clip else propensity))

    def clipped_share(self, propensity: Floats) -> float:
        """Share of the weights that clipping changes."""
        return float(np.mean(propensity < self._floor(propensity))) if self.clip else 0.0

    def _floor(self, propensity: Floats) -> float:
        return self.clip * float(np.max(propensity, initial=0.0))


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices, for those who call the class and not its word."""
    if value not in choices:
        raise ConfigError(f"{option}={value!r}: choose from {', '.join(choices)}")


def all_pairs(kind: str, per: str) -> str:
    """The target of a corrected estimate over all pairs, in words."""
    if per == "item":
        return "all pairs, mean over items"
    return "all pairs" if kind == "loss" and per == "pair" else "all pairs, mean over users"


def sum_by(user: Ints, values: Floats) -> Floats:
    """Sum of values for each user."""
    from unskew.estimators.sums_kernel import group_sum

    sums: Floats = group_sum(user, values, int(user.max(initial=-1)) + 1)
    return sums


def mean_by(user: Ints, values: Floats) -> Floats:
    """Mean of values for each user."""
    from unskew.estimators.sums_kernel import group_mean

    means: Floats = group_mean(user, values, int(user.max(initial=-1)) + 1)
    return means
