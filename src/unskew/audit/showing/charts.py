"""Charts of an audit as inline SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.audit.lists import ModelAudit
from unskew.audit.popularity import STRATA, LogAudit, Strata
from unskew.audit.strata import StratumEstimate
from unskew.data.concentration import lorenz
from unskew.display.names import clean, short_labels
from unskew.display.styles import Style, model_styles
from unskew.display.svg import chart_of, round_numbers, scale_of, to_svg
from unskew.evaluation.showing.charts import LABEL, estimates_chart

POINTS = 240  # most points of a curve; more would make the page large and look the same
OUTSIDE = "not in the log"
LOG_COLOUR = "var(--ink)"  # the colours are the models'
STRATUM_STYLES = {
    "all": Style("all", "var(--naive)", "diamond", hollow=True),
    "head": Style("head", "var(--c1)", "circle"),
    "middle": Style("middle", "var(--c3)", "square"),
    "tail": Style("tail", "var(--c2)", "triangle-up"),
    OUTSIDE: Style(OUTSIDE, "var(--faint)"),
}


def rank_chart(log: LogAudit, prefix: str) -> str:
    """The n* of each item over its rank, both axes logarithmic (Yang et al. 2018, fig. 2)."""
    import altair as alt

    sizes = log.items_at[::-1]
    last = np.cumsum(sizes)
    first = last - sizes + 1
    ranks = np.stack([first, last], axis=1).ravel()  # both ends of each step
    levels = np.repeat(log.levels[::-1], 2)
    chosen = _spread(ranks.astype(float))
    data = [{"x": int(ranks[k]), "y": int(levels[k])} for k in chosen]
    line = chart_of(data).mark_line(strokeWidth=2, color=LOG_COLOUR)
    line = line.encode(x=_log_x("rank of the item", 1, int(last[-1])), y=_log_y(1, log.largest))
    label = (
        f"Interactions an item over its rank: {log.largest:,} for the first of {log.items:,} items, logarithmic axes"
    )
    return to_svg(alt.layer(line).properties(height=230), prefix, label)


def levels_chart(log: LogAudit, prefix: str) -> str:
    """How many items have each n*, both axes logarithmic."""
    import altair as alt

    chosen = _spread(log.levels.astype(float))
    data = [{"x": int(log.levels[k]), "y": int(log.items_at[k])} for k in chosen]
    dots = chart_of(data).mark_point(filled=True, size=18, opacity=0.75, color=LOG_COLOUR)
    dots = dots.encode(
        x=_log_x("interactions of an item, n*", int(log.levels[0]), log.largest), y=_log_y(1, int(log.items_at.max()))
    )
    label = f"Number of items at each of {len(log.levels):,} popularity levels, logarithmic axes"
    return to_svg(alt.layer(dots).properties(height=230), prefix, label)


def lorenz_chart(amounts: Mapping[str, Floats], styles: Mapping[str, Style], prefix: str) -> str:
    """Lorenz curves: the share that the least popular items have together.

    Parameters
    ----------
    amounts : mapping
        Series to the amounts of its items.
    styles : mapping
        Series to look.
    prefix : str
        Begins every id in the SVG.
    """
    import altair as alt

    percent = alt.Axis(format="~%", tickCount=5)
    even = [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]
    layers = [_line(even, "var(--faint)", (3, 3), percent)]
    for name, column in amounts.items():
        shares, reached = lorenz(column, POINTS)
        data = [{"x": round(float(a), 5), "y": round(float(b), 5)} for a, b in zip(shares, reached, strict=True)]
        layers.append(_line(data, styles[name].colour, styles[name].dash, percent))
    label = f"Lorenz curves of {', '.join(clean(name) for name in amounts)}; the diagonal is an even spread"
    return to_svg(alt.layer(*layers).properties(height=230), prefix, label)


def presentation_chart(row: ModelAudit, style: Style, prefix: str) -> str | None:
    """The f(n*) of a model with the fitted line, logarithmic axes (Yang et al. 2018, fig. 3); None without a point."""
    import altair as alt

    shown = np.flatnonzero((row.bias.f > 0) & (row.bias.levels > 0))
    if not len(shown):
        return None
    levels, heights = row.bias.levels[shown].astype(float), row.bias.f[shown]
    chosen = _spread(levels)
    data = [{"x": float(levels[k]), "y": _digits(heights[k])} for k in chosen]
    x = _log_x("interactions of an item, n*", levels[0], levels[-1])
    y = _log_y(heights.min(), heights.max())
    layers = [
        chart_of(data).mark_point(filled=True, size=18, opacity=0.75, color=style.colour, clip=True).encode(x=x, y=y)
    ]
    words = "gamma is not identified"
    if row.gamma is not None:
        line = [{"x": float(a), "y": _digits(b)} for a, b in _fitted(row, levels)]
        drawn = chart_of(line).mark_line(strokeWidth=1.8, color="var(--ink)", strokeDash=[6, 3], clip=True)
        layers.append(drawn.encode(x=x, y=y))
        words = f"the fitted slope gamma is {row.gamma.gamma:.2f}"
    label = f"How often items are recommended by {clean(row.model)} over their popularity; {words}"
    return to_svg(alt.layer(*layers).properties(height=230), prefix, label)


def metric_chart(parts: Sequence[StratumEstimate], models: Sequence[str], prefix: str) -> str | None:
    """Values and intervals of one metric by stratum, models from top to bottom."""
    rows = [replace(part.estimate, estimator=part.stratum) for part in parts]
    return estimates_chart(rows, models, STRATUM_STYLES, prefix)


def shares_chart(strata: Strata, models: Sequence[ModelAudit], prefix: str, *, rows: str) -> str:
    """Which share of items, of rows, which are called as `rows` says, and of places head, middle and tail have."""
    import altair as alt

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
            x=alt.X("share:Q", title=None, stack="zero", axis=alt.Axis(format="~%", tickCount=5), scale=_unit()),
            color=alt.Color("stratum:N", scale=colours, legend=None),
            order=alt.Order("order:Q"),
        )
    )
    label = f"Share of items, {rows} and recommended places of {len(models)} models by head, middle and tail"
    return to_svg(chart.properties(height={"step": 26}), prefix, label, rows=data)


def series_styles(models: Sequence[str]) -> dict[str, Style]:
    """How the models look; the log itself, under the empty name, is black."""
    return {"": Style("the log", LOG_COLOUR), **model_styles(models)}


def _fitted(row: ModelAudit, levels: Floats) -> list[tuple[float, float]]:
    """Ends of the fitted line."""
    assert row.gamma is not None
    ends = (float(levels[0]), float(levels[-1]))
    return [(x, float(np.exp(row.gamma.intercept + row.gamma.gamma * np.log(x)))) for x in ends]


def _spread(places: Floats) -> Ints:
    """Which points of an ascending curve to draw: all, or those nearest to even steps on a logarithmic axis."""
    if len(places) <= POINTS:
        return np.arange(len(places))
    wanted = np.geomspace(places[0], places[-1], POINTS)
    return np.unique(np.append(np.searchsorted(places, wanted).clip(0, len(places) - 1), [0, len(places) - 1]))


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def _line(data: list[dict[str, float]], colour: str, dash: tuple[int, ...], percent: Any) -> Any:
    import altair as alt

    line = chart_of(data).mark_line(color=colour, strokeWidth=2, strokeDash=list(dash))
    return line.encode(
        x=alt.X("x:Q", title="items, the rarest first", axis=percent, scale=_unit()),
        y=alt.Y("y:Q", title=None, axis=percent, scale=_unit()),
    )


def _unit() -> Any:
    import altair as alt

    return alt.Scale(domain=[0, 1])


def _log_x(title: str, low: float, high: float) -> Any:
    import altair as alt

    return alt.X("x:Q", title=title, scale=_log_scale(low, high), axis=_log_axis(low, high))


def _log_y(low: float, high: float) -> Any:
    import altair as alt

    return alt.Y("y:Q", title=None, scale=_log_scale(low, high), axis=_log_axis(low, high))


def _log_scale(low: float, high: float) -> Any:
    import altair as alt

    low, high = (low, high) if high > low else (low / 2, high * 2)
    return alt.Scale(type="log", nice=False, domain=[float(low) / 1.15, float(high) * 1.15])


def _log_axis(low: float, high: float) -> Any:
    import altair as alt

    ends = (low, high) if high > low else (low / 2, high * 2)
    return alt.Axis(values=round_numbers(*ends), format="~g", grid=True)
