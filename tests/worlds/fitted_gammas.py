"""A log with a long tail, and a gamma chosen from fits that are given."""

from unskew import Interactions
from unskew.evaluation.fitting.gamma import GammaChoice, ModelGamma
from unskew.propensities import GammaFit, Popularity
from unskew.testing.worlds import long_tail


def skewed_log(seed: int = 0, users: int = 150, items: int = 250) -> Interactions:
    return long_tail.skewed_log(users, items, seed)


def fit_of(gamma: float, std_error: float = 0.1, levels: int = 30) -> GammaFit:
    return GammaFit(gamma, 0.0, std_error, 1.0, levels, 0, 0, 100, 100)


def chosen(*gammas: float, **options: float) -> GammaChoice:
    models = tuple(ModelGamma(f"model {k}", fit_of(gamma, **options)) for k, gamma in enumerate(gammas))  # type: ignore[arg-type]
    return GammaChoice(Popularity("auto"), models)
