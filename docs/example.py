"""The small simulated log of the guide: 1,200 users, 160 items, a head that is shown much more than the tail."""

from pathlib import Path

import numpy as np
import polars as pl

from unskew import Interactions
from unskew.models import Model
from unskew.ranking import FactorScorer
from unskew.simulators import Marketplace, World

SEED = 7


def world() -> World:
    """Return the world, truth included."""
    settings = Marketplace(
        users=1200, items=160, tastes=4, strength=1.75, liked=0.2, exponent=0.8, top=0.9, floor=0.06, holdout=0.25
    )
    return settings.draw(rng=SEED)


def write_files(folder: str | Path = ".") -> None:
    """Write what a practitioner has: ``log.csv``, ``train.csv``, ``test.csv`` and two models in files.

    ``mf.npz`` holds factors with their ids, ``lists.csv`` the top 20 of another model.
    """
    place, drawn = Path(folder), world()
    log = pl.concat([drawn.train.to_polars(), drawn.test.to_polars().drop("propensity")])
    rng = np.random.default_rng(SEED)
    log = log.with_columns(
        rating=rng.integers(1, 6, len(log)), timestamp=1_700_000_000 + rng.integers(0, 10_000_000, len(log))
    )
    log.sample(fraction=1.0, shuffle=True, seed=SEED).write_csv(place / "log.csv")
    drawn.train.to_polars().write_csv(place / "train.csv")
    drawn.test.to_polars().write_csv(place / "test.csv")
    train = Interactions.read(place / "train.csv")
    factors = Model.from_word("als(factors=8)").fit(train)
    assert isinstance(factors, FactorScorer)
    np.savez(
        place / "mf.npz",
        user_factors=factors.user_factors,
        item_factors=factors.item_factors,
        user_ids=np.asarray(factors.user_ids),
        item_ids=np.asarray(factors.item_ids),
    )
    _top(Model.from_word("item-knn").fit(train), train, 20).write_csv(place / "lists.csv")


def _top(scorer: object, train: Interactions, n: int) -> pl.DataFrame:
    users, items = np.asarray(scorer.user_ids), np.asarray(scorer.item_ids)  # type: ignore[attr-defined]
    scores = scorer.score(np.arange(len(users)))  # type: ignore[attr-defined]
    seen = train.to_sparse().toarray()[np.ix_(train.user_counts > 0, train.item_counts > 0)] > 0
    order = np.argsort(-np.where(seen, -np.inf, scores), axis=1, kind="stable")[:, :n]
    rows = np.repeat(np.arange(len(users)), n)
    return pl.DataFrame(
        {"user": users[rows], "item": items[order.ravel()], "score": scores[rows, order.ravel()].round(6)}
    )
