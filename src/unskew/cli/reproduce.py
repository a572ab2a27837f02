"""The command ``unskew reproduce``: a paper's numbers, computed anew and set beside what it printed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.cli.options import DataFolder, HtmlFile, JsonFile, Quiet, Seed
from unskew.cli.outputs import Outputs
from unskew.cli.screen import plain_table, screen, stages
from unskew.errors import ConfigError

if TYPE_CHECKING:
    from unskew.studies import Context, Study, StudyResult, TableResult
    from unskew.studies.showing.grid import Grid

MOST_ROWS = 150
"""Rows of numbers that are printed of a table; the page and the JSON have all."""
_WORDS = {True: ("yes", "green"), False: ("NO", "bold red"), None: ("-", "dim")}


def reproduce_command(
    study: Annotated[
        str | None, typer.Argument(metavar="[STUDY[/TABLE]]", help="As in schnabel2016 or schnabel2016/table1.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="A small version: fewer trials, wider tolerances.")] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search for the models' settings again, instead of those recorded.")
    ] = False,
    trials: Annotated[int | None, typer.Option(help="How many trials [default: as the paper, or fewer]")] = None,
    seed: Seed = 0,
    folder: DataFolder = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Where models that take minutes to train are kept for another run [default: the user's cache]"
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Train everything anew, and keep nothing.")] = False,
    json: JsonFile = None,
    html: HtmlFile = None,
    quiet: Quiet = False,
) -> None:
    """Compute a paper's tables and figures anew and say which numbers agree; without a name, list the papers.

    Exit 0: all that can be compared agrees and all claims hold, 1: some do not, 2: nothing could run.
    """
    from unskew.data.sources import cache_folder
    from unskew.studies import STUDIES, Context, get_study
    from unskew.studies.framework.result import NOTHING_RAN

    if no_cache and cache is not None:
        raise ConfigError("--cache and --no-cache exclude each other; leave one out")
    kept = None if no_cache else cache or cache_folder()
    context = Context(seed=seed, fast=fast, tune=tune, trials=trials, folder=folder, cache=kept)
    if study is None:
        if json is not None or html is not None:
            raise ConfigError(f"name a study for --json or --html: {', '.join(STUDIES)}")
        _list(list(STUDIES.values()), context)
        return
    name, slash, table = study.partition("/")
    chosen = get_study(name)
    tables = [chosen.table(table).name] if slash else None
    outputs = Outputs(json, html)
    outputs.check()
    with stages(quiet=quiet) as progress:
        result = chosen.run(replace(context, progress=progress), tables)
    outputs.write((result.tables[0] if slash else result).to_json, lambda: _page(result))
    if not quiet and not outputs.on_screen:
        _print(result)
    if result.status == NOTHING_RAN:
        typer.echo(f"unskew: nothing of {study} could run: {_first_reason(result)}", err=True)
    raise typer.Exit(result.status)


def _page(result: "StudyResult") -> str:
    from unskew.studies.showing.page import render_study

    return render_study(result)


def _first_reason(result: "StudyResult") -> str:
    """What the first cell or claim without a number says."""
    reasons = [cell.note for cell in result.cells] + [claim.evidence for claim in result.claims]
    return next((reason for reason in reasons if reason), "there is nothing in it")


_PRESENCE = {"present": "", "partly": " (partly here)", "absent": " (not here)"}


def _list(studies: "list[Study]", context: "Context") -> None:
    console = screen(120)
    for study in studies:
        console.print(Text(study.name, style="bold"))
        console.print(Text(f"  {study.reference}."))
        table = plain_table("name", "shows", "data")
        for each in study.tables:
            needs = (f"{name}{_PRESENCE[context.presence(name)]}" for name in each.needs)
            table.add_row(Text(f"{study.name}/{each.name}", no_wrap=True), Text(each.title), Text(", ".join(needs)))
        console.print(table)


def _print(result: "StudyResult") -> None:
    from unskew.studies.showing.grid import grids_of

    console = screen(120)
    for table in result.tables:
        console.print(Text(f"{result.study}/{table.table}: {table.title}", style="bold"))
        grids = grids_of(table)
        left = _print_grids(grids, console)
        if left:
            console.print(Text(f"and {left:,} rows more: see --html or --json", style="dim"))
        if grids:
            absent = sum(cell.ours is None for cell in table.cells)
            missing = f"; {absent} numbers of the paper need data that is not here" if absent else ""
            console.print(
                Text(f"ours, and below it the paper's{missing}; --html and --json have all of it", style="dim")
            )
        elif table.cells:
            console.print(_table(table))
        for mark, note in enumerate(table.footnotes, 1):
            # a grid has no room for marks
            console.print(Text(f"note: {note}" if grids else f"{mark}: {note}", style="dim"))
        for note in table.findings.notes:
            console.print(Text(note, style="dim"))
        for claim in table.claims:
            word, style = {True: ("holds", "green"), False: ("FAILS", "bold red"), None: ("not judged", "dim")}[
                claim.holds
            ]
            console.print(Text.assemble((f"{word}: ", style), claim.claim, (f" ({claim.evidence})", "dim")))
        for figure in table.figures:
            console.print(Text(f"figure: {figure.title}; see --html or --json", style="dim"))
        console.print()
    console.print(Text(f"{result.verdict} {result.seconds:.1f} s.", style="bold"))


def _print_grids(grids: "Sequence[Grid]", console: Console) -> int:
    """Print the first grids, as many as can be read; say how many rows are left."""
    shown = 0
    for k, grid in enumerate(grids):
        if k and shown + len(grid.rows) > MOST_ROWS:
            return sum(len(each.rows) for each in grids[k:])
        console.print(_grid(grid))
        shown += len(grid.rows)
    return 0


def _grid(grid: "Grid") -> Table:
    """Rows down, columns across; what disagrees is marked."""
    from unskew.display.numbers import written_number

    title = None if grid.data == "none" else grid.data
    table = plain_table(title=title, title_justify="left")
    table.add_column("", overflow="fold")
    for column in grid.columns:
        table.add_column(column, justify="right", overflow="fold")
    for name, cells in grid.rows:
        shown = []
        for cell in cells:
            _, style = _WORDS[cell.agrees] if cell is not None and cell.agrees is not None else ("", "")
            ours = "" if cell is None else written_number(cell.ours)
            paper = "" if cell is None or cell.paper is None else f"\n{written_number(cell.paper)}"
            shown.append(Text.assemble((ours, style), (paper, "dim")))
        table.add_row(Text(name), *shown)
    return table


def _table(result: "TableResult") -> Table:
    from unskew.display.numbers import written_number

    table = plain_table()
    several = len({cell.data for cell in result.cells}) > 1
    for name in ("row", "column", *(("data",) if several else ())):
        table.add_column(name, overflow="fold")
    for name in ("paper", "ours", "spread", "difference", "tolerance"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("agrees")
    table.add_column("notes")
    for cell in result.cells:
        word, style = _WORDS[cell.agrees]
        marks = ", ".join(map(str, result.marks(cell)))
        numbers = (cell.paper, cell.ours, cell.spread, cell.difference, cell.tolerance)
        shown = (Text(written_number(value, "+" if k == 3 else "")) for k, value in enumerate(numbers))
        names = (cell.row, cell.column, *((cell.data,) if several else ()))
        table.add_row(*map(Text, names), *shown, Text(word, style=style), Text(marks, style="dim"))
    return table
