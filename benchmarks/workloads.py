"""The workloads of the benchmarks: random factors, and rows that are distinct by construction."""

from dataclasses import dataclass

import numpy as np

from unskew import Interactions, Split
from unskew.ranking import FactorScorer, ListScorer


@dataclass(frozen=True)
class Workload:
    name: str
    users: int
    items: int
    held_out: int
    trained: int
    d: int = 64


W1 = Workload("W1", 6_040, 3_706, 20, 50)
W2 = Workload("W2", 100_000, 20_000, 10, 30)
W3 = Workload("W3", 200_000, 20_000, 10, 0)


def distinct_items(workload, rng):
    """Items of each user, all different: each from its own disjoint range, in random order."""
    n = workload.held_out + workload.trained
    width = workload.items // n
    picked = np.arange(n) * width + rng.integers(0, width, (workload.users, n))
    return rng.permuted(picked, axis=1)


def make(workload, seed=0):
    """A split and a factor model."""
    rng = np.random.default_rng(seed)
    items = distinct_items(workload, rng)
    users = np.repeat(np.arange(workload.users), items.shape[1]).reshape(items.shape)
    split = Split(
        train=_interactions(workload, users, items, slice(workload.held_out, None)),
        test=_interactions(workload, users, items, slice(0, workload.held_out)),
    )
    shape = (workload.users, workload.d), (workload.items, workload.d)
    factors = [rng.standard_normal(size, dtype=np.float32) for size in shape]
    return split, FactorScorer(*factors)


def make_lists(workload, length=100, seed=0):
    """Top-N lists as an array, with held-out items likely near the top, and their split."""
    rng = np.random.default_rng(seed)
    items = distinct_items(workload, rng)
    users = np.repeat(np.arange(workload.users), workload.held_out).reshape(items.shape)
    start = rng.integers(0, workload.items, (workload.users, 1))
    lists = (start + np.arange(length) * 7919) % workload.items  # 7919 and 20,000 are coprime, so a list has no repeats
    places = rng.integers(0, length // workload.held_out, items.shape) + np.arange(workload.held_out) * 10
    hit = rng.random(items.shape) < 0.3
    chosen = np.take_along_axis(lists, places, axis=1)
    held = np.where(hit, chosen, items)
    test = Interactions.from_arrays(users.ravel(), held.ravel(), n_users=workload.users, n_items=workload.items)
    nothing = Interactions.from_arrays([], [], n_users=workload.users, n_items=workload.items)
    return Split(nothing, test, candidates="all"), ListScorer.from_arrays(lists, n_items=workload.items), lists


def _interactions(workload, users, items, columns):
    return Interactions.from_arrays(
        users[:, columns].ravel(), items[:, columns].ravel(), n_users=workload.users, n_items=workload.items
    )
