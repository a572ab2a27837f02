"""Estimates by group as text and as charts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unskew.display.numbers import interval, move, number
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
    pairs = dict.fromkeys((row.metric, row.estimator) for row in slices.estimates)
    for metric, estimator in pairs:
        rows = [
            [row.group, row.model, f"{row.users:,}", number(row.value), interval(row.low, row.high), number(row.shrunk)]
            for row in slices.estimates
            if (row.metric, row.estimator) == (metric, estimator)
        ]
        title = f"{metric} by {estimator}, by {slices.by}"
        columns = [*words(slices.by, "model"), *digits("users", "value", "interval", "shrunken")]
        print_table(table(title, columns, rows, group=1, repeat=False), console)
    for row in slices.turned:
        ahead, behind = (row.a, row.b) if (row.difference or 0) > 0 else (row.b, row.a)
        gap = move(abs(row.difference or 0))
        text = (
            f"the order turns: in {slices.by} {row.group}, {ahead} is above {behind} on {row.metric} by "
            f"{row.estimator} ({gap}, p {number(row.p_value_holm)} by Holm over all groups)"
        )
        print_lines([text], console)
    print_lines([f"not by group: {text}" for text in slices.left_out], console)


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
