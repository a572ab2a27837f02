"""The command ``unskew evaluate``: files in, a table, JSON and a page out."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from unskew.cli.columns import Columns, ItemCol, PropensityCol, RatingCol, TimestampCol, UserCol
from unskew.cli.config import read_config
from unskew.cli.progress import stages
from unskew.errors import ConfigError

_STDOUT = Path("-")


def evaluate_command(
    train: Annotated[Path | None, typer.Option(help="Training interactions.")] = None,
    test: Annotated[Path | None, typer.Option(help="Held-out interactions.")] = None,
    validation: Annotated[Path | None, typer.Option(help="Validation interactions; they stay candidates.")] = None,
    factors: Annotated[
        list[str] | None, typer.Option(metavar="[NAME=]FILE", help="A .npz of user and item factors; repeatable.")
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="A table user,item,score, dense or top-N lists; repeatable."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]WORD", help="A built-in model to train, as in als(factors=32); repeatable."),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="[default: recall@10 adg@10 auc]; repeatable.")
    ] = None,
    estimator: Annotated[
        list[str] | None,
        typer.Option("--estimator", "-e", help="[default: aoa snips, each where it applies]; repeatable."),
    ] = None,
    propensity: Annotated[str | None, typer.Option(help="[default: popularity, which is popularity(gamma=0)]")] = None,
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
    level: Annotated[float | None, typer.Option(help="Level of the intervals [default: 0.95]")] = None,
    interval: Annotated[str | None, typer.Option(help="delta or bootstrap(2000) [default: delta]")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all draws [default: 0]")] = None,
    threads: Annotated[int | None, typer.Option(help="[default: all cores]; the numbers do not depend on it.")] = None,
    block_size: Annotated[int | None, typer.Option(help="Users scored at a time [default: by catalogue size]")] = None,
    json: Annotated[Path | None, typer.Option(help="Write JSON here; - for stdout instead of the table.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page here.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with these options; a flag wins over it.")] = None,
    quiet: Annotated[bool | None, typer.Option("--quiet", "-q", help="No table, progress or warnings.")] = None,
    user_col: UserCol = None,
    item_col: ItemCol = None,
    rating_col: RatingCol = None,
    timestamp_col: TimestampCol = None,
    propensity_col: PropensityCol = None,
) -> None:
    """Judge models on held-out interactions, naively and with the skew of the log corrected for."""
    options = {key: value for key, value in locals().items() if key != "config"}
    if config is not None:
        from_file = read_config(config, set(options))
        options = {key: from_file.get(key) if value in (None, []) else value for key, value in options.items()}
    run(options)


def run(options: dict[str, Any]) -> None:
    """Read the files, evaluate once, print and write."""
    from unskew.data.writing import check_writable
    from unskew.evaluation import resolve

    for name in ("train", "test"):
        if options[name] is None:
            raise ConfigError(f"--{name} is missing; see 'unskew evaluate --help'")
    settings = {
        key: options[option]
        for key, option in _SETTINGS.items()
        if options[option] is not None and options[option] != []
    }
    resolve(**settings)  # words are checked before files are read
    outputs = {name: options[name] for name in ("json", "html") if options[name] is not None}
    for path in outputs.values():
        if path != _STDOUT:
            check_writable(path)
    report = _evaluate(options, settings)
    if "html" in outputs:
        report.to_html(outputs["html"])
    if outputs.get("json") == _STDOUT:
        typer.echo(report.to_json(), nl=False)
    elif "json" in outputs:
        report.to_json(outputs["json"])
    if not options["quiet"]:
        _print(report, table=outputs.get("json") != _STDOUT)


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
}


def _evaluate(options: dict[str, Any], settings: dict[str, Any]) -> Any:
    from unskew.data import Split
    from unskew.data.reading import read_table
    from unskew.evaluation import evaluate

    columns = Columns(
        options["user_col"] or "user",
        options["item_col"] or "item",
        options["rating_col"],
        options["timestamp_col"],
        options["propensity_col"],
    )
    models = _models(options, columns)
    split = Split(
        train=columns.read(options["train"], strict=False),
        test=columns.read(options["test"]),
        validation=None if options["validation"] is None else columns.read(options["validation"], strict=False),
    )
    counts = options["relevant_counts"]
    relevant = None if counts is None else read_table(counts)
    with stages(quiet=bool(options["quiet"])) as progress:
        return evaluate(models, split, relevant=relevant, threads=options["threads"], progress=progress, **settings)


def _models(options: dict[str, Any], columns: Columns) -> dict[str, Any]:
    from unskew.models import Model
    from unskew.ranking import read_factors, read_scores

    models: dict[str, Any] = {}
    for name, path in _named(options["factors"]):
        _add(models, name, read_factors(path))
    for name, path in _named(options["scores"]):
        _add(models, name, read_scores(path, user=columns.user, item=columns.item))
    for text in options["model"] or []:
        match = re.fullmatch(r"([^=()]+)=(.+)", text)
        name, word = match.groups() if match else (text, text)
        _add(models, name.strip(), Model.from_word(word))
    if not models:
        raise ConfigError("no model to judge: give --factors, --scores or --model")
    return models


def _named(texts: Iterable[str] | None) -> Iterable[tuple[str, Path]]:
    for text in texts or []:
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            file = Path(text)
            yield file.name.removesuffix(".gz").rsplit(".", 1)[0], file
        elif not name or not path:
            raise ConfigError(f"cannot read {text!r}; write NAME=FILE or FILE")
        else:
            yield name, Path(path)


def _add(models: dict[str, Any], name: str, model: Any) -> None:
    if name in models:
        raise ConfigError(f"two models are called {name!r}; name them apart with NAME=FILE")
    models[name] = model


def _print(report: Any, *, table: bool) -> None:
    from unskew.evaluation.table import print_report, print_warnings

    if table:
        # a pipe or file gets full lines, not those of an imagined 80-column screen
        print_report(report, Console(width=None if sys.stdout.isatty() else 120, soft_wrap=False))
    print_warnings(report, Console(stderr=True, soft_wrap=True))
