"""The command ``unskew datasets``: it lists, shows and downloads public data sets."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from unskew.cli.completion import completes
from unskew.cli.options import AsJson, DataFolder
from unskew.cli.screen import aside, screen
from unskew.display.text_table import Cell, Column, print_table, table, words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from unskew.data.sources import Source, Status

datasets_app = typer.Typer(
    help="List, show and download the public data sets that can be read.",
    invoke_without_command=True,
    no_args_is_help=False,
)

Name = Annotated[
    str, typer.Argument(help="A data set, as listed by 'unskew datasets'.", autocompletion=completes("datasets"))
]

_COLOURS = {"present": "green", "holds": "green", "partly": "yellow", "differs": "bold red"}


@datasets_app.callback()
def list_datasets(context: typer.Context, folder: DataFolder = None, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is not None:
        return
    from unskew.data.sources import SOURCES, data_folder, status_of

    kept = folder or data_folder()
    statuses = [(source, status_of(source, kept / name)) for name, source in SOURCES.items()]
    if as_json:
        typer.echo(json.dumps([_record(source, status) for source, status in statuses], indent=2))
        return
    console = screen(highlight=True)
    print_table(_table(statuses), console)
    for source, status in statuses:
        _print_details(console, source, status)
    console.print(f"\nFolder: {kept}", markup=False, highlight=False, soft_wrap=True)


@datasets_app.command("show", short_help="Show one data set: licence, citation, home, files, and how to get it.")
def show_dataset(name: Name, folder: DataFolder = None, as_json: AsJson = False) -> None:
    """Show one data set: licence, citation, home, files, and how to get it."""
    from unskew.data.sources import data_folder, get_source, status_of

    source = get_source(name)
    status = status_of(source, (folder or data_folder()) / name)
    if as_json:
        typer.echo(json.dumps(_record(source, status), indent=2))
        return
    console = screen(highlight=True)
    print_table(_table([(source, status)]), console)
    _print_details(console, source, status)
    by_hand = f"{source.how_to_get}."
    command = f"unskew datasets get {name}"
    lines = {"get it": by_hand if source.download is None else f"{command}. Or by hand: {by_hand}"}
    lines["folder"] = str(status.folder)
    for file, digest in source.files.items():
        here = "differs" if file in status.differing else "here" if file in status.files else "not here"
        lines[file] = f"{here}; sha256 {digest or 'not pinned'}"
    _print_lines(console, lines)


@datasets_app.command("get")
def get_dataset(
    name: Name,
    folder: DataFolder = None,
    force: Annotated[bool, typer.Option("--force", help="Download even if the files are already there.")] = False,
) -> None:
    """Download a data set from its official home, check it and unpack it."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from unskew.data.sources import data_folder, fetch, get_source, status_of

    source = get_source(name)
    place = (folder or data_folder()) / name
    status = status_of(source, place)
    if status.presence == "present" and status.checksum != "differs" and not force:
        typer.echo(f"{name} is already in {place}; use --force to download it again")
        return
    console = aside()
    if source.download is not None:
        console.print(f"{source.title}: {source.licence}.", markup=False, highlight=False, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(name, total=None)
        fetch(source, place, progress=lambda done, total: bar.update(task, completed=done, total=total))
    typer.echo(f"{name} is in {place}; checksum: {status_of(source, place).checksum}")


def _table(statuses: "list[tuple[Source, Status]]") -> "Table":
    rows: list[list[Cell]] = []
    for source, status in statuses:
        states = (Text(word, style=_COLOURS.get(word, "")) for word in (status.presence, status.checksum))
        rows.append([source.name, source.title, *states])
    return table(None, [Column("name", wrap=None), *words("title", "here", "checksum")], rows)


def _print_details(console: "Console", source: "Source", status: "Status") -> None:
    console.print(f"\n{source.name}", style="bold", markup=False, highlight=False)
    lines = {"terms": source.licence, "cite": source.citation, "home": source.home}
    if status.note:
        lines["here"] = f"{status.presence}: {status.note}"
    if status.differing:
        lines["differs"] = ", ".join(status.differing)
    _print_lines(console, lines)


def _print_lines(console: "Console", lines: dict[str, str]) -> None:
    for key, text in lines.items():
        console.print(Text.assemble("  ", (f"{key}: ", "dim"), text), soft_wrap=True)


def _record(source: "Source", status: "Status") -> dict[str, Any]:
    return {
        "name": source.name,
        "title": source.title,
        "licence": source.licence,
        "citation": source.citation,
        "home": source.home,
        "download": source.download,
        "how_to_get": source.how_to_get,
        "files": source.files,
        **asdict(status),
        "folder": str(status.folder),
    }
