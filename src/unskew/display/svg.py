"""Charts as inline SVG, made without a browser and shown without a script."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from unskew.display.chart import Chart

WIDTH = 360  # a phone's, so that the text keeps its size there
FEWEST_TICKS = 3  # on a logarithmic axis, if it has that many round numbers
_NEEDLESS = {"aria-hidden", "aria-roledescription", "pointer-events", "version", "font-family"}


def chart_of(rows: str | Sequence[Mapping[str, Any]]) -> Any:
    """A chart of a few rows, or of rows passed to `to_svg` by that name, because altair copies data at every step."""
    return alt.Chart({"name": rows} if isinstance(rows, str) else {"values": rows})


def scale_of(domain: list[str], values: Sequence[Any]) -> alt.Scale:
    """What each of the words looks like."""
    return alt.Scale(domain=domain, range=list(values))


def round_numbers(low: float, high: float) -> list[float]:
    """Round numbers from low to high for a logarithmic axis: powers of 10, and numbers between where these are few."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks: list[float] = []
    for steps in ((1,), (1, 2, 5), (1, 2, 3, 4, 5, 7))[0 if high / low > 300 else 1 :]:
        ticks = [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high]
        if len(ticks) >= FEWEST_TICKS:
            break
    return ticks if len(ticks) > 1 else [float(low), float(high)]


class InlineSvg(str):
    """An SVG for a page, with the chart that it shows."""

    __slots__ = ("chart",)
    chart: Chart


def to_svg(
    chart: Any, prefix: str, label: str, legend: Mapping[str, str] | None = None, **named: Sequence[Mapping[str, Any]]
) -> InlineSvg:
    """Draw the chart, WIDTH wide in all.

    `legend` has the names of its series, for a chart outside the page; `named` are rows that it refers to by name.
    """
    import vl_convert

    spec = chart.properties(width=WIDTH).to_dict(validate=False)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = _CONFIG
    spec["datasets"] = spec.get("datasets", {}) | named
    drawn = InlineSvg(inline_svg(vl_convert.vegalite_to_svg(spec), prefix, label))
    drawn.chart = Chart(spec, label, legend or {})
    return drawn


def inline_svg(svg: str, prefix: str, label: str) -> str:
    """Prepare an SVG for a page with others: a label for those who cannot see it, and no size of its own.

    The prefix begins every id, so that clip paths of one chart do not cut another.
    """
    root = ET.fromstring(svg)  # noqa: S314  made by vl-convert a moment ago
    named = (element.get("id") for element in root.iter())
    ids = {old: f"{prefix}-{k}" for k, old in enumerate(dict.fromkeys(name for name in named if name))}
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _with_ids(key, value, ids)
            for key, value in element.attrib.items()
            if key not in _NEEDLESS and (key, value) != ("opacity", "1")
        }
        for child in [c for c in element if c.get("display") == "none"]:
            element.remove(child)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.attrib |= {"class": "chart", "role": "img", "aria-label": label}
    return ET.tostring(root, encoding="unicode")


def _with_ids(key: str, value: str, ids: Mapping[str, str]) -> str:
    if key == "id":
        return ids[value]
    if value.startswith("url(#") and value[5:-1] in ids:
        return f"url(#{ids[value[5:-1]]})"
    if key.rpartition("}")[2] == "href" and value[1:] in ids:
        return f"#{ids[value[1:]]}"
    return value


_CONFIG: dict[str, Any] = {
    "background": None,
    "font": "Helvetica, Arial, sans-serif",
    "padding": {"left": 16, "right": 14, "top": 16, "bottom": 2},  # left: a browser's letters may be wider
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)",
        "titleColor": "var(--soft)",
        "titleFontWeight": "normal",
        "labelFontSize": 11.5,
        "titleFontSize": 11.5,
        "gridColor": "var(--line)",
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
        "tickSize": 4,
        "labelPadding": 5,
        "labelFlush": False,
        "labelSeparation": 4,
        "titlePadding": 8,
    },
    "axisY": {"labelLimit": 150, "labelColor": "var(--ink)"},
    "text": {"fontSize": 11},
}
