"""Figure 2: how many interactions each item has, from the most popular on."""

from collections.abc import Iterator

import numpy as np

from unskew.arrays import Ints
from unskew.data import Split
from unskew.data.concentration import gini
from unskew.studies.framework.cells import Limits, ReproducedCell, absent_cells, cell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.printed import FIG2, TRAINED
from unskew.studies.yang2018.protocol import DATA, FRACTIONS, split_of

SIGMAS = 4
_FILTERS = {
    "tradesy": "users with fewer than 5 items are excluded, as in other work; the paper does not give its filter",
    "amazon-book": "the paper does not say how it filtered the set",
}
_COUNTED = "the reference is a count of the authors' program; the paper does not print it"
_NOT_PRINTED = "the paper draws the curve and prints no number"


def run(context: Context) -> Findings:
    """The curve of each available data set, and its counts next to the paper's."""
    cells: list[ReproducedCell] = []
    panels = []
    for data in DATA:
        split = split_of(context, data)
        if split is None:
            why = context.absence(data)
            cells += absent_cells(FIG2[data], data, why)
            cells += (cell(*place, data, None, reference=count, note=why) for place, count in TRAINED[data].items())
            continue
        popularity = split.train.item_counts
        popularity = np.sort(popularity[popularity > 0])[::-1]
        share = float(popularity[: int(np.ceil(0.2 * len(popularity)))].sum() / popularity.sum())
        cells += _counts(split, data)
        cells.append(cell("share of the top fifth", "n*", data, share, note=_NOT_PRINTED))
        cells.append(cell("Gini", "n*", data, gini(popularity.astype(float)), note=_NOT_PRINTED))
        ranks = np.unique(np.geomspace(1, len(popularity), 200).round().astype(int))  # even on a logarithmic axis
        curve = Series.exact("n*", ranks.tolist(), popularity[ranks - 1].tolist())
        panels.append(Panel(data, (curve,)))
    figure = Figure(
        "Popularity of the items in training",
        "rank of the item by n*",
        tuple(panels),
        log_x=True,
        log_y=True,
        note="n*, the number of training interactions of an item, from the most popular item on.",
    )
    return Findings(tuple(cells), figures=(figure,) if panels else ())


def _counts(split: Split, data: str) -> Iterator[ReproducedCell]:
    """Our counts next to the paper's and those of its program; not comparable if the paper does not give its filter."""
    parts = [part for part in (split.train, split.validation, split.test) if part is not None]
    users = np.sum([part.user_counts for part in parts], axis=0)
    items = np.sum([part.item_counts for part in parts], axis=0)
    ours = {
        "users": np.count_nonzero(users),
        "items": np.count_nonzero(items),
        "interactions": items.sum(),
        "items in training": np.count_nonzero(split.train.item_counts),
    }
    count: Limits = (0, "a count")
    drawn: Limits = (SIGMAS * deviation(items), f"{SIGMAS} standard deviations of that number over random splits")
    note = _FILTERS.get(data, "")
    for (row, column), paper in FIG2[data].items():
        yield cell(row, column, data, float(ours[row]), paper, limits=None if note else count, note=note)
    for (row, column), reference in TRAINED[data].items():
        limits, why = (None, f"{note}; {_COUNTED}") if note else (drawn, _COUNTED)
        yield cell(row, column, data, float(ours[row]), limits=limits, note=why, reference=reference)


def deviation(items: Ints) -> float:
    """Standard deviation of the number of items in a random training part, to which each row goes independently."""
    missed = (1 - FRACTIONS[0] / sum(FRACTIONS)) ** items[items > 0]
    return float(np.sqrt(np.sum(missed * (1 - missed))))


TABLE = Table("fig2", "Popularity of the items: a long tail", run, needs=DATA)
