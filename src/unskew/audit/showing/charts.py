"""The charts of an audit, as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from unskew.arrays import Floats, Ints
from unskew.audit.error.result import PairRow
from unskew.audit.lists import ModelAudit
from unskew.audit.popularity import STRATA, LogAudit, Strata
from unskew.audit.strata import StratumEstimate
from unskew.data.concentration import lorenz
from unskew.display.lines import drawing_order, log_axis, one_line, series_lines, share_axis, upright_rules
from unskew.display.names import clean, short_labels
from unskew.display.styles import GREY, Style
from unskew.display.svg import chart_of, scale_of, to_svg
from unskew.evaluation.showing.charts import LABEL, estimates_chart
from unskew.trials.summary import wrong_winner

POINTS = 240  # most points of a curve; more would make the page large and look the same
SIDE_POINTS = 81  # of a curve of wrong winners, on either side of 0
OUTSIDE = "not in the log"
_POPULARITY = "interactions of an item, n*"
_UNIT = alt.Scale(domain=[0, 1])
THE_LOG = Style("the log", "var(--ink)")  # the colours are the models'
STRATUM_STYLES = {
    "all": Style("all", "var(--naive)", "diamond", hollow=True),
    "head": Style("head", "var(--c1)", "circle"),
    "middle": Style("middle", "var(--c3)", "square"),
    "tail": Style("tail", "var(--c2)", "triangle-up"),
    OUTSIDE: Style(OUTSIDE, GREY),
}
ESTIMATOR_STYLES = {
    "aoa": Style("aoa", "var(--naive)", "diamond", hollow=True, dash=(6, 3)),
    "snips": Style("snips", "var(--c1)", "circle"),
    "snips(per=balanced)": Style("snips(per=balanced)", "var(--c3)", "square"),
    "snips(per=user)": Style("snips(per=user)", "var(--c2)", "triangle-up"),
    "snips, true P": Style("snips, true P", "var(--c4)", "diamond", dash=(2, 2)),
}


def rank_chart(log: LogAudit, prefix: str) -> str:
    """The n* of each item over its rank, both axes logarithmic (Yang et al. 2018, fig. 2)."""
    sizes = log.items_at[::-1]
    last = np.cumsum(sizes)
    ranks = np.stack([last - sizes + 1, last], axis=1).ravel()  # both ends of each step
    levels = np.repeat(log.levels[::-1], 2)
    points = [(ranks[k], levels[k]) for k in _spread(ranks.astype(float))]
    x = alt.X("x:Q", title="rank of the item", **log_axis(1, int(last[-1])))
    line = one_line(points, x, alt.Y("y:Q", title=None, **log_axis(1, log.largest)), color=THE_LOG.colour)
    first = f"{log.largest:,} for the first of {log.items:,} items"
    return _drawn(prefix, f"Interactions per item over its rank: {first}, logarithmic axes", line)


def levels_chart(log: LogAudit, prefix: str) -> str:
    """How many items have each n*, both axes logarithmic."""
    points = [(log.levels[k], log.items_at[k]) for k in _spread(log.levels.astype(float))]
    x = alt.X("x:Q", title=_POPULARITY, **log_axis(int(log.levels[0]), log.largest))
    y = alt.Y("y:Q", title=None, **log_axis(1, int(log.items_at.max())))
    label = f"Number of items at each of {len(log.levels):,} popularity levels, logarithmic axes"
    return _drawn(prefix, label, _dots(points, THE_LOG.colour).encode(x=x, y=y))


def lorenz_chart(amounts: Mapping[str, Floats], styles: Mapping[str, Style], prefix: str) -> str:
    """Lorenz curves of amounts by item, one per series: the cumulative share of the items, the rarest first."""
    x = alt.X("x:Q", title="items, the rarest first", axis=share_axis(), scale=_UNIT)
    y = alt.Y("y:Q", title=None, axis=share_axis(), scale=_UNIT)
    keys = drawing_order(amounts, styles)
    data = [
        {"series": key, "x": round(float(a), 5), "y": round(float(b), 5)}
        for name, key in keys.items()
        for a, b in zip(*lorenz(amounts[name], POINTS), strict=True)
    ]
    even = one_line([(0.0, 0.0), (1.0, 1.0)], x, y, color=GREY, strokeDash=[3, 3])
    label = f"Lorenz curves of {', '.join(clean(name) for name in amounts)}; the diagonal is an even spread"
    legend = {key: clean(styles[name].name) for name, key in keys.items()}
    return _drawn(prefix, label, even, series_lines(keys, styles, x, y), legend=legend, rows=data)


def presentation_chart(row: ModelAudit, style: Style, prefix: str) -> str | None:
    """The f(n*) of a model with the fitted line, logarithmic axes (Yang et al. 2018, fig. 3); None without a point."""
    shown = np.flatnonzero((row.bias.f > 0) & (row.bias.levels > 0))
    if not len(shown):
        return None
    levels, heights = row.bias.levels[shown].astype(float), row.bias.f[shown]
    points = [(levels[k], _digits(heights[k])) for k in _spread(levels)]
    x = alt.X("x:Q", title=_POPULARITY, **log_axis(levels[0], levels[-1]))
    y = alt.Y("y:Q", title=None, **log_axis(heights.min(), heights.max()))
    layers = [_dots(points, style.colour, clip=True).encode(x=x, y=y)]
    words = "gamma is not identified"
    if row.gamma is not None:
        ends = levels[[0, -1]]
        fit = zip(ends, map(_digits, np.exp(row.gamma.intercept + row.gamma.gamma * np.log(ends))), strict=True)
        layers.append(one_line(fit, x, y, strokeWidth=1.8, color="var(--ink)", strokeDash=[6, 3], clip=True))
        words = f"the fitted slope gamma is {row.gamma.gamma:.2f}"
    label = f"How often items are recommended by {clean(row.model)} over their popularity; {words}"
    return _drawn(prefix, label, *layers)


def metric_chart(parts: Sequence[StratumEstimate], models: Sequence[str], prefix: str) -> str | None:
    """Values and intervals of one metric by stratum, models from top to bottom."""
    rows = [replace(part.estimate, estimator=part.stratum) for part in parts]
    return estimates_chart(rows, models, STRATUM_STYLES, prefix)


def shares_chart(strata: Strata, models: Sequence[ModelAudit], prefix: str, *, rows: str) -> str:
    """Shares of head, middle and tail in the items, the rows (labelled as `rows`) and the recommended places."""
    bars: dict[str, Sequence[float]] = {
        "items": (*(strata.items / max(int(strata.items.sum()), 1)).tolist(), 0.0),
        rows: (*(strata.rows / max(int(strata.rows.sum()), 1)).tolist(), 0.0),
    }
    labels = short_labels([*bars, *(f"lists of {row.model}" for row in models)], LABEL + len("lists of "))
    bars |= {f"lists of {row.model}": (*row.shares.tolist(), row.outside) for row in models}
    names = [*STRATA, OUTSIDE]
    data = [
        {"what": labels[what], "stratum": name, "order": k, "share": share}
        for what, shares in bars.items()
        for k, (name, share) in enumerate(zip(names, shares, strict=True))
        if share > 0
    ]
    colours = scale_of(names, [STRATUM_STYLES[name].colour for name in names])
    chart = (
        chart_of("rows")
        .mark_bar(size=16)
        .encode(
            y=alt.Y("what:N", sort=list(labels.values()), title=None, axis=alt.Axis(ticks=False, domain=False)),
            x=alt.X("share:Q", title=None, stack="zero", axis=share_axis(), scale=_UNIT),
            color=alt.Color("stratum:N", scale=colours, legend=None),
            order=alt.Order("order:Q"),
        )
    )
    label = f"Share of items, {rows} and recommended places of {len(models)} models by head, middle and tail"
    return to_svg(chart.properties(height={"step": 26}), prefix, label, {name: name for name in names}, rows=data)


def errors_chart(errors: Mapping[str, Floats], metric: str, names: tuple[str, str], prefix: str) -> str | None:
    """The errors of a difference over all runs, by estimator: range, middle half and median; None with one run."""
    shown = {label: column for label, column in errors.items() if len(column) > 1}
    if not shown:
        return None
    labels = list(shown)
    ends = {label: np.quantile(column, [0.025, 0.25, 0.5, 0.75, 0.975]).tolist() for label, column in shown.items()}
    short = {label: label.replace("snips(", "").rstrip(")") for label in labels}
    keys = ("low", "quarter", "middle", "most", "high")
    data = [{"estimator": short[label], **dict(zip(keys, map(_digits, ends[label]), strict=True))} for label in labels]
    words = list(short.values())
    colours = scale_of(words, [ESTIMATOR_STYLES[label].colour for label in labels])
    y = alt.Y("estimator:N", sort=words, title=None, axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("low:Q", title="estimated minus true difference", axis=alt.Axis(tickCount=5))
    base = chart_of("rows").encode(y=y, color=alt.Color("estimator:N", scale=colours, legend=None))
    wide = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    half = base.mark_rule(strokeWidth=7).encode(x=alt.X("quarter:Q"), x2="most:Q")
    middle = base.mark_point(size=34, filled=True, opacity=1).encode(x=alt.X("middle:Q"))
    medians = ", ".join(f"{label} {ends[label][2]:+.4f}" for label in labels)
    label = f"Errors of the difference in {metric} between {clean(names[0])} and {clean(names[1])}; medians: {medians}"
    chart = alt.layer(upright_rules([0.0]), wide, half, middle).properties(height={"step": 26})
    return to_svg(chart, prefix, label, rows=data)


def wrong_chart(rows: Sequence[PairRow], errors: Mapping[str, Floats], prefix: str) -> str | None:
    """The chance of a wrong winner of one pair and metric over the observed difference; observed ones are points."""
    shown = [row for row in rows if row.label in errors and len(errors[row.label]) > 1]
    if not shown:
        return None
    reach = max(_reach(row, errors[row.label]) for row in shown)
    scale = alt.Scale(domain=[-_digits(reach), _digits(reach)])
    x = alt.X("x:Q", title="observed difference, first minus second", scale=scale, axis=alt.Axis(tickCount=5))
    y = alt.Y("y:Q", title=None, scale=_UNIT, axis=share_axis())
    layers = [upright_rules([0.0])]
    for row in shown:
        style, column = ESTIMATOR_STYLES[row.label], errors[row.label]
        for side in (-_steps(reach), _steps(reach)):
            curve = [(_digits(d), round(wrong_winner(column, float(d)).normal, 4)) for d in side]
            layers.append(one_line(curve, x, y, color=style.colour, strokeDash=list(style.dash)))
        if row.observed is not None and row.wrong_winner is not None:
            point = chart_of([{"x": _digits(row.observed), "y": round(row.wrong_winner, 4)}])
            look = {"shape": style.shape, "fill": style.fill, "stroke": style.colour}
            layers.append(point.mark_point(size=70, opacity=1, strokeWidth=2, **look).encode(x=x, y=y))
    first = shown[0]
    label = (
        f"Chance that the apparent winner is the worse one, over the observed difference in {first.metric} between "
        f"{clean(first.a)} and {clean(first.b)}; observed differences are points"
    )
    return _drawn(prefix, label, *layers)


def _reach(row: PairRow, errors: Floats) -> float:
    observed = abs(row.observed) if row.observed is not None else 0.0
    return max(1.2 * observed, abs(float(errors.mean())) + 3 * float(errors.std(ddof=1)), 1e-6)


def _steps(reach: float) -> Floats:
    """Differences on one side of 0, where the winner changes and so the curve breaks."""
    side = np.linspace(0.0, reach, SIDE_POINTS)
    side[0] = reach * 1e-6
    return side


def _drawn(prefix: str, label: str, *layers: Any, **more: Any) -> str:
    return to_svg(alt.layer(*layers).properties(height=230), prefix, label, **more)


def _dots(points: Sequence[tuple[float, float]], colour: str, **more: Any) -> Any:
    dots = chart_of([{"x": float(a), "y": float(b)} for a, b in points])
    return dots.mark_point(filled=True, size=18, opacity=0.75, color=colour, **more)


def _spread(places: Floats) -> Ints:
    """Which points of an ascending curve to draw: all, or those nearest to even steps on a logarithmic axis."""
    if len(places) <= POINTS:
        return np.arange(len(places))
    wanted = np.geomspace(places[0], places[-1], POINTS)
    return np.unique(np.append(np.searchsorted(places, wanted).clip(0, len(places) - 1), [0, len(places) - 1]))


def _digits(value: float) -> float:
    return float(f"{value:.5g}")
