"""Figure 3: factorisations of ratings learnt from what was observed, judged on all ratings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.models.ratings.rating_model import Rated
from unskew.propensities import NaiveBayes
from unskew.simulators import RatingWorld
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.completed_movielens import DATA, World, completed_world
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.schnabel2016.factorisations import Search, Trial

NAIVE, IPS, LEARNT = "MF-Naive", "MF-IPS", "MF-IPS-NB"
METRICS = ("MSE", "MAE")
LEVEL = 0.05  # of each test

_BETTER = "MF-IPS is better than MF-Naive at every alpha below 1"
_EQUAL = "At alpha 1 MF-IPS and MF-Naive are the same up to the noise of the trials"
_LEARNT = "MF-IPS with propensities from a random sample of any size is never shown to be worse than MF-Naive"


@dataclass(frozen=True)
class Design:
    """What is fitted.

    Parameters
    ----------
    alphas : tuple of float
        Strengths of selection; 1 observes all ratings alike.
    alpha : float
        The one at which propensities are also learnt; one of `alphas`.
    sizes : tuple of int
        Ratings in the random sample that they are learnt from.
    trials : int
    penalties : tuple of float
        What cross-validation chooses from.
    folds : int
    factors : int
    users, items : int, optional
        Keep so many at random, instead of all.
    """

    alphas: tuple[float, ...] = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
    alpha: float = 0.25
    sizes: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10_000)
    trials: int = 10
    penalties: tuple[float, ...] = (125.0, 25.0, 5.0, 1.0, 0.2, 0.04)
    folds: int = 4
    factors: int = 20
    users: int | None = None
    items: int | None = None


FULL = Design()
FAST = Design(
    alphas=(1.0, 0.25), sizes=(30, 1000), trials=4, penalties=(5.0, 1.0), folds=2, factors=5, users=150, items=250
)


@dataclass(frozen=True)
class Case:
    """A method on the draws of one alpha; `size` is that of the random sample, where propensities are learnt."""

    alpha: float
    method: str
    size: int | None = None


@dataclass(frozen=True, eq=False)
class Errors:
    """What came out.

    Parameters
    ----------
    design : Design
    values : mapping
        Case to MSE and MAE over all cells, an array (trials, 2).
    penalties : mapping
        Case to the penalty that was chosen for it.
    """

    design: Design
    values: Mapping[Case, Floats]
    penalties: Mapping[Case, float]

    def gap(self, case: Case, metric: int) -> Floats:
        """How much worse MF-Naive was than this case on the same draws, one a trial."""
        return np.asarray(self.values[Case(case.alpha, NAIVE)][:, metric] - self.values[case][:, metric])


def run(context: Context) -> Findings:
    """The figure; nothing without the data."""
    return compute(completed_world(context), context)


def compute(world: World | None, context: Context, design: Design | None = None) -> Findings:
    """The figure of a world, or of none.

    Parameters
    ----------
    world : World or None
    context : Context
    design : Design, optional
        By default the full or the small one.
    """
    if world is None:
        why = context.absence(DATA)
        cells = tuple(_cell(case, metric, None, None, why) for case in cases(FULL) for metric in METRICS)
        return Findings(cells, tuple(Claim(text, None, why) for text in (_BETTER, _EQUAL, _LEARNT)))
    design = design or (FAST if context.fast else FULL)
    errors = measure(world.ratings, design, context)
    return Findings(
        tuple(_cells(errors)),
        tuple(_claims(errors)),
        tuple(_figures(errors, context.n_trials(design.trials, design.trials))),
        (world.told, *_notes(errors)),
    )


def cases(design: Design) -> list[Case]:
    """All that is fitted, alpha by alpha."""
    known = [Case(alpha, method) for alpha in design.alphas for method in (NAIVE, IPS)]
    return known + [Case(design.alpha, LEARNT, size) for size in design.sizes]


def measure(ratings: Ints, design: Design, context: Context) -> Errors:
    """Choose a penalty for each case on a draw of its own, then fit each in every trial."""
    truth = _thinned(ratings, design, context).astype(np.int8)
    trials = context.n_trials(design.trials, design.trials)
    all_cases = cases(design)
    draws = _Draws(truth, context)
    searches = (
        Search(
            draws.rated(case, "choice"),
            (design.factors,),
            design.penalties,
            offsets="free",
            folds=design.folds,
        )
        for case in all_cases
    )
    chosen = [found.penalty for found in run_all(searches, len(all_cases), "choosing penalties", context)]
    penalties = dict(zip(all_cases, chosen, strict=True))
    order = [(case, trial) for trial in range(trials) for case in all_cases]
    fits = (Trial(draws.rated(case, trial), design.factors, penalties[case], truth) for case, trial in order)
    found = run_all(fits, len(order), "fitting", context)
    values = {
        case: np.array([mine for (owner, _), mine in zip(order, found, strict=True) if owner == case])
        for case in all_cases
    }
    return Errors(design, values, penalties)


@dataclass(frozen=True, eq=False)
class _Draws:
    """What is observed in each trial, the same for all methods."""

    truth: Ints
    context: Context

    def rated(self, case: Case, trial: str | int) -> Rated:
        """The observed ratings, weighted as the method does."""
        log = self._log(case.alpha, trial)
        if case.method == NAIVE:
            return Rated.unweighted(log.users, log.items, _values(log), log.n_users, log.n_items)
        chance = log.propensity
        if case.size is not None:
            # the smaller samples are parts of the larger ones
            sample = self._sample(trial)[: case.size]
            chance = NaiveBayes(sample).observe(log)(log.users, log.items, log.values)
        return Rated(log.users, log.items, _values(log), 1 / np.asarray(chance), log.n_users, log.n_items)

    def _log(self, alpha: float, trial: str | int) -> Interactions:
        return self._worlds(alpha).draw(self.context.rng("fig3", f"{alpha:g}", trial))

    def _sample(self, trial: str | int) -> Ints:
        rng = self.context.rng("fig3", "random sample", trial)
        return np.asarray(rng.permutation(self.truth.ravel())).astype(np.int64)

    @cached_property
    def _worlds(self) -> Callable[[float], RatingWorld]:
        made: dict[float, RatingWorld] = {}

        def world(alpha: float) -> RatingWorld:
            if alpha not in made:
                made[alpha] = RatingWorld.skewed(self.truth, alpha)
            return made[alpha]

        return world


def _thinned(ratings: Ints, design: Design, context: Context) -> Ints:
    rng = context.rng("fig3", "thinned")
    users, items = (rng.permutation(n) for n in ratings.shape)
    return ratings[np.ix_(np.sort(users[: design.users]), np.sort(items[: design.items]))]


def _values(log: Interactions) -> Floats:
    return np.asarray(log.values, dtype=np.float64)


def _cells(errors: Errors) -> Iterator[ReproducedCell]:
    for case, values in errors.values.items():
        for place, metric in enumerate(METRICS):
            column = values[:, place]
            note = f"the paper draws a curve and prints no number; penalty {errors.penalties[case]:g}"
            yield _cell(case, metric, float(column.mean()), float(column.std(ddof=1)), note)


def _cell(case: Case, metric: str, ours: float | None, spread: float | None, note: str) -> ReproducedCell:
    sample = "" if case.size is None else f", {case.size} random ratings"
    return ReproducedCell(case.method, f"{metric}, alpha={case.alpha:g}{sample}", DATA, None, ours, spread, note=note)


def _claims(errors: Errors) -> Iterator[Claim]:
    design = errors.design
    below = [Case(alpha, IPS) for alpha in design.alphas if alpha < 1]
    trials = len(next(iter(errors.values.values())))
    test = f"one-sided paired t-tests over {trials} trials, each at {LEVEL:g}"
    p_values = [_p_value(errors.gap(case, metric)) for case in below for metric in range(2)]
    told = [_told(errors, case, f"alpha {case.alpha:g}") for case in below]
    yield Claim(_BETTER, max(p_values) < LEVEL, f"{test}: largest p {max(p_values):.2g}. {'; '.join(told)}")
    if 1.0 in design.alphas:
        yield _equal(errors)
    learnt = [Case(design.alpha, LEARNT, size) for size in design.sizes]
    p_values = [_p_value(-errors.gap(case, metric)) for case in learnt for metric in range(2)]
    worse = [case for case in learnt if any(errors.gap(case, metric).mean() < 0 for metric in range(2))]
    told = [_told(errors, case, f"{case.size} ratings") for case in learnt]
    where = ", ".join(str(case.size) for case in worse) or "none"
    yield Claim(
        _LEARNT,
        min(p_values) >= LEVEL / len(p_values),
        f"{test} over their number, that it is worse: smallest p {min(p_values):.2g}. "
        f"Sizes with a worse mean: {where}. {'; '.join(told)}",
    )


def _equal(errors: Errors) -> Claim:
    gaps = [errors.gap(Case(1.0, IPS), metric) for metric in range(2)]
    spreads = [errors.values[Case(1.0, NAIVE)][:, metric].std(ddof=1) for metric in range(2)]
    told = (
        f"{name} differs by {gap.mean():.5f} on average, and varies over trials by {spread:.5f}"
        for name, gap, spread in zip(METRICS, gaps, spreads, strict=True)
    )
    holds = all(abs(gap.mean()) <= spread for gap, spread in zip(gaps, spreads, strict=True))
    return Claim(_EQUAL, holds, "; ".join(told))


def _told(errors: Errors, case: Case, name: str) -> str:
    naive = errors.values[Case(case.alpha, NAIVE)].mean(axis=0)
    pairs = (
        f"{metric} {mine:.4f} against {other:.4f}"
        for metric, mine, other in zip(METRICS, errors.values[case].mean(axis=0), naive, strict=True)
    )
    return f"{name}: {', '.join(pairs)}"


def _p_value(gap: Floats) -> float:
    """Of a mean above zero."""
    from scipy import stats

    if not gap.std() > 0:  # a fit that is the same in all trials proves nothing, or all
        return 0.0 if gap.mean() > 0 else 1.0
    return float(stats.ttest_1samp(gap, 0.0, alternative="greater").pvalue)


def _figures(errors: Errors, trials: int) -> Iterator[Figure]:
    design = errors.design
    bands = f"{design.factors} factors, {trials} trials, errors over all cells; bands are 95 % intervals over trials."
    methods = {method: [Case(alpha, method) for alpha in design.alphas] for method in (NAIVE, IPS)}
    yield Figure(
        "Error of factorisations with known propensities",
        "alpha (1: no selection)",
        tuple(_panels(errors, methods, design.alphas)),
        log_x=True,
        note=bands,
    )
    by_size = {
        **{method: [Case(design.alpha, method)] * len(design.sizes) for method in (NAIVE, IPS)},
        LEARNT: [Case(design.alpha, LEARNT, size) for size in design.sizes],
    }
    yield Figure(
        "Error of factorisations with naive Bayes propensities",
        "ratings in the random sample",
        tuple(_panels(errors, by_size, design.sizes)),
        log_x=True,
        note=f"alpha = {design.alpha:g}, {bands} MF-IPS knows the propensities, MF-IPS-NB learns them from the sample.",
    )


def _panels(errors: Errors, lines: Mapping[str, Sequence[Case]], x: Sequence[float]) -> Iterator[Panel]:
    for place, metric in enumerate(METRICS):
        series = []
        for name, line in lines.items():
            columns = [errors.values[case][:, place] for case in line]
            means = [float(column.mean()) for column in columns]
            spread = [float(column.std(ddof=1) / np.sqrt(len(column))) for column in columns]
            series.append(Series.of(name, x, means, spread, naive=name == NAIVE))
        yield Panel(f"{metric} over all cells", tuple(series))


def _notes(errors: Errors) -> Iterator[str]:
    design = errors.design
    grid = ", ".join(f"{penalty:g}" for penalty in design.penalties)
    yield (
        f"Factorisations have {design.factors} factors and free offsets. The penalty of each method at each alpha, and "
        f"at each size of the random sample, was chosen once from {grid} by {design.folds}-fold cross-validation on a "
        "draw of its own, with the propensities that the method knows or learns; then all trials use it."
    )
    yield (
        "All fits minimise the squared error, and both errors are theirs: fits of the absolute error need about six "
        "times as many steps, an hour more on two cores."
    )
    chosen = (f"{_name(case)} {penalty:g}" for case, penalty in errors.penalties.items())
    yield f"Penalties chosen: {', '.join(chosen)}."
    if design.users or design.items:
        yield f"A small version: {design.users} users and {design.items} items at random."


def _name(case: Case) -> str:
    return f"{case.method} at {case.alpha:g}" + ("" if case.size is None else f" with {case.size} ratings")


TABLE = Table("fig3", "Error of learnt factorisations as selection grows stronger", run, needs=(DATA,))
