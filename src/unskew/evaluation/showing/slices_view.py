"""Estimates by group as text and as charts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unskew.display.numbers import interval, move, number, p_is
from unskew.display.page import Figure
from unskew.display.text_table import digits, plain_text, print_lines, print_table, table, words

if TYPE_CHECKING:
    from rich.console import Console

    from unskew.display.chart import Charts
    from unskew.evaluation.slicing.slices import Slices

WIDTH = 120


def as_text(slices: "Slices", width: int = WIDTH) -> str:
    """The tables as text."""
    return plain_text(lambda console: print_slices(slices, console), width)


def print_slices(slices: "Slices", console: "Console") -> None:
    """One table per metric and estimator: a row per group and model; then the groups where the order turns."""
    for title, names, rows in slice_tables(slices):
        columns = [*words(*names[:LABELS]), *digits(*names[LABELS:])]
        print_table(table(title, columns, rows, group=1, repeat=False), console)
    print_lines(slice_lines(slices), console)


LABELS = 2
"""How many columns of `slice_tables` are labels; the others are numbers."""


def slice_tables(slices: "Slices") -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield title, columns and rows of a table per metric and estimator."""
    for metric, estimator in dict.fromkeys((row.metric, row.estimator) for row in slices.estimates):
        rows = [
            [row.group, row.model, f"{row.users:,}", number(row.value), interval(row.low, row.high), number(row.shrunk)]
            for row in slices.estimates
            if (row.metric, row.estimator) == (metric, estimator)
        ]
        columns = [slices.by, "model", "users", "value", "interval", "shrunken"]
        yield f"{metric} by {estimator}, by {slices.by}", columns, rows


def slice_lines(slices: "Slices") -> list[str]:
    """The groups where the order turns, and what could not be estimated by group."""
    lines = []
    for row in slices.turned:
        ahead, behind = (row.a, row.b) if (row.difference or 0) > 0 else (row.b, row.a)
        lines.append(
            f"the order turns: in {slices.by} {row.group}, {ahead} is above {behind} on {row.metric} by "
            f"{row.estimator} ({move(abs(row.difference or 0))}, {p_is(row.p_value_holm or 0)} by Holm over all groups)"
        )
    return [*lines, *(f"not by group: {text}" for text in slices.left_out)]


@dataclass(frozen=True)
class _Point:
    """A point of the chart: groups from top to bottom, models by colour."""

    model: str
    metric: str
    estimator: str
    value: float | None
    low: float | None
    high: float | None
    assumed_low: float | None = None
    assumed_high: float | None = None


def slice_charts(slices: "Slices") -> "Charts":
    """A chart for each metric and estimator, by name as in ``recall@10 snips``."""
    from unskew.display.chart import Charts

    return Charts(
        {
            f"{metric} {estimator}": drawn.chart.titled(f"{metric} by {slices.by}", f"by {estimator}")
            for metric, estimator, drawn in _drawn(slices)
        }
    )


def slice_figures(slices: "Slices") -> list[Figure]:
    """The same charts for a page."""
    return [Figure(f"{metric} by {estimator}", drawn) for metric, estimator, drawn in _drawn(slices)]


def _drawn(slices: "Slices") -> Iterator[tuple[str, str, Any]]:
    """Yield metric, estimator and chart of each pair of them with a value."""
    from unskew.display.styles import series_styles
    from unskew.evaluation.showing.charts import estimates_chart

    styles = series_styles(list(dict.fromkeys(row.model for row in slices.estimates)))
    pairs = dict.fromkeys((row.metric, row.estimator) for row in slices.estimates)
    for place, (metric, estimator) in enumerate(pairs):
        points = [
            _Point(row.group, metric, row.model, row.value, row.low, row.high)
            for row in slices.estimates
            if (row.metric, row.estimator) == (metric, estimator)
        ]
        drawn = estimates_chart(points, slices.groups, styles, f"by-{slices.by}-{place}")  # type: ignore[arg-type]
        if drawn is not None:
            yield metric, estimator, drawn
