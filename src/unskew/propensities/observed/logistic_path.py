"""Penalised logistic regression, with the penalty chosen by cross-validated log-likelihood."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats
from unskew.propensities.observed.design import Grouped

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["PENALTIES", "LinearFit", "LogisticPath"]

PENALTIES = tuple(float(10**power) for power in np.arange(4.0, -2.1, -0.5))
"""Penalties to try, from the strongest on, until two in a row are worse."""
_PATIENCE = 2
_MOST_ITERATIONS = 2000


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Coefficients, the constant first.

    Parameters
    ----------
    coefficients : array
        Coefficients of the constant and of all columns.
    penalty : float
        Penalty of the covariates.
    log_likelihood : float
        The mean over held-out pairs; NaN without cross-validation.
    converged : bool
        Whether the solver converged.
    """

    coefficients: Floats
    penalty: float
    log_likelihood: float = float("nan")
    converged: bool = True


@dataclass(frozen=True, eq=False)
class LogisticPath:
    r"""Fits of one design over many penalties.

    .. math:: \min_{c, w, v} \; -\sum_k n_k \log P(O_k) + \frac{\lambda}{2} \|w\|^2 + \frac{\mu}{2} \|v\|^2

    with weights :math:`n_k`, covariates' coefficients w and offsets v. The columns of the offsets are scaled by
    :math:`\sqrt{\lambda / \mu}`, so that one penalty is enough for both.

    Parameters
    ----------
    rows : sparse array
        One row per group, without the constant; the last `offsets` columns are those of the offsets.
    groups : Grouped
        Outcome and weights by fold.
    offsets : int
        How many columns are offsets.
    offset_penalty : float
        Their penalty.
    tolerance : float
        The solver stops when no component of the mean gradient is larger.
    """

    rows: "sparse.csr_array[Any, Any]"
    groups: Grouped
    offsets: int = 0
    offset_penalty: float = 1.0
    tolerance: float = 1e-6

    def choose(self) -> LinearFit:
        """Fit with the penalty that maximises the likelihood of held-out pairs."""
        weight = self.groups.weight
        total = weight.sum(axis=1)
        starts: list[Floats | None] = [None] * weight.shape[1]
        best: tuple[float, float, Floats | None] = (-np.inf, 1.0, None)
        worse = 0
        for penalty in PENALTIES:
            fits = [
                self._fit(penalty, np.maximum(total - held_out, 0), start)[0]
                for held_out, start in zip(weight.T, starts, strict=True)
            ]
            score = self._score(fits)
            starts = list(fits)
            worse = 0 if score > best[0] else worse + 1
            if score > best[0]:
                best = score, penalty, np.mean(fits, axis=0)
            if worse == _PATIENCE:
                break
        return self.fit(best[1], start=best[2], log_likelihood=best[0])

    def fit(self, penalty: float, start: Floats | None = None, log_likelihood: float = float("nan")) -> LinearFit:
        """Fit to all pairs with one penalty."""
        coefficients, converged = self._fit(penalty, self.groups.weight.sum(axis=1), start)
        return LinearFit(coefficients, penalty, log_likelihood, converged)

    def _score(self, fits: list[Floats]) -> float:
        total = 0.0
        for fold, coefficients in enumerate(fits):
            logits = self.rows @ coefficients[1:] + coefficients[0]
            losses = np.logaddexp(0, np.where(self.groups.observed, -logits, logits))
            total -= float(losses @ self.groups.weight[:, fold])
        return total / float(self.groups.weight.sum())

    def _fit(self, penalty: float, weight: Floats, start: Floats | None) -> tuple[Floats, bool]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        scale = np.ones(self.rows.shape[1])
        scale[len(scale) - self.offsets :] = np.sqrt(penalty / self.offset_penalty)
        rows = self.rows.copy() if self.offsets else self.rows
        if self.offsets:
            rows.data *= scale[rows.indices]
        solver = LogisticRegression(C=1 / penalty, tol=self.tolerance, max_iter=_MOST_ITERATIONS, warm_start=True)
        if start is not None:
            solver.coef_, solver.intercept_ = (start[1:] / scale)[None, :], start[:1].copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # reported as a note
            solver.fit(rows, self.groups.observed, sample_weight=weight)
        coefficients = np.concatenate([solver.intercept_, solver.coef_[0] * scale])
        return coefficients, bool(solver.n_iter_[0] < _MOST_ITERATIONS)
