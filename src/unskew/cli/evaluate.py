"""The command ``unskew evaluate``: it reads files, evaluates models and writes a table, JSON and a page."""

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from unskew.cli.command import command_of
from unskew.cli.inputs import check_judgements, check_stdin, is_data_set, read_groups, read_models, read_relevant
from unskew.cli.options import EvaluateOptions
from unskew.cli.screen import aside, screen, stages
from unskew.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from unskew.cli.outputs import Outputs
    from unskew.data import Interactions, Split
    from unskew.evaluation import Report
    from unskew.evaluation.settings.settings import Settings


@command_of(EvaluateOptions)
def evaluate_command(options: EvaluateOptions) -> None:
    """Evaluate models on held-out data, naively and corrected.

    Each metric is averaged naively and estimated with a correction for the skew of the log, with intervals, and with
    warnings if a number is doubtful.
    """
    from unskew.evaluation import compare
    from unskew.evaluation.comparing.earlier_run import read_earlier

    options = options.with_config()
    if options.windows is not None:
        _evaluate_windows(options)
        return
    settings = check_options(options)
    _check_max_dropped(options.max_dropped)
    earlier = None if options.against is None else read_earlier(options.against)
    tables = read_groups(options.by or [], options.columns)
    report = _evaluate(options, settings, earlier)
    try:
        report = replace(report, sliced=tuple(report.by(*each) for each in tables))
        if earlier is not None:
            report = replace(report, against=compare(report, earlier))
    finally:  # an error of the comparison must not lose the run
        options.outputs.write(report.to_json, report.to_html)
        _print_as(report, options.outputs)
        if not options.quiet:
            _print(report, table=not options.outputs.on_screen)
    _leave_if_dropped(report.dropped_share, options.max_dropped)


def _check_max_dropped(most: float | None) -> None:
    """Refuse a limit that is not a share."""
    if most is not None and not 0 <= most <= 1:
        raise ConfigError(f"--max-dropped {most:g}: give a share between 0 and 1, as in 0.2")


def _leave_if_dropped(share: float, most: float | None) -> None:
    """Exit with 1 if a larger share of the test rows than allowed was not judged."""
    if most is not None and share > most:
        typer.echo(
            f"unskew: {share:.1%} of the test rows were not judged, more than --max-dropped {most:g}; "
            "the warnings say why",
            err=True,
        )
        raise typer.Exit(1)


def evaluate_files(options: EvaluateOptions) -> "Report":
    """Evaluate the models and files of some options."""
    return _evaluate(options, check_options(options), None)


def check_options(options: EvaluateOptions) -> dict[str, Any]:
    """The settings of a run; what cannot be is refused before any file is read."""
    from unskew.estimators import OVER_ALL_PAIRS
    from unskew.evaluation import get_preset, resolve
    from unskew.evaluation.settings.admissible import for_random_ratings

    if options.train is None:
        raise ConfigError("--train is missing; see 'unskew evaluate --help'")
    if options.test is None and options.exposed is None:
        raise ConfigError("--test is missing (or --exposed, for items drawn at random); see 'unskew evaluate --help'")
    settings = {**(get_preset(options.preset) if options.preset else {}), **options.settings}
    _check_together(options, settings)
    alone = options.exposed is not None and options.test is None
    resolved = resolve(**settings, exposed=alone)  # words are checked before files are read
    _check_counts_used(options, resolved)
    asked = settings.get("metrics")
    if options.exposed is not None and asked and all(metric.kind in OVER_ALL_PAIRS for metric in resolved.metrics):
        raise ConfigError(f"{resolved.metrics[0]} is of ratings, and --exposed takes labels; {for_random_ratings()}")
    folder = options.checkpoints
    if folder is not None and (folder.exists() or not folder.parent.is_dir()) and not folder.is_dir():
        raise ConfigError(f"--checkpoints {folder}: not a folder, and none can be made there; name another")
    check_stdin(options.inputs)
    options.outputs.check(options.inputs)
    return settings


def _check_together(options: EvaluateOptions, settings: dict[str, Any]) -> None:
    """Refuse options that do not go together, before any file is read; settings include those of a preset."""
    if options.exposed is None:
        for name in ("population", "catalogue"):
            if getattr(options, name) is not None:
                raise ConfigError(f"--{name} needs --exposed; leave it out, or give --exposed instead of --test")
        if options.label_col is not None and options.uniform is None:
            raise ConfigError("--label-col needs --exposed or --uniform; leave it out, or give one of them")
        return
    from unskew.data.exposed import check_population_word

    check_population_word(options.population or "auto")
    if options.test is not None:
        if options.population is not None:
            raise ConfigError("--population is for --exposed without --test; next to --test the items are --candidates")
        return
    for name, why in _NOT_WITH_EXPOSED.items():
        if getattr(options, name):
            raise ConfigError(f"--{name.replace('_', '-')} {why}")
    if "candidates" in settings:
        raise ConfigError(
            f"--preset {options.preset} is for --test, because it ranks among {settings['candidates']}; leave it out, "
            "and name metrics and estimators"
        )


