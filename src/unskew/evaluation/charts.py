"""Charts of a report as inline SVG, made without a browser and shown without a script."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.estimators import Aoa, Estimate, Estimator
from unskew.evaluation.names import clean, short_labels
from unskew.evaluation.skew import RatingSkew, Skew
from unskew.evaluation.sweep import Sweep

if TYPE_CHECKING:
    import altair as alt

WIDTH = 360  # a phone's, so that the text keeps its size there
LABEL = 18  # characters of a name in a chart
COLOURS = 8  # models with a colour of their own
_DASHES = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))
_SHAPES = {
    "circle": "M4,0A4,4,0,1,1,-4,0A4,4,0,1,1,4,0Z",
    "square": "M-3.5,-3.5H3.5V3.5H-3.5Z",
    "diamond": "M0,-5L4.5,0L0,5L-4.5,0Z",
    "triangle-up": "M0,-4.5L4.5,3.5H-4.5Z",
}
_NEEDLESS = {"aria-hidden", "aria-roledescription", "pointer-events", "version", "font-family"}


@dataclass(frozen=True)
class Style:
    """How a series looks, in charts and in the legend; colours are variables of the page's style sheet."""

    name: str
    colour: str
    shape: str = "circle"
    hollow: bool = False
    dash: tuple[int, ...] = (1, 0)

    @property
    def fill(self) -> str:
        """Colour inside the point."""
        return "var(--paper)" if self.hollow else self.colour

    @property
    def path(self) -> str:
        """Outline of the point for the legend."""
        return _SHAPES[self.shape]


def estimator_styles(estimators: Sequence[Estimator]) -> dict[str, Style]:
    """Naive averages hollow and grey, corrected estimates filled and coloured."""
    styles: dict[str, Style] = {}
    looks = [("var(--c1)", "circle"), ("var(--c3)", "square"), ("var(--c2)", "triangle-up"), ("var(--c4)", "diamond")]
    corrected = 0
    for estimator in estimators:
        word = str(estimator)
        if not estimator.corrects:
            shape = "diamond" if isinstance(estimator, Aoa) and estimator.per != "pair" else "circle"
            styles[word] = Style(word, "var(--naive)", shape, hollow=True)
        else:
            colour, shape = looks[corrected % len(looks)]
            styles[word] = Style(word, colour, shape)
            corrected += 1
    return styles


def model_styles(models: Sequence[str]) -> dict[str, Style]:
    """A colour and a dash for each of the first models, grey for the rest."""
    return {
        model: Style(model, f"var(--c{k + 1})", dash=_DASHES[k % len(_DASHES)])
        if k < COLOURS
        else Style(model, "var(--faint)")
        for k, model in enumerate(models)
    }


def estimates_chart(
    rows: Sequence[Estimate], models: Sequence[str], styles: Mapping[str, Style], prefix: str
) -> str | None:
    """Values and intervals of one metric, models from top to bottom; None when no value is defined."""
    import altair as alt

    shown = [row for row in rows if row.value is not None]
    if not shown:
        return None
    labels = short_labels(models, LABEL)
    used = [word for word in styles if any(row.estimator == word for row in shown)]
    data = [
        {
            "model": labels[row.model],
            "estimator": row.estimator,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "least": row.assumed_low,
            "most": row.assumed_high,
        }
        for row in shown
    ]
    y = alt.Y("model:N", sort=[labels[m] for m in models], title=None, axis=alt.Axis(ticks=False, domain=False))
    offset = alt.YOffset("estimator:N", sort=used, scale=alt.Scale(domain=used))
    colour = [styles[word].colour for word in used]
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=5))
    base = chart_of("rows").encode(y=y, yOffset=offset)
    hue = alt.Color("estimator:N", scale=scale_of(used, colour), legend=None)
    whiskers = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=2.4)
    whiskers = whiskers.encode(x=alt.X("low:Q", title=None), x2="high:Q", color=hue)
    assumed = base.transform_filter("isValid(datum.least) && isValid(datum.most)").mark_rule(strokeWidth=0.9)
    assumed = assumed.encode(x=alt.X("least:Q", title=None), x2="most:Q", color=hue)
    points = base.mark_point(size=42, strokeWidth=1.8, opacity=1).encode(
        x=x,
        stroke=alt.Stroke("estimator:N", scale=scale_of(used, colour), legend=None),
        fill=alt.Fill("estimator:N", scale=scale_of(used, [styles[w].fill for w in used]), legend=None),
        shape=alt.Shape("estimator:N", scale=scale_of(used, [styles[w].shape for w in used]), legend=None),
    )
    names = ", ".join(labels.values())
    label = f"{clean(shown[0].metric)}: estimates with intervals of {names}; the same numbers are in the table below"
    height = {"step": 12 * len(used) + 10, "for": "position"}
    return to_svg((assumed + whiskers + points).properties(height=height), prefix, label, rows=data)


