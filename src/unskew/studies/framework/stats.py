"""Statistics over trials: means with their errors, paired differences, tests of several at once, and rank agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.intervals import holm

LEVEL = 0.05
"""Chance that one of several true hypotheses is rejected, by Holm's correction."""
K = TypeVar("K")


@dataclass(frozen=True)
class Mean:
    """A mean over draws, folds or logs.

    Parameters
    ----------
    value : float
    spread : float or None
        Standard deviation; None of a single number.
    error : float or None
        The standard error: the spread over the root of their number.
    """

    value: float
    spread: float | None
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float] | Floats) -> "Mean":
        """The mean of one number per trial."""
        value = float(np.mean(values))
        if len(values) < 2:
            return cls(value, None, None)
        spread = float(np.std(values, ddof=1))
        return cls(value, spread, spread / len(values) ** 0.5)

    @property
    def z(self) -> float:
        """The mean in its standard errors; NaN where there is none."""
        return self.value / self.error if self.error else float("nan")

    @property
    def plus_minus(self) -> str:
        """The mean and its standard error, with two decimals."""
        return f"{self.value:.2f}" + ("" if self.error is None else f" ± {self.error:.2f}")


@dataclass(frozen=True)
class Gap:
    """A mean difference and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, first: Floats, second: Floats | float) -> "Gap":
        """Of two values per user or per draw, paired."""
        gaps = np.asarray(first - second)
        return cls(float(gaps.mean()), float(gaps.std(ddof=1)) / len(gaps) ** 0.5)

    @classmethod
    def independent(cls, first: Floats, second: Floats) -> "Gap":
        """Of two groups that share no unit."""
        a, b = Mean.of(first), Mean.of(second)
        return cls(a.value - b.value, float(np.hypot(a.error or np.nan, b.error or np.nan)))

    @classmethod
    def by_user(cls, differences: Floats, *, trained_per_fold: bool = False) -> "Gap":
        """Of two values per fold and user, NaN for users without one.

        Users are the units of the standard error, because folds share their users: the differences of a user are
        averaged over folds first. Models that are trained again in each fold share, within a fold, what training
        brings by chance. For these the error is the larger of that over users and that over folds. A user has a
        difference in all folds or in none.
        """
        counted = differences[:, ~np.isnan(differences).any(axis=0)]
        users = counted.mean(axis=0)
        value = float(users.mean()) if len(users) else float("nan")
        error = float(users.std(ddof=1) / len(users) ** 0.5) if len(users) > 1 else float("nan")
        if trained_per_fold and len(differences) > 1 and len(users):
            folds = counted.mean(axis=1)
            error = max(error, float(folds.std(ddof=1) / len(folds) ** 0.5))
        return cls(value, error)

    @property
    def z(self) -> float:
        """The mean in standard errors; 0 where all differences are 0, infinite where they are equal but not 0."""
        if self.mean == 0:
            return 0.0
        return self.mean / self.error if self.error else float(np.copysign(np.inf, self.mean))

    @property
    def p_value(self) -> float:
        """How likely chance alone is to make one as large, on either side; 1 where no spread is known."""
        from scipy.special import ndtr

        return float(2 * ndtr(-abs(self.z))) if self.error > 0 else 1.0

    @property
    def plus_minus(self) -> str:
        """The mean and its standard error, with four decimals."""
        return f"{self.mean:+.4f} ± {self.error:.4f}"

    def __str__(self) -> str:
        return f"{self.mean:+.4f} (z {self.z:+.1f})"


def clear_signs(gaps: Mapping[K, Gap]) -> dict[K, int]:
    """The sign of each difference that is clear by Holm's correction over all of them, 0 for the others."""
    adjusted = holm({key: gap.p_value for key, gap in gaps.items()})
    return {
        key: int(np.sign(gap.mean)) if (adjusted[key] or 0.0) < LEVEL and gap.error > 0 else 0
        for key, gap in gaps.items()
    }


def bonferroni(comparisons: int, level: float = LEVEL) -> float:
    """How many standard errors the largest of n independent differences exceeds with a chance of `level`.

    Where they depend on one another, the bound is stricter than necessary, never laxer.
    """
    from scipy.special import ndtri

    return float(-ndtri(level / 2 / max(comparisons, 1)))


def kendall(first: Floats, second: Floats, *, ties: Literal["a", "b"] = "b") -> Floats:
    r"""Kendall's tau of each row of the first with each row of the second.

    .. math:: \tau_b = \frac{\sum_{i<j} \operatorname{sgn}(x_i - x_j) \operatorname{sgn}(y_i - y_j)}
              {\sqrt{n_x n_y}}

    with :math:`n_x` the number of pairs that x does not tie. NaN where a row ties all. For tau-a the sum is divided by
    the number of all pairs, so that a tie counts for neither order. Rows have one number per model.
    """
    a, b = (pair_signs(np.atleast_2d(part)) for part in (first, second))
    if ties == "a":
        return np.asarray(a @ b.T / a.shape[1])
    size = np.sqrt(np.outer((a != 0).sum(axis=1), (b != 0).sum(axis=1)))
    return np.asarray(np.divide(a @ b.T, size, out=np.full(size.shape, np.nan), where=size > 0))


def tau(first: Floats | Sequence[float], second: Floats | Sequence[float]) -> float:
    """Kendall's tau-b of two lists of numbers."""
    return float(kendall(np.asarray(first), np.asarray(second))[0, 0])


def pair_signs(values: Floats) -> Floats:
    """The order of each pair of models, 1, -1 or 0 where they tie, in each row: an array (rows, pairs)."""
    left, right = np.triu_indices(values.shape[1], 1)
    return np.sign(values[:, left] - values[:, right])