_NOT_WITH_EXPOSED = {
    "candidates": "is for --test: exposed items are ranked among what they were drawn from; use --population",
    "predictions": "are predicted ratings, but exposed rows have labels; give --scores or --factors",
    "allow_missing": "is for --predictions; leave it out with --exposed",
}


def _check_counts_used(options: EvaluateOptions, resolved: "Settings") -> None:
    """Refuse numbers of relevant items that no estimator of an exposed test uses."""
    given = options.exposed is not None and options.test is None and options.relevant_counts is not None
    if given and not any(estimator.needs_relevant for estimator in resolved.estimators):
        raise ConfigError("--relevant-counts is used by ips only; leave it out, or add -e ips")


def _evaluate(options: EvaluateOptions, settings: dict[str, Any], earlier: Any) -> "Report":
    from unskew.evaluation import evaluate
    from unskew.evaluation.settings.rating_scale import Scale
    from unskew.ranking import engine_of

    engine = engine_of(options.engine, options.threads, options.ray_address)
    if is_data_set(options.train):
        return _evaluate_parts(options, settings, engine)
    if is_data_set(options.test):
        raise ConfigError(f"--test {options.test} is a folder, so --train must be a folder of Parquet files too")
    for name in ("work", "partitions", "memory"):
        if getattr(options, name) is not None:
            raise ConfigError(f"--{name} is for folders of Parquet files; leave it out")
    exposed, columns = options.exposed is not None and options.test is None, options.columns
    models = read_models(options.models, columns)
    if not models:
        raise ConfigError("no model to evaluate; give --factors, --scores, --model or --predictions")
    if earlier is not None:  # before the long work
        earlier.check_shared(_asked(models, settings, earlier, exposed=exposed))
    check = None if options.scale is None else Scale.parse(options.scale).check
    split = _read_split(options, check)
    relevant = None if options.relevant_counts is None else read_relevant(options.relevant_counts, columns)
    uniform = None
    if options.uniform is not None:
        uniform = _read_random(options.uniform, options, check)
    if exposed:
        settings = {
            key: value for key, value in settings.items() if key != "scale"
        }  # of ratings; they have been checked
    with stages(quiet=bool(options.quiet)) as progress:
        return evaluate(
            models,
            split,
            relevant=relevant,
            threads=options.threads,
            engine=engine,
            until=options.until,
            on=options.on,
            checkpoints=options.checkpoints,
            progress=progress,
            uniform=uniform,
            baselines=not options.no_baselines,
            group_seeds=not options.no_group_seeds,
            **settings,
        )


