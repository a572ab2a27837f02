"""Figure 3: how often models recommend an item, by its popularity."""

from collections.abc import Mapping

import numpy as np

from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import claim, unjudged
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.printed import MODELS
from unskew.studies.yang2018.protocol import DATA, TOP, Presented, learnt_models, presented_by

STRAIGHT = 0.9  # of the variance of log f that the line explains
_MORE = "Every model recommends popular items more often: f grows with n*"
_LINE = (
    f"log f against log n* is a straight line: it explains more than {STRAIGHT:.0%} of the variance, for every model"
)
_SECTION = "Fig. 3"
_COLUMN = "R2 of the line"
_NOT_PRINTED = "the paper draws the points and prints no number"


def run(context: Context) -> Findings:
    """f(n*) of the four models on each available data set, and how straight it is."""
    cells: list[ReproducedCell] = []
    panels: list[Panel] = []
    slopes: dict[tuple[str, str], float] = {}
    shares: dict[tuple[str, str], float] = {}
    for data in DATA:
        learnt = learnt_models(context, data)
        if learnt is None:
            cells += (cell(title, _COLUMN, data, None, note=context.absence(data)) for title in MODELS.values())
            continue
        for name, title in MODELS.items():
            presented = presented_by(context, data, learnt[name])
            straight, gamma = explained(presented), presented.fit.gamma
            cells.append(cell(title, _COLUMN, data, straight, note=_NOT_PRINTED))
            slopes[data, title], shares[data, title] = gamma, straight
            bias, fit = presented
            shown = bias.f > 0
            levels = bias.levels[shown].astype(float)
            line = np.exp(fit.intercept + fit.gamma * np.log(levels))
            points = Series.exact("f(n*)", levels.tolist(), bias.f[shown].tolist())
            fitted = Series.exact("fit", levels.tolist(), line.tolist(), naive=True)
            panels.append(Panel(f"{title}, {data}", (points, fitted)))
    if not panels:
        why = context.absence(DATA[0])
        return Findings(tuple(cells), (*unjudged([_MORE], why, section=_SECTION), *unjudged([_LINE], why)))
    figure = Figure(
        f"Recommendations of an item in the top {TOP}, by popularity",
        "n*, training interactions of the item",
        tuple(panels),
        log_x=True,
        log_y=True,
        note=(
            f"f(n*): mean number of users with an item of that popularity in their top {TOP} of the full catalogue. "
            "The line is the fit whose slope is gamma, without the 0.5 % most popular items; levels never recommended "
            "are omitted."
        ),
    )
    claims = (
        claim(_MORE, (min(slopes.values()) > 0, f"slopes: {_listed(slopes)}"), section=_SECTION),
        claim(_LINE, (min(shares.values()) > STRAIGHT, f"shares: {_listed(shares)}")),
    )
    return Findings(tuple(cells), claims, (figure,))


def _listed(numbers: Mapping[tuple[str, str], float]) -> str:
    return "; ".join(f"{data} {title} {value:.2f}" for (data, title), value in numbers.items())


def explained(presented: Presented) -> float:
    """The share of the variance of log f, over the levels of the fit, that the line explains."""
    bias, fit = presented.bias, presented.fit
    most = np.sort(bias.levels[bias.f > 0])[: fit.levels]  # the cut takes levels from the top
    shown = np.isin(bias.levels, most)
    x, y = np.log(bias.levels[shown]), np.log(bias.f[shown])
    left = y - fit.intercept - fit.gamma * x
    return float(1 - left @ left / np.sum((y - y.mean()) ** 2))


TABLE = Table("fig3", "Presentation bias: recommendations by popularity", run, needs=DATA)
