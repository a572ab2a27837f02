"""Logs whose items are the less popular the higher their number, logs without skew, and models of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.data import Interactions, Split
from unskew.ranking import FactorScorer, MatrixScorer

USERS, ITEMS = 60, 25
"""Size of the worlds of `skewed_rows`, `skewed_split`, `whole_scores` and `real_factors`."""
PER_USER = 8
"""Rows per user of `skewed_log`."""


def skewed_rows(rows: int, rng: np.random.Generator, **columns: Any) -> Interactions:
    """Return rows of random users whose items have popularity 1 / number.

    Parameters
    ----------
    rows : int
    rng : Generator
    **columns
        Further columns, as for `Interactions.from_arrays`.
    """
    shares = 1 / np.arange(1, ITEMS + 1)
    items = rng.choice(ITEMS, rows, p=shares / shares.sum())
    users = rng.integers(0, USERS, rows)
    return Interactions.from_arrays(users, items, n_users=USERS, n_items=ITEMS, **columns)


def skewed_split(seed: int = 0, *, candidates: str = "unseen", propensity: bool = False, values: bool = False) -> Split:
    """Return 400 training and 200 test rows of `skewed_rows`, the latter with propensities and ratings if asked."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {"propensity": rng.uniform(0.05, 0.9, 200)} if propensity else {}
    if values:
        columns["values"] = rng.integers(1, 6, 200)
    return Split(skewed_rows(400, rng), skewed_rows(200, rng, **columns), candidates=candidates)


def skewed_log(users: int = 120, items: int = 60, seed: int = 0) -> Interactions:
    """Return a log of 8 items per user with popularity 1 / number, random ratings from 1 to 5 and random times."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, items + 1)
    chosen = [rng.choice(items, PER_USER, replace=False, p=chances / chances.sum()) for _ in range(users)]
    return Interactions.from_arrays(
        np.repeat(np.arange(users), PER_USER),
        np.concatenate(chosen),
        values=rng.integers(1, 6, PER_USER * users),
        times=rng.permutation(PER_USER * users),
    )


def log_of(matrix: npt.ArrayLike) -> Interactions:
    """Return the pairs of a users by items matrix that are not 0 as a log of all its users and items."""
    cells = np.asarray(matrix)
    users, items = np.nonzero(cells)
    return Interactions.from_arrays(users, items, n_users=cells.shape[0], n_items=cells.shape[1])


def flat_log(users: int = 40, items: int = 60, rows: int = 6, seed: int = 0) -> Interactions:
    """Return a log in which every item has the same number of rows."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(users, rows, replace=False) for _ in range(items)]
    return Interactions.from_arrays(np.concatenate(chosen), np.repeat(np.arange(items), rows))


def whole_scores(seed: int = 0, top: int = 5) -> MatrixScorer:
    """Return a model with few different whole scores, so that ties are common and products exact."""
    return MatrixScorer(np.random.default_rng(seed).integers(0, top, (USERS, ITEMS)).astype(float))


def real_factors(seed: int = 0) -> FactorScorer:
    """Return a model of four random factors."""
    rng = np.random.default_rng(seed)
    return FactorScorer(rng.normal(size=(USERS, 4)).astype("f4"), rng.normal(size=(ITEMS, 4)).astype("f4"))
