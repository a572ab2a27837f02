"""A study on the terminal: the list of studies, numbers next to the paper's, notes, claims and the verdict."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.display import text_table
from unskew.display.numbers import written_number
from unskew.display.text_table import Cell, Column, digits, words
from unskew.errors import Option
from unskew.studies.framework.result import StudyResult, TableResult
from unskew.studies.framework.study import Context, Study
from unskew.studies.showing.grid import Grid, grids_of

MOST_ROWS = 150
"""Rows of numbers that are printed of a table; the page and the JSON have all."""
_AGREES = {True: ("yes", "green"), False: ("NO", "bold red"), None: ("-", "dim")}
_HOLDS = {True: ("holds", "green"), False: ("FAILS", "bold red"), None: ("not judged", "dim")}
_PRESENCE = {"present": "", "partly": " (partly here)", "absent": " (not here)"}


def print_studies(studies: Sequence[Study], context: Context, console: Console) -> None:
    """Print the tables of each study, and the data sets that they need."""
    for study in studies:
        console.print(Text(study.name, style="bold"))
        console.print(Text(f"  {study.reference}."))
        rows = []
        for each in study.tables:
            needs = (f"{name}{_PRESENCE[context.presence(name)]}" for name in each.needs)
            rows.append([f"{study.name}/{each.name}", each.title, ", ".join(needs)])
        drawn = text_table.table(None, [Column("name", wrap=None), *words("shows", "data")], rows)
        text_table.print_table(drawn, console)


def print_result(result: StudyResult, console: Console) -> None:
    """Print all tables of a result: numbers, footnotes, notes, claims, and which figures there are."""
    page, file = Option("html").flag, Option("json").flag
    for table in result.tables:
        small = ", the small version" if table.fast else ""
        console.print(Text(f"{result.study}/{table.table}{small}: {table.title}", style="bold"))
        grids = grids_of(table)
        left = _print_grids(grids, console)
        if left:
            console.print(Text(f"and {left:,} rows more: see {page} or {file}", style="dim"))
        if grids:
            absent = sum(cell.ours is None for cell in table.cells)
            missing = f"; {absent} numbers of the paper need data that is not here" if absent else ""
            printed = any(cell.paper is not None for cell in table.cells)
            which = "ours, and below it the paper's" if printed else "ours; the paper prints no such numbers"
            which += ", or with * a reference" if any(cell.reference is not None for cell in table.cells) else ""
            below = f"{which}{missing}; {page} and {file} have all of it"
            console.print(Text(below, style="dim"))
        elif table.cells:
            text_table.print_table(_table(table), console)
        for mark, note in enumerate(table.footnotes, 1):
            # a grid has no room for marks
            console.print(Text(f"note: {note}" if grids else f"{mark}: {note}", style="dim"))
        for note in table.findings.notes:
            console.print(Text(note, style="dim"))
        for claim in table.claims:
            word, style = _HOLDS[claim.holds]
            console.print(
                Text.assemble((f"{word}: ", style), claim.claim, (f" [{claim.source}] ({claim.evidence})", "dim"))
            )
            if claim.cause:
                console.print(Text(f"  why: {claim.cause}"))
        for figure in table.figures:
            console.print(Text(f"figure: {figure.title}; see {page} or {file}", style="dim"))
        console.print()
    console.print(Text(f"{result.verdict} {result.seconds:.1f} s.", style="bold"))


def _print_grids(grids: Sequence[Grid], console: Console) -> int:
    """Print the first grids, up to a readable number of rows; return how many rows are left."""
    shown = 0
    for k, grid in enumerate(grids):
        if k and shown + len(grid.rows) > MOST_ROWS:
            return sum(len(each.rows) for each in grids[k:])
        text_table.print_table(_grid(grid), console)
        shown += len(grid.rows)
    return 0


def _grid(grid: Grid) -> Table:
    """Rows down, columns across; what disagrees is marked."""
    rows = []
    for name, cells in grid.rows:
        shown: list[Cell] = [name]
        for cell in cells:
            _, style = _AGREES[cell.agrees] if cell is not None and cell.agrees is not None else ("", "")
            ours = "" if cell is None else written_number(cell.ours)
            below = ""
            if cell is not None and cell.expected is not None:
                below = f"\n{written_number(cell.expected)}{'*' if cell.paper is None else ''}"
            shown.append(Text.assemble((ours, style), (below, "dim")))
        rows.append(shown)
    columns = [*words(""), *(Column(title, "right") for title in grid.columns)]
    return text_table.table(None if grid.data == "none" else grid.data, columns, rows)


def _table(result: TableResult) -> Table:
    several = len({cell.data for cell in result.cells}) > 1
    referring = any(cell.reference is not None for cell in result.cells)
    columns = [
        *words("row", "column", *(("data",) if several else ())),
        *digits("paper", *(("reference",) if referring else ()), "ours", "spread", "difference", "tolerance"),
        *words("agrees", "notes"),
    ]
    rows: list[list[Cell]] = []
    for cell in result.cells:
        word, style = _AGREES[cell.agrees]
        marks = ", ".join(map(str, result.marks(cell)))
        numbers = (cell.paper, *((cell.reference,) if referring else ()), cell.ours, cell.spread)
        shown = [*map(written_number, numbers), written_number(cell.difference, "+"), written_number(cell.tolerance)]
        names = (cell.row, cell.column, *((cell.data,) if several else ()))
        rows.append([*names, *shown, Text(word, style=style), Text(marks, style="dim")])
    return text_table.table(None, columns, rows)
