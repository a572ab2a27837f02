"""The small simulated world of the page on ratings: 300 users, 200 items, all ratings known."""

from pathlib import Path

import numpy as np
import polars as pl

from unskew.arrays import Floats
from unskew.simulators import RatingWorld, prediction_matrices, relabel

SEED = 3
USERS, ITEMS, TASTES = 300, 200, 3


def world() -> RatingWorld:
    """Return a world with latent tastes, item levels and user levels, in which low ratings are seldom given."""
    rng = np.random.default_rng(SEED)
    tastes = rng.normal(size=(USERS, TASTES)) @ rng.normal(size=(TASTES, ITEMS))
    levels = rng.normal(size=(USERS, 1)) + 1.5 * rng.normal(size=ITEMS)
    completed = tastes + levels + rng.normal(size=(USERS, ITEMS))
    return RatingWorld.skewed(relabel(completed), alpha=0.25, density=0.1)


def predictions() -> dict[str, Floats]:
    """Return two predictions of all ratings, each with one fault."""
    matrices = prediction_matrices(world().ratings, rng=SEED)
    return {"ones": matrices["REC_ONES"], "fours": matrices["REC_FOURS"]}


def write_files(folder: str | Path = ".") -> None:
    """Write ``train.csv``, ``test.csv``, ``mcar.csv`` and one file of predictions per model.

    Train and test are two independent draws. ``mcar.csv`` holds 500 ratings of pairs drawn at random.
    """
    place, drawn = Path(folder), world()
    for seed, name in enumerate(("train", "test"), 1):
        drawn.draw(rng=seed).to_polars().write_csv(place / f"{name}.csv")
    pairs = np.random.default_rng(SEED).choice(USERS * ITEMS, 500, replace=False)
    users, items = np.divmod(np.sort(pairs), ITEMS)
    rated = {"user": users, "item": items, "rating": drawn.ratings[users, items]}
    pl.DataFrame(rated).write_csv(place / "mcar.csv")
    everyone, everything = np.indices((USERS, ITEMS))
    for name, matrix in predictions().items():
        rows = {"user": everyone.ravel(), "item": everything.ravel(), "prediction": matrix.ravel()}
        pl.DataFrame(rows).write_csv(place / f"{name}.csv")
