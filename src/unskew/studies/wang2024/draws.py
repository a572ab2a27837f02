"""Random exposure: a few held items of each user, drawn uniformly and labelled."""

from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.errors import ConfigError
from unskew.estimators import Places, Rows, Terms, chance_of_any

if TYPE_CHECKING:
    from unskew.studies.wang2024.biased import BiasedLog


def draw_exposed(held: Bools, size: int, rng: np.random.Generator) -> Ints:
    """D_rand: `size` items of each user, drawn uniformly and without replacement from those that are held."""
    fewest = int(held.sum(axis=1).min())
    if not 0 < size <= fewest:
        raise ConfigError(f"cannot draw {size} items of each user, because one has {fewest}; draw fewer")
    keys = rng.random(held.shape, dtype=np.float32)
    keys[~held] = 2.0
    return np.argpartition(keys, size - 1, axis=1)[:, :size]


def drawn_rows(log: "BiasedLog", drawn: Ints) -> Rows:
    """What was drawn (users by l), with its labels and populations; worth nothing yet."""
    users = np.repeat(np.arange(len(drawn)), drawn.shape[1])
    labels = log.world.labels[users, drawn.ravel()]
    return Rows(np.zeros(len(users)), users, total=log.population.astype(float), positive=labels)


def with_recall(rows: Rows, above: Ints, k: int) -> Rows:
    """The rows with what they are worth to recall@K, from their ranks in the population, which count from 0."""

    def up_to(numbers: Ints) -> Floats:
        return np.minimum(np.minimum(numbers[None], rows.population[:, None]), k).astype(np.float64)

    return rows.with_worth((above < k).astype(np.float64), Places(above.astype(np.float64), up_to, k))


def recall_inside(rows: Rows, above: Ints, k: int) -> Terms:
    """Recall@K among the rows of a user alone, for users with a positive.

    Rows are ordered by user, and their ranks in the population differ within a user.
    """
    order = np.argsort(rows.user.astype(np.int64) * (int(above.max(initial=0)) + 1) + above)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - offsets_of(rows.counts)[rows.user]
    found = rows.positive_sums((place < k).astype(np.float64))
    has = rows.positives > 0
    return Terms(found[has] / rows.positives[has], np.ones(int(has.sum())))


def chances_of(log: "BiasedLog", size: int) -> Floats:
    """P(n >= 1) of each user in samples of this size, from the true number of positives; 0 for those without."""
    relevant, population = log.relevant.sum(axis=1), log.population
    chances = np.zeros(len(relevant))
    for among in np.unique(population):
        these = (population == among) & (relevant > 0)
        chances[these] = chance_of_any(relevant[these], size, int(among))
    return chances
