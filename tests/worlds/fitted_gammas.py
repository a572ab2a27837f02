"""A log with a steep popularity, and a gamma chosen from fits that are given."""

import numpy as np

from unskew import Interactions
from unskew.evaluation.fitting.gamma import GammaChoice, ModelGamma
from unskew.propensities import GammaFit, Popularity


def skewed_log(seed: int = 0, users: int = 150, items: int = 250) -> Interactions:
    """Popularity falls with the item's number; ratings 1 to 5 and times are random."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, items + 1)
    rows = [
        (user, item) for user in range(users) for item in rng.choice(items, 8, replace=False, p=chances / chances.sum())
    ]
    codes = np.array(rows)
    return Interactions.from_arrays(
        codes[:, 0], codes[:, 1], values=rng.integers(1, 6, len(rows)), times=rng.random(len(rows))
    )


def fit_of(gamma: float, std_error: float = 0.1, levels: int = 30) -> GammaFit:
    return GammaFit(gamma, 0.0, std_error, 1.0, levels, 0, 0, 100, 100)


def chosen(*gammas: float, **options: float) -> GammaChoice:
    models = tuple(ModelGamma(f"model {k}", fit_of(gamma, **options)) for k, gamma in enumerate(gammas))  # type: ignore[arg-type]
    return GammaChoice(Popularity("auto"), models)
