"""Figure 4: estimates with propensities that were themselves estimated, from ever smaller random samples."""

from collections.abc import Iterator

import numpy as np

from unskew.studies.framework.cells import cell
from unskew.studies.framework.claims import Claim, all_above, claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_table
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, clear_signs
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016.draws import (
    PANELS,
    Losses,
    advantages,
    chances,
    relative_errors,
    rmse,
    rmse_figure,
    squared_errors,
)

ALPHA = 0.25
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
DRAWS = Size(50, 10, trials=True)
ESTIMATED = ("IPS-NB", "SNIPS-NB")

_NEVER = "With estimated propensities the estimates are never worse than Naive, down to the smallest random sample"
_BEATS = "IPS with estimated propensities can be more accurate than with the known ones"
_SECTION = "Sec. 6.4, Fig. 4"
_CURVE = "the paper draws a curve and prints no number; largest over the sizes of the sample"
_COLUMN = "error relative to Naive's"


def compute(world: World | None, context: Context) -> Findings:
    """The figure of a world, or of none."""
    if world is None:
        why = context.absence(DATA)
        cells = (cell(f"{metric} {name}", _COLUMN, DATA, None, note=why) for metric in PANELS for name in ESTIMATED)
        return Findings(tuple(cells), unjudged((_NEVER, _BEATS), why, section=_SECTION))
    trials = measure(world, context)
    ratios = relative_errors(trials, ESTIMATED, SIZES)
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
        tuple(_claims(trials)),
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


def _claims(trials: Trials) -> Iterator[Claim]:
    worst = {
        key: f"{max(ratios):.3f} with {SIZES[int(np.argmax(ratios))]} ratings"
        for key, ratios in relative_errors(trials, ESTIMATED, SIZES).items()
    }
    gaps = advantages(trials, ESTIMATED, SIZES)
    signs = list(clear_signs(gaps).values())
    evidence = (
        f"Naive's squared error less theirs, paired by draw: clearly above 0 in {signs.count(1)} of {len(gaps)} "
        f"(Holm), below in {signs.count(-1)}; largest error relative to Naive's: "
        f"{', '.join(f'{metric} {name} {each}' for (metric, name), each in worst.items())}"
    )
    yield claim(_NEVER, (all_above(gaps), evidence), section=_SECTION, needs_full=False)
    gaps = {
        (metric, "IPS-NB", size): Gap.of(trials[metric, "IPS", size], trials[metric, "IPS-NB", size])
        for metric in PANELS
        for size in SIZES
    }
    better = [f"{metric} with {size} ratings" for (metric, _, size), sign in clear_signs(gaps).items() if sign > 0]
    ratios = {
        metric: min(rmse(trials[metric, "IPS-NB", x])[0] / rmse(trials[metric, "IPS", x])[0] for x in SIZES)
        for metric in PANELS
    }
    evidence = (
        f"clearly more accurate (Holm over {len(gaps)}): {', '.join(better) or 'nowhere'}; smallest error relative to "
        f"that of IPS: {', '.join(f'{metric} {ratio:.3f}' for metric, ratio in ratios.items())}"
    )
    yield claim(_BEATS, (bool(better), evidence), section=_SECTION)


TABLE = completed_table("fig4", "Error of the estimates when propensities come from a small random sample", compute)
