"""A small world in which every pair has a rating, some of which a log shows, and the estimators as loops over it."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from unskew import Interactions, Split
from unskew.ranking import ListScorer, MatrixScorer

USERS, ITEMS = 25, 12


@dataclass(frozen=True, eq=False)
class RatedWorld:
    """Ratings and propensities of all pairs, what train and test show of them, and two models' predictions."""

    ratings: np.ndarray
    propensity: np.ndarray
    in_train: np.ndarray
    in_test: np.ndarray
    predicted: dict[str, np.ndarray]

    def log(self, shown: np.ndarray, *, propensity: bool, name: str) -> Interactions:
        users, items = np.nonzero(shown)
        return Interactions.from_arrays(
            users,
            items,
            values=self.ratings[shown],
            propensity=self.propensity[shown] if propensity else None,
            n_users=self.ratings.shape[0],
            n_items=self.ratings.shape[1],
            name=name,
        )

    def split(self, candidates: str = "unseen", *, train_propensity: bool = False) -> Split:
        train = self.log(self.in_train, propensity=train_propensity, name="train")
        return Split(train, self.log(self.in_test, propensity=True, name="test"), candidates=candidates)

    def judged(self, candidates: str) -> np.ndarray:
        """Pairs whose ratings are judged."""
        return self.in_test & ~self.in_train if candidates == "unseen" else self.in_test

    def pairs(self, candidates: str) -> np.ndarray:
        """Number of candidates of each user."""
        if candidates == "listed":
            return self.in_test.sum(axis=1)
        return np.full(len(self.ratings), self.ratings.shape[1]) - (candidates == "unseen") * self.in_train.sum(axis=1)

    def scorer(self, model: str) -> MatrixScorer:
        return MatrixScorer(self.predicted[model], ratings=True)

    def frame(self, model: str, which: np.ndarray | None = None) -> pl.DataFrame:
        users, items = np.nonzero(self.in_test if which is None else which)
        return pl.DataFrame({"user": users, "item": items, "prediction": self.predicted[model][users, items]})

    def table(self, model: str, which: np.ndarray | None = None) -> ListScorer:
        frame = self.frame(model, which)
        columns = frame["user"], frame["item"], frame["prediction"].to_numpy()
        return ListScorer.from_table(*columns, name=model, ratings=True)


def rated_world(seed: int = 0) -> RatedWorld:
    """Large ratings are shown more often; some pairs are in train and in test, some users are in neither."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, (USERS, ITEMS)).astype(float)
    propensity = np.clip(0.12 * ratings * rng.uniform(0.7, 1.2, ratings.shape), 0.05, 0.95)
    in_train = rng.random(ratings.shape) < 0.25
    in_test = rng.random(ratings.shape) < propensity
    in_test[:2] = False  # nothing observed of two users, the first of whom has a training row
    in_train[0, :3], in_train[1] = True, False
    close = ratings + rng.normal(0, 0.8, ratings.shape)
    return RatedWorld(
        ratings, propensity, in_train, in_test, {"close": close, "flat": np.full(ratings.shape, 3.0) + close / 100}
    )


def all_pairs(world: RatedWorld, gains: np.ndarray, estimator: str, candidates: str, *, graded: bool) -> float:
    """An estimate by loops; `gains` is what each pair loses or gains."""
    pairs = world.pairs(candidates)
    above, below = 0.0, 0.0
    for user, item in zip(*np.nonzero(world.judged(candidates)), strict=True):
        weight = 1.0 if estimator == "aoa" else 1 / world.propensity[user, item]
        above += weight * gains[user, item]
        below += weight / (pairs[user] if graded else 1)
    if estimator == "ips":
        below = np.sum(pairs > 0) if graded else pairs.sum()
    return above / below


def places(world: RatedWorld, model: str, candidates: str) -> np.ndarray:
    """The place from 0 of each pair among its user's candidates; scores must not tie."""
    scores = world.predicted[model]
    ranks = np.full(scores.shape, -1)
    for user in range(len(scores)):
        among = {"all": np.ones(scores.shape[1], bool), "listed": world.in_test[user], "unseen": ~world.in_train[user]}
        for item in np.flatnonzero(among[candidates]):
            ranks[user, item] = np.sum(scores[user, among[candidates]] > scores[user, item])
    return ranks


def without(world: RatedWorld, dropped: np.ndarray) -> RatedWorld:
    """The same world with fewer test rows."""
    return replace(world, in_test=world.in_test & ~dropped)