def _evaluate_parts(options: EvaluateOptions, settings: dict[str, Any], engine: Any) -> "Report":
    """Evaluate on data sets that are read part by part."""
    from unskew.data import open_split
    from unskew.data.locks import held
    from unskew.data.partitions import prepare_work
    from unskew.data.partitions.locations import as_location
    from unskew.evaluation import evaluate

    alone = (
        "exposed",
        "validation",
        "catalogue",
        "uniform",
        "until",
        "on",
        "checkpoints",
        "against",
        "by",
        "weight_col",
    )
    for name in alone:
        if getattr(options, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(f"{flag} needs all rows in memory; leave it out, or give --train and --test as files")
    assert options.train is not None
    if not is_data_set(options.test):
        raise ConfigError(f"--train {options.train} is a folder, so --test must be a folder of Parquet files too")
    with ExitStack() as stack:
        if options.work is not None:  # its copies must not change between the steps
            stack.enter_context(held(prepare_work(options.work)))
        split = open_split(
            as_location(options.train),
            as_location(options.test or ""),
            columns=options.columns,
            work=options.work,
            parts=options.partitions,
        )
        models = read_models(options.models, options.columns, parts=len(split), work=options.work)
        if not models:
            raise ConfigError("no model to evaluate; give --factors, --scores, --model or --predictions")
        relevant = None if options.relevant_counts is None else read_relevant(options.relevant_counts, options.columns)
        progress = stack.enter_context(stages(quiet=bool(options.quiet)))
        return evaluate(
            models,
            split,
            relevant=relevant,
            threads=options.threads,
            engine=engine,
            work=options.work,
            memory=options.memory,
            baselines=not options.no_baselines,
            group_seeds=not options.no_group_seeds,
            progress=progress,
            **settings,
        )


def _read_split(options: EvaluateOptions, check: Any) -> "Split":
    from unskew.data import Split, exposed_split, with_items
    from unskew.data.item_list import read_catalogue

    columns = options.columns
    if options.exposed is not None and options.test is None:
        return exposed_split(
            options.train,
            options.exposed,
            options.validation,
            catalogue=options.catalogue,
            population=options.population or "auto",
            positive=options.positive,
            columns=columns,
            check=check,
        )
    assert options.train is not None
    assert options.test is not None
    train = columns.read(options.train, strict=False)
    if options.catalogue is not None:
        train = with_items(train, read_catalogue(options.catalogue, item=columns.item))
    test = columns.read(options.test)
    check_judgements(options.test, test, options.positive)
    return Split(
        train=train,
        test=test,
        validation=None if options.validation is None else columns.read(options.validation, strict=False),
        slice=None if options.exposed is None else _read_random(options.exposed, options, check),
    )


def _read_random(path: "Path", options: EvaluateOptions, check: Any) -> "Interactions":
    """Read labelled rows that were drawn at random."""
    from unskew.data.exposed import label_rows

    return label_rows(path, options.columns, options.positive, check)


def _asked(
    models: dict[str, Any], settings: dict[str, Any], earlier: Any, *, exposed: bool
) -> list[tuple[str, str, str]]:
    """The words of all estimates that the run may have: each model with each metric and estimator."""
    from unskew.estimators import Auto
    from unskew.evaluation import resolve
    from unskew.evaluation.fitting.models import default_metrics

    usual = {} if exposed else {"metrics": default_metrics(models)}
    pairs = resolve(**{**usual, **settings}, exposed=exposed).pairs
    known = list(dict.fromkeys(row.estimator for row in earlier.estimates))
    asked = []
    for metric, estimator in pairs:  # what auto is, is known only with the data; it may be any estimator of the other
        words = known if isinstance(estimator, Auto) else [str(estimator)]
        asked += [(model, str(metric), word) for model in models for word in words]
    return asked


def _print_as(report: Any, outputs: "Outputs") -> None:
    """Print a format that another program reads, also if the run is quiet."""
    texts = {"md": report.to_markdown, "csv": report.to_csv, "latex": report.to_latex, "json": report.to_json}
    if outputs.printed in texts and not outputs.prints_json:
        typer.echo(texts[outputs.printed](), nl=False)
    for slices in getattr(report, "sliced", ()) if outputs.printed == "csv" else ():  # which has no place for a note
        for text in slices.left_out:
            typer.echo(f"note: not by group: {text}", err=True)


def _print(report: Any, *, table: bool) -> None:
    from unskew.evaluation.showing.text import print_report, print_warnings

    if table:
        print_report(report, screen(highlight=True))
    print_warnings(report, aside())


def _evaluate_windows(options: EvaluateOptions) -> None:
    """Evaluate the models on every window of a folder, and print and write one report."""
    from unskew.data.time.windows import read_windows
    from unskew.evaluation import evaluate_windows, get_preset, resolve
    from unskew.evaluation.windows.showing import print_warnings, print_windows
    from unskew.ranking import engine_of

    for name in _OF_A_SPLIT:
        if getattr(options, name) is not None:
            raise ConfigError(f"--{name.replace('_', '-')} is for one split, not for --windows; leave it out")
    settings = {**(get_preset(options.preset) if options.preset else {}), **options.settings}
    resolve(**settings)  # words are checked before files are read
    _check_max_dropped(options.max_dropped)
    options.outputs.check()
    if not any(options.models.values()):
        raise ConfigError("no model to evaluate; give --factors, --scores, --model or --predictions")
    assert options.windows is not None
    names: list[str] = []

    def windows() -> "Iterator[tuple[str, Split]]":
        for name, split in read_windows(options.windows or "", options.columns):
            names.append(name)
            yield name, split

    def models(_: "Split") -> dict[str, Any]:
        return read_models(_of_window(options.models, names[-1]), options.columns)

    engine = engine_of(options.engine, options.threads, options.ray_address)
    with stages(quiet=bool(options.quiet)) as progress:
        report = evaluate_windows(
            models, windows(), threads=options.threads, engine=engine, progress=progress, **settings
        )
    options.outputs.write(report.to_json, report.to_html)
    _print_as(report, options.outputs)
    if not options.quiet:
        if not options.outputs.on_screen:
            print_windows(report, screen(highlight=True))
        print_warnings(report, aside())
    _leave_if_dropped(report.dropped_share, options.max_dropped)


def _of_window(models: dict[str, list[str] | None], window: str) -> dict[str, list[str] | None]:
    """The words and files of the models of a window: ``{window}`` in a name is that of its folder."""
    return {
        kind: texts if texts is None or kind == "model" else [text.replace(_WINDOW, window) for text in texts]
        for kind, texts in models.items()
    }


_OF_A_SPLIT = (
    *("train", "test", "validation", "exposed", "population", "catalogue", "uniform", "relevant_counts", "checkpoints"),
    *("until", "on", "work", "partitions", "memory", "against", "by", "label_col"),
    "no_group_seeds",
)
"""Options that say more about one split, or need one."""
_WINDOW = "{window}"
