"""The command ``unskew demo``: a world whose truth is known, and what each way to judge by its log says."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.cli.progress import stages
from unskew.errors import ConfigError

if TYPE_CHECKING:
    from unskew.studies import Demo
    from unskew.studies.demo import Way


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the log, the report and the page.")] = Path("unskew-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the simulated world.")] = 0,
) -> None:
    """Simulate a marketplace whose truth is known, judge four models by its log, and show who is wrong."""
    from unskew.studies.demo import make_folder, run_demo

    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    make_folder(out)
    with stages() as progress:
        result = run_demo(seed=seed, progress=progress)
        if progress is not None:
            progress("writing the page", 0, 1)
        files = result.write(out)
    # a pipe or file gets full lines, not those of an imagined 80-column screen
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
    console.print(Text(f"A simulated marketplace: {len(result.train):,} training rows, {len(result.test):,} held out."))
    console.print(_table(result))
    for sentence in result.verdict:
        console.print(Text(sentence))
    console.print()
    for what, role in (("Page", "report"), ("JSON", "json"), ("Truth", "truth"), ("Log", "train"), ("", "test")):
        console.print(Text(f"{what:6}{files[role]}"), soft_wrap=True)
    console.print(Text("\nThe same report from these files:"))
    console.print(Text(result.command(out)), soft_wrap=True)


def _table(result: "Demo") -> Table:
    from unskew.studies.demo import WAYS

    table = Table(
        title=f"{result.metric} over relevant pairs: value, 95% interval, range over what may be assumed",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("model")
    table.add_column("truth", justify="right")
    for way in WAYS:
        table.add_column(way.label, justify="right")
    for model in result.models:
        cells = [_value(result.true_value(model), first=model == result.best())]
        for way in WAYS:
            row = result.estimate(model, way)
            cell = _value(row.value, first=model == result.first(way))
            for low, high in ((row.low, row.high), (row.assumed_low, row.assumed_high)):
                if low is not None and high is not None:
                    cell.append(f"\n{low:.4f}-{high:.4f}", style="dim not bold")
            cells.append(cell)
        table.add_row(Text(model), *cells)
    table.add_section()
    table.add_row("puts first", Text(result.best(), style="bold"), *(_first(result, way) for way in WAYS))
    table.add_row("hold truth", "", *(_held(result, way) for way in WAYS))
    return table


def _held(result: "Demo", way: "Way") -> Text:
    """How many intervals, and below how many ranges, hold the truth."""
    counts = [count for count in (result.covered(way), result.covered_by_range(way)) if count is not None]
    return Text("\n".join(f"{count} of {len(result.models)}" for count in counts))


def _value(value: float | None, *, first: bool) -> Text:
    shown = "undefined" if value is None else f"{value:.4f}"
    return Text.assemble((f"* {shown}" if first else shown, "bold" if first else ""))


def _first(result: "Demo", way: "Way") -> Text:
    right = result.is_right(way)
    return Text(f"{result.first(way)}\n{'right' if right else 'wrong'}", style="bold green" if right else "bold red")
