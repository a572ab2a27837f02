"""Estimates with their standard errors and diagnostics, and comparisons of two models."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints


@dataclass(frozen=True)
class Estimate:
    """One metric of one model by one estimator; undefined values are None.

    `assumed_low` and `assumed_high` enclose the intervals at all assumed biases, if there are any.
    `effective_sample_size` counts users, as the interval does, and `effective_rows` held-out rows (Kish 1965).
    """

    model: str
    metric: str
    definition: str
    estimator: str
    target: str
    value: float | None
    std_error: float | None
    low: float | None
    high: float | None
    level: float
    assumed_low: float | None
    assumed_high: float | None
    users: int
    dropped_users: int
    dropped_items: int
    effective_sample_size: float | None
    effective_rows: float | None
    max_weight_share: float | None
    clipped_share: float
    tied_share: float

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """The difference of two models on the same users, and its p-value."""

    metric: str
    estimator: str
    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_value_holm: float | None

    def reversed(self) -> "Comparison":
        """The same with the models exchanged."""
        gap, low, high = (None if x is None else 0.0 - x for x in (self.difference, self.high, self.low))
        return replace(self, a=self.b, b=self.a, difference=gap, low=low, high=high)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Terms:
    """Numerators and denominators, one pair per user; the value is the ratio of their sums.

    Parameters
    ----------
    numerator, denominator : array
        For the same users in all models of a run.
    rows : array, optional
        What each row adds to the error if users and items are fixed and only the observation is random; the sum of
        squares is then the variance. Known for metrics over all pairs.
    root : bool
        Whether the value is the square root of the ratio.
    lone : bool
        Whether some group has only one row, so that `rows` understates the variance.
    idle : int
        How many of the users have no weight.
    units : {"users", "directions"}
        What the entries are: users, or directions of a joint covariance over models, which cannot be drawn again.
    keys : array of uint64, optional
        A key of each user's id, for draws that depend on the user alone.
    who : array of int, optional
        The code of each user; users beyond the last are those without observations.
    """

    numerator: Floats
    denominator: Floats
    rows: Floats | None = None
    root: bool = False
    lone: bool = False
    idle: int = 0
    units: str = "users"
    keys: Ints | None = None
    who: Ints | None = None

    @classmethod
    def of_covariance(cls, value: float, root: Floats) -> "Terms":
        """Terms of units that are not users: their influences have the row of a covariance's root as coordinates.

        So two models whose roots are of one joint covariance have that covariance, and are compared with it.
        """
        n = 2 * len(root)
        # plus and minus, because influences add up to 0; the factor undoes the one for few units
        influence = np.concatenate([root, -root]) / np.sqrt(2) * np.sqrt((n - 1) / n)
        return cls(value + n * influence, np.ones(n), units="directions")

    @property
    def n_users(self) -> int:
        """How many users have weight in the value."""
        return len(self.numerator) - self.idle

    @cached_property
    def total(self) -> float:
        """Sum of denominators."""
        return float(np.sum(self.denominator))

    @cached_property
    def ratio(self) -> float:
        """Sum of numerators over sum of denominators."""
        return float(np.sum(self.numerator)) / self.total

    @cached_property
    def value(self) -> float | None:
        """The ratio, or its root; None if the denominators are 0."""
        if self.total <= 0:
            return None
        return float(np.sqrt(self.ratio)) if self.root else self.ratio

    @property
    def slope(self) -> float:
        """The derivative of the value by the ratio: that of the root, or 1."""
        if not self.root:
            return 1.0
        return 0.5 / self.value if self.value else 0.0

    @cached_property
    def influence(self) -> Floats:
        r"""What each user adds to the error, :math:`(a_u - \hat v b_u) / \sum b`: the delta method's linear part."""
        if self.value is None:
            return np.zeros(len(self.numerator))
        return self.slope * (self.numerator - self.ratio * self.denominator) / self.total

    @property
    def row_errors(self) -> Floats | None:
        """What each row adds to the error of the value, if only the observation is random."""
        return None if self.rows is None else self.slope * self.rows

    @cached_property
    def std_error(self) -> float | None:
        """Delta-method standard error with the user as the unit; None for fewer than two users."""
        return standard_error(self.influence)


def standard_error(influence: Floats) -> float | None:
    r"""Square root of :math:`\frac{m}{m-1}\sum_u \psi_u^2`."""
    m = len(influence)
    if m < 2:
        return None
    return float(np.sqrt(m / (m - 1) * np.sum(influence**2)))


def influence_of(terms: Terms) -> Floats | None:
    """What each user adds to the error of an estimate, scaled so that the sum of squares is its variance.

    None for fewer than two users.
    """
    m = len(terms.numerator)
    return None if m < 2 else np.asarray(terms.influence * np.sqrt(m / (m - 1)))
