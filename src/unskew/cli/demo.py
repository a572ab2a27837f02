"""The command ``unskew demo``: a world whose truth is known, and whom each way of averaging crowns in it."""

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

_SHOWN = ("aoa", "snips(per=user)", "snips")  # what fits 80 columns; the page has all


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
    table = Table(
        title=f"{result.metric}, with 95% intervals", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    table.add_column("model")
    table.add_column("truth", justify="right")
    for estimator in _SHOWN:
        table.add_column(estimator, justify="right")
    for model in result.models:
        cells = [_value(result.true_value(model), first=model == result.best())]
        for estimator in _SHOWN:
            row = result.report.estimate(model, result.metric, estimator)
            cell = _value(row.value, first=model == result.crowned(estimator))
            if row.low is not None and row.high is not None:
                cell.append(f"\n{row.low:.4f}-{row.high:.4f}", style="dim not bold")
            cells.append(cell)
        table.add_row(Text(model), *cells)
    table.add_section()
    table.add_row(
        "puts first",
        Text(result.best(), style="bold"),
        *(
            Text(f"{result.crowned(e)}\n{'right' if result.is_right(e) else 'wrong'}", style=_colour(result, e))
            for e in _SHOWN
        ),
    )
    return table


def _value(value: float | None, *, first: bool) -> Text:
    shown = "undefined" if value is None else f"{value:.4f}"
    return Text.assemble((f"* {shown}" if first else shown, "bold" if first else ""))


def _colour(result: "Demo", estimator: str) -> str:
    return "bold green" if result.is_right(estimator) else "bold red"