def sweep_chart(sweep: Sweep, styles: Mapping[str, Style], gamma: float | None, prefix: str) -> str | None:
    """Values over gamma, a rule wherever the order changes; None when nothing is defined.

    Parameters
    ----------
    sweep : Sweep
    styles : mapping
        Model to look.
    gamma : float or None
        The run's own, marked when it lies within the sweep.
    prefix : str
        Begins every id in the SVG.
    """
    import altair as alt

    # the last drawn lies on top, so grey lines come first
    models = sorted(sweep.values, key=lambda model: styles[model].colour != "var(--faint)")
    places = {model: f"m{k:05d}" for k, model in enumerate(models)}
    data = [
        {"model": places[model], "gamma": g, "value": float(v)}
        for model in models
        for g, v in zip(sweep.gammas, sweep.values[model], strict=True)
        if np.isfinite(v)
    ]
    if not data:
        return None
    looks = [styles[model] for model in places]
    words = list(places.values())
    x = alt.X(
        "gamma:Q", title="gamma", scale=alt.Scale(nice=False), axis=alt.Axis(values=[-1, 0, 1, 2, 3], format="~g")
    )
    lines = (
        chart_of("rows")
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
            color=alt.Color("model:N", scale=scale_of(words, [look.colour for look in looks]), legend=None),
            strokeDash=alt.StrokeDash(
                "model:N", scale=scale_of(words, [list(look.dash) for look in looks]), legend=None
            ),
        )
    )
    marks = _change_rules(sweep) + _own_gamma(sweep, gamma)
    changes = len(sweep.changes)
    label = (
        f"{clean(sweep.metric)} of {len(places)} models over gamma; the order changes {changes} times, as said below"
    )
    return to_svg(alt.layer(*marks, lines).properties(height=220), prefix, label, rows=data)


def weights_chart(skew: Skew, prefix: str) -> str | None:
    """Share of rows and of weight by the size of the weight; None when all rows weigh the same."""
    import altair as alt

    if not skew.varies:
        return None
    data = [
        {"low": float(a), "high": float(b), "middle": float(np.sqrt(a * b)), "rows": float(r), "weight": float(w)}
        for a, b, r, w in zip(skew.edges[:-1], skew.edges[1:], skew.rows, skew.weight, strict=True)
    ]
    scale = alt.Scale(type="log", nice=False, domain=[float(skew.edges[0]), float(skew.edges[-1])])
    axis = alt.Axis(values=round_numbers(skew.edges[0], skew.edges[-1]), format=".3~g", grid=False)
    base = chart_of(data)
    y = alt.Axis(format="~%", tickCount=5)
    bars = base.mark_bar(color="var(--naive-soft)", binSpacing=1).encode(
        x=alt.X("low:Q", scale=scale, axis=axis, title="weight, as a multiple of the mean weight"),
        x2="high:Q",
        y=alt.Y("rows:Q", title=None, axis=y),
        y2=alt.value(200),
    )
    dots = chart_of([row for row in data if row["rows"] > 0]).mark_point(**_dots("var(--c1)"))
    dots = dots.encode(x=alt.X("middle:Q", scale=scale), y="weight:Q")
    return to_svg((bars + dots).properties(height=200), prefix, "Share of held-out rows and of weight by weight")


def popularity_chart(skew: Skew, prefix: str) -> str:
    """Cumulative share of rows over items from the most popular on."""
    import altair as alt

    share = np.linspace(0, 1, len(skew.held_out))
    series = [
        ("var(--faint)", share, (3, 3)),
        ("var(--naive)", skew.train, (6, 3)),
        ("var(--ink)", skew.held_out, (1, 0)),
    ]
    if skew.has_weights and skew.varies:
        series.append(("var(--c1)", skew.weighted, (1, 0)))
    percent = alt.Axis(format="~%", tickCount=5)
    lines = [
        chart_of([{"x": float(a), "y": float(b)} for a, b in zip(share, curve, strict=False)])
        .mark_line(color=colour, strokeWidth=2, strokeDash=list(dash))
        .encode(
            x=alt.X("x:Q", title="items, the most popular first", axis=percent),
            y=alt.Y("y:Q", title=None, axis=percent),
        )
        for colour, curve, dash in series
    ]
    label = "Cumulative share of training rows, held-out rows and weight over items sorted by popularity"
    return to_svg(alt.layer(*lines).properties(height=200), prefix, label)


def tenths_chart(skew: Skew, prefix: str) -> str:
    """Held-out rows by tenths of the catalogue, as observed and as weighted."""
    import altair as alt

    data = [{"tenth": k, "observed": float(v)} for k, v in enumerate(skew.tenths(skew.held_out), 1)]
    base = chart_of(data)
    x = alt.X("tenth:O", title="tenth of the items, the most popular first", axis=alt.Axis(labelAngle=0, grid=False))
    y = alt.Y("observed:Q", title=None, axis=alt.Axis(format="~%", tickCount=5))
    layers: list[Any] = [base.mark_bar(color="var(--naive-soft)").encode(x=x, y=y)]
    even = chart_of([{"even": 0.1}]).mark_rule(color="var(--faint)", strokeDash=[3, 3])
    layers.append(even.encode(y="even:Q"))
    if skew.has_weights and skew.varies:
        weighted = [{"tenth": k, "weighted": float(v)} for k, v in enumerate(skew.tenths(skew.weighted), 1)]
        dots = chart_of(weighted).mark_point(**_dots("var(--c1)"))
        layers.append(dots.encode(x=x, y="weighted:Q"))
    label = "Share of held-out rows by tenth of the items, as observed and as weighted"
    return to_svg(alt.layer(*layers).properties(height=200), prefix, label)


