"""`suggest`: the next parameters to try, by a Gaussian process (compiled, or optuna's) or quasi-random."""

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias
from zlib import crc32

import numpy as np

from unskew.calibration.gaussian_process import next_point
from unskew.calibration.search_space import Parameters, Range, Space
from unskew.errors import ConfigError, Option

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Method: TypeAlias = Literal["compiled", "gp", "coarse"]
Tried: TypeAlias = Sequence[tuple[Parameters, float]]
HINT = "pip install 'unskew[tune]'"


def gp_is_here() -> bool:
    """Whether the packages for optuna's Gaussian process are installed."""
    return find_spec("optuna") is not None and find_spec("torch") is not None


def require_gp() -> None:
    """Refuse a search that needs packages which are not installed."""
    if not gp_is_here():
        raise ConfigError(
            f"calibrating by a Gaussian process needs optuna and torch: {HINT}, or use a coarse search "
            f"({Option('coarse', True)})"
        )


def seeds_of(seed: int, *words: str | int) -> np.random.SeedSequence:
    """Independent random numbers for each combination of words, the same on every machine."""
    return np.random.SeedSequence([seed, *(crc32(w.encode()) if isinstance(w, str) else w for w in words)])


def starting_point(space: Space, seed: int, search: str, number: int) -> Parameters:
    """A point of a scrambled Halton sequence, which fills the space more evenly than independent draws."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seeds_of(seed, space.kind, search))
    points = qmc.Halton(len(space.ranges), scramble=True, rng=rng).random(number + 1)
    return space.at(points[number].tolist())


def suggest(space: Space, tried: Tried, seed: int, search: str, number: int, method: Method) -> Parameters:
    """The parameters to try next, which depend on the arguments only; smaller values are better.

    The sampler is made again each time from the points tried and a seed, so a search that continues from its record
    makes the same choices as one without interruption. `number` counts the earlier choices of the search.
    """
    if method == "coarse" or not tried:
        return starting_point(space, seed, search, number)
    if method == "compiled":
        points = np.array([space.shares_of(parameters) for parameters, _ in tried])
        values = np.array([value for _, value in tried])
        rng = np.random.default_rng(seeds_of(seed, space.kind, search, number))
        return space.at(next_point(points, values, rng).tolist())
    return _suggest_gp(space, tried, seed, search, number)


def _suggest_gp(space: Space, tried: Tried, seed: int, search: str, number: int) -> Parameters:
    """The next parameters of optuna's Gaussian process."""
    import optuna

    distributions = {each.name: _distribution(each) for each in space.ranges}
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            state = int(seeds_of(seed, space.kind, search, number).generate_state(1)[0])
            sampler = optuna.samplers.GPSampler(seed=state, n_startup_trials=1)
            study = optuna.create_study(sampler=sampler)
            study.add_trials(
                [
                    optuna.trial.create_trial(params=_typed(space, each), distributions=distributions, value=value)
                    for each, value in tried
                ]
            )
            asked = study.ask(distributions).params
    finally:
        optuna.logging.set_verbosity(before)
    return space.rounded({name: float(value) for name, value in asked.items()})


def _distribution(each: Range) -> "BaseDistribution":
    from optuna.distributions import FloatDistribution, IntDistribution

    if each.whole:
        return IntDistribution(int(each.low), int(each.high))
    return FloatDistribution(each.low, each.high, log=each.log)


def _typed(space: Space, parameters: Parameters) -> dict[str, float | int]:
    return {each.name: int(parameters[each.name]) if each.whole else parameters[each.name] for each in space.ranges}
