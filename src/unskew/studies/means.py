"""Means over trials, with their spread and standard error."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats


@dataclass(frozen=True)
class Mean:
    """A mean over draws, folds or logs.

    Parameters
    ----------
    value : float
    spread : float or None
        Standard deviation; None of a single number.
    error : float or None
        The standard error: the spread over the root of how many there are.
    """

    value: float
    spread: float | None
    error: float | None

    @classmethod
    def of(cls, values: Sequence[float] | Floats) -> "Mean":
        """Of one number a trial."""
        value = float(np.mean(values))
        if len(values) < 2:
            return cls(value, None, None)
        spread = float(np.std(values, ddof=1))
        return cls(value, spread, spread / len(values) ** 0.5)
