"""A calibration as text, and as an HTML page: one file without scripts, fonts or requests."""

from typing import TYPE_CHECKING, Any

from unskew.calibration.attempt import JOINT
from unskew.display.chart import Charts
from unskew.display.names import clean
from unskew.display.notebook import fragment, html_table
from unskew.display.numbers import rough_percent
from unskew.display.page import Figure, gallery, render_page
from unskew.display.styles import Style, series_styles
from unskew.display.text_table import Column, print_lines, print_table, table
from unskew.simulators.likeness import STATISTICS

if TYPE_CHECKING:
    from rich.console import Console

    from unskew.calibration.result import Calibration

TITLES = {
    "item-item": "similarity of items",
    "item-popularity": "popularity of items",
    "user-user": "similarity of users",
    "user-activity": "activity of users",
    JOINT: "all four: mean ratio to the best",
}
_MORE = ("mean loss", "evaluations", "not drawn")  # columns of the tables after those of the distributions


def render_calibration(calibration: "Calibration") -> str:
    """Return the page; the same calibration gives the same bytes, and everything that comes from it is escaped."""
    styles = series_styles(world.kind for world in calibration.worlds)
    context = {
        "calibration": calibration,
        "nearest": min(calibration.worlds, key=lambda world: world.loss),
        "statistics": STATISTICS,
        "columns": ["world", *(TITLES[each] for each in STATISTICS), *_MORE],
        "styles": list(styles.values()),
        "charts": list(_figures(calibration, styles).values()),
    }
    return render_page("calibration.html.j2", "unskew.calibration", context)


def calibration_charts(calibration: "Calibration") -> Charts:
    """The traces of the search: ``joint`` for all statistics together, and one of each statistic."""
    figures = _figures(calibration, series_styles(world.kind for world in calibration.worlds))
    note = "the best so far over evaluations"
    return gallery({name: (figure, figure.title, note) for name, figure in figures.items()})


def calibration_html(calibration: "Calibration") -> str:
    """The nearest world, the trace of the joint search, and the divergences of all worlds."""
    log, nearest = calibration.log, min(calibration.worlds, key=lambda world: world.loss)
    headline = f"Nearest to {log.name} is {nearest.word}."
    size = f"The log has {log.rows:,} rows, {log.users:,} users and {log.items:,} items."
    table = html_table(["world", *STATISTICS, *_MORE], _rows(calibration))
    return fragment(headline, [size], calibration_charts(calibration).get(JOINT), [table])


def _rows(calibration: "Calibration") -> list[list[str]]:
    """Divergences and losses of each world, and below them the best."""
    rows = []
    for world in calibration.worlds:
        cells = [f"{world.divergences[each]:.3f} ({rough_percent(world.ratios[each] - 1)})" for each in STATISTICS]
        rows.append([world.kind, *cells, rough_percent(world.loss), f"{world.evaluations:,}", f"{world.refused:,}"])
    return [*rows, ["best seen", *(f"{calibration.best[each]:.3f}" for each in STATISTICS), "", "", ""]]


def _figures(calibration: "Calibration", styles: dict[str, Style]) -> dict[str, Figure]:
    return {each: Figure(TITLES[each], trace_chart(calibration, each, styles)) for each in (JOINT, *STATISTICS)}


def trace_chart(calibration: "Calibration", objective: str, styles: dict[str, Style]) -> str | None:
    """The best value so far of an objective over evaluations, one line per world; None without data."""
    import altair as alt

    from unskew.display.lines import log_axis, series_lines
    from unskew.display.svg import to_svg

    data: list[dict[str, Any]] = [
        {"series": world.kind, "x": number, "y": max(value, 1e-6)}
        for world in calibration.worlds
        for number, value in _steps(calibration, world.trace[objective], objective)
    ]
    if not data:
        return None
    last, heights = max(row["x"] for row in data), [row["y"] for row in data]
    ticks = sorted({round(1 + part * (last - 1) / 4) for part in range(5)})
    x = alt.X("x:Q", title="evaluation", axis=alt.Axis(values=ticks, format=",d", grid=False))
    y = alt.Y("y:Q", title=None, **log_axis(min(heights), max(heights)))
    # with points, because a search of one evaluation has no line
    point = {"filled": True, "size": 22, "opacity": 1}
    lines = series_lines({kind: kind for kind in styles}, styles, x, y, interpolate="step-after", point=point)
    label = f"{TITLES[objective]}: the best so far over evaluations, for {', '.join(styles)}"
    legend = {kind: kind for kind in styles}
    return to_svg(lines.properties(height=200), f"trace-{objective}", label, legend, rows=data)


def _steps(calibration: "Calibration", trace: Any, objective: str) -> list[tuple[int, float]]:
    """The trace with evaluations counted from 1, and the last value extended to the end of the search."""
    steps = [(number + 1, value) for number, value in trace]
    if not steps:
        return []
    singles, starts, joint = (int(calibration.settings[key]) for key in ("singles", "starts", "joint"))
    end = starts + 4 * (singles - starts) + joint if objective == JOINT else singles
    return [*steps, (max(end, steps[-1][0]), steps[-1][1])]


def print_calibration(calibration: "Calibration", console: "Console") -> None:
    """Print divergences and losses of each world, and the words of the worlds."""
    from rich.text import Text

    log = calibration.log
    print_lines([f"{clean(log.name)}: {log.rows:,} rows, {log.users:,} users, {log.items:,} items"], console)
    titles = (*STATISTICS, *_MORE)
    columns = [Column("world"), *(Column(title, "right") for title in titles)]
    print_table(table(None, columns, _rows(calibration)), console)
    console.print(Text("K-L divergence of the log from the world in nats; in brackets how far above the best seen"))
    print_lines((f"{world.kind}: {world.word}" for world in calibration.worlds), console)
