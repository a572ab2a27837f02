"""The command ``unskew reproduce``: a paper's numbers, computed anew and set beside what it printed."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli.options import DataFolder, HtmlFile, JsonFile, Quiet, Seed
from unskew.cli.outputs import Outputs
from unskew.cli.screen import screen, stages
from unskew.errors import ConfigError

if TYPE_CHECKING:
    from unskew.studies import StudyResult


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
    from unskew.studies.showing.text import print_result, print_studies

    if no_cache and cache is not None:
        raise ConfigError("--cache and --no-cache exclude each other; leave one out")
    kept = None if no_cache else cache or cache_folder()
    context = Context(seed=seed, fast=fast, tune=tune, trials=trials, folder=folder, cache=kept)
    if study is None:
        if json is not None or html is not None:
            raise ConfigError(f"name a study for --json or --html: {', '.join(STUDIES)}")
        print_studies(list(STUDIES.values()), context, screen(120))
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
        print_result(result, screen(120))
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
