"""The command ``unskew audit``: how skewed a log and models are, and how wrong an evaluation can be."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from unskew.cli.columns import Columns, ItemCol, PropensityCol, RatingCol, TimestampCol, UserCol
from unskew.cli.models import FactorFiles, ModelWords, ScoreFiles, model_files, read_models
from unskew.cli.outputs import STDOUT, check_outputs, write_outputs
from unskew.cli.progress import stages
from unskew.cli.split import read_log


def audit_command(
    log: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, or the name of a data set that is here.")],
    test: Annotated[Path | None, typer.Option(help="Held-out interactions; LOG is then the training log.")] = None,
    holdout: Annotated[
        float | None,
        typer.Option(help="Random share of LOG to hold out [default: 0.2 when all models are trained here]."),
    ] = None,
    temporal: Annotated[float | None, typer.Option(help="Hold out the last share of LOG by time instead.")] = None,
    factors: FactorFiles = None,
    scores: ScoreFiles = None,
    model: ModelWords = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="WORD",
            help="A mean over held-out items [default: recall@10 adg@10 auc]; repeatable.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Length of the recommendation lists.")] = 50,
    positive: Annotated[str | None, typer.Option(help="Which rows are positives, as in 'rating>=4'.")] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
    threads: Annotated[int | None, typer.Option(help="[default: all cores]; the numbers do not depend on it.")] = None,
    block_size: Annotated[int | None, typer.Option(help="Users scored at a time [default: by catalogue size]")] = None,
    depth: Annotated[
        str,
        typer.Option(
            metavar="none|quick|standard|deep",
            help="How much to simulate to tell how wrong an evaluation on LOG can be.",
        ),
    ] = "standard",
    world: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", help="One kind of world to calibrate to LOG, or a world in full [default: four kinds]."
        ),
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option(help="JSON of 'unskew calibrate', instead of calibrating here.")
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Simulated evaluations in all worlds [default: by depth].")] = None,
    evaluations: Annotated[
        int | None, typer.Option(help="Worlds that each search tries while calibrating [default: by depth].")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write JSON here; - for stdout instead of the tables.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page here.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No tables, progress or warnings.")] = False,
    user_col: UserCol = None,
    item_col: ItemCol = None,
    rating_col: RatingCol = None,
    timestamp_col: TimestampCol = None,
    propensity_col: PropensityCol = None,
) -> None:
    """Measure how skewed towards the popular a log is, what models recommend, and how wrong an evaluation can be."""
    options: dict[str, Any] = {"factors": factors, "scores": scores, "model": model, "json": json, "html": html}
    check_outputs(options, [log, test, parameters, *model_files(options)])
    columns = Columns(user_col or "user", item_col or "item", rating_col, timestamp_col, propensity_col)
    from unskew.audit import audit
    from unskew.audit.error.plan import plan_error
    from unskew.audit.strata import check_metrics

    check_metrics(metric)  # words are checked before files are read
    plan_error(depth, world=world, parameters=parameters, runs=runs, evaluations=evaluations)
    models = read_models(options, columns)
    rows = read_log(log, columns)
    with stages(quiet=quiet) as progress:
        found = audit(
            rows,
            models,
            test=None if test is None else columns.read(test, strict=False),
            holdout=holdout,
            temporal=temporal,
            metrics=metric or None,
            k=k,
            positive=positive,
            level=level,
            seed=seed,
            threads=threads,
            block_size=block_size,
            progress=progress,
            depth=depth,
            world=world,
            parameters=parameters,
            runs=runs,
            evaluations=evaluations,
        )
        if html is not None and progress is not None:
            progress("writing the page", 0, 1)
        write_outputs(found, options)
    if not quiet:
        _print(found, tables=json != STDOUT)


def _print(found: Any, *, tables: bool) -> None:
    from unskew.audit.showing.text import print_audit, print_audit_warnings

    if tables:
        # a pipe or file gets full lines, not those of an imagined 80-column screen
        print_audit(found, Console(width=None if sys.stdout.isatty() else 120, soft_wrap=False))
    print_audit_warnings(found, Console(stderr=True, soft_wrap=True))
