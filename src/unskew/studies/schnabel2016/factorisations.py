"""Factorisations of Figure 3: what is fitted in each world, with chosen penalties, over trials, kept in the cache."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.blas import one_thread
from unskew.models.ratings.mf_fit import fit_mf
from unskew.models.ratings.mf_tuning import tune_mf
from unskew.models.ratings.rating_model import Rated
from unskew.propensities import NaiveBayes
from unskew.simulators import RatingWorld
from unskew.studies.framework.cache import key_of, read_arrays, write_arrays
from unskew.studies.framework.completed_movielens import DATA
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016 import jester
from unskew.studies.schnabel2016.draws import DENSITY

NAIVE, IPS, LEARNT = "MF-Naive", "MF-IPS", "MF-IPS-NB"
METRICS = ("MSE", "MAE")
ALPHA = 0.25
"""The strength of selection at which propensities are also learnt."""
ALPHAS: Size[tuple[float, ...]] = Size((1.0, 0.5, ALPHA, 0.125, 0.0625, 0.03125), (1.0, ALPHA))
"""Strengths of selection; 1 observes all ratings with the same chance."""
SIZES: Size[tuple[int, ...]] = Size((10, 30, 100, 300, 1000, 3000, 10_000), (30, 1000))
"""Ratings in the random samples from which propensities are learnt."""
PENALTIES: Size[tuple[float, ...]] = Size((125.0, 25.0, 5.0, 1.0, 0.2, 0.04), (5.0, 1.0))
"""What cross-validation chooses from."""
TRIALS, FOLDS, FACTORS = Size(30, 4, trials=True), Size(4, 2), Size(20, 5)
SHAPE: Size[tuple[int, int] | None] = Size(None, (150, 250))
"""Users and items of MovieLens to keep, at random; None keeps all."""
JESTER_SHAPE: Size[tuple[int, int] | None] = Size((2000, 100), (150, 100))
"""The same of Jester: with 2,000 people a fit has about the rows of one on MovieLens."""
BLOCK = 5
"""Trials that are kept together on disk."""
FORMAT = 1
"""Changes when the numbers of a fit do, so that what an older version kept is not used."""

Case = tuple[float, str, int | None]
"""Alpha, method, and the size of the random sample where propensities are learnt."""


@dataclass(frozen=True)
class Setting:
    """What is done in a world.

    Parameters
    ----------
    data : str
    density : Size
        Share of the cells that is observed.
    shape : Size
        Users and items to keep, at random; None keeps all.
    sizes : Size
        Ratings in the random samples from which propensities are learnt; none where only known ones are used.
    """

    data: str
    density: Size[float]
    shape: Size[tuple[int, int] | None]
    sizes: Size[tuple[int, ...]]

    def cases(self, context: Context) -> list[Case]:
        """All that is fitted."""
        return cases(context.size(ALPHAS), context.size(self.sizes))

    def stream(self, *purpose: str | int) -> tuple[str | int, ...]:
        """The words of a generator; each world has its own."""
        return ("fig3", *purpose) if self.data == DATA else ("fig3", self.data, *purpose)


MOVIELENS = Setting(DATA, DENSITY, SHAPE, SIZES)
JESTER = Setting(jester.DATA, jester.DENSITY, JESTER_SHAPE, Size(()))


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors over all cells by data, alpha, method, size and metric, and the penalty chosen for each case."""

    data: str
    trials: Trials
    penalties: Mapping[Case, float]

    def values(self, case: Case, metric: str) -> Floats:
        """The errors of a case, one per trial."""
        return self.trials[self.data, *case, metric]

    def gap(self, case: Case, metric: str) -> Gap:
        """How much worse MF-Naive was than this case, paired by trial."""
        return Gap.of(self.values((case[0], NAIVE, None), metric), self.values(case, metric))


def cases(alphas: Sequence[float], sizes: Sequence[int]) -> list[Case]:
    """All that is fitted, alpha by alpha, and then with learnt propensities."""
    known: list[Case] = [(alpha, method, None) for alpha in alphas for method in (NAIVE, IPS)]
    return [*known, *((ALPHA, LEARNT, size) for size in sizes)]


