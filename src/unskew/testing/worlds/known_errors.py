"""A small log of ratings, and models whose errors are known.

Each pair of 30 users and 10 items has a rating from 1 to 5. The model "near" is wrong by 0.25 everywhere, "far" by 1
where the rating is low and by 0.5 elsewhere. Low ratings are logged with probability 0.25 and high ones always.
"""

from typing import Any

import numpy as np
import polars as pl

from unskew.arrays import Floats
from unskew.data import Interactions, Split
from unskew.evaluation import Report, evaluate
from unskew.ranking import MatrixScorer, Predictions

USERS, ITEMS = 30, 10
RATINGS = np.add.outer(np.arange(USERS), np.arange(ITEMS)) % 5 + 1.0
LOW = RATINGS <= 2
NEAR = RATINGS + 0.25
FAR = RATINGS + np.where(LOW, 1.0, 0.5)


def rated_split(seed: int = 0, *, factor: float = 1.0) -> Split:
    """Return all high ratings and a quarter of the low ones; their propensities are `factor` times the right ones."""
    logged = np.where(LOW, np.random.default_rng(seed).random(LOW.shape) < 0.25, True)
    users, items = np.nonzero(logged)
    chance = np.minimum(1.0, np.where(LOW, 0.25, 1.0) * factor)[logged]
    test = Interactions.from_arrays(
        users, items, values=RATINGS[logged], propensity=chance, n_users=USERS, n_items=ITEMS
    )
    empty = Interactions.from_arrays([], [], values=[], n_users=USERS, n_items=ITEMS)
    return Split(empty, test, candidates="all")


def table_of(predicted: Floats, split: Split) -> Predictions:
    """Return predictions for the test rows alone, which cannot rank."""
    test = split.test
    columns = {"user": test.users, "item": test.items, "prediction": predicted[test.users, test.items]}
    return Predictions.from_frame(pl.DataFrame(columns), split)


def judge_ratings(*, split: Split | None = None, models: dict[str, Any] | None = None, **settings: Any) -> Report:
    """Return the report on "near" and "far", by mae, rmse and column propensities unless `settings` say otherwise."""
    chosen = models or {"far": MatrixScorer(FAR, ratings=True), "near": MatrixScorer(NEAR, ratings=True)}
    settings.setdefault("metrics", ["mae", "rmse"])
    settings.setdefault("propensity", "column")
    return evaluate(chosen, split or rated_split(), **settings)


def judge_mixed(**settings: Any) -> Report:
    """Return the report on a model that ranks and predicts, one that only ranks and one that only predicts."""
    split = rated_split()
    models = {
        "both": MatrixScorer(NEAR, ratings=True),
        "ranker": MatrixScorer(-RATINGS),
        "table": table_of(FAR, split),
    }
    settings.setdefault("metrics", ["mae", "recall@3", "cg@2"])
    return judge_ratings(split=split, models=models, **settings)
