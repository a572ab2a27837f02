"""The base classes of estimators, which turn rows into a numerator and a denominator per user."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.rows import Kind, Rows
from unskew.notation import Named


@dataclass(frozen=True)
class Estimator(Named, family="estimator"):
    """An estimate is the sum of numerators over the sum of denominators, one pair per user.

    A subclass declares what it needs and defines `terms`, and `weights` for the diagnostics.
    """

    sees: ClassVar[str] = "observed"
    """The rows it uses: ``observed`` rows (positives, or ratings for metrics over all pairs), ``exposed`` rows ranked
    among all candidates, or positives ranked ``inside`` the exposed rows."""
    kinds: ClassVar[frozenset[str]] = frozenset({"mean"})
    """Kinds of metric it can estimate: mean, sum, list, loss, graded."""
    needs_absolute: ClassVar[bool] = False
    """Whether it needs the propensity itself, not just up to scale."""
    needs_relevant: ClassVar[bool] = False
    """Whether a mean metric needs each user's number of relevant items."""
    counts_empty_users: ClassVar[bool] = False
    """Whether users without observations count as 0."""
    uses_propensity: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = False
    """Whether it takes account of `Rows.row_weight`; if not, weighted test rows are refused."""

    @property
    def corrects(self) -> bool:
        """Whether it corrects for the observation, and is not a plain average."""
        return self.uses_propensity

    @property
    def misses_ties(self) -> bool:
        """Whether a row within a tie group across the cut-off counts as missed, whatever the ties of the run."""
        return False

    @property
    def target(self) -> str:
        """A description of what the number estimates."""
        return "relevant items, mean over users"

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind; loss and graded metrics are over all pairs."""
        return self.target

    @abstractmethod
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Numerator and denominator of each user, for a metric of this kind.

        For a list metric a user has one row: the value of the whole list.
        """

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Weight of each row in the estimate, up to scale, for the diagnostics."""
        return np.asarray(1 / rows.chance)

    def clipped_share(self, rows: Rows) -> float:
        """Share of the weights that clipping changes; 0 by default."""
        return 0.0

    def refuse(self, kind: Kind) -> ConfigError:
        """The error for a kind of metric that it cannot estimate."""
        what = {"sum": "a sum", "list": "a list"}.get(kind)
        return ConfigError(f"{self} cannot estimate {'a metric over all pairs' if what is None else f'{what} metric'}")


@dataclass(frozen=True)
class Weighted(Estimator):
    """The base of estimators that weight by inverse propensity.

    Parameters
    ----------
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    """

    clip: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.clip <= 1:
            raise ConfigError(f"clip={self.clip:g} must be between 0 and 1; it is relative to the largest propensity")

    def inverse(self, propensity: Floats) -> Floats:
        """1 / P, clipped."""
        return np.asarray(1 / (np.maximum(propensity, self._floor(propensity)) if self.clip else propensity))

    def clipped_share(self, rows: Rows) -> float:
        """Share of the weights that clipping changes."""
        return float(np.mean(rows.chance < self._floor(rows.chance))) if self.clip else 0.0

    def _floor(self, propensity: Floats) -> float:
        return self.clip * float(np.max(propensity, initial=0.0))


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices, if the class is called instead of its word."""
    if value not in choices:
        raise ConfigError(f"{option}={value!r}: choose from {', '.join(choices)}")


def all_pairs(kind: str, per: str) -> str:
    """The description of the target of a corrected estimate over all pairs."""
    if per == "item":
        return "all pairs, mean over items"
    return "all pairs" if kind == "loss" and per == "pair" else "all pairs, mean over users"
