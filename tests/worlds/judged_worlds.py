"""A small log with popular items, and models of it, for tests of whole runs."""

import numpy as np

from unskew import Interactions, Split
from unskew.ranking import FactorScorer, MatrixScorer

USERS, ITEMS = 60, 25


def skewed_log(rows: int, rng: np.random.Generator, **columns: object) -> Interactions:
    shares = 1 / np.arange(1, ITEMS + 1)
    items = rng.choice(ITEMS, rows, p=shares / shares.sum())
    users = rng.integers(0, USERS, rows)
    return Interactions.from_arrays(users, items, n_users=USERS, n_items=ITEMS, **columns)  # type: ignore[arg-type]


def skewed_split(seed: int = 0, *, candidates: str = "unseen", propensity: bool = False, values: bool = False) -> Split:
    rng = np.random.default_rng(seed)
    columns: dict[str, object] = {"propensity": rng.uniform(0.05, 0.9, 200)} if propensity else {}
    if values:
        columns["values"] = rng.integers(1, 6, 200)
    return Split(skewed_log(400, rng), skewed_log(200, rng, **columns), candidates=candidates)


def whole_scores(seed: int = 0, top: int = 5) -> MatrixScorer:
    """Scores of few different whole numbers, so ties are common and products exact."""
    return MatrixScorer(np.random.default_rng(seed).integers(0, top, (USERS, ITEMS)).astype(float))


def real_factors(seed: int = 0) -> FactorScorer:
    rng = np.random.default_rng(seed)
    return FactorScorer(rng.normal(size=(USERS, 4)).astype("f4"), rng.normal(size=(ITEMS, 4)).astype("f4"))
