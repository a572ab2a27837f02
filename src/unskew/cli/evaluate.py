"""The command ``unskew evaluate``: files in, a table, JSON and a page out."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from unskew.cli.columns import Columns, ItemCol, PropensityCol, RatingCol, TimestampCol, UserCol
from unskew.cli.config import read_config
from unskew.cli.exposed import (
    CatalogueFile,
    ExposedFile,
    LabelCol,
    PopulationWord,
    UniformFile,
    check_counts_used,
    check_exposed_options,
    exposed_split,
    read_labelled,
    tell_population,
)
from unskew.cli.models import FactorFiles, ModelWords, ScoreFiles, model_files, read_models
from unskew.cli.outputs import STDOUT, check_outputs, write_outputs
from unskew.cli.progress import stages
from unskew.errors import ConfigError, DataError


def evaluate_command(
    train: Annotated[Path | None, typer.Option(help="Training interactions.")] = None,
    test: Annotated[Path | None, typer.Option(help="Held-out interactions.")] = None,
    exposed: ExposedFile = None,
    population: PopulationWord = None,
    catalogue: CatalogueFile = None,
    uniform: UniformFile = None,
    validation: Annotated[
        Path | None,
        typer.Option(
            help="Validation interactions; the first metric on them chooses the step of bpr and the like, the AUC of "
            "their labels the epoch of bias and the like."
        ),
    ] = None,
    factors: FactorFiles = None,
    scores: ScoreFiles = None,
    model: ModelWords = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="A table user,item,prediction of predicted ratings; repeatable."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Settings of a paper, as in yang2018; an option of one's own wins over them.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="WORD",
            help="[default: recall@10 adg@10 auc, mae mse for predictions; recall@10 precision@10 ndcg@10 with "
            "--exposed]; repeatable.",
        ),
    ] = None,
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            "-e",
            metavar="WORD",
            help="[default: aoa(per=pair) snips, and aoa for metrics without a mean over pairs; with --exposed "
            "traditional and ure(aggregate=pooled, reduce=control)]; repeatable.",
        ),
    ] = None,
    propensity: Annotated[str | None, typer.Option(help="[default: popularity, which is popularity(gamma=0)]")] = None,
    assume: Annotated[
        str | None,
        typer.Option(
            metavar="gamma=LOW..HIGH",
            help="Popularity biases that are held possible: each corrected number is also given over all of them "
            "[default: gamma=-0.5..1.5, or what gamma=auto finds].",
        ),
    ] = None,
    candidates: Annotated[
        str | None, typer.Option(help="unseen, all, trained, listed or sampled(n) [default: unseen]")
    ] = None,
    ties: Annotated[
        str | None, typer.Option(help="expected, optimistic, pessimistic, random or ordinal [default: expected]")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="Which rows are positives, as in 'rating>=4'.")] = None,
    relevant_counts: Annotated[
        Path | None, typer.Option(help="Table user,relevant: each user's number of relevant items, for ips.")
    ] = None,
    unlisted: Annotated[
        str | None, typer.Option(help="What is outside a top-N list gains zero, or stands tied below it.")
    ] = None,
    users: Annotated[
        str | None,
        typer.Option(
            help="Which test users are judged: any (known to a model), common (known to all), or served (for each "
            "model those whom it knows) [default: any]"
        ),
    ] = None,
    max_dropped: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Exit 1 when a larger share of the test rows cannot be judged, as in 0.2."),
    ] = None,
    scale: Annotated[str | None, typer.Option(help="The scale of the ratings, as in 1-5 or 0.5-5/0.5.")] = None,
    allow_missing: Annotated[
        bool | None, typer.Option("--allow-missing", help="Leave out test rows without a prediction, for all models.")
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(help="Folder where models that learn step by step keep their state, to go on after a stop."),
    ] = None,
    level: Annotated[float | None, typer.Option(help="Level of the intervals [default: 0.95]")] = None,
    interval: Annotated[str | None, typer.Option(help="delta, bootstrap(2000) or observation [default: delta]")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all draws [default: 0]")] = None,
    threads: Annotated[int | None, typer.Option(help="[default: all cores]; the numbers do not depend on it.")] = None,
    block_size: Annotated[int | None, typer.Option(help="Users scored at a time [default: by catalogue size]")] = None,
    against: Annotated[
        Path | None,
        typer.Option(help="JSON of an earlier run: say what moved, and what the size of the test explains."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write JSON here; - for stdout instead of the table.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page here.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with these options; a flag wins over it.")] = None,
    quiet: Annotated[bool | None, typer.Option("--quiet", "-q", help="No table, progress or warnings.")] = None,
    user_col: UserCol = None,
    item_col: ItemCol = None,
    rating_col: RatingCol = None,
    timestamp_col: TimestampCol = None,
    propensity_col: PropensityCol = None,
    label_col: LabelCol = None,
) -> None:
    """Judge models on held-out interactions, naively and with the skew of the log corrected for."""
    options = {key: value for key, value in locals().items() if key != "config"}
    if config is not None:
        from_file = read_config(config, set(options))
        options = {key: from_file.get(key) if value in (None, []) else value for key, value in options.items()}
    run(options)


def run(options: dict[str, Any]) -> None:
    """Read the files, evaluate once, print and write."""
    from unskew.evaluation import compare, get_preset, resolve
    from unskew.evaluation.comparing.earlier_run import read_earlier

    if options["train"] is None:
        raise ConfigError("--train is missing; see 'unskew evaluate --help'")
    if options["test"] is None and options["exposed"] is None:
        raise ConfigError(
            "--test is missing, or --exposed in its place for items drawn at random; see 'unskew evaluate --help'"
        )
    settings = {
        key: options[option]
        for key, option in _SETTINGS.items()
        if options[option] is not None and options[option] != []
    }
    settings = {**(get_preset(options["preset"]) if options["preset"] else {}), **settings}
    check_exposed_options(options, settings)
    most = options["max_dropped"]
    if most is not None and not 0 <= most <= 1:
        raise ConfigError(f"--max-dropped {most:g}: give a share between 0 and 1, as in 0.2")
    resolved = resolve(**settings, exposed=options["exposed"] is not None)  # words are checked before files are read
    check_counts_used(options, resolved)
    folder = options["checkpoints"]
    if folder is not None and (folder.exists() or not folder.parent.is_dir()) and not folder.is_dir():
        raise ConfigError(f"--checkpoints {folder}: not a folder, and none can be made there; name another")
    inputs = [options[name] for name in _INPUTS]
    check_outputs(options, [*inputs, *model_files(options)])
    earlier = None if options["against"] is None else read_earlier(options["against"])
    report = _evaluate(options, settings, earlier)
    try:
        if earlier is not None:
            report = replace(report, against=compare(report, earlier))
    finally:  # a run is not lost where it turns out that nothing can be compared
        write_outputs(report, options)
        if not options["quiet"]:
            _print(report, table=options["json"] != STDOUT)
    if most is not None and report.dropped_share > most:
        typer.echo(
            f"unskew: {report.dropped_share:.1%} of the test rows were not judged, more than --max-dropped {most:g}",
            err=True,
        )
        raise typer.Exit(1)


_INPUTS = ("train", "test", "exposed", "catalogue", "uniform", "validation", "relevant_counts", "against")
_SETTINGS = {
    "metrics": "metric",
    "estimators": "estimator",
    "propensity": "propensity",
    "candidates": "candidates",
    "ties": "ties",
    "positive": "positive",
    "level": "level",
    "interval": "interval",
    "seed": "seed",
    "block_size": "block_size",
    "unlisted": "unlisted",
    "users": "users",
    "scale": "scale",
    "allow_missing": "allow_missing",
    "assume": "assume",
}


def _evaluate(options: dict[str, Any], settings: dict[str, Any], earlier: Any) -> Any:
    from unskew.evaluation import evaluate

    exposed = options["exposed"] is not None
    columns = Columns(
        options["user_col"] or "user",
        options["item_col"] or "item",
        options["rating_col"],
        options["timestamp_col"],
        options["propensity_col"],
    )
    models = read_models(options, columns)
    if not models:
        raise ConfigError("no model to judge: give --factors, --scores, --model or --predictions")
    if earlier is not None:  # before the long work
        earlier.check_shared(_asked(models, settings, exposed=exposed))
    split, known_by, notes = (
        exposed_split(options, columns) if exposed else (_read_split(options, columns), "given", [])
    )
    counts = options["relevant_counts"]
    relevant = None if counts is None else _relevant(counts, columns)
    uniform = None if options["uniform"] is None else read_labelled("uniform", options, columns)
    if exposed:
        settings = {key: value for key, value in settings.items() if key != "scale"}  # of ratings, checked by now
    with stages(quiet=bool(options["quiet"])) as progress:
        report = evaluate(
            models,
            split,
            relevant=relevant,
            threads=options["threads"],
            checkpoints=options["checkpoints"],
            progress=progress,
            uniform=uniform,
            **settings,
        )
    return tell_population(report, known_by, notes)


def _read_split(options: dict[str, Any], columns: Columns) -> Any:
    from unskew.data import Split

    return Split(
        train=columns.read(options["train"], strict=False),
        test=columns.read(options["test"]),
        validation=None if options["validation"] is None else columns.read(options["validation"], strict=False),
    )


def _asked(models: dict[str, Any], settings: dict[str, Any], *, exposed: bool) -> list[tuple[str, str, str]]:
    """The words of what will be estimated: each model with each metric and estimator."""
    from unskew.evaluation import resolve
    from unskew.evaluation.fitting.models import default_metrics

    usual = {} if exposed else {"metrics": default_metrics(models)}
    pairs = resolve(**{**usual, **settings}, exposed=exposed).pairs
    return [(model, str(metric), str(estimator)) for model in models for metric, estimator in pairs]


def _relevant(path: Path, columns: Columns) -> Any:
    """The table of relevant counts, its user column called ``user``."""
    import polars as pl

    from unskew.data.frames import find_column, to_numbers
    from unskew.data.reading import read_table

    frame = read_table(path)
    if frame.is_empty():
        raise DataError(f"{path}: there is a header but no row; give a line user,relevant for every user")
    user = find_column(columns.user if columns.user in frame.columns else "user", frame.columns, str(path))
    if "relevant" not in frame.columns:
        raise DataError(f"{path}: no column 'relevant' (it has {', '.join(frame.columns[:8])}); rename the counts so")
    counts = to_numbers(frame["relevant"], f"column 'relevant' of {path}", times=False)
    return frame.select(frame[user].alias("user"), pl.Series("relevant", counts))


def _print(report: Any, *, table: bool) -> None:
    from unskew.evaluation.showing.text import print_report, print_warnings

    screen = Console(stderr=True, soft_wrap=True)
    if table:
        # a pipe or file gets full lines, not those of an imagined 80-column screen
        print_report(report, Console(width=None if sys.stdout.isatty() else 120, soft_wrap=False))
    print_warnings(report, screen)
