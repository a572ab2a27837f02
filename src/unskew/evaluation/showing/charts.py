"""The charts of a report, as SVG."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import altair as alt
import numpy as np

from unskew.display.lines import drawing_order, log_axis, one_line, series_lines, share_axis, upright_rules
from unskew.display.names import clean, short_labels
from unskew.display.styles import COLOURS, Style
from unskew.display.svg import chart_of, scale_of, to_svg
from unskew.estimators import Aoa, Estimate, Estimator
from unskew.evaluation.estimating.gamma_sweep import Sweep
from unskew.evaluation.showing.popularity_section import RatingSkew, Skew

LABEL = 18  # characters of a name in a chart
WEIGHTED = Style("the same rows, weighted", "var(--c1)")


def estimator_styles(estimators: Sequence[Estimator]) -> dict[str, Style]:
    """Naive averages hollow and grey, corrected estimates filled and coloured."""
    looks = cycle(
        [("var(--c1)", "circle"), ("var(--c3)", "square"), ("var(--c2)", "triangle-up"), ("var(--c4)", "diamond")]
    )
    styles = {}
    for estimator in estimators:
        word = str(estimator)
        diamond = isinstance(estimator, Aoa) and estimator.per != "pair"
        naive = Style(word, "var(--naive)", "diamond" if diamond else "circle", hollow=True)
        styles[word] = Style(word, *next(looks)) if estimator.corrects else naive
    return styles


def estimates_chart(
    rows: Sequence[Estimate], models: Sequence[str], styles: Mapping[str, Style], prefix: str
) -> str | None:
    """Values and intervals of one metric, models from top to bottom; None when no value is defined."""
    shown = [row for row in rows if row.value is not None]
    if not shown:
        return None
    labels = short_labels(models, LABEL)
    used = [word for word in styles if any(row.estimator == word for row in shown)]
    fields = ("estimator", "value", "low", "high", "assumed_low", "assumed_high")
    data = [{"model": labels[row.model], **{name: getattr(row, name) for name in fields}} for row in shown]
    y = alt.Y("model:N", sort=[labels[m] for m in models], title=None, axis=alt.Axis(ticks=False, domain=False))
    offset = alt.YOffset("estimator:N", sort=used, scale=alt.Scale(domain=used))
    colour = [styles[word].colour for word in used]
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=False, nice=True, padding=6), axis=alt.Axis(tickCount=5))
    base = chart_of("rows").encode(y=y, yOffset=offset)
    hue = alt.Color("estimator:N", scale=scale_of(used, colour), legend=None)
    whiskers = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=2.4)
    whiskers = whiskers.encode(x=alt.X("low:Q", title=None), x2="high:Q", color=hue)
    assumed = base.transform_filter("isValid(datum.assumed_low) && isValid(datum.assumed_high)").mark_rule(
        strokeWidth=0.9
    )
    assumed = assumed.encode(x=alt.X("assumed_low:Q", title=None), x2="assumed_high:Q", color=hue)
    points = base.mark_point(size=42, strokeWidth=1.8, opacity=1).encode(
        x=x,
        stroke=alt.Stroke("estimator:N", scale=scale_of(used, colour), legend=None),
        fill=alt.Fill("estimator:N", scale=scale_of(used, [styles[w].fill for w in used]), legend=None),
        shape=alt.Shape("estimator:N", scale=scale_of(used, [styles[w].shape for w in used]), legend=None),
    )
    names = ", ".join(labels.values())
    label = f"{clean(shown[0].metric)}: estimates with intervals of {names}; the same numbers are in the table below"
    height = {"step": 12 * len(used) + 10, "for": "position"}
    legend = {word: clean(styles[word].name) for word in used}
    return to_svg((assumed + whiskers + points).properties(height=height), prefix, label, legend, rows=data)


def sweep_chart(sweep: Sweep, styles: Mapping[str, Style], gamma: float | None, prefix: str) -> str | None:
    """Values over gamma, with rules where the order changes and at the run's own gamma; None without a value."""
    keys = drawing_order(sweep.values, styles)
    data = [
        {"series": key, "x": g, "y": float(v)}
        for model, key in keys.items()
        for g, v in zip(sweep.gammas, sweep.values[model], strict=True)
        if np.isfinite(v)
    ]
    if not data:
        return None
    x = alt.X("x:Q", title="gamma", scale=alt.Scale(nice=False), axis=alt.Axis(values=[-1, 0, 1, 2, 3], format="~g"))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    layers = [*_change_rules(sweep), *_own_gamma(sweep, gamma), series_lines(keys, styles, x, y)]
    changes = f"the order changes {len(sweep.changes)} times, as described below"
    label = f"{clean(sweep.metric)} of {len(keys)} models over gamma; {changes}"
    legend = {key: clean(name) for name, key in keys.items()}
    return to_svg(alt.layer(*layers).properties(height=220), prefix, label, legend, rows=data)


