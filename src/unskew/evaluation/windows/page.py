"""The HTML page of a report over windows: one file without scripts, fonts or requests."""

from itertools import groupby
from typing import TYPE_CHECKING, Any

from unskew.display.chart import Chart
from unskew.display.numbers import level
from unskew.display.page import Figure, render_page
from unskew.display.styles import GREY, Style, series_styles
from unskew.evaluation.windows.result import WindowOrder, span_of

if TYPE_CHECKING:
    from unskew.evaluation.windows.result import WindowsReport


def render_windows(report: "WindowsReport") -> str:
    """Return the page; the same report gives the same bytes, and everything that comes from the data is escaped."""
    styles = series_styles(report.orders[0].over_all)
    context = {
        "report": report,
        "level": level(report.estimates[0].level),
        "sentences": report.sentences,
        "styles": [style for style in styles.values() if style.colour != GREY],
        "grey_models": sum(style.colour == GREY for style in styles.values()),
        "charts": [_figure(report, order, styles, place) for place, order in enumerate(report.orders)],
        "groups": [(metric, list(rows)) for metric, rows in groupby(report.estimates, key=lambda row: row.metric)],
        "spans": {name: span_of(each) for name, each in report.reports.items()},
        "run": next(iter(report.reports.values())).run,
    }
    return render_page("windows.html.j2", "unskew.evaluation.windows", context)


def first_chart(report: "WindowsReport") -> Chart | None:
    """The chart of the first metric and estimator; None if no value is defined."""
    styles = series_styles(report.orders[0].over_all)
    return _figure(report, report.orders[0], styles, 0).chart(note="one line for each model, by window")


def _figure(report: "WindowsReport", order: WindowOrder, styles: dict[str, Style], place: int) -> Figure:
    """The values of all models over the windows, by one metric and estimator."""
    import altair as alt

    from unskew.display.lines import drawing_order, series_lines
    from unskew.display.svg import to_svg

    title = f"{order.metric} by {order.estimator}"
    keys = drawing_order(order.over_all, styles)
    rows: list[dict[str, Any]] = [
        {"series": keys[row.model], "x": number + 1, "y": value}
        for row in report.estimates
        if (row.metric, row.estimator) == (order.metric, order.estimator) and row.model in keys
        for number, value in enumerate(row.values)
        if value is not None
    ]
    if not rows:
        return Figure(title, None)
    count = len(report.reports)
    ticks = sorted({round(1 + part * (count - 1) / 8) for part in range(9)})
    x = alt.X("x:Q", title="window", axis=alt.Axis(values=ticks, format="d", grid=False))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    lines = series_lines(keys, styles, x, y, point={"filled": True, "size": 26, "opacity": 1})
    label = f"{title} over {count} windows, one line for each of {len(keys)} models"
    return Figure(title, to_svg(lines.properties(height=220), f"windows-{place}", label, rows=rows))
