"""Figure 3: factorisations of ratings learnt from what was observed, judged on all ratings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.blas import one_thread
from unskew.models.ratings.mf_fit import fit_mf
from unskew.models.ratings.mf_tuning import tune_mf
from unskew.models.ratings.rating_model import Rated
from unskew.propensities import NaiveBayes
from unskew.simulators import RatingWorld
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_table
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials

NAIVE, IPS, LEARNT = "MF-Naive", "MF-IPS", "MF-IPS-NB"
METRICS = ("MSE", "MAE")
LEVEL = 0.05  # of each test
ALPHA = 0.25
"""The strength of selection at which propensities are also learnt."""
ALPHAS: Size[tuple[float, ...]] = Size((1.0, 0.5, ALPHA, 0.125, 0.0625, 0.03125), (1.0, ALPHA))
"""Strengths of selection; 1 observes all ratings with the same chance."""
SIZES: Size[tuple[int, ...]] = Size((10, 30, 100, 300, 1000, 3000, 10_000), (30, 1000))
"""Ratings in the random samples from which propensities are learnt."""
PENALTIES: Size[tuple[float, ...]] = Size((125.0, 25.0, 5.0, 1.0, 0.2, 0.04), (5.0, 1.0))
"""What cross-validation chooses from."""
TRIALS, FOLDS, FACTORS = Size(10, 4, trials=True), Size(4, 2), Size(20, 5)
SHAPE: Size[tuple[int, int] | None] = Size(None, (150, 250))
"""Users and items to keep, at random; None keeps all."""

_BETTER = "MF-IPS is better than MF-Naive at every alpha below 1"
_EQUAL = "At alpha 1 MF-IPS and MF-Naive are the same up to the noise of the trials"
_LEARNT = "MF-IPS with propensities from a random sample of any size is never shown to be worse than MF-Naive"

Case = tuple[float, str, int | None]
"""Alpha, method, and the size of the random sample where propensities are learnt."""


@dataclass(frozen=True, eq=False)
class Errors:
    """What came out: errors over all cells by alpha, method, size and metric, and the penalty chosen for each case."""

    trials: Trials
    penalties: Mapping[Case, float]

    def gap(self, case: Case, metric: str) -> Floats:
        """How much worse MF-Naive was than this case on the same draws, one number per trial."""
        return np.asarray(self.trials[case[0], NAIVE, None, metric] - self.trials[*case, metric])


def compute(world: World | None, context: Context) -> Findings:
    """The figure of a world, or of none."""
    if world is None:
        why = context.absence(DATA)
        cells = (_cell(case, metric, None, why) for case in cases(ALPHAS.full, SIZES.full) for metric in METRICS)
        return Findings(tuple(cells), unjudged((_BETTER, _EQUAL, _LEARNT), why))
    errors = measure(world.ratings, context)
    curve = "the paper draws a curve and prints no number; penalty {:g}"
    cells = (
        _cell(case, metric, errors.trials[*case, metric], curve.format(penalty))
        for case, penalty in errors.penalties.items()
        for metric in METRICS
    )
    figures, notes = tuple(_figures(errors, context)), (world.origin, *_notes(errors, context))
    return Findings(tuple(cells), tuple(_claims(errors)), figures, notes, trials=errors.trials)


def cases(alphas: Sequence[float], sizes: Sequence[int]) -> list[Case]:
    """All that is fitted, alpha by alpha, and then with learnt propensities."""
    known: list[Case] = [(alpha, method, None) for alpha in alphas for method in (NAIVE, IPS)]
    return [*known, *((ALPHA, LEARNT, size) for size in sizes)]


def measure(ratings: Ints, context: Context) -> Errors:
    """Choose a penalty for each case on a draw of its own, then fit each in every trial."""
    factors, grid, folds = context.size(FACTORS), context.size(PENALTIES), context.size(FOLDS)
    truth = _thinned(ratings, context).astype(np.int8)
    all_cases = cases(context.size(ALPHAS), context.size(SIZES))
    draw = _draws(truth, context)
    searches = (
        partial(tune_mf, draw(case, "choice"), (factors,), grid, offsets="free", folds=folds) for case in all_cases
    )
    choices = run_all(searches, len(all_cases), "choosing penalties", context)
    penalties = {case: choice.penalty for case, choice in zip(all_cases, choices, strict=True)}
    order = [(case, trial) for trial in range(context.size(TRIALS)) for case in all_cases]
    fits = (partial(_fit, draw(case, trial), factors, penalties[case], truth) for case, trial in order)
    errors = run_all(fits, len(order), "fitting", context)
    rows = (
        ((*case, metric), error)
        for (case, _), both in zip(order, errors, strict=True)
        for metric, error in zip(METRICS, both, strict=True)
    )
    return Errors(Trials.collect(("alpha", "method", "size", "metric"), "trial", rows), penalties)


def _fit(rated: Rated, factors: int, penalty: float, truth: Ints) -> tuple[float, float]:
    """MSE and MAE over all cells of a factorisation of what was observed."""
    with one_thread():
        errors = fit_mf(rated, factors, penalty, offsets="free").matrix() - truth
    return float(np.mean(errors**2)), float(np.mean(np.abs(errors)))


def _draws(truth: Ints, context: Context) -> Callable[[Case, str | int], Rated]:
    """What is observed in each trial, the same for all methods, weighted as the method does."""

    @cache
    def world(alpha: float) -> RatingWorld:
        return RatingWorld.skewed(truth, alpha)

    def rated(case: Case, trial: str | int) -> Rated:
        alpha, method, size = case
        log = world(alpha).draw(context.rng("fig3", f"{alpha:g}", trial))
        values = np.asarray(log.values, dtype=np.float64)
        if method == NAIVE:
            return Rated.unweighted(log.users, log.items, values, log.n_users, log.n_items)
        chance = log.propensity
        if size is not None:
            mixed = context.rng("fig3", "random sample", trial).permutation(truth.ravel())
            # the smaller samples are parts of the larger ones
            sample = np.asarray(mixed).astype(np.int64)[:size]
            chance = NaiveBayes(sample).observe(log)(log.users, log.items, log.values)
        return Rated(log.users, log.items, values, 1 / np.asarray(chance), log.n_users, log.n_items)

    return rated


def _thinned(ratings: Ints, context: Context) -> Ints:
    rng = context.rng("fig3", "thinned")
    shape = context.size(SHAPE)
    kept = zip(ratings.shape, shape or ratings.shape, strict=True)
    users, items = (np.sort(rng.permutation(n)[:keep]) for n, keep in kept)
    return np.asarray(ratings[np.ix_(users, items)])


def _cell(case: Case, metric: str, values: Floats | None, note: str) -> ReproducedCell:
    alpha, method, size = case
    sample = "" if size is None else f", {size} random ratings"
    return cell(method, f"{metric}, alpha={alpha:g}{sample}", DATA, values, note=note)


def _claims(errors: Errors) -> Iterator[Claim]:
    below = [case for case in errors.penalties if case[0] < 1 and case[1] == IPS]
    trials = len(next(iter(errors.trials.groups.values())))
    test = f"one-sided paired t-tests over {trials} trials, each at {LEVEL:g}"
    p_values = [_p_value(errors.gap(case, metric)) for case in below for metric in METRICS]
    shown = "; ".join(_shown(errors, case, f"alpha {case[0]:g}") for case in below)
    yield Claim(_BETTER, max(p_values) < LEVEL, f"{test}: largest p {max(p_values):.2g}. {shown}")
    if (1.0, IPS, None) in errors.penalties:
        gaps = {metric: float(errors.gap((1.0, IPS, None), metric).mean()) for metric in METRICS}
        spreads = {metric: float(errors.trials[1.0, NAIVE, None, metric].std(ddof=1)) for metric in METRICS}
        evidence = "; ".join(
            f"{metric} differs by {gaps[metric]:.5f} on average, and varies over trials by {spreads[metric]:.5f}"
            for metric in METRICS
        )
        yield Claim(_EQUAL, all(abs(gaps[metric]) <= spreads[metric] for metric in METRICS), evidence)
    learnt = [case for case in errors.penalties if case[1] == LEARNT]
    p_values = [_p_value(-errors.gap(case, metric)) for case in learnt for metric in METRICS]
    worse = [str(case[2]) for case in learnt if any(errors.gap(case, metric).mean() < 0 for metric in METRICS)]
    shown = "; ".join(_shown(errors, case, f"{case[2]} ratings") for case in learnt)
    yield Claim(
        _LEARNT,
        min(p_values) >= LEVEL / len(p_values),
        f"{test} over their number, that it is worse: smallest p {min(p_values):.2g}. "
        f"Sizes with a worse mean: {', '.join(worse) or 'none'}. {shown}",
    )


def _shown(errors: Errors, case: Case, name: str) -> str:
    pairs = (
        f"{metric} {errors.trials[*case, metric].mean():.4f} against "
        f"{errors.trials[case[0], NAIVE, None, metric].mean():.4f}"
        for metric in METRICS
    )
    return f"{name}: {', '.join(pairs)}"


def _p_value(gap: Floats) -> float:
    """Of a mean above zero."""
    from scipy import stats

    if not gap.std() > 0:  # a fit that is the same in all trials proves nothing, or all
        return 0.0 if gap.mean() > 0 else 1.0
    return float(stats.ttest_1samp(gap, 0.0, alternative="greater").pvalue)


def _figures(errors: Errors, context: Context) -> Iterator[Figure]:
    alphas, sizes = context.size(ALPHAS), context.size(SIZES)
    factors, trials = context.size(FACTORS), context.size(TRIALS)
    bands = f"{factors} factors, {trials} trials, errors over all cells; bands are 95 % intervals over trials."
    known = {method: [(alpha, method, None) for alpha in alphas] for method in (NAIVE, IPS)}
    panels = _panels(errors, known, alphas)
    title = "Error of factorisations with known propensities"
    yield Figure(title, "alpha (1: no selection)", panels, log_x=True, note=bands)
    level = {method: [(ALPHA, method, None)] * len(sizes) for method in (NAIVE, IPS)}
    learnt = {LEARNT: [case for case in errors.penalties if case[1] == LEARNT]}
    panels = _panels(errors, {**level, **learnt}, sizes)
    title = "Error of factorisations with naive Bayes propensities"
    note = f"alpha = {ALPHA:g}, {bands} MF-IPS knows the propensities, MF-IPS-NB learns them from the sample."
    yield Figure(title, "ratings in the random sample", panels, log_x=True, note=note)


def _panels(errors: Errors, lines: Mapping[str, Sequence[Case]], x: Sequence[float]) -> tuple[Panel, ...]:
    def series(metric: str, name: str) -> Series:
        values = [errors.trials[*case, metric] for case in lines[name]]
        return Series.over(name, x, values, naive=name == NAIVE)

    return tuple(Panel(f"{metric} over all cells", tuple(series(metric, name) for name in lines)) for metric in METRICS)


def _notes(errors: Errors, context: Context) -> Iterator[str]:
    factors, folds = context.size(FACTORS), context.size(FOLDS)
    grid = ", ".join(f"{penalty:g}" for penalty in context.size(PENALTIES))
    yield (
        f"Factorisations have {factors} factors and free offsets. The penalty of each method at each alpha, and "
        f"at each size of the random sample, was chosen once from {grid} by {folds}-fold cross-validation on a "
        "draw of its own, with the propensities that the method knows or learns; then all trials use it."
    )
    yield (
        "All fits minimise the squared error, and both errors are theirs: fits of the absolute error need about six "
        "times the steps, an hour more on two cores."
    )
    chosen = (
        f"{method} at {alpha:g}{'' if size is None else f' with {size} ratings'} {penalty:g}"
        for (alpha, method, size), penalty in errors.penalties.items()
    )
    yield f"Penalties chosen: {', '.join(chosen)}."
    shape = context.size(SHAPE)
    if shape is not None:
        yield f"A small version: {shape[0]} users and {shape[1]} items at random."


TABLE = completed_table("fig3", "Error of learnt factorisations as selection grows stronger", compute)
