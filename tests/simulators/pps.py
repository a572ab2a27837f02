"""Drawing without replacement in proportion to weight, by adding up all ways in which it can happen."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np

from unskew.arrays import Floats


def set_chances(weights: Sequence[float], n: int) -> dict[frozenset[int], float]:
    """Probability that the first n drawn are this set, for every set of n."""
    total = sum(weights)

    @cache
    def chance(drawn: frozenset[int]) -> float:
        if not drawn:
            return 1.0
        return sum(
            chance(drawn - {last}) * weights[last] / (total - sum(weights[k] for k in drawn - {last})) for last in drawn
        )

    return {frozenset(each): chance(frozenset(each)) for each in combinations(range(len(weights)), n)}


def inclusion(weights: Sequence[float], n: int) -> Floats:
    """Probability of each to be among the first n drawn."""
    found = np.zeros(len(weights))
    for drawn, chance in set_chances(weights, n).items():
        found[list(drawn)] += chance
    return found
