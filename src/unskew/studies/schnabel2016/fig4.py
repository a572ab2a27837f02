"""Figure 4: estimates with propensities that were themselves estimated, from ever smaller random samples."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.completed_movielens import DATA, World, completed_world
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.schnabel2016.draws import CUTOFF, Losses, chances, rmse

ALPHA = 0.25
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
TRIALS, FAST_TRIALS = 50, 10
PANELS = {"MSE": "Estimates of MSE", "DCG": f"Estimates of DCG@{CUTOFF}"}
KNOWN = ("Naive", "IPS", "SNIPS")
ESTIMATED = ("IPS-NB", "SNIPS-NB")
Errors = Mapping[tuple[str, str], tuple[tuple[float, float], ...]]
"""Root mean squared errors with their standard errors, by metric and estimator, one pair a size."""

_CLAIM = "With estimated propensities the error is never above Naive's"
_CURVE = "the paper draws a curve and prints no number; largest over the sizes of the sample"


def run(context: Context) -> Findings:
    """The figure; nothing without the data."""
    return compute(completed_world(context), context)


def compute(world: World | None, context: Context) -> Findings:
    """The figure of a world, or of none."""
    if world is None:
        cells = tuple(_cell(metric, name, None, context.absence(DATA)) for metric in PANELS for name in ESTIMATED)
        return Findings(cells, (Claim(_CLAIM, None, context.absence(DATA)),))
    trials = context.n_trials(TRIALS, FAST_TRIALS)
    errors = measure(world, trials, context)
    cells = tuple(
        _cell(metric, name, max(ours / naive for ours, naive in _pairs(errors, metric, name)), _CURVE)
        for metric in PANELS
        for name in ESTIMATED
    )
    return Findings(cells, (_claim(errors),), (_figure(errors, trials),), (world.told,))


def measure(world: World, trials: int, context: Context) -> Errors:
    """Errors of the estimates over trials and predictions, for each size of the random sample."""
    rng = context.rng("fig4")
    losses = Losses.of(world.ratings, ("MSE", "DCG"), rng)
    chance = chances(world.ratings, ALPHA)
    draws = losses.draw(chance, trials, rng, context.progress)
    known = {"Naive": draws.naive(), "IPS": draws.ips(chance), "SNIPS": draws.snips(chance)}
    errors: dict[tuple[str, str], list[tuple[float, float]]] = {
        (m, e): [] for m in PANELS for e in (*KNOWN, *ESTIMATED)
    }
    for size in SIZES:
        # any size up to all cells can be drawn; a made world may have fewer cells than the largest
        sample = rng.multivariate_hypergeometric(losses.cells, min(size, int(losses.cells.sum())), size=trials)
        learnt = draws.naive_bayes(sample)
        estimates = {**known, "IPS-NB": draws.ips(learnt), "SNIPS-NB": draws.snips(learnt)}
        for (metric, name), found in errors.items():
            at = losses.columns(metric)
            found.append(rmse(estimates[name][:, at], losses.truth[at]))
    return {key: tuple(found) for key, found in errors.items()}


def _pairs(errors: Errors, metric: str, name: str) -> Iterator[tuple[float, float]]:
    """The error of an estimator and that of Naive, size by size."""
    for (ours, _), (naive, _) in zip(errors[metric, name], errors[metric, "Naive"], strict=True):
        yield ours, naive


def _cell(metric: str, name: str, ours: float | None, note: str) -> ReproducedCell:
    return ReproducedCell(f"{metric} {name}", "error relative to Naive's", DATA, None, ours, note=note)


def _claim(errors: Errors) -> Claim:
    told, holds = [], True
    for metric in PANELS:
        for name in ESTIMATED:
            ratios = [ours / naive for ours, naive in _pairs(errors, metric, name)]
            holds &= max(ratios) <= 1
            worst = SIZES[int(np.argmax(ratios))]
            told.append(f"{metric} {name} {max(ratios):.3f} (with {worst} ratings)")
    return Claim(_CLAIM, holds, f"largest error relative to Naive's: {', '.join(told)}")


def _figure(errors: Errors, trials: int) -> Figure:
    def series(metric: str, name: str) -> Series:
        means, spread = zip(*errors[metric, name], strict=True)
        return Series.of(name, SIZES, means, spread, naive=name == "Naive")

    names = (*KNOWN, *ESTIMATED)
    panels = tuple(Panel(title, tuple(series(metric, name) for name in names)) for metric, title in PANELS.items())
    return Figure(
        "Root mean squared error of the estimates, with naive Bayes propensities",
        "ratings in the random sample",
        panels,
        log_x=True,
        log_y=True,
        note=(
            f"alpha = {ALPHA:g}, over 5 predictions and {trials} trials; bands are 95 % intervals over trials. IPS and "
            "SNIPS know the propensities; -NB estimates them from the random sample. Their inverses then add up to the "
            "number of cells as long as every rating was observed and none clipped, so IPS-NB and SNIPS-NB coincide."
        ),
    )


TABLE = Table("fig4", "Error of the estimates when propensities come from a small random sample", run, needs=(DATA,))