def weights_chart(skew: Skew, prefix: str) -> str | None:
    """Share of rows and of weight by the size of the weight; None when all rows weigh the same."""
    if not skew.varies:
        return None
    data = [
        {"low": float(a), "high": float(b), "middle": float(np.sqrt(a * b)), "rows": float(r), "weight": float(w)}
        for a, b, r, w in zip(skew.edges[:-1], skew.edges[1:], skew.rows, skew.weight, strict=True)
    ]
    multiple = log_axis(skew.edges[0], skew.edges[-1], room=1, grid=False)
    bars = (
        chart_of(data)
        .mark_bar(color="var(--naive-soft)", binSpacing=1)
        .encode(
            x=alt.X("low:Q", title="weight, as a multiple of the mean weight", **multiple),
            x2="high:Q",
            y=alt.Y("rows:Q", title=None, axis=share_axis()),
            y2=alt.value(200),
        )
    )
    dots = _dots([row for row in data if row["rows"] > 0]).encode(
        x=alt.X("middle:Q", scale=multiple["scale"]), y="weight:Q"
    )
    return to_svg((bars + dots).properties(height=200), prefix, "Share of held-out rows and of weight by weight")


def popularity_chart(skew: Skew, prefix: str) -> str:
    """Cumulative share of rows over items from the most popular on."""
    share = np.linspace(0, 1, len(skew.held_out))
    series = [
        ("var(--faint)", share, [3, 3]),
        ("var(--naive)", skew.train, [6, 3]),
        ("var(--ink)", skew.held_out, [1, 0]),
    ]
    if skew.has_weights and skew.varies:
        series.append((WEIGHTED.colour, skew.weighted, [1, 0]))
    x = alt.X("x:Q", title="items, the most popular first", axis=share_axis())
    y = alt.Y("y:Q", title=None, axis=share_axis())
    lines = [
        one_line(zip(share, curve, strict=False), x, y, color=colour, strokeDash=dash) for colour, curve, dash in series
    ]
    label = "Cumulative share of training rows, held-out rows and weight over items sorted by popularity"
    return to_svg(alt.layer(*lines).properties(height=200), prefix, label)


def tenths_chart(skew: Skew, prefix: str) -> str:
    """Held-out rows by tenths of the catalogue, as observed and as weighted."""
    x = alt.X("part:O", title="tenth of the items, the most popular first", axis=alt.Axis(labelAngle=0, grid=False))
    even = chart_of([{"even": 0.1}]).mark_rule(color="var(--faint)", strokeDash=[3, 3]).encode(y="even:Q")
    weighted = skew.tenths(skew.weighted) if skew.has_weights and skew.varies else ()
    observed = dict(enumerate(skew.tenths(skew.held_out), 1))
    label = "Share of held-out rows by tenth of the items, as observed and as weighted"
    return _parts_chart(observed, dict(enumerate(weighted, 1)), x, prefix, label, even)


def ratings_chart(skew: RatingSkew, prefix: str) -> str:
    """Share of rated rows by rating, as observed and as weighted."""
    x = alt.X("part:N", sort=list(skew.labels), title="rating", axis=alt.Axis(labelAngle=0, grid=False))
    observed = dict(zip(skew.labels, skew.observed, strict=True))
    weighted = dict(zip(skew.labels, skew.weighted, strict=False))
    return _parts_chart(observed, weighted, x, prefix, "Share of rated rows by rating, as observed and as weighted")


def _parts_chart(
    observed: Mapping[Any, float], weighted: Mapping[Any, float], x: alt.X, prefix: str, label: str, *more: Any
) -> str:
    """The share of rows that each part has as bars, and its share of the weight as dots."""
    bars = chart_of([{"part": part, "observed": float(share)} for part, share in observed.items()])
    y = alt.Y("observed:Q", title=None, axis=share_axis())
    layers = [bars.mark_bar(color="var(--naive-soft)").encode(x=x, y=y), *more]
    if weighted:
        dots = _dots([{"part": part, "weighted": float(share)} for part, share in weighted.items()])
        layers.append(dots.encode(x=x, y="weighted:Q"))
    return to_svg(alt.layer(*layers).properties(height=200), prefix, label)


def _dots(data: Sequence[Mapping[str, Any]]) -> Any:
    return chart_of(data).mark_point(filled=True, color=WEIGHTED.colour, size=40, opacity=1)


def _change_rules(sweep: Sweep) -> list[Any]:
    """A rule where models swap places, stronger where the first one changes."""
    rules = []
    few = len(sweep.values) <= COLOURS  # more models swap lower places so often that rules would hide the lines
    for kind, first in (("var(--rule)", False), ("var(--alarm)", True)):
        at = [(c.low + c.high) / 2 for c in sweep.changes if (c.before[0] != c.after[0]) == first]
        if at and (few or first):
            rules.append(upright_rules(at, color=kind, strokeDash=[5, 3] if first else [2, 3], strokeWidth=1.5))
    return rules


def _own_gamma(sweep: Sweep, gamma: float | None) -> list[Any]:
    if gamma is None or not sweep.gammas[0] <= gamma <= sweep.gammas[-1]:
        return []
    align = "left" if gamma < 2 else "right"
    text = chart_of([{"x": gamma}]).mark_text(
        align=align, dx=4 if align == "left" else -4, dy=-6, color="var(--soft)", text="this run"
    )
    rule = upright_rules([gamma], color="var(--soft)", strokeWidth=1.2)
    return [rule, text.encode(x="x:Q", y=alt.value(0))]
