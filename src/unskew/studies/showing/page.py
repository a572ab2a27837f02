"""A study as one HTML file that needs nothing else: no script, no font, no request to anywhere."""

from collections.abc import Iterator

from unskew.display import page
from unskew.display.numbers import minus, written_number
from unskew.display.styles import Style
from unskew.studies.framework.figures import Figure
from unskew.studies.framework.result import StudyResult, TableResult, counts_of
from unskew.studies.showing.charts import panel_chart, styles_of
from unskew.studies.showing.grid import grids_of


def render_study(result: StudyResult) -> str:
    """Write the page; the same result gives the same bytes, and everything that comes from it is escaped."""
    context = {
        "result": result,
        "tables": [(table, _counts(table), list(_drawings(table)), grids_of(table)) for table in result.tables],
        "data": list(dict.fromkeys(part for table in result.tables for part in table.data)),
        "duration": _duration(result.seconds),
    }
    return page.render_page("study.html.j2", "unskew.studies.showing", context, number=_number, verdict=_verdict)


def _counts(table: TableResult) -> str:
    """How a table came out, in a few words."""
    if not table.ran:
        return "could not run: the data is not here"
    parts = [count.words for count in counts_of([table]) if count.judged]
    return ", ".join(parts) if parts else "nothing to compare"


def _drawings(table: TableResult) -> Iterator[tuple[Figure, list[Style], list[page.Figure]]]:
    """Each figure, the looks of its series, and its panels drawn."""
    for k, figure in enumerate(table.figures):
        panels = [
            page.Figure(panel.title, panel_chart(figure, panel, f"{table.table}-{k}-{j}"))
            for j, panel in enumerate(figure.panels)
        ]
        yield figure, list(styles_of(figure).values()), panels


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else minus(written_number(value, sign))


def _verdict(value: bool | None, good: str, bad: str, unknown: str = "–") -> str:
    return unknown if value is None else (good if value else bad)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} minutes"
