"""Figure 2: how far off the estimates are as selection grows stronger."""

from collections.abc import Iterator

import numpy as np

from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_table
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016.closed_forms import limit
from unskew.studies.schnabel2016.draws import Losses, chances, relative_errors, rmse_figure, squared_errors
from unskew.studies.schnabel2016.printed import CELLS, MATRICES

ALPHAS: Size[tuple[float, ...]] = Size((1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125))
DRAWS = Size(50, 10, trials=True)
NAIVE, IPS, SNIPS = "Naive", "IPS", "SNIPS"
SIGMAS = 4.0

_CURVE = "the paper draws a curve and prints no number; closed form"
_CLAIMS = (
    "IPS and SNIPS are closer to the truth than Naive at every alpha below 1",
    "At alpha 1 SNIPS and Naive are the same number",
    "The simulated naive averages of MSE are at their closed forms",
)


def compute(world: World | None, context: Context) -> Findings:
    """The figure of a world, or of none."""
    alphas = context.size(ALPHAS)
    if world is None:
        return Findings(tuple(_cells(CELLS, alphas)), unjudged(_CLAIMS, context.absence(DATA)))
    trials, distance, gap = measure(world, context)
    note = f"Over 5 predictions and {context.size(DRAWS)} trials; bands are 95 % intervals over trials."
    figure = rmse_figure(trials, "Root mean squared error of the estimates", "alpha (1: no selection)", note)
    cells, claims = tuple(_cells(world.ratings.size, alphas)), tuple(_claims(trials, distance, gap))
    return Findings(cells, claims, (figure,), (world.origin,), trials=trials)


def measure(world: World, context: Context) -> tuple[Trials, float, float]:
    """Squared errors of the estimates, one per draw, by metric, estimator and alpha; and two checks.

    The checks are how far the simulated naive means are from their closed forms at most, in standard errors, and the
    largest relative difference of SNIPS and Naive at alpha 1.
    """
    rng = context.rng("fig2")
    losses = Losses.of(world.ratings, ("MSE", "DCG"), rng)
    groups = {}
    distance = gap = 0.0
    trials = context.size(DRAWS)
    for alpha in context.counted("strengths of selection", context.size(ALPHAS)):
        chance = chances(world.ratings, alpha)
        draws = losses.draw(chance, trials, rng)
        estimates = {NAIVE: draws.naive(), IPS: draws.ips(chance), SNIPS: draws.snips(chance)}
        groups.update(squared_errors(losses, estimates, alpha))
        forms = [limit(matrix, "MSE", alpha, world.ratings.size) for matrix in MATRICES]
        errors = [np.hypot(form.sd_naive / trials**0.5, form.sd_prediction_naive) for form in forms]
        naive = estimates[NAIVE][:, losses.columns("MSE")].mean(axis=0)
        distance = max(distance, float(np.max(np.abs(naive - [form.naive for form in forms]) / errors)))
        if alpha == 1:
            gap = float(np.abs(estimates[SNIPS] / estimates[NAIVE] - 1).max())
    return Trials(("metric", "estimator", "alpha"), "draw", groups), distance, gap


def _cells(size: int, alphas: tuple[float, ...]) -> Iterator[ReproducedCell]:
    """Closed forms of the MSE panel: the truth, the limit of the naive average, and the spread of the others."""
    for matrix in MATRICES:
        yield cell(matrix, "MSE true", "none", limit(matrix, "MSE", 1.0, size).true, note=_CURVE)
        for alpha in alphas:
            form = limit(matrix, "MSE", alpha, size)
            naive = Mean(form.naive, form.sd_naive, None)
            yield cell(matrix, f"MSE Naive, alpha={alpha:g}", "none", naive, note=_CURVE)
        for alpha in (0.25, 0.03125):
            form = limit(matrix, "MSE", alpha, size)
            for name, sd in ((IPS, form.sd_ips), (SNIPS, form.sd_snips)):
                yield cell(matrix, f"MSE {name}, sd, alpha={alpha:g}", "none", sd, note=_CURVE)


def _claims(trials: Trials, distance: float, gap: float) -> Iterator[Claim]:
    below = [alpha for alpha in trials.levels("alpha") if alpha < 1]
    ratios = {key: max(each) for key, each in relative_errors(trials, (IPS, SNIPS), below).items()}
    evidence = ", ".join(f"{' '.join(key)} {ratio:.3f}" for key, ratio in ratios.items())
    yield Claim(_CLAIMS[0], max(ratios.values()) < 1, f"largest error relative to Naive's: {evidence}")
    yield Claim(_CLAIMS[1], gap < 1e-9, f"largest relative difference {gap:.1e}")
    evidence = f"largest distance of 30 means: {distance:.1f} standard errors, of {SIGMAS:g} allowed"
    yield Claim(_CLAIMS[2], distance <= SIGMAS, evidence)


TABLE = completed_table("fig2", "Error of the estimates of MSE and DCG@50 as selection grows stronger", compute)
