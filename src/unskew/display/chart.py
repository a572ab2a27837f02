"""`Chart`: a chart outside a page, to show in a notebook or to save as SVG, PNG, Vega-Lite or HTML."""

import base64
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unskew.data.writing import saved, written
from unskew.errors import ConfigError, did_you_mean

WIDTH = 520
SHARP = 2  # pixels of a PNG per unit of the chart
FORMATS = (".svg", ".png", ".json", ".html")
_LIGHT = {
    "paper": "#fff",
    "ink": "#1d2329",
    "soft": "#59636e",
    "line": "#e6e9ec",
    "rule": "#b4bcc4",
    "faint": "#c3c9cf",
    "naive": "#7b858f",
    "naive-soft": "#c9ced4",
    "alarm": "#c2410c",
    "c1": "#0b62a8",
    "c2": "#c2570c",
    "c3": "#0f8a6c",
    "c4": "#a83279",
    "c5": "#6b4fbb",
    "c6": "#8a6d00",
    "c7": "#2a9bc9",
    "c8": "#7a4a2b",
}
"""The colours of the style sheet on white paper; a chart of its own has no style sheet."""


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart that needs nothing else: its data, its colours and its legend are in it.

    Parameters
    ----------
    drawn : mapping
        The Vega-Lite specification as pages use it: colours are variables of the style sheet, and there is no legend.
    label : str
        A description for those who cannot see the chart.
    legend : mapping
        Series of the specification to the names that a legend shows; empty for none.
    title, note : str
        Above the chart.
    """

    drawn: Mapping[str, Any]
    label: str
    legend: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    note: str = ""

    def titled(self, title: str, note: str = "") -> "Chart":
        """The same chart with a title, and a line below it."""
        return replace(self, title=title, note=note)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification."""
        text = re.sub(r"var\(--([\w-]+)\)", lambda name: _LIGHT[name.group(1)], json.dumps(self.drawn))
        spec: dict[str, Any] = json.loads(text)
        if self.legend:
            _show_legend(spec, self.legend)
        head = {"text": self.title, "anchor": "start", "fontWeight": "bold"}
        below = {"subtitle": self.note, "subtitleColor": _LIGHT["soft"]} if self.note else {}
        title = {"title": head | below} if self.title else {}
        config = spec.get("config", {}) | {"background": _LIGHT["paper"]}
        return spec | title | {"width": WIDTH, "config": config, "description": self.label}

    @cached_property
    def svg(self) -> str:
        """The chart as SVG."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg(self.spec))

    @cached_property
    def png(self) -> bytes:
        """The chart as PNG, at two pixels per unit."""
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(self.spec, scale=SHARP))

    @property
    def page(self) -> str:
        """The chart as an HTML page without scripts."""
        title = html.escape(self.title or self.label)
        head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        return f"{head}<body>{self._repr_html_()}</body></html>\n"

    def save(self, path: str | Path) -> None:
        """Write the chart in the format of the file's ending: ``.svg``, ``.png``, ``.json`` (Vega-Lite) or ``.html``.

        Raises
        ------
        ConfigError
            For another ending.
        DataError
            If the file cannot be written.
        """
        place = Path(path)
        ending = place.suffix.lower()
        if ending not in FORMATS:
            what = f"a chart cannot be saved as {ending}" if ending else "the name has no ending"
            raise ConfigError(f"{place}: {what}; use {', '.join(FORMATS)}")
        if ending == ".png":
            with written(place, "wb") as stream:
                stream.write(self.png)
            return
        texts = {".svg": lambda: self.svg, ".json": lambda: json.dumps(self.spec, indent=1) + "\n"}
        saved(texts.get(ending, lambda: self.page)(), place)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What notebooks show: a picture that every viewer has, with the text for those who cannot see it."""
        return {
            "text/plain": repr(self),
            "text/html": self._repr_html_(),
            "image/png": base64.b64encode(self.png).decode("ascii"),
            "application/vnd.vegalite.v5+json": self.spec,
        }

    def _repr_html_(self) -> str:
        """The chart as an image, so that its ids and styles do not meet those of the page around it."""
        data = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f'<img alt="{html.escape(self.label)}" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"Chart({self.title or self.label!r})"


class Charts(dict[str, Chart]):
    """Charts by name; an unknown name is refused with the nearest."""

    def __missing__(self, name: str) -> Chart:
        raise ConfigError(f"no chart {name!r}{did_you_mean(name, self)}")


def _show_legend(node: Any, names: Mapping[str, str]) -> None:
    """Show a legend where a scale has these series."""
    if isinstance(node, list):
        for part in node:
            _show_legend(part, names)
    if not isinstance(node, dict):
        return
    scale = node.get("scale")
    domain = scale.get("domain") if isinstance(scale, dict) else None
    if "legend" in node and isinstance(domain, list) and set(domain) <= set(names):
        labels = json.dumps({key: names[key] for key in domain})
        look = {"title": None, "orient": "bottom", "direction": "horizontal", "columns": 3, "labelLimit": 240}
        node["legend"] = look | {"labelExpr": f"({labels})[datum.label]", "symbolOpacity": 1}
    for key, part in node.items():
        if key != "legend":
            _show_legend(part, names)
