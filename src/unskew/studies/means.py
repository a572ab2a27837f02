"""Means over trials, with their spread and standard error, and how far two orders agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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


def kendall(first: Floats, second: Floats, *, ties: Literal["a", "b"] = "b") -> Floats:
    r"""Kendall's tau of each row of the first with each row of the second.

    .. math:: \tau_b = \frac{\sum_{i<j} \operatorname{sgn}(x_i - x_j) \operatorname{sgn}(y_i - y_j)}
              {\sqrt{n_x n_y}}

    with :math:`n_x` the number of pairs that x does not tie. NaN where a row ties all.

    Parameters
    ----------
    first, second : array (rows, models)
    ties : {"a", "b"}
        Under ``a`` the sum is divided by the number of all pairs, so that a tie counts for neither order.
    """
    a, b = (pair_signs(np.atleast_2d(part)) for part in (first, second))
    if ties == "a":
        return np.asarray(a @ b.T / a.shape[1])
    size = np.sqrt(np.outer((a != 0).sum(axis=1), (b != 0).sum(axis=1)))
    return np.asarray(np.divide(a @ b.T, size, out=np.full(size.shape, np.nan), where=size > 0))


def pair_signs(values: Floats) -> Floats:
    """The order of each pair of models, 1, -1 or 0 where they tie, in each row: an array (rows, pairs)."""
    left, right = np.triu_indices(values.shape[1], 1)
    return np.sign(values[:, left] - values[:, right])
