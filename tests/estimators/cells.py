"""Users by items matrices of losses, and every way in which their cells can turn out to be observed."""

import itertools
from collections.abc import Callable, Iterable

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips

NAIVE, IPS, SNIPS = Aoa(), Ips(), Snips()

Pattern = tuple[Bools, float]


def estimate(estimator: Estimator, loss: Floats, propensity: Floats, observed: Bools) -> float | None:
    """The estimator's number from what was observed; None where it has none."""
    return estimator.terms(Rows.of_matrix(loss, propensity, observed), "loss").value


def by_definition(loss: Floats, propensity: Floats, observed: Bools) -> dict[Estimator, float]:
    """Schnabel et al. 2016, eqs. 5, 10 and 11, cell by cell; for at least one observation."""
    losses, weights, weighted = 0.0, 0.0, 0.0
    for cell in zip(*np.nonzero(observed), strict=True):
        losses += loss[cell]
        weights += 1 / propensity[cell]
        weighted += loss[cell] / propensity[cell]
    return {NAIVE: losses / observed.sum(), IPS: weighted / loss.size, SNIPS: weighted / weights}


def independent(propensity: Floats) -> list[Pattern]:
    """Every pattern with its probability, when each cell is tossed for alone."""
    patterns = []
    for bits in itertools.product([False, True], repeat=propensity.size):
        observed = np.array(bits).reshape(propensity.shape)
        patterns.append((observed, float(np.prod(np.where(observed, propensity, 1 - propensity)))))
    return patterns


def nested(propensity: Floats) -> list[Pattern]:
    """Patterns of one toss for all cells, which observes those whose P is above it: the same P, all dependent."""
    steps = np.concatenate([[0.0], np.unique(propensity), [1.0]])
    return [(propensity >= high, float(high - low)) for low, high in itertools.pairwise(steps.tolist()) if high > low]


def moments(value: Callable[[Bools], float | None], patterns: Iterable[Pattern]) -> tuple[float, float]:
    """Mean and variance over the patterns in which there is a value."""
    found = [(value(observed), chance) for observed, chance in patterns]
    values = np.array([v for v, _ in found if v is not None])
    chances = np.array([c for v, c in found if v is not None])
    mean = float(values @ chances / chances.sum())
    return mean, float((values - mean) ** 2 @ chances / chances.sum())


def draws(propensity: Floats, n: int, seed: int) -> Iterable[Bools]:
    """Independent observation, n times."""
    rng = np.random.default_rng(seed)
    return (rng.random(propensity.shape) < propensity for _ in range(n))
