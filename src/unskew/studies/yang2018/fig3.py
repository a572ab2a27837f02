"""Figure 3: how often models recommend an item, by its popularity."""

import numpy as np

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.printed import MODELS
from unskew.studies.yang2018.protocol import DATA, LABELS, TOP, Presented, learnt_models, presented_by

STRAIGHT = 0.9  # of the variance of log f that the line explains
_CLAIM = "Every model recommends popular items more, along a straight line in log f against log n*"


def run(context: Context) -> Findings:
    """f(n*) of the four models on each data set at hand, and how straight it is."""
    cells, panels, told, holds = [], [], [], []
    for data in DATA:
        learnt = learnt_models(context, data)
        for name in MODELS:
            presented = None if learnt is None else presented_by(context, data, learnt[name])
            explained = None if presented is None else _explained(presented)
            note = context.absence(data) if presented is None else "the paper draws the points and prints no number"
            cells.append(ReproducedCell(LABELS[name], "R2 of the line", data, None, explained, note=note))
            if presented is None or explained is None:
                continue
            told.append(f"{data} {LABELS[name]}: slope {presented.fit.gamma:.2f}, R2 {explained:.3f}")
            holds.append(presented.fit.gamma > 0 and explained > STRAIGHT)
            panels.append(Panel(f"{LABELS[name]}, {data}", _series(presented)))
    if not panels:
        return Findings(tuple(cells), (Claim(_CLAIM, None, context.absence(DATA[0])),))
    figure = Figure(
        f"Recommendations of an item in the top {TOP}, by popularity",
        "n*, training interactions of the item",
        tuple(panels),
        log_x=True,
        log_y=True,
        note=(
            f"f(n*): mean number of users with an item of that popularity in their top {TOP} of the full catalogue. "
            "The line is the fit whose slope is gamma, without the 0.5 % most popular items; levels never recommended "
            "are left out."
        ),
    )
    claim = Claim(f"{_CLAIM} (R2 above {STRAIGHT:g})", None if context.fast else all(holds), "; ".join(told))
    return Findings(tuple(cells), (claim,), (figure,))


def _series(presented: Presented) -> tuple[Series, Series]:
    bias, fit = presented.bias, presented.fit
    shown = bias.f > 0
    levels, f = bias.levels[shown].astype(float), bias.f[shown]
    line = np.exp(fit.intercept + fit.gamma * np.log(levels))
    nothing = [0.0] * len(levels)
    return (
        Series.of("f(n*)", levels.tolist(), f.tolist(), nothing),
        Series.of("fit", levels.tolist(), line.tolist(), nothing, naive=True),
    )


def _explained(presented: Presented) -> float:
    """The share of the variance of log f, over the levels of the fit, that the line explains."""
    bias, fit = presented.bias, presented.fit
    most = np.sort(bias.levels[bias.f > 0])[: fit.levels]  # the cut takes levels from the top
    shown = np.isin(bias.levels, most)
    x, y = np.log(bias.levels[shown]), np.log(bias.f[shown])
    left = y - fit.intercept - fit.gamma * x
    return float(1 - left @ left / np.sum((y - y.mean()) ** 2))


TABLE = Table("fig3", "Presentation bias: recommendations by popularity", run, needs=DATA)
