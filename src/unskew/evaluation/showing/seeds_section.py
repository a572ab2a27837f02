"""The page's section on seeds: the mean over them with its interval, each of them, and both errors."""

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from unskew.display.small_plot import plot_scale
from unskew.evaluation.estimating.judged_models import SeedEstimate

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


@dataclass(frozen=True)
class SeedRow:
    """A row of the table: a model by one metric and estimator."""

    row: SeedEstimate
    places: tuple[float, ...]  # of low, mean and high in the small plot; empty without an interval
    dots: tuple[float, ...]  # of the seeds


@dataclass(frozen=True)
class SeedTable:
    """The models of one metric and estimator, which share the scale of their plots."""

    metric: str
    estimator: str
    rows: tuple[SeedRow, ...]


def describe_seeds(report: "Report") -> list[SeedTable]:
    """The tables of models with several seeds; none if there are no such models."""
    tables = []
    for (metric, estimator), group in groupby(report.judged.of_seeds, key=lambda row: (row.metric, row.estimator)):
        rows = list(group)
        scale = plot_scale(number for row in rows for number in (row.low, row.high, *row.values))
        shown = []
        for row in rows:
            ends = [number for number in (row.low, row.value, row.high) if number is not None]
            dots = tuple(scale(value) for value in row.values if value is not None)
            shown.append(SeedRow(row, tuple(map(scale, ends)) if len(ends) == 3 else (), dots))
        tables.append(SeedTable(metric, estimator, tuple(shown)))
    return tables
