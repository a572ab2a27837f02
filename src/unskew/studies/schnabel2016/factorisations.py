"""Many factorisations of ratings, fitted in processes: the search holds Python's lock, so threads would wait."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.blas import one_thread
from unskew.models.ratings.mf_fit import Loss, Offsets, fit_mf
from unskew.models.ratings.mf_tuning import FOLDS, PATIENCE, MfTuning, tune_mf
from unskew.models.ratings.rating_model import Rated


@dataclass(frozen=True, eq=False)
class Search:
    """Settings to be chosen by cross-validation.

    Parameters
    ----------
    rated : Rated
    factors, penalties : tuple
        What to try.
    loss, offsets
        As in `tune_mf`.
    folds, patience : int
        As in `tune_mf`.
    seed : int
        Deals the folds.
    """

    rated: Rated
    factors: tuple[int, ...]
    penalties: tuple[float, ...]
    loss: Loss = "mse"
    offsets: Offsets = "regularised"
    folds: int = FOLDS
    patience: int = PATIENCE
    seed: int = 0

    def __call__(self) -> MfTuning:
        """Choose."""
        return tune_mf(
            self.rated,
            self.factors,
            self.penalties,
            loss=self.loss,
            offsets=self.offsets,
            folds=self.folds,
            patience=self.patience,
            rng=self.seed,
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """A fit that is judged on all cells of a full matrix.

    Parameters
    ----------
    rated : Rated
        What was observed of it.
    factors : int
    penalty : float
    truth : array of int8, users by items
        All ratings.
    """

    rated: Rated
    factors: int
    penalty: float
    truth: Ints

    def __call__(self) -> Floats:
        """MSE and MAE over all cells."""
        with one_thread():
            errors = fit_mf(self.rated, self.factors, self.penalty, offsets="free").matrix() - self.truth
        return np.array([np.mean(errors**2), np.mean(np.abs(errors))])
