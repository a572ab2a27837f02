"""Choice of the factors and the penalty of a rating factorisation by cross-validation."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from unskew.arrays import Bools, Floats, SeedLike
from unskew.blas import one_thread
from unskew.errors import ConfigError, DataError
from unskew.models.model import Progress
from unskew.models.ratings.mf_fit import Loss, MfFit, Offsets, fit_mf
from unskew.models.ratings.rating_model import Rated

FACTORS = (5, 10, 20, 40)
PENALTIES = (40.0, 20.0, 10.0, 5.0, 2.5, 1.25, 0.6, 0.3)
FOLDS = 4
PATIENCE = 2


@dataclass(frozen=True, eq=False)
class MfTuning:
    """The settings chosen by cross-validation, and all scores.

    Parameters
    ----------
    factors, penalty : int and float
        The best settings.
    factors_grid, penalty_grid : tuple
        The settings tried; penalties from large to small.
    scores : array (factors, penalties)
        Mean over the folds of the estimated loss of a random pair; NaN if the path had ended.
    """

    factors: int
    penalty: float
    factors_grid: tuple[int, ...]
    penalty_grid: tuple[float, ...]
    scores: Floats


def tune_mf(
    rated: Rated,
    factors_grid: Sequence[int] = FACTORS,
    penalty_grid: Sequence[float] = PENALTIES,
    *,
    loss: Loss = "mse",
    offsets: Offsets = "regularised",
    folds: int = FOLDS,
    most: float = np.inf,
    patience: int = PATIENCE,
    workers: int = 1,
    rng: SeedLike = 0,
    progress: Progress | None = None,
) -> MfTuning:
    r"""Choose factors and penalty by cross-validation, weighted as in training.

    A row of the log is in the training part with probability 3/4 (4 folds) and in the validation part with 1/4, so a
    fold is fitted with P 3/4 and validated by

    .. math:: \frac{1}{U I} \sum_{\text{validation}} \frac{\delta_{ui}}{P_{ui} / 4},

    which is unbiased for the loss of a random pair if P is right. The settings with the smallest mean over the folds
    are chosen. For each number of factors the penalties go from large to small, and each fit starts from the previous
    one. Schnabel et al. (2016), section 6.1.

    Parameters
    ----------
    rated : Rated
        Its weights are 1/P.
    factors_grid, penalty_grid : sequence
        The settings to try.
    loss, offsets
        As in `fit_mf`.
    folds : int
        Number of random parts of the rows.
    most : float
        Largest weight, after weights were scaled for a part.
    patience : int
        A path of penalties ends after this many in a row that are worse than the best, because small ones take longest.
    workers : int
        How many folds are fitted at the same time; the results do not depend on it.
    rng : int or Generator
        Generator of the folds.
    progress : callable, optional
        Called as ``progress(done, total)``, in fits.
    """
    penalties = tuple(sorted(map(float, penalty_grid), reverse=True))
    if not factors_grid or not penalties or folds < 2:
        raise ConfigError("cross-validation needs at least one number of factors, one penalty and two folds")
    if len(rated) < folds:
        raise DataError(f"cross-validation with {folds} folds needs at least {folds} rows, but there are {len(rated)}")
    part = np.random.default_rng(rng).permutation(len(rated)) % folds
    parts = [_Fold.of(rated, part == k, folds, most) for k in range(folds)]
    scores = np.full((len(factors_grid), len(penalties)), np.nan)
    with one_thread(), ThreadPoolExecutor(workers) as pool:
        for i, factors in enumerate(factors_grid):
            fits: list[MfFit | None] = [None] * folds
            for j, penalty in enumerate(penalties):
                fit = partial(_fit_fold, factors=factors, penalty=penalty, loss=loss, offsets=offsets)
                fits = list(pool.map(fit, parts, fits))
                scores[i, j] = np.mean([fold.score(fit, loss) for fold, fit in zip(parts, fits, strict=True) if fit])
                if progress:
                    progress((i * len(penalties) + j + 1) * folds, scores.size * folds)
                if j - int(np.argmin(scores[i, : j + 1])) >= patience:
                    break
    if progress:
        progress(scores.size * folds, scores.size * folds)
    best, at = divmod(int(np.nanargmin(scores)), len(penalties))
    return MfTuning(int(factors_grid[best]), penalties[at], tuple(factors_grid), penalties, scores)


@dataclass(frozen=True, eq=False)
class _Fold:
    """The rows for fitting and for validation, with their weights."""

    training: Rated
    validation: Rated

    @classmethod
    def of(cls, rated: Rated, held_out: Bools, folds: int, most: float) -> "_Fold":
        return cls(
            rated.take(np.flatnonzero(~held_out), scale=folds / (folds - 1), most=most),
            rated.take(np.flatnonzero(held_out), scale=folds, most=most),
        )

    def score(self, fit: MfFit, loss: Loss) -> float:
        rows = self.validation
        errors = np.abs(rows.values - fit.predict(rows.users, rows.items))
        losses = errors if loss == "mae" else errors**2
        return float(np.sum(rows.weights * losses)) / (rows.n_users * rows.n_items)


def _fit_fold(fold: _Fold, start: MfFit | None, *, factors: int, penalty: float, loss: Loss, offsets: Offsets) -> MfFit:
    return fit_mf(fold.training, factors, penalty, loss=loss, offsets=offsets, start=start)
