"""Figure 1, Movie-Lovers: the naive average prefers the worse of two predictions."""

import numpy as np

from unskew.arrays import Floats
from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips
from unskew.simulators import MovieLovers, draw_observed
from unskew.studies.framework.cells import Limits, ReproducedCell, cell
from unskew.studies.framework.claims import Claim, all_above, claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Trials

NAMES = ("Ŷ1", "Ŷ2")
SAMPLE = (16, 3, 8)  # cells that the figure shows observed: of the loved genre, of the other one, and of drama
TRUE, NAIVE_LIMIT = (2 / 3, 4 / 3), (0.625, 0.25)
WORKED_OUT = {
    "MAE true": TRUE,
    "MAE naive, limit": NAIVE_LIMIT,
    "MAE naive, drawn sample": (16 / 27, 12 / 27),
    "MAE snips, drawn sample": (32 / 62, 120 / 62),
}
"""By hand, from the ratings, propensities and observed cells that the figure shows. The paper prints none of them."""
CROWD = 50  # lovers in each group, and films of each genre, of the world that is drawn here
DRAWS = Size(50, 10, trials=True)
ESTIMATORS: dict[str, Estimator] = {"naive": Aoa(per="pair"), "ips": Ips(), "snips": Snips()}
LIMITS = {"naive": NAIVE_LIMIT, "ips": TRUE, "snips": TRUE}
SIGMAS = 4.0

_EXACT = (1e-12, "exact arithmetic; only rounding in the last bits may differ")
_FIGURE = "worked out by hand from the ratings, propensities and observed cells that the figure shows"
_WORLD = f"{2 * CROWD} users and {3 * CROWD} films, mean over draws of what is observed; the reference is the limit"
_DRAWN = "4 standard errors of the mean over draws"


def run(context: Context) -> Findings:
    """The figure's numbers, and draws of a larger world of the same kind."""
    world = MovieLovers()
    losses = [np.abs(world.ratings - prediction) for prediction in world.predictions]
    weights = np.array(SAMPLE) / world.propensity[0]  # the first group is enough: the second mirrors it
    exact = {
        "MAE true": [float(loss.mean()) for loss in losses],
        "MAE naive, limit": [float(np.average(loss, weights=world.propensity)) for loss in losses],
        "MAE naive, drawn sample": [float(np.average(loss[0], weights=SAMPLE)) for loss in losses],
        "MAE snips, drawn sample": [float(np.average(loss[0], weights=weights)) for loss in losses],
    }
    cells = [
        cell(name, column, "simulated", value, limits=_EXACT, note=_FIGURE, reference=expected)
        for column, ours in exact.items()
        for name, value, expected in zip(NAMES, ours, WORKED_OUT[column], strict=True)
    ]
    trials = draw(context)
    cells += [_drawn_cell(name, prediction, trials[name, prediction]) for name, prediction in trials]
    return Findings(tuple(cells), _claims(exact["MAE true"], trials), trials=trials)


def draw(context: Context) -> Trials:
    """Estimated MAE of both predictions in a larger world, one per draw of what is observed."""
    crowd = MovieLovers(lovers=(CROWD, CROWD), films=(CROWD, CROWD, CROWD))
    losses = [np.abs(crowd.ratings - prediction) for prediction in crowd.predictions]
    rng = context.rng("fig1")
    draws = [draw_observed(crowd.propensity, rng) for _ in range(context.size(DRAWS))]
    rows = (
        ((name, prediction), estimator.terms(Rows.of_matrix(loss, crowd.propensity, observed), "loss").value)
        for observed in draws
        for prediction, loss in zip(NAMES, losses, strict=True)
        for name, estimator in ESTIMATORS.items()
    )
    return Trials.collect(("estimator", "prediction"), "draw", rows)


def _drawn_cell(name: str, prediction: str, values: Floats) -> ReproducedCell:
    expected = LIMITS[name][NAMES.index(prediction)]
    limits: Limits = (SIGMAS * float(np.std(values, ddof=1)) / len(values) ** 0.5, _DRAWN)
    column = f"MAE {name}, larger world"
    return cell(prediction, column, "simulated", values, limits=limits, note=_WORLD, reference=expected)


def _claims(true: list[float], trials: Trials) -> tuple[Claim, ...]:
    """Which of the two predictions each way of averaging prefers, by paired differences over draws."""
    first, second = NAMES
    gaps = {
        name: trials.gap({"prediction": second}, {"prediction": first}, estimator=name)
        for name in trials.levels("estimator")
    }
    naive, corrected = {"naive": gaps["naive"]}, {name: gap for name, gap in gaps.items() if name != "naive"}
    shown = f"MAE of Ŷ2 less that of Ŷ1: true {true[1] - true[0]:+.4f}; "
    prefers = all_above({name: Gap(-gap.mean, gap.error) for name, gap in naive.items()})
    return (
        claim(
            "The naive average prefers Ŷ2, though Ŷ1 is better",
            (prefers and true[0] < true[1], f"{shown}naive {gaps['naive'].plus_minus}"),
            section="Sec. 3.1, Fig. 1",
            needs_full=False,
        ),
        claim(
            "IPS and SNIPS prefer Ŷ1",
            (all_above(corrected), shown + ", ".join(f"{name} {gap.plus_minus}" for name, gap in corrected.items())),
            needs_full=False,
        ),
    )


TABLE = Table("fig1", "Movie-Lovers: the naive average prefers the worse prediction", run)
