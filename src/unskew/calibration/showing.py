"""A calibration on a terminal, and as one HTML file that needs nothing else."""

from typing import TYPE_CHECKING, Any

from unskew import __version__
from unskew.calibration.attempt import JOINT
from unskew.display.names import clean
from unskew.display.page import as_markup, page_environment
from unskew.display.styles import Style, model_styles
from unskew.display.svg import chart_of, scale_of, to_svg
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


def render_calibration(found: "Calibration") -> str:
    """Write the page; the same calibration gives the same bytes, and everything that comes from it is escaped."""
    styles = model_styles([world.kind for world in found.worlds])
    nearest = min(found.worlds, key=lambda world: world.loss)
    return (
        page_environment({"percent": percent}, "unskew.calibration")
        .get_template("calibration.html.j2")
        .render(
            version=__version__,
            found=found,
            nearest=nearest,
            statistics=STATISTICS,
            titles=TITLES,
            styles=styles,
            charts=[(TITLES[each], as_markup(trace_chart(found, each, styles))) for each in (JOINT, *STATISTICS)],
        )
    )


def trace_chart(found: "Calibration", objective: str, styles: dict[str, Style]) -> str | None:
    """The best so far over evaluations, a line a world; None when no world was drawn.

    Parameters
    ----------
    found : Calibration
    objective : str
        A statistic, or ``joint``.
    styles : dict
        Look of each kind of world.
    """
    import altair as alt

    data = [
        {"world": world.kind, "evaluation": number, "value": max(value, 1e-6)}
        for world in found.worlds
        for number, value in _steps(found, world.trace[objective], objective)
    ]
    if not data:
        return None
    kinds = list(styles)
    lines = (
        chart_of("rows")
        .mark_line(strokeWidth=2, interpolate="step-after")
        .encode(
            x=alt.X("evaluation:Q", title="evaluation", axis=alt.Axis(tickCount=5, grid=False)),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(tickCount=5, format=".3~g"),
            ),
            color=alt.Color("world:N", scale=scale_of(kinds, [styles[k].colour for k in kinds]), legend=None),
            strokeDash=alt.StrokeDash(
                "world:N", scale=scale_of(kinds, [list(styles[k].dash) for k in kinds]), legend=None
            ),
        )
    )
    label = f"{TITLES[objective]}: the best so far over evaluations, for {', '.join(kinds)}"
    return to_svg(lines.properties(height=200), f"trace-{objective}", label, rows=data)


def _steps(found: "Calibration", trace: Any, objective: str) -> list[tuple[int, float]]:
    """Evaluations counted from 1; the last value is drawn out to the end of the search."""
    steps = [(number + 1, value) for number, value in trace]
    if not steps:
        return []
    singles, starts, joint = (int(found.settings[key]) for key in ("singles", "starts", "joint"))
    end = starts + 4 * (singles - starts) + joint if objective == JOINT else singles
    return [*steps, (max(end, steps[-1][0]), steps[-1][1])]


def print_calibration(found: "Calibration", console: "Console") -> None:
    """Print divergences and losses of each world, and the words of the worlds.

    Parameters
    ----------
    found : Calibration
    console : Console
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    log = found.log
    console.print(
        Text(f"{clean(log.name)}: {log.rows:,} rows, {log.users:,} users, {log.items:,} items"), soft_wrap=True
    )
    table = Table(pad_edge=False, box=SIMPLE_HEAD)
    table.add_column("world")
    for each in STATISTICS:
        table.add_column(each, justify="right")
    for column in ("mean loss", "evaluations", "not drawn"):
        table.add_column(column, justify="right")
    for world in found.worlds:
        cells = [f"{world.divergences[each]:.3f} ({percent(world.ratios[each] - 1)})" for each in STATISTICS]
        table.add_row(world.kind, *cells, percent(world.loss), f"{world.evaluations:,}", f"{world.refused:,}")
    table.add_row("best seen", *(f"{found.best[each]:.3f}" for each in STATISTICS), "", "", "")
    console.print(table)
    console.print(Text("K-L divergence of the log from the world in nats; in brackets how far above the best seen"))
    for world in found.worlds:
        console.print(Text(f"{world.kind}: {world.word}"), soft_wrap=True)


def percent(share: float) -> str:
    """A loss in percent, with no more digits than it deserves."""
    return f"{100 * share:,.0f} %" if abs(share) >= 0.1 else f"{100 * share:.1f} %"
