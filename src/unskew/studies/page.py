"""A study as one HTML file that needs nothing else: no script, no font, no request to anywhere."""

from dataclasses import dataclass

from markupsafe import Markup

from unskew import __version__
from unskew.display.page import as_markup, page_environment
from unskew.display.styles import Style
from unskew.studies.figure import Figure
from unskew.studies.grid import grids_of
from unskew.studies.numbers import written_number
from unskew.studies.pictures import panel_chart, series_styles
from unskew.studies.result import StudyResult, TableResult


@dataclass(frozen=True)
class Drawing:
    """A figure with its panels drawn."""

    figure: Figure
    styles: tuple[Style, ...]
    panels: tuple[tuple[str, Markup | None], ...]


def render_study(result: StudyResult) -> str:
    """Write the page; the same result gives the same bytes, and everything that comes from it is escaped."""
    filters = {"number": _number, "verdict": _verdict}
    # the looks are those of the report
    return (
        page_environment(filters, "unskew.studies")
        .get_template("templates/study.html.j2")
        .render(
            version=__version__,
            result=result,
            tables=[(table, _counts(table), _drawings(table), grids_of(table)) for table in result.tables],
            data=list(dict.fromkeys(part for table in result.tables for part in table.data)),
            duration=_duration(result.seconds),
        )
    )


def _counts(table: TableResult) -> str:
    """How a table came out, in a few words."""
    if not table.ran:
        return "could not run: the data is not here"
    cells = [cell.agrees for cell in table.cells if cell.agrees is not None]
    claims = [claim.holds for claim in table.claims if claim.holds is not None]
    parts = [f"{sum(good)} of {len(good)} {word}" for good, word in ((cells, "numbers"), (claims, "claims")) if good]
    return f"bears out {' and '.join(parts)}" if parts else "has nothing to compare"


def _drawings(table: TableResult) -> list[Drawing]:
    return [
        Drawing(
            figure,
            tuple(series_styles(figure).values()),
            tuple(
                (panel.title, as_markup(panel_chart(figure, panel, f"{table.table}-{k}-{j}")))
                for j, panel in enumerate(figure.panels)
            ),
        )
        for k, figure in enumerate(table.figures)
    ]


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else written_number(value, sign).replace("-", "−")


def _verdict(value: bool | None, good: str, bad: str, unknown: str = "–") -> str:
    return unknown if value is None else (good if value else bad)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} minutes"
