"""Figure 1, Movie-Lovers: the naive average prefers the worse of two predictions."""

import numpy as np

from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips
from unskew.simulators import MovieLovers, draw_observed
from unskew.studies.framework.cells import cell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table

NAMES = ("Ŷ1", "Ŷ2")
SAMPLE = (16, 3, 8)  # cells that the figure shows observed: of the loved genre, of the other one, and of drama
PAPER = {
    "MAE true": (2 / 3, 4 / 3),
    "MAE naive, limit": (0.625, 0.25),
    "MAE naive, drawn sample": (16 / 27, 12 / 27),
    "MAE snips, drawn sample": (32 / 62, 120 / 62),
}
CROWD = 200  # lovers in each group, and films of each genre, of the world that is drawn here

_EXACT = (1e-12, "exact arithmetic; only rounding in the last bits may differ")
_FIGURE = "worked out by hand from the ratings, propensities and observed cells that the figure shows"
_WORLD = f"{2 * CROWD} users and {3 * CROWD} films, one draw; the paper has no such number"


def run(context: Context) -> Findings:
    """The figure's numbers, and a large world in which they come about by chance."""
    world = MovieLovers()
    losses = [np.abs(world.ratings - prediction) for prediction in world.predictions]
    weights = np.array(SAMPLE) / world.propensity[0]  # the first group is enough: the second mirrors it
    exact = {
        "MAE true": [float(loss.mean()) for loss in losses],
        "MAE naive, limit": [float(np.average(loss, weights=world.propensity)) for loss in losses],
        "MAE naive, drawn sample": [float(np.average(loss[0], weights=SAMPLE)) for loss in losses],
        "MAE snips, drawn sample": [float(np.average(loss[0], weights=weights)) for loss in losses],
    }
    # the same in a world large enough for the limits to show
    crowd = MovieLovers(lovers=(CROWD, CROWD), films=(CROWD, CROWD, CROWD))
    observed = draw_observed(crowd.propensity, context.rng("fig1"))
    drawn = [
        Rows.of_matrix(np.abs(crowd.ratings - prediction), crowd.propensity, observed)
        for prediction in crowd.predictions
    ]
    estimators: dict[str, Estimator] = {"naive": Aoa(per="pair"), "ips": Ips(), "snips": Snips()}
    values = exact | {
        f"MAE {name}, large world": [estimator.terms(rows, "loss").value or float("nan") for rows in drawn]
        for name, estimator in estimators.items()
    }
    cells = []
    for column, ours in values.items():
        limits, note = (_EXACT, _FIGURE) if column in PAPER else (None, _WORLD)
        for name, value, paper in zip(NAMES, ours, PAPER.get(column, (None, None)), strict=True):
            cells.append(cell(name, column, "simulated", value, paper, limits=limits, note=note))
    return Findings(tuple(cells), _claims(values))


def _claims(values: dict[str, list[float]]) -> tuple[Claim, ...]:
    """Which of the two predictions each way of averaging prefers."""
    shown = {key: f"{key[4:]} {first:.4f} against {second:.4f}" for key, (first, second) in values.items()}
    naive = [key for key in values if "naive" in key]
    corrected = [key for key in values if "ips" in key]
    return (
        Claim(
            "The naive average prefers Ŷ2, though Ŷ1 is better",
            values["MAE true"][0] < values["MAE true"][1] and all(values[key][0] > values[key][1] for key in naive),
            "; ".join(shown[key] for key in ("MAE true", *naive)),
        ),
        Claim(
            "With propensities, Ŷ1 is preferred",
            all(values[key][0] < values[key][1] for key in corrected),
            "; ".join(shown[key] for key in corrected),
        ),
    )


TABLE = Table("fig1", "Movie-Lovers: the naive average prefers the worse prediction", run)