def measure(ratings: Ints, context: Context, setting: Setting = MOVIELENS) -> Errors:
    """Choose a penalty for each case on a draw of its own, then fit each in every trial."""
    truth = thinned(ratings, context, setting).astype(np.int8)
    all_cases, draw = setting.cases(context), _draws(truth, context, setting)
    factors, folder = context.size(FACTORS), context.cached("schnabel2016", "fig3")
    world = (
        FORMAT,
        context.seed,
        setting.data,
        context.size(setting.density),
        truth.shape,
        key_of(truth.tobytes()),
        factors,
    )
    penalties = _chosen(all_cases, draw, context, setting, folder, world)
    total, blocks = context.size(TRIALS), []
    for first in range(0, total, BLOCK):
        numbers = range(first, min(first + BLOCK, total))
        path = _path(folder, "errors", *world, tuple(penalties.items()), numbers)
        kept = read_arrays(path, ("errors",))
        if kept is None:
            order = [(case, trial) for trial in numbers for case in all_cases]
            fits = (partial(_fit, draw(case, trial), factors, penalties[case], truth) for case, trial in order)
            stage = f"fitting, {setting.data}, trials {numbers[0] + 1} to {numbers[-1] + 1} of {total}"
            fitted = np.array(run_all(fits, len(order), stage, context))
            kept = {"errors": fitted.reshape(len(numbers), len(all_cases), len(METRICS))}
            write_arrays(path, kept)
        blocks.append(kept["errors"])
    errors = np.concatenate(blocks)
    groups = {
        (setting.data, *case, metric): errors[:, k, m]
        for k, case in enumerate(all_cases)
        for m, metric in enumerate(METRICS)
    }
    return Errors(setting.data, Trials(("data", "alpha", "method", "size", "metric"), "trial", groups), penalties)


def thinned(ratings: Ints, context: Context, setting: Setting = MOVIELENS) -> Ints:
    """A random part of the users and items."""
    rng = context.rng(*setting.stream("thinned"))
    shape = context.size(setting.shape)
    kept = zip(ratings.shape, shape or ratings.shape, strict=True)
    users, items = (np.sort(rng.permutation(n)[:keep]) for n, keep in kept)
    return np.asarray(ratings[np.ix_(users, items)])


def _chosen(
    all_cases: Sequence[Case],
    draw: Callable[[Case, str | int], Rated],
    context: Context,
    setting: Setting,
    folder: Path | None,
    world: tuple[object, ...],
) -> dict[Case, float]:
    """The penalty of each case, by cross-validation on a draw of its own."""
    grid, folds = context.size(PENALTIES), context.size(FOLDS)
    path = _path(folder, "penalties", *world, tuple(all_cases), grid, folds)
    kept = read_arrays(path, ("penalties",))
    if kept is None:
        searches = (
            partial(tune_mf, draw(case, "choice"), (context.size(FACTORS),), grid, offsets="free", folds=folds)
            for case in all_cases
        )
        choices = run_all(searches, len(all_cases), f"choosing penalties, {setting.data}", context)
        kept = {"penalties": np.array([choice.penalty for choice in choices])}
        write_arrays(path, kept)
    return dict(zip(all_cases, kept["penalties"].tolist(), strict=True))


def _path(folder: Path | None, kind: str, *identity: object) -> Path | None:
    return None if folder is None else folder / f"{kind}-{key_of(*identity)}.npz"


def _fit(rated: Rated, factors: int, penalty: float, truth: Ints) -> tuple[float, float]:
    """MSE and MAE over all cells of a factorisation of what was observed."""
    with one_thread():
        errors = fit_mf(rated, factors, penalty, offsets="free").matrix() - truth
    return float(np.mean(errors**2)), float(np.mean(np.abs(errors)))


def _draws(truth: Ints, context: Context, setting: Setting) -> Callable[[Case, str | int], Rated]:
    """What is observed in each trial, the same for all methods, weighted as the method does."""

    @cache
    def world(alpha: float) -> RatingWorld:
        return RatingWorld.skewed(truth, alpha, context.size(setting.density))

    def rated(case: Case, trial: str | int) -> Rated:
        alpha, method, size = case
        log = world(alpha).draw(context.rng(*setting.stream(f"{alpha:g}", trial)))
        values = np.asarray(log.values, dtype=np.float64)
        if method == NAIVE:
            return Rated.unweighted(log.users, log.items, values, log.n_users, log.n_items)
        chance = log.propensity
        if size is not None:
            mixed = context.rng(*setting.stream("random sample", trial)).permutation(truth.ravel())
            # the smaller samples are parts of the larger ones
            sample = np.asarray(mixed).astype(np.int64)[:size]
            chance = NaiveBayes(sample).observe(log)(log.users, log.items, log.values)
        return Rated(log.users, log.items, values, 1 / np.asarray(chance), log.n_users, log.n_items)

    return rated
