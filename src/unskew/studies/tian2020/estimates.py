"""The estimates that the experiments beyond the paper set beside the truth, and how their tables show them."""

from collections.abc import Mapping

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.stats import Mean
from unskew.trials import Method

RECALL, ADG, PRECISION = METRICS = ("recall@50", "adg@50", "precision(of=list)@50")
NAIVE, KNOWN, KNOWN_RATIO = "aoa", "ips, true", "snips(per=balanced), true"
POPULARITY, POPULARITY_RATIO = "ips, estimated", "snips(per=balanced), estimated"
METHODS = (
    Method(),
    Method("ips", "true"),
    Method("snips(per=balanced)", "true"),
    Method("ips", "estimated"),
    Method("snips(per=balanced)", "estimated"),
)
COLUMNS: Mapping[str, str] = {
    NAIVE: "naive",
    KNOWN: "ips, known P",
    KNOWN_RATIO: "snips(per=balanced), known P",
    POPULARITY: "ips, popularity",
    POPULARITY_RATIO: "snips(per=balanced), popularity",
}
"""Names of the corrections in tables and figures."""


def mean_cell(row: str, column: str, data: str, values: Floats) -> ReproducedCell:
    """A mean over runs, with its spread."""
    mean = Mean.of(values)
    return ReproducedCell(row, column, data, None, mean.value, mean.spread)
