"""Figure 4: estimates with propensities that were themselves estimated, from ever smaller random samples."""

import numpy as np

from unskew.studies.framework.cells import cell
from unskew.studies.framework.claims import Claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_table
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016.draws import PANELS, Losses, chances, relative_errors, rmse_figure, squared_errors

ALPHA = 0.25
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
DRAWS = Size(50, 10, trials=True)
ESTIMATED = ("IPS-NB", "SNIPS-NB")

_CLAIM = "With estimated propensities the error is never above Naive's"
_CURVE = "the paper draws a curve and prints no number; largest over the sizes of the sample"
_COLUMN = "error relative to Naive's"


def compute(world: World | None, context: Context) -> Findings:
    """The figure of a world, or of none."""
    if world is None:
        why = context.absence(DATA)
        cells = (cell(f"{metric} {name}", _COLUMN, DATA, None, note=why) for metric in PANELS for name in ESTIMATED)
        return Findings(tuple(cells), unjudged((_CLAIM,), why))
    trials = measure(world, context)
    ratios = relative_errors(trials, ESTIMATED, SIZES)
    evidence = ", ".join(
        f"{metric} {name} {max(ratio):.3f} (with {SIZES[int(np.argmax(ratio))]} ratings)"
        for (metric, name), ratio in ratios.items()
    )
    holds = max(map(max, ratios.values())) <= 1
    figure = rmse_figure(
        trials,
        "Root mean squared error of the estimates, with naive Bayes propensities",
        "ratings in the random sample",
        f"alpha = {ALPHA:g}, over 5 predictions and {context.size(DRAWS)} trials; bands are 95 % intervals over "
        "trials. IPS and SNIPS know the propensities; -NB estimates them from the random sample. Their inverses then "
        "add up to the number of cells as long as every rating was observed and none clipped, so IPS-NB and SNIPS-NB "
        "coincide.",
    )
    return Findings(
        tuple(cell(" ".join(key), _COLUMN, DATA, max(ratio), note=_CURVE) for key, ratio in ratios.items()),
        (Claim(_CLAIM, holds, f"largest error relative to Naive's: {evidence}"),),
        (figure,),
        (world.origin,),
        trials=trials,
    )


def measure(world: World, context: Context) -> Trials:
    """Squared errors of the estimates, one per draw, by metric, estimator and size of the random sample."""
    rng = context.rng("fig4")
    losses = Losses.of(world.ratings, ("MSE", "DCG"), rng)
    chance, trials = chances(world.ratings, ALPHA), context.size(DRAWS)
    draws = losses.draw(chance, trials, rng, context.progress)
    known = {"Naive": draws.naive(), "IPS": draws.ips(chance), "SNIPS": draws.snips(chance)}
    groups = {}
    for size in SIZES:
        # any size up to all cells can be drawn; a small world may have fewer cells than the largest
        sample = rng.multivariate_hypergeometric(losses.cells, min(size, int(losses.cells.sum())), size=trials)
        learnt = draws.naive_bayes(sample)
        estimates = {**known, "IPS-NB": draws.ips(learnt), "SNIPS-NB": draws.snips(learnt)}
        groups.update(squared_errors(losses, estimates, size))
    return Trials(("metric", "estimator", "size"), "draw", groups)


TABLE = completed_table("fig4", "Error of the estimates when propensities come from a small random sample", compute)
