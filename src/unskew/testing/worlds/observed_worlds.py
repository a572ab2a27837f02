"""Worlds in which it is known how likely each pair was to be observed."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from unskew.arrays import Floats, Ints
from unskew.data import Interactions


@dataclass(frozen=True, eq=False)
class CovariateWorld:
    """Tables of users and items, the propensity of each pair, and a log drawn with it."""

    users: pl.DataFrame
    items: pl.DataFrame
    propensity: Floats
    log: Interactions


def covariate_world(seed: int, n_users: int = 200, n_items: int = 150, level: float = -2.0) -> CovariateWorld:
    """Return a world observed by a logistic model of a number, an indicator, a text and two of their pairs."""
    rng = np.random.default_rng(seed)
    users = pl.DataFrame(
        {
            "user": np.arange(n_users),
            "age": rng.normal(40, 12, n_users).round(),
            "member": rng.integers(0, 2, n_users),
        }
    )
    items = pl.DataFrame({"item": np.arange(n_items), "kind": rng.choice(["a", "b", "c"], n_items)})
    age = ((users["age"] - 40) / 12).to_numpy()[:, None]
    member = users["member"].to_numpy()[:, None]
    kinds = items["kind"].to_numpy()
    logits = level + 0.5 * age + 0.7 * (kinds == "a") - 0.8 * (kinds == "b") + 0.9 * member * (kinds == "c")
    propensity = 1 / (1 + np.exp(-logits))
    rows, columns = np.nonzero(rng.random(propensity.shape) < propensity)
    log = Interactions.from_arrays(rows, columns, n_users=n_users, n_items=n_items, name="log.csv")
    return CovariateWorld(users, items, propensity, log)


def pairs(log: Interactions) -> tuple[Ints, Ints]:
    """Return the user codes and the item codes of all pairs."""
    users, items = np.indices((log.n_users, log.n_items)).reshape(2, -1)
    return users, items


def rated(counts: dict[int, int], n_users: int, n_items: int, name: str = "log.csv") -> Interactions:
    """Return a log with this number of rows of each rating, on the first pairs in turn."""
    values = np.repeat(list(counts), list(counts.values()))
    cells = np.arange(len(values))
    return Interactions.from_arrays(
        cells // n_items, cells % n_items, values, n_users=n_users, n_items=n_items, name=name
    )
