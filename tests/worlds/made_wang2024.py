"""A tiny world with all labels, for the tables of Wang et al. 2024."""

import numpy as np

from unskew.data import Interactions, Split
from unskew.studies.wang2024.full_recall import Truth, places
from unskew.studies.wang2024.worlds import BiasedLog, LabelledWorld, draw_log


def tiny_world(users: int = 40, items: int = 90, seed: int = 3) -> LabelledWorld:
    """Labels of low rank; a fifth is positive."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(users, 3)) @ rng.normal(size=(3, items)) + rng.normal(size=items)
    labels = taste > np.quantile(taste, 0.8)
    return LabelledWorld("tiny", labels, np.ones_like(labels), rng.random(items), 0.0, "Made for a test.")


def tiny_log(users: int = 40, items: int = 90, seed: int = 3) -> BiasedLog:
    return draw_log(tiny_world(users, items, seed), np.random.default_rng(seed), sampled=20, part=0.1, validated=0.1)


def noisy_truth(log: BiasedLog, *noise: float, seed: int = 1) -> Truth:
    """Full recall of models that score by the labels plus noise of these sizes."""
    rng = np.random.default_rng(seed)
    labels = log.world.labels.astype(float)
    ranks = {f"noise {size:g}": places(labels + rng.normal(0, size, labels.shape), log.held) for size in noise}
    return Truth.of(log, ranks)


def tiny_split(candidates: str = "all", users: int = 30, items: int = 40, seed: int = 5) -> Split:
    """Chosen ratings, and ten random ones of each user, outside the chosen ones where candidates are unseen."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, size=(users, items)).astype(float)
    chosen = rng.random((users, items)) < ratings / 15
    chosen[0] = True  # every item has a row
    chosen[0, :12] = False
    chosen[1:, :12] |= rng.random((users - 1, 12)) < 0.3
    keys = np.where(chosen & (candidates != "all"), 2.0, rng.random((users, items)))
    drawn = np.zeros_like(chosen)
    np.put_along_axis(drawn, np.argsort(keys, axis=1)[:, :10], True, axis=1)

    def part(mask, name):
        where = np.nonzero(mask)
        return Interactions.from_arrays(*where, ratings[where], n_users=users, n_items=items, name=name)

    return Split(part(chosen, "train"), part(drawn, "test"), candidates=candidates)
