"""Charts of an error audit as inline SVG."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.audit.error.result import PairRow
from unskew.display.names import clean
from unskew.display.styles import Style
from unskew.display.svg import chart_of, scale_of, to_svg
from unskew.trials.summary import wrong_winner

POINTS = 81  # of a curve
STYLES = {
    "aoa": Style("aoa", "var(--naive)", "diamond", hollow=True, dash=(6, 3)),
    "snips": Style("snips", "var(--c1)", "circle"),
    "snips(per=balanced)": Style("snips(per=balanced)", "var(--c3)", "square"),
    "snips(per=user)": Style("snips(per=user)", "var(--c2)", "triangle-up"),
    "snips, true P": Style("snips, true P", "var(--c4)", "diamond", dash=(2, 2)),
}


def errors_chart(errors: Mapping[str, Floats], metric: str, names: tuple[str, str], prefix: str) -> str | None:
    """The errors of a difference over all runs: range, middle half and median of each estimator.

    Parameters
    ----------
    errors : mapping
        Estimator to estimated minus true difference of each run.
    metric : str
    names : (str, str)
        Of the two recommenders.
    prefix : str
        Begins every id in the SVG.
    """
    import altair as alt

    shown = {label: column for label, column in errors.items() if len(column) > 1}
    if not shown:
        return None
    labels = list(shown)
    ends = {label: np.quantile(column, [0.025, 0.25, 0.5, 0.75, 0.975]).tolist() for label, column in shown.items()}
    short = {label: label.replace("snips(", "").rstrip(")") for label in labels}
    keys = ("low", "quarter", "middle", "most", "high")
    data = [{"estimator": short[label], **dict(zip(keys, map(_digits, ends[label]), strict=True))} for label in labels]
    words = list(short.values())
    colour = alt.Color("estimator:N", scale=scale_of(words, [STYLES[label].colour for label in labels]), legend=None)
    y = alt.Y("estimator:N", sort=words, title=None, axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("low:Q", title="estimated minus true difference", axis=alt.Axis(tickCount=5))
    base = chart_of("rows").encode(y=y, color=colour)
    zero = chart_of([{"x": 0.0}]).mark_rule(color="var(--faint)", strokeDash=[3, 3]).encode(x="x:Q")
    wide = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    half = base.mark_rule(strokeWidth=7).encode(x=alt.X("quarter:Q"), x2="most:Q")
    middle = base.mark_point(size=34, filled=True, opacity=1).encode(x=alt.X("middle:Q"))
    medians = ", ".join(f"{label} {ends[label][2]:+.4f}" for label in labels)
    label = f"Errors of the difference in {metric} between {clean(names[0])} and {clean(names[1])}; medians: {medians}"
    return to_svg(alt.layer(zero, wide, half, middle).properties(height={"step": 26}), prefix, label, rows=data)


def wrong_chart(rows: Sequence[PairRow], errors: Mapping[str, Floats], prefix: str) -> str | None:
    """The chance of a wrong winner over the observed difference, the user's own differences as points.

    Parameters
    ----------
    rows : sequence of PairRow
        Of one pair and metric.
    errors : mapping
        Estimator to errors of the difference.
    prefix : str
    """
    import altair as alt

    shown = [row for row in rows if row.label in errors and len(errors[row.label]) > 1]
    if not shown:
        return None
    reach = max(_reach(row, errors[row.label]) for row in shown)
    layers: list[Any] = [
        chart_of([{"x": 0.0}]).mark_rule(color="var(--faint)", strokeDash=[3, 3]).encode(x=alt.X("x:Q")),
    ]
    for row in shown:
        style, column = STYLES[row.label], errors[row.label]
        curve = [
            {"x": _digits(d), "y": round(wrong_winner(column, float(d)).normal, 4), "side": "a" if d > 0 else "b"}
            for d in _steps(reach)
        ]
        line = chart_of(curve).mark_line(color=style.colour, strokeWidth=2, strokeDash=list(style.dash))
        layers.append(line.encode(x=_x(reach), y=_y(), detail="side:N"))
        if row.observed is not None and row.wrong_winner is not None:
            point = chart_of([{"x": _digits(row.observed), "y": round(row.wrong_winner, 4)}])
            mark = point.mark_point(
                size=70, opacity=1, shape=style.shape, fill=style.fill, stroke=style.colour, strokeWidth=2
            )
            layers.append(mark.encode(x=_x(reach), y=_y()))
    first = shown[0]
    label = (
        f"Chance that the seeming winner is the worse one, over the observed difference in {first.metric} between "
        f"{clean(first.a)} and {clean(first.b)}; observed differences are points"
    )
    return to_svg(alt.layer(*layers).properties(height=230), prefix, label)


def _reach(row: PairRow, errors: Floats) -> float:
    own = abs(row.observed) if row.observed is not None else 0.0
    return max(1.2 * own, abs(float(errors.mean())) + 3 * float(errors.std(ddof=1)), 1e-6)


def _steps(reach: float) -> Floats:
    """Differences on both sides of 0, where the winner changes and so the curve breaks."""
    side = np.linspace(0.0, reach, POINTS)
    side[0] = reach * 1e-6
    return np.concatenate([-side[::-1], side])


def _x(reach: float) -> Any:
    import altair as alt

    title = "observed difference, first minus second"
    return alt.X(
        "x:Q", title=title, scale=alt.Scale(domain=[-_digits(reach), _digits(reach)]), axis=alt.Axis(tickCount=5)
    )


def _y() -> Any:
    import altair as alt

    return alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="~%", tickCount=5))


def _digits(value: float) -> float:
    return float(f"{value:.5g}")
