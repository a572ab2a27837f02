"""Figure 2: how far off the estimates are as selection grows stronger."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.completed_movielens import DATA, World, completed_world
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.schnabel2016.closed_forms import limit
from unskew.studies.schnabel2016.draws import CUTOFF, Losses, chances, rmse
from unskew.studies.schnabel2016.printed import MATRICES

ALPHAS = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
TRIALS, FAST_TRIALS = 50, 10
CELLS = 943 * 1682
ESTIMATORS = ("Naive", "IPS", "SNIPS")
PANELS = {"MSE": "Estimates of MSE", "DCG": f"Estimates of DCG@{CUTOFF}"}
SIGMAS = 4.0

_CURVE = "the paper draws a curve and prints no number; closed form"


@dataclass(frozen=True, eq=False)
class Errors:
    """Root mean squared errors with their standard errors, by metric and estimator, one pair an alpha.

    Parameters
    ----------
    values : mapping
        (metric, estimator) to pairs.
    naive_distance : float
        How far the simulated naive means are from their closed forms at most, in standard errors.
    gap_at_one : float
        Largest relative difference of SNIPS and Naive at alpha 1.
    """

    values: Mapping[tuple[str, str], tuple[tuple[float, float], ...]]
    naive_distance: float
    gap_at_one: float


def run(context: Context) -> Findings:
    """The figure; without the data only its closed forms."""
    return compute(completed_world(context), context)


def compute(world: World | None, context: Context) -> Findings:
    """The figure of a world, or of none."""
    if world is None:
        why = context.absence(DATA)
        return Findings(tuple(_cells(CELLS)), tuple(Claim(text, None, why) for text in _CLAIMS))
    trials = context.n_trials(TRIALS, FAST_TRIALS)
    errors = measure(world, trials, context)
    return Findings(
        tuple(_cells(world.ratings.size)), tuple(_claims(errors)), (_figure(errors, trials),), (world.told,)
    )


def measure(world: World, trials: int, context: Context) -> Errors:
    """Errors of the estimates over trials and predictions, at each alpha."""
    rng = context.rng("fig2")
    losses = Losses.of(world.ratings, ("MSE", "DCG"), rng)
    values: dict[tuple[str, str], list[tuple[float, float]]] = {(m, e): [] for m in PANELS for e in ESTIMATORS}
    distance = gap = 0.0
    for alpha in context.counted("strengths of selection", ALPHAS):
        chance = chances(world.ratings, alpha)
        draws = losses.draw(chance, trials, rng)
        estimates = {"Naive": draws.naive(), "IPS": draws.ips(chance), "SNIPS": draws.snips(chance)}
        for (metric, name), found in values.items():
            at = losses.columns(metric)
            found.append(rmse(estimates[name][:, at], losses.truth[at]))
        distance = max(distance, _distance(estimates["Naive"][:, losses.columns("MSE")], alpha, world.ratings.size))
        if alpha == 1:
            gap = float(np.abs(estimates["SNIPS"] / estimates["Naive"] - 1).max())
    return Errors({key: tuple(found) for key, found in values.items()}, distance, gap)


def _distance(naive: Floats, alpha: float, size: int) -> float:
    """How far the naive means are from their limits, in standard errors."""
    forms = [limit(matrix, "MSE", alpha, size) for matrix in MATRICES]
    error = [np.hypot(form.sd_naive / np.sqrt(len(naive)), form.sd_prediction_naive) for form in forms]
    return float(np.max(np.abs(naive.mean(axis=0) - [form.naive for form in forms]) / error))


def _cells(size: int) -> Iterator[ReproducedCell]:
    """Closed forms of the MSE panel: the truth, where the naive average tends to, and the spread of the others."""
    for matrix in MATRICES:
        yield ReproducedCell(matrix, "MSE true", "none", None, limit(matrix, "MSE", 1.0, size).true, note=_CURVE)
        for alpha in ALPHAS:
            form = limit(matrix, "MSE", alpha, size)
            yield ReproducedCell(
                matrix, f"MSE Naive, alpha={alpha:g}", "none", None, form.naive, form.sd_naive, note=_CURVE
            )
        for alpha in (0.25, 0.03125):
            form = limit(matrix, "MSE", alpha, size)
            for name, sd in (("IPS", form.sd_ips), ("SNIPS", form.sd_snips)):
                yield ReproducedCell(matrix, f"MSE {name}, sd, alpha={alpha:g}", "none", None, sd, note=_CURVE)


def _figure(errors: Errors, trials: int) -> Figure:
    def series(metric: str, name: str) -> Series:
        means, spread = zip(*errors.values[metric, name], strict=True)
        return Series.of(name, ALPHAS, means, spread, naive=name == "Naive")

    panels = tuple(Panel(title, tuple(series(metric, name) for name in ESTIMATORS)) for metric, title in PANELS.items())
    return Figure(
        "Root mean squared error of the estimates",
        "alpha (1: no selection)",
        panels,
        log_x=True,
        log_y=True,
        note=f"Over 5 predictions and {trials} trials; bands are 95 % intervals over trials.",
    )


_CLAIMS = (
    "IPS and SNIPS are closer to the truth than Naive at every alpha below 1",
    "At alpha 1 SNIPS and Naive are the same number",
    "The simulated naive averages of MSE are at their closed forms",
)


def _claims(errors: Errors) -> Iterator[Claim]:
    ratios = {
        f"{metric} {name}": max(
            mine / naive
            for alpha, (mine, _), (naive, _) in zip(
                ALPHAS, errors.values[metric, name], errors.values[metric, "Naive"], strict=True
            )
            if alpha < 1
        )
        for metric in PANELS
        for name in ("IPS", "SNIPS")
    }
    told = ", ".join(f"{key} {ratio:.3f}" for key, ratio in ratios.items())
    yield Claim(_CLAIMS[0], max(ratios.values()) < 1, f"largest error relative to Naive's: {told}")
    yield Claim(_CLAIMS[1], errors.gap_at_one < 1e-9, f"largest relative difference {errors.gap_at_one:.1e}")
    yield Claim(
        _CLAIMS[2],
        errors.naive_distance <= SIGMAS,
        f"largest distance of 30 means: {errors.naive_distance:.1f} standard errors, of {SIGMAS:g} allowed",
    )


TABLE = Table("fig2", "Error of the estimates of MSE and DCG@50 as selection grows stronger", run, needs=(DATA,))
