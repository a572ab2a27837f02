"""Means over folds, and differences paired by user."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats

TWO = 2.0
"""Standard errors beyond which a difference counts; chance alone goes further 4.6 times in 100, to one side 2.3."""


@dataclass(frozen=True, eq=False)
class Paired:
    """A difference of two numbers of the same users in the same folds.

    A user's differences are averaged over the folds first, and users are the units of the standard error, as folds
    share their users. It says nothing of what all users of a fold have in common; see `Gain`.

    Parameters
    ----------
    differences : array (folds, users)
        NaN where a user has none; a user has one in all folds or in none.
    """

    differences: Floats

    @cached_property
    def users(self) -> Floats:
        """The mean of each user that has a difference."""
        counted = ~np.isnan(self.differences).any(axis=0)
        return np.asarray(self.differences[:, counted].mean(axis=0))

    @property
    def value(self) -> float:
        """The mean over users."""
        return float(self.users.mean()) if len(self.users) else float("nan")

    @property
    def error(self) -> float:
        """Its standard error; NaN of fewer than two users."""
        return float(self.users.std(ddof=1) / len(self.users) ** 0.5) if len(self.users) > 1 else float("nan")

    @property
    def z(self) -> float:
        """The mean in standard errors; 0 when everything is 0."""
        if self.value == 0:
            return 0.0
        return self.value / self.error if self.error else float(np.copysign(np.inf, self.value))

    @property
    def folds(self) -> Floats:
        """The mean of each fold."""
        return np.asarray(np.nanmean(self.differences, axis=1))

    @property
    def above(self) -> bool:
        """Whether it is above 0 by more than two standard errors."""
        return self.z > TWO

    @property
    def nothing(self) -> bool:
        """Whether it is within two standard errors of 0."""
        return abs(self.z) <= TWO

    def __str__(self) -> str:
        return f"{self.value:+.4f} ± {self.error:.4f}"


class Gain(Paired):
    """A difference of two models that are trained anew in each fold.

    What training brings by chance is shared by all users of a fold. So the standard error is that over users or that
    over folds, whichever is larger.
    """

    @property
    def error(self) -> float:
        """The larger of the two standard errors."""
        counted = ~np.isnan(self.differences).any(axis=0)
        if len(self.differences) < 2 or not counted.any():
            return super().error
        means = self.differences[:, counted].mean(axis=1)
        return max(super().error, float(means.std(ddof=1) / len(means) ** 0.5))


def bonferroni(comparisons: int, level: float = 0.05) -> float:
    """How many standard errors the largest of so many may be away from 0, with a chance of `level` to be further.

    Parameters
    ----------
    comparisons : int
        How many are made; dependent ones make it stricter than need be, never laxer.
    level : float
    """
    from scipy.special import ndtri

    return float(-ndtri(level / 2 / max(comparisons, 1)))
