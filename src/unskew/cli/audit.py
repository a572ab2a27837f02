"""The command ``unskew audit``: it measures the skew of a log and of models, and how wrong an evaluation can be."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.command import command_of
from unskew.cli.completion import completes
from unskew.cli.inputs import check_stdin, model_files, path_of, read_log, read_models
from unskew.cli.options import (
    BlockSize,
    ColumnOptions,
    EngineWord,
    FactorFiles,
    HtmlFile,
    LogFile,
    ModelWords,
    Positive,
    RayAddress,
    ScoreFiles,
    Seed,
    Threads,
)
from unskew.cli.outputs import Outputs
from unskew.cli.screen import aside, screen, stages


@dataclass(frozen=True)
class AuditOptions(ColumnOptions):
    """The options of ``unskew audit``."""

    log: LogFile
    test: Annotated[Path | None, typer.Option(help="Held-out interactions; LOG is then the training log.")] = None
    holdout: Annotated[
        float | None,
        typer.Option(help="Random share of LOG to hold out [default: 0.2 if all models are built in]."),
    ] = None
    temporal: Annotated[float | None, typer.Option(help="Hold out the last share of LOG by time instead.")] = None
    factors: FactorFiles = None
    scores: ScoreFiles = None
    model: ModelWords = None
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="WORD",
            help="A mean over held-out items [default: recall@10 adg@10 auc]; repeatable.",
            autocompletion=completes("metrics"),
        ),
    ] = None
    k: Annotated[int, typer.Option("--k", help="Length of the recommendation lists.")] = 50
    positive: Positive = None
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95
    seed: Seed = 0
    threads: Threads = None
    engine: EngineWord = None
    ray_address: RayAddress = None
    block_size: BlockSize = None
    depth: Annotated[
        str,
        typer.Option(
            metavar="none|quick|standard|deep",
            help="How much to simulate to measure how wrong an evaluation on LOG can be.",
        ),
    ] = "standard"
    world: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            help="A kind of world to calibrate to LOG, or a world with all its options [default: four kinds].",
        ),
    ] = None
    parameters: Annotated[
        Path | None, typer.Option(help="JSON written by 'unskew calibrate', used instead of calibrating.")
    ] = None
    runs: Annotated[
        int | None, typer.Option(help="Number of simulated evaluations, over all worlds [default: set by --depth].")
    ] = None
    evaluations: Annotated[
        int | None, typer.Option(help="Number of worlds that each calibration tries [default: set by --depth].")
    ] = None
    json: Annotated[Path | None, typer.Option(help="Write JSON to this file; - prints it instead of the tables.")] = (
        None
    )
    html: HtmlFile = None
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no tables, progress or warnings.")] = False


_OF_ERROR = ("world", "runs", "evaluations")
_SETTINGS = ("holdout", "temporal", "k", "positive", "level", "seed", "threads", "block_size", "depth", *_OF_ERROR)


@command_of(AuditOptions)
def audit_command(options: AuditOptions) -> None:
    """Measure the skew of a log and how wrong evaluations can be.

    The skew is that towards popular items, in the log and in what the models recommend. How wrong an evaluation on
    such a log can be is measured in simulated worlds that resemble it.
    """
    given = {"factors": options.factors, "scores": options.scores, "model": options.model}
    outputs = Outputs(options.json, options.html)
    test = None if options.test is None else path_of(options.test)
    inputs = [path_of(options.log), test, options.parameters, *model_files(given)]
    check_stdin(inputs)
    outputs.check(inputs)
    from unskew.audit import audit
    from unskew.audit.error.plan import plan_error
    from unskew.audit.strata import check_metrics
    from unskew.ranking import engine_of

    check_metrics(options.metric)  # words are checked before files are read
    plan = plan_error(
        options.depth, parameters=options.parameters, **{name: getattr(options, name) for name in _OF_ERROR}
    )
    engine = engine_of(options.engine, options.threads, options.ray_address)
    models = read_models(given, options.columns)
    rows = read_log(options.log, options.columns)
    with stages(quiet=options.quiet) as progress:
        result = audit(
            rows,
            models,
            test=None if options.test is None else options.columns.read(options.test, strict=False),
            metrics=options.metric or None,
            engine=engine,
            progress=progress,
            parameters=None if plan is None else plan.saved,  # LOG has been read by now
            **{name: getattr(options, name) for name in _SETTINGS},
        )
        if options.html is not None and progress is not None:
            progress("writing the page", 0, 1)
        outputs.write(result.to_json, result.to_html)
    if not options.quiet:
        _print(result, tables=not outputs.on_screen)


def _print(result: Any, *, tables: bool) -> None:
    from unskew.audit.showing.text import print_audit, print_audit_warnings

    if tables:
        print_audit(result, screen(highlight=True))
    print_audit_warnings(result, aside())
