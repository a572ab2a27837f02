"""Figures of a study as inline SVG: lines with shaded bands, or points with intervals."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from unskew.display.lines import series_lines
from unskew.display.names import clean
from unskew.display.styles import Style, series_styles
from unskew.display.svg import chart_of, scale_of, to_svg
from unskew.studies.framework.figures import Figure, Panel, Series

_FLOOR = 0.5  # where a band would reach zero on a logarithmic axis: this share of the smallest value shown
_ROOM = 0.7  # share of a category's width that its points are spread over


def styles_of(figure: Figure) -> dict[str, Style]:
    """Naive series are grey and dashed; the others have colours, the same in all panels."""
    lines = {line.name: line for panel in figure.panels for line in panel.series}
    naive = {name: Style(name, "var(--naive)", dash=(5, 3)) for name, line in lines.items() if line.naive}
    return series_styles(lines, naive)


def panel_chart(figure: Figure, panel: Panel, prefix: str) -> str | None:
    """The lines of a panel with their bands, or its points with intervals; None when there is no point to draw."""
    styles = styles_of(figure)
    places = {line.name: f"s{k:03d}" for k, line in enumerate(panel.series)}
    data = [
        {"series": places[line.name], **point} for line in panel.series for point in _points(line, figure, panel.series)
    ]
    if not data:
        return None
    colours = scale_of(list(places.values()), [styles[name].colour for name in places])
    if figure.categories:
        return _points_chart(figure, panel, prefix, data, colours)
    ticks = sorted({point["x"] for point in data})
    x = alt.X(
        "x:Q",
        title=clean(figure.x_label),
        scale=alt.Scale(type="log" if figure.log_x else "linear", nice=False, zero=False),
        axis=alt.Axis(
            values=ticks if len(ticks) <= 8 else alt.Undefined, format=",.6~r", grid=False, labelOverlap=True
        ),
    )
    vertical = alt.Scale(type="log" if figure.log_y else "linear", zero=False, nice=not figure.log_y)
    y = alt.Y("low:Q", title=None, scale=vertical, axis=alt.Axis(tickCount=5, format=",.6~r"))
    base = chart_of("rows").encode(x=x)
    bands = base.mark_area(opacity=0.18).encode(
        y=y, y2="high:Q", color=alt.Color("series:N", scale=colours, legend=None)
    )
    lines = series_lines(places, styles, x, alt.Y("mean:Q", title=None, scale=vertical))
    dots = base.mark_point(filled=True, size=28, opacity=1).encode(
        y="mean:Q", color=alt.Color("series:N", scale=colours, legend=None)
    )
    names = ", ".join(clean(line.name) for line in panel.series)
    label = f"{clean(panel.title)} over {clean(figure.x_label)}: {names}, each with a shaded band"
    legend = {key: clean(name) for name, key in places.items()}
    return to_svg((bands + lines + dots).properties(height=230), prefix, label, legend, rows=data)


def _points_chart(figure: Figure, panel: Panel, prefix: str, data: list[dict[str, Any]], colours: Any) -> str:
    """Points with intervals, those of a category side by side."""
    order = list(dict.fromkeys(point["series"] for point in data))
    count = len(figure.categories)
    for point in data:
        point["x"] += _ROOM * ((order.index(point["series"]) + 0.5) / len(order) - 0.5)
    names = json.dumps([clean(name) for name in figure.categories])
    x = alt.X(
        "x:Q",
        title=clean(figure.x_label),
        scale=alt.Scale(domain=[-0.5, count - 0.5], nice=False, zero=False),
        axis=alt.Axis(values=list(range(count)), labelExpr=f"{names}[datum.value]", grid=False, ticks=False),
    )
    vertical = alt.Scale(type="log" if figure.log_y else "linear", zero=False, nice=not figure.log_y)
    colour = alt.Color("series:N", scale=colours, legend=None)
    base = chart_of("rows").encode(x=x, color=colour)
    y = alt.Y("low:Q", title=None, scale=vertical, axis=alt.Axis(tickCount=5, format=",.6~r"))
    ranges = base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=y, y2="high:Q")
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(y=alt.Y("mean:Q", title=None, scale=vertical))
    shown = ", ".join(clean(line.name) for line in panel.series)
    label = f"{clean(panel.title)} by {clean(figure.x_label)}: {shown}, each a point with an interval"
    return to_svg((ranges + dots).properties(height=230), prefix, label, rows=data)


def _points(line: Series, figure: Figure, beside: Sequence[Series]) -> Iterator[dict[str, Any]]:
    """What can be drawn: on a logarithmic axis only what is above zero, bands cut off near the smallest value."""
    shown = [mean for each in beside for mean in each.mean if mean > 0]
    floor = _FLOOR * min(shown, default=1.0) if figure.log_y else float("-inf")
    for x, mean, low, high in zip(line.x, line.mean, line.low, line.high, strict=True):
        if not all(map(math.isfinite, (x, mean, low, high))):
            continue
        if (figure.log_x and x <= 0) or (figure.log_y and mean <= 0):
            continue
        yield {"x": x, "mean": mean, "low": max(low, floor), "high": high}
