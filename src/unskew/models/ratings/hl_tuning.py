"""Choice of the factors of an ordinal factorisation by cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unskew.arrays import Floats, SeedLike
from unskew.errors import ConfigError, DataError
from unskew.models.ratings.hl_fit import fit_hl
from unskew.models.ratings.mf_fit import Loss
from unskew.models.ratings.rating_model import Rated

FACTORS = (5, 10, 20, 40)
FOLDS = 4


@dataclass(frozen=True, eq=False)
class HlTuning:
    """The factors chosen by cross-validation for each loss, and all scores.

    Parameters
    ----------
    factors : dict
        The best number of factors, by loss.
    factors_grid : tuple
        The numbers tried.
    scores : dict
        Mean loss over the folds of each number, by loss.
    """

    factors: dict[Loss, int]
    factors_grid: tuple[int, ...]
    scores: dict[Loss, Floats]


def tune_hl(
    rated: Rated,
    factors_grid: Sequence[int] = FACTORS,
    *,
    selective: bool,
    folds: int = FOLDS,
    rng: SeedLike = 0,
) -> HlTuning:
    """Choose the number of factors by cross-validation on the observed ratings.

    The rows of a fold are hidden from the fit, which takes them as neither observed nor missing. It is then judged by
    their ratings, given that they were observed: by the squared error of the mean and by the absolute error of the
    median. All rows have the same weight.

    Parameters
    ----------
    rated : Rated
        Its weights are not used.
    factors_grid : sequence
        The numbers to try.
    selective
        As in `fit_hl`.
    folds : int
        Number of random parts of the rows.
    rng : int or Generator
        Generator of the folds.
    """
    if not factors_grid or folds < 2:
        raise ConfigError("cross-validation needs at least one number of factors and two folds")
    if len(rated) < folds:
        raise DataError(f"cross-validation with {folds} folds needs at least {folds} rows, but there are {len(rated)}")
    part = np.random.default_rng(rng).permutation(len(rated)) % folds
    scores: dict[Loss, Floats] = {"mse": np.zeros(len(factors_grid)), "mae": np.zeros(len(factors_grid))}
    for at, factors in enumerate(factors_grid):
        for k in range(folds):
            kept, out = (rated.take(np.flatnonzero(rows)) for rows in (part != k, part == k))
            fit = fit_hl(kept, factors, selective=selective, hidden=out)
            of_mean = out.values - fit.predict(out.users, out.items, observed=True)
            of_median = out.values - replace(fit, summary="median").predict(out.users, out.items, observed=True)
            scores["mse"][at] += np.mean(of_mean**2) / folds
            scores["mae"][at] += np.mean(np.abs(of_median)) / folds
    best = {loss: int(factors_grid[int(np.argmin(values))]) for loss, values in scores.items()}
    return HlTuning(best, tuple(factors_grid), scores)
