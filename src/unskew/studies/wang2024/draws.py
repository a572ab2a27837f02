"""Random exposure: a few held items of each user, drawn uniformly and labelled."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.exposed import Exposure, Worth
from unskew.estimators.exposed.beta_binomial import chance_of_any

if TYPE_CHECKING:
    from unskew.studies.wang2024.biased import BiasedLog


def draw_exposed(held: Bools, size: int, rng: np.random.Generator) -> Ints:
    """D_rand: so many items of each user, uniformly and without replacement.

    Parameters
    ----------
    held : array of bool, users by items
        What may be drawn.
    size : int
        l.
    rng : Generator
    """
    fewest = int(held.sum(axis=1).min())
    if not 0 < size <= fewest:
        raise ConfigError(f"cannot draw {size} items of each user, for one has {fewest}; draw fewer")
    keys = rng.random(held.shape, dtype=np.float32)
    keys[~held] = 2.0
    return np.argpartition(keys, size - 1, axis=1)[:, :size]


def exposure_of(log: "BiasedLog", drawn: Ints) -> Exposure:
    """What was drawn, with its labels."""
    users = np.repeat(np.arange(len(drawn)), drawn.shape[1])
    return Exposure(users, log.world.labels[users, drawn.ravel()], log.population)


def chances_of(log: "BiasedLog", size: int) -> Floats:
    """P(n >= 1) of each user when `size` items are drawn, from the true number of positives; 0 for those without."""
    relevant, population = log.relevant.sum(axis=1), log.population
    chances = np.zeros(len(relevant))
    for among in np.unique(population):
        mine = (population == among) & (relevant > 0)
        chances[mine] = chance_of_any(relevant[mine], size, int(among))
    return chances


def worth_of(ranks: npt.NDArray[np.int32], drawn: Ints, log: "BiasedLog", k: int) -> Worth:
    """Recall@K's view of what was drawn, under a model.

    Parameters
    ----------
    ranks : array (users, items)
        As `places` gives them.
    drawn : array of int, users by l
    log : BiasedLog
    k : int
    """
    above = np.take_along_axis(ranks, drawn, axis=1).ravel().astype(np.float64)
    population = log.population

    def up_to(numbers: Ints) -> Floats:
        return np.minimum(np.minimum(numbers[None], population[:, None]), k).astype(np.float64)

    return Worth((above < k).astype(np.float64), above, up_to, k)


def traditional(ranks: npt.NDArray[np.int32], drawn: Ints, log: "BiasedLog", k: int) -> float:
    """Recall@K inside the sample, the mean over users with a positive there.

    Parameters
    ----------
    ranks : array (users, items)
        As `places` gives them.
    drawn : array of int, users by l
    log : BiasedLog
    k : int
    """
    mine = np.take_along_axis(ranks, drawn, axis=1)
    positive = np.take_along_axis(log.world.labels, drawn, axis=1)
    k = min(k, mine.shape[1])
    last = np.partition(mine, k - 1, axis=1)[:, k - 1, None]  # ranks are distinct
    found, numbers = (positive & (mine <= last)).sum(axis=1), positive.sum(axis=1)
    any_ = numbers > 0
    return float((found[any_] / numbers[any_]).mean()) if any_.any() else float("nan")
