"""Weighted logistic regression of few columns, with an offset and a ridge penalty, by Newton's method."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.blas import one_thread

_STEPS = 200
_CLOSE = 1e-9
_CERTAIN = 1e-9
LARGEST_LOG_ODDS = float(np.log1p(-_CERTAIN) - np.log(_CERTAIN))
"""Those of a chance of 1; a chance of 0 has the opposite."""


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """A fitted regression.

    Parameters
    ----------
    intercept : float
    slopes : array
        One per column.
    covariance : array
        Of the intercept and the slopes: the inverse of the penalised information.
    converged : bool
    """

    intercept: float
    slopes: Floats
    covariance: Floats
    converged: bool

    def logits(self, columns: Floats) -> Floats:
        """The linear predictor of each row, without its offset."""
        logits = np.full(columns.shape[:-1], self.intercept)
        for place, slope in enumerate(self.slopes):  # in this order on every machine
            logits += columns[..., place] * slope
        return logits


def sigmoid(logits: Floats) -> Floats:
    """Probabilities from log-odds, without overflow."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -500, 500))))


def log_odds(chance: Floats) -> Floats:
    """Log-odds of probabilities; 0 and 1 are moved inside by 1e-9."""
    inside = np.clip(chance, _CERTAIN, 1 - _CERTAIN)
    return np.asarray(np.log(inside) - np.log1p(-inside))


@one_thread()
def fit_logistic(
    columns: Floats,
    outcome: Floats,
    *,
    weight: Floats | None = None,
    offset: Floats | None = None,
    penalty: float = 1e-3,
) -> LogisticFit:
    r"""Maximise :math:`\sum w \log P(y) - \frac{\lambda}{2} \lVert b \rVert^2`; the intercept has no penalty.

    Parameters
    ----------
    columns : array (rows, columns)
    outcome : array
        0 or 1 of each row.
    weight : array, optional
        How many rows each row represents; 1 by default.
    offset : array, optional
        A known part of each row's log-odds.
    penalty : float
        λ above.
    """
    rows = np.column_stack([np.ones(len(columns)), columns])
    known = np.zeros(len(rows)) if offset is None else offset
    weights = np.ones(len(rows)) if weight is None else weight
    ridge = np.diag([1e-9, *([penalty] * (rows.shape[1] - 1))])
    rate = float(np.clip(np.sum(weights * outcome) / max(float(np.sum(weights)), 1e-300), 1e-6, 1 - 1e-6))
    beta = np.zeros(rows.shape[1])
    beta[0] = np.log(rate / (1 - rate)) - (float(np.mean(known)) if len(known) else 0.0)

    def height(point: Floats) -> float:
        logits = known + rows @ point
        # log(1 + exp(x)), several times faster than numpy's logaddexp
        soft = np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits)))
        return float(weights @ (outcome * logits - soft) - 0.5 * point @ ridge @ point)

    converged, here = False, height(beta)
    for _ in range(_STEPS):
        chance = sigmoid(known + rows @ beta)
        slope = rows.T @ (weights * (outcome - chance)) - ridge @ beta
        information = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + ridge
        step = np.linalg.lstsq(information, slope, rcond=None)[0]
        there = height(beta + step)
        while there < here and float(np.max(np.abs(step))) > _CLOSE:  # too far: the full step goes past the top
            step = step / 2
            there = height(beta + step)
        beta, here = beta + step, max(there, here)
        if float(np.max(np.abs(step))) <= _CLOSE * (1 + float(np.max(np.abs(beta)))):
            converged = True
            break
    chance = sigmoid(known + rows @ beta)
    information = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + ridge
    return LogisticFit(float(beta[0]), beta[1:], np.asarray(np.linalg.pinv(information)), converged)


def fold_of(count: int, folds: int, rng: np.random.Generator) -> "np.typing.NDArray[np.int64]":
    """A random fold for each of `count` rows; folds differ in size by at most one."""
    return rng.permutation(count) % folds
