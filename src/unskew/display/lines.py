"""Line charts: one line per series in its style, rules across them, and the axes they share."""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from unskew.display.styles import GREY, Style
from unskew.display.svg import chart_of, round_numbers, scale_of


def drawing_order(names: Iterable[str], styles: Mapping[str, Style]) -> dict[str, str]:
    """Names with keys that sort in the order of drawing: grey lines first, because later ones are on top."""
    ordered = sorted(names, key=lambda name: styles[name].colour != GREY)
    return {name: f"m{k:05d}" for k, name in enumerate(ordered)}


def series_lines(keys: Mapping[str, str], styles: Mapping[str, Style], x: Any, y: Any, **mark: Any) -> Any:
    """A line per series of the rows named ``rows``, whose field `series` has the key of its name."""
    words = list(keys.values())
    colours = scale_of(words, [styles[name].colour for name in keys])
    dashes = scale_of(words, [list(styles[name].dash) for name in keys])
    colour = alt.Color("series:N", scale=colours, legend=None)
    dash = alt.StrokeDash("series:N", scale=dashes, legend=None)
    return chart_of("rows").mark_line(strokeWidth=2, **mark).encode(x=x, y=y, color=colour, strokeDash=dash)


def one_line(points: Iterable[tuple[float, float]], x: Any, y: Any, **mark: Any) -> Any:
    """A line through some points; the fields of the axes are `x` and `y`."""
    line = chart_of([{"x": float(a), "y": float(b)} for a, b in points])
    return line.mark_line(**{"strokeWidth": 2} | mark).encode(x=x, y=y)


def upright_rules(places: Iterable[float], x: Any = "x:Q", **mark: Any) -> Any:
    """An upright rule at each place; by default faint and dashed."""
    look = mark or {"color": GREY, "strokeDash": [3, 3]}
    return chart_of([{"x": place} for place in places]).mark_rule(**look).encode(x=x)


def share_axis() -> alt.Axis:
    """An axis in percent."""
    return alt.Axis(format="~%", tickCount=5)


def log_axis(low: float, high: float, *, room: float = 1.15, **axis: Any) -> dict[str, Any]:
    """Scale and axis of a logarithmic channel, by default a little wider than its numbers."""
    low, high = (float(low), float(high)) if high > low else (low / 2, high * 2)
    scale = alt.Scale(type="log", nice=False, domain=[low / room, high * room])
    look: dict[str, Any] = {"values": round_numbers(low, high), "format": ".3~g", "grid": True} | axis
    return {"scale": scale, "axis": alt.Axis(**look)}