def ratings_chart(skew: RatingSkew, prefix: str) -> str:
    """Share of rated rows by rating, as observed and as weighted."""
    import altair as alt

    x = alt.X("rating:N", sort=list(skew.labels), title="rating", axis=alt.Axis(labelAngle=0, grid=False))
    y = alt.Y("observed:Q", title=None, axis=alt.Axis(format="~%", tickCount=5))
    data = [{"rating": k, "observed": float(v)} for k, v in zip(skew.labels, skew.observed, strict=True)]
    layers: list[Any] = [chart_of(data).mark_bar(color="var(--naive-soft)").encode(x=x, y=y)]
    if len(skew.weighted):
        weighted = [{"rating": k, "weighted": float(v)} for k, v in zip(skew.labels, skew.weighted, strict=True)]
        layers.append(chart_of(weighted).mark_point(**_dots("var(--c1)")).encode(x=x, y="weighted:Q"))
    label = "Share of rated rows by rating, as observed and as weighted"
    return to_svg(alt.layer(*layers).properties(height=200), prefix, label)


def chart_of(rows: str | Sequence[Mapping[str, Any]]) -> Any:
    """A chart of a few rows, or of rows that `to_svg` gets by that name: altair copies its data at every step."""
    import altair as alt

    return alt.Chart({"name": rows} if isinstance(rows, str) else {"values": rows})


def scale_of(domain: list[str], values: Sequence[Any]) -> "alt.Scale":
    """What each of the words looks like."""
    import altair as alt

    return alt.Scale(domain=domain, range=list(values))


def _dots(colour: str) -> dict[str, Any]:
    return {"filled": True, "color": colour, "size": 40, "opacity": 1}


def _change_rules(sweep: Sweep) -> list[Any]:
    """A rule where models swap places, stronger where the first one changes."""
    rules = []
    few = len(sweep.values) <= COLOURS  # else lower places change nearly everywhere, and rules would hide the lines
    for kind, first in (("var(--rule)", False), ("var(--alarm)", True)):
        if not (few or first):
            continue
        at = [(c.low + c.high) / 2 for c in sweep.changes if (c.before[0] != c.after[0]) == first]
        if at:
            chart = chart_of([{"gamma": g} for g in at])
            dash = [5, 3] if first else [2, 3]
            rules.append(chart.mark_rule(color=kind, strokeDash=dash, strokeWidth=1.5).encode(x="gamma:Q"))
    return rules


def _own_gamma(sweep: Sweep, gamma: float | None) -> list[Any]:
    import altair as alt

    if gamma is None or not sweep.gammas[0] <= gamma <= sweep.gammas[-1]:
        return []
    chart = chart_of([{"gamma": gamma}])
    align = "left" if gamma < 2 else "right"
    text = chart.mark_text(align=align, dx=4 if align == "left" else -4, dy=-6, color="var(--soft)", text="this run")
    return [
        chart.mark_rule(color="var(--soft)", strokeWidth=1.2).encode(x="gamma:Q"),
        text.encode(x="gamma:Q", y=alt.value(0)),
    ]


def round_numbers(low: float, high: float) -> list[float]:
    """Round numbers from low to high for a logarithmic axis: 1, 10, ... or 1, 2, 5, 10, ... when there are few."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    wide = high / low > 300
    steps = (1,) if wide else (1, 2, 5)
    ticks = [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high]
    return ticks if len(ticks) > 1 else [float(low), float(high)]


def to_svg(chart: Any, prefix: str, label: str, **named: Sequence[Mapping[str, Any]]) -> str:
    """Draw the chart, WIDTH wide in all; `named` are rows that it refers to by name."""
    import vl_convert

    spec = chart.properties(width=WIDTH).to_dict(validate=False)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = _CONFIG
    spec["datasets"] = spec.get("datasets", {}) | named
    return inline_svg(vl_convert.vegalite_to_svg(spec), prefix, label)


def inline_svg(svg: str, prefix: str, label: str) -> str:
    """Make an SVG fit to stand in a page among others: own ids, a label, no size of its own.

    Parameters
    ----------
    svg : str
    prefix : str
        Begins every id, so that clip paths of one chart do not cut another.
    label : str
        What the picture shows, for those who cannot see it.
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
    "padding": {"left": 10, "right": 14, "top": 16, "bottom": 2},
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
        "titlePadding": 8,
    },
    "axisY": {"labelLimit": 150, "labelColor": "var(--ink)"},
    "text": {"fontSize": 11},
}
