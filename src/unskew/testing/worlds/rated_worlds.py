"""A small world with a rating for every pair, a log that shows some of them, and the estimators as loops over it."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions, Split
from unskew.ranking import ListScorer, MatrixScorer

USERS, ITEMS = 25, 12


@dataclass(frozen=True, eq=False)
class RatedWorld:
    """Ratings and propensities of all pairs, what train and test show of them, and two models' predictions."""

    ratings: Floats
    propensity: Floats
    in_train: Bools
    in_test: Bools
    predicted: dict[str, Floats]

    def log(self, shown: Bools, *, propensity: bool, name: str) -> Interactions:
        """Return the shown pairs as a log, with their propensities if asked."""
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
        """Return the split under this rule of candidates."""
        train = self.log(self.in_train, propensity=train_propensity, name="train")
        return Split(train, self.log(self.in_test, propensity=True, name="test"), candidates=candidates)

    def judged(self, candidates: str) -> Bools:
        """Return which pairs have a rating that is judged."""
        return self.in_test & ~self.in_train if candidates == "unseen" else self.in_test

    def pairs(self, candidates: str) -> Ints:
        """Return the number of candidates of each user."""
        if candidates == "listed":
            return np.asarray(self.in_test.sum(axis=1))
        all_items = np.full(len(self.ratings), self.ratings.shape[1])
        return all_items - np.asarray(self.in_train.sum(axis=1)) if candidates == "unseen" else all_items

    def scorer(self, model: str) -> MatrixScorer:
        """Return the model's predictions for all pairs."""
        return MatrixScorer(self.predicted[model], ratings=True)

    def frame(self, model: str, which: Bools | None = None) -> pl.DataFrame:
        """Return the model's predictions for these pairs, the test rows by default."""
        users, items = np.nonzero(self.in_test if which is None else which)
        return pl.DataFrame({"user": users, "item": items, "prediction": self.predicted[model][users, items]})

    def table(self, model: str, which: Bools | None = None) -> ListScorer:
        """Return the model as a scorer that knows these pairs alone, the test rows by default."""
        frame = self.frame(model, which)
        columns = frame["user"], frame["item"], frame["prediction"].to_numpy()
        return ListScorer.from_table(*columns, name=model, ratings=True)


def rated_world(seed: int = 0) -> RatedWorld:
    """Return a world that shows large ratings more often; some pairs are in both parts, some users in neither."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, (USERS, ITEMS)).astype(float)
    propensity = np.clip(0.12 * ratings * rng.uniform(0.7, 1.2, ratings.shape), 0.05, 0.95)
    in_train = rng.random(ratings.shape) < 0.25
    in_test = rng.random(ratings.shape) < propensity
    in_test[:2] = False  # nothing is observed of two users; the first has a training row
    in_train[0, :3], in_train[1] = True, False
    close = ratings + rng.normal(0, 0.8, ratings.shape)
    return RatedWorld(
        ratings, propensity, in_train, in_test, {"close": close, "flat": np.full(ratings.shape, 3.0) + close / 100}
    )


def all_pairs(world: RatedWorld, gains: Floats, estimator: str, candidates: str, *, graded: bool) -> float:
    """Return an estimate over all pairs by loops; `gains` is what each pair loses or gains."""
    pairs = world.pairs(candidates)
    above, below = 0.0, 0.0
    for user, item in zip(*np.nonzero(world.judged(candidates)), strict=True):
        weight = 1.0 if estimator == "aoa" else 1 / world.propensity[user, item]
        above += weight * gains[user, item]
        below += weight / (pairs[user] if graded else 1)
    if estimator == "ips":
        below = float(np.sum(pairs > 0)) if graded else float(pairs.sum())
    return above / below


def places(world: RatedWorld, model: str, candidates: str) -> Ints:
    """Return the place from 0 of each pair among its user's candidates; scores must not tie."""
    scores = world.predicted[model]
    ranks = np.full(scores.shape, -1)
    for user in range(len(scores)):
        among = {"all": np.ones(scores.shape[1], bool), "listed": world.in_test[user], "unseen": ~world.in_train[user]}
        for item in np.flatnonzero(among[candidates]):
            ranks[user, item] = np.sum(scores[user, among[candidates]] > scores[user, item])
    return ranks


def without(world: RatedWorld, dropped: Bools) -> RatedWorld:
    """Return the same world with fewer test rows."""
    return replace(world, in_test=world.in_test & ~dropped)
