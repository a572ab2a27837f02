"""The command ``unskew reproduce``: it recomputes a paper's numbers and compares them with the printed ones."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli.completion import completes
from unskew.cli.options import DataFolder, HtmlFile, JsonFile, Quiet, Seed
from unskew.cli.outputs import Outputs
from unskew.cli.screen import screen, stages
from unskew.errors import ConfigError

if TYPE_CHECKING:
    from unskew.studies import StudyResult


def reproduce_command(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY[/TABLE]]",
            help="A paper or one of its tables, as in schnabel2016 or schnabel2016/table1.",
            autocompletion=completes("studies"),
        ),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Run a small version, with fewer trials and wider tolerances.")
    ] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search for the settings of the models instead of using the recorded ones.")
    ] = False,
    trials: Annotated[int | None, typer.Option(help="Number of trials [default: that of the paper, or fewer].")] = None,
    seed: Seed = 0,
    folder: DataFolder = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps slowly trained models for the next run [default: your cache directory]."),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Train all models again, and keep none.")] = False,
    json: JsonFile = None,
    html: HtmlFile = None,
    quiet: Quiet = False,
) -> None:
    """Recompute a paper's tables and report which numbers agree.

    Without a name, list the papers.

    Exit status: 0 if all comparable printed numbers agree and all claims of the paper hold, 1 if some do not, 2 if
    nothing could run.
    """
    from unskew.data.sources import cache_folder
    from unskew.studies import STUDIES, Context, get_study
    from unskew.studies.framework.result import NOTHING_RAN
    from unskew.studies.showing.text import print_result, print_studies

    if no_cache and cache is not None:
        raise ConfigError("--cache and --no-cache exclude each other; leave one out")
    kept = None if no_cache else cache or cache_folder()
    context = Context(seed=seed, fast=fast, tune=tune, trials=trials, folder=folder, cache=kept)
    if study is None:
        if json is not None or html is not None:
            raise ConfigError(f"name a study for --json or --html: {', '.join(STUDIES)}")
        print_studies(list(STUDIES.values()), context, screen())
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
        print_result(result, screen())
    if result.status == NOTHING_RAN:
        typer.echo(f"unskew: nothing of {study} could run: {_first_reason(result)}", err=True)
    raise typer.Exit(result.status)


def _page(result: "StudyResult") -> str:
    from unskew.studies.showing.page import render_study

    return render_study(result)


def _first_reason(result: "StudyResult") -> str:
    """The note of the first cell or claim without a number."""
    reasons = [cell.note for cell in result.cells] + [claim.evidence for claim in result.claims]
    return next((reason for reason in reasons if reason), "it has no numbers")
