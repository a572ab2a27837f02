"""Figure 2: how many interactions each item has, from the most popular on."""

import numpy as np

from unskew.arrays import Ints
from unskew.data import Split
from unskew.data.concentration import gini
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.printed import COUNTS, TRAINED_ITEMS
from unskew.studies.yang2018.protocol import DATA, FRACTIONS, popularity_of, split_of

POINTS = 200
HEAD = 0.2  # share of the items
SIGMAS = 4
ROWS = ("users", "items", "interactions")
TRAINED = "items in training"
_FILTERS = {
    "tradesy": "users with fewer than 5 items are left out, as others do; the paper does not say",
    "amazon-book": "the paper does not say how it filtered the set",
}


def run(context: Context) -> Findings:
    """The curve of each data set at hand, and its counts beside the paper's."""
    cells: list[ReproducedCell] = []
    panels = []
    for data in DATA:
        split = split_of(context, data)
        if split is None:
            cells += _absent(context, data)
            continue
        popularity = popularity_of(split)
        popularity = np.sort(popularity[popularity > 0])[::-1]
        share = float(popularity[: int(np.ceil(HEAD * len(popularity)))].sum() / popularity.sum())
        inequality = gini(popularity.astype(float))
        cells += [*_counts(split, data), _own("share of the top fifth", share, data), _own("Gini", inequality, data)]
        panels.append(Panel(data, (_curve(popularity),)))
    if not panels:
        return Findings(tuple(cells))
    figure = Figure(
        "Popularity of the items in training",
        "rank of the item by n*",
        tuple(panels),
        log_x=True,
        log_y=True,
        note="n*, the number of training interactions of an item, from the most popular item on.",
    )
    return Findings(tuple(cells), (), (figure,))


def _counts(split: Split, data: str) -> list[ReproducedCell]:
    parts = [part for part in (split.train, split.validation, split.test) if part is not None]
    users = np.sum([part.user_counts for part in parts], axis=0)
    items = np.sum([part.item_counts for part in parts], axis=0)
    same = data == "citeulike-a"  # the others were filtered by a rule that is not told
    ours = (int(np.count_nonzero(users)), int(np.count_nonzero(items)), int(items.sum()))
    cells = [
        _count(row, data, float(paper), float(mine), 0.0 if same else None, "a count")
        for row, paper, mine in zip(ROWS, COUNTS[data], ours, strict=True)
    ]
    trained = float(np.count_nonzero(popularity_of(split)))
    spread = SIGMAS * _deviation(items) if same else None
    reason = f"{SIGMAS} standard deviations of that number over random splits"
    return [*cells, _count(TRAINED, data, float(TRAINED_ITEMS[data]), trained, spread, reason)]


def _count(row: str, data: str, paper: float, ours: float, tolerance: float | None, reason: str) -> ReproducedCell:
    """A count beside the paper's; without a tolerance the two cannot be compared."""
    if tolerance is None:
        return ReproducedCell(row, "count", data, paper, ours, note=_FILTERS[data])
    return ReproducedCell(row, "count", data, paper, ours, comparable=True, tolerance=tolerance, reason=reason)


def _deviation(items: Ints) -> float:
    """Standard deviation of the number of items that a random training part holds, rows being drawn on their own."""
    missed = (1 - FRACTIONS[0] / sum(FRACTIONS)) ** items[items > 0]
    return float(np.sqrt(np.sum(missed * (1 - missed))))


def _absent(context: Context, data: str) -> list[ReproducedCell]:
    note = context.absence(data)
    printed = [*zip(ROWS, COUNTS[data], strict=True), (TRAINED, TRAINED_ITEMS[data])]
    return [ReproducedCell(row, "count", data, float(paper), None, note=note) for row, paper in printed]


def _own(row: str, value: float, data: str) -> ReproducedCell:
    return ReproducedCell(row, "n*", data, None, value, note="the paper draws the curve and prints no number")


def _curve(popularity: Ints) -> Series:
    """The curve at places that are even on a logarithmic axis."""
    ranks = np.unique(np.geomspace(1, len(popularity), POINTS).round().astype(int))
    values = popularity[ranks - 1].astype(float)
    return Series.of("n*", ranks.tolist(), values.tolist(), [0.0] * len(ranks))


TABLE = Table("fig2", "Popularity of the items: a long tail", run, needs=DATA)
