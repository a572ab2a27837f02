"""The command ``unskew gate``: it decides whether a new model may replace an old one, for continuous integration."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.command import command_of
from unskew.cli.evaluate import evaluate_files
from unskew.cli.inputs import split_name
from unskew.cli.options import EvaluateOptions
from unskew.errors import ConfigError

NOT_HERE = (
    *("factors", "scores", "model", "predictions"),  # the two models are arguments
    *(
        "max_dropped",
        "against",
        "html",
        "format",
        "until",
        "on",
        "work",
        "partitions",
        "memory",
        "config",
        "allow_imports",
        "windows",
        "by",
        "no_group_seeds",
    ),
)
"""Options of ``unskew evaluate`` that a gate does not have."""
METRIC = "recall@10"


@dataclass(frozen=True, kw_only=True)
class GateOptions(EvaluateOptions):
    """The options of ``unskew gate``."""

    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW",
            help="The model that may be shipped: [NAME=]FILE, factors in .npz or a table of scores, or [NAME=]WORD.",
        ),
    ]
    old: Annotated[str, typer.Argument(metavar="OLD", help="The model that it would replace, in the same form.")]
    margin: Annotated[float, typer.Option(help="By how much the new model may be worse, in units of the metric.")] = 0.0
    require: Annotated[
        str,
        typer.Option(
            metavar="interval|band|robust",
            help="What must be above the margin: the interval of the estimate; that under everything that may be "
            "assumed; or this even if weights are wrong by a factor of 1.5.",
        ),
    ] = "band"
    strict: Annotated[bool, typer.Option("--strict", help="Hold if a check warns, not only if one fails.")] = False
    markdown: Annotated[
        Path | None, typer.Option(help="Write a summary for a pull request to this file; - prints it.")
    ] = None


@command_of(GateOptions, without=NOT_HERE)
def gate_command(options: GateOptions) -> None:
    """Decide whether a new model may replace an old one: ship, hold or reject.

    The new model is shipped if, by the corrected estimate, it is not worse than the old one by more than the margin.
    It is rejected if it is worse by more than that. Otherwise this log cannot say, and it is held.

    Exit status: 0 to ship, 3 to hold, 1 to reject, 2 for bad usage or bad data.
    """
    words = options.metric or [METRIC]
    if len(words) > 1:
        raise ConfigError(f"-m {words[1]}: a gate has one metric; run it once for each")
    (new, kind_of_new, text), (old, kind_of_old, other) = (_model(each) for each in (options.new, options.old))
    if new == old:
        new, old = "new", "old"
        text, other = (
            f"{name}={_unnamed(each, kind)}"
            for name, each, kind in ((new, text, kind_of_new), (old, other, kind_of_old))
        )
    given: dict[str, Any] = {}
    for kind, each in ((kind_of_new, text), (kind_of_old, other)):
        given.setdefault(kind, []).append(each)
    asked = replace(options, metric=words, no_group_seeds=True, **given)  # the two are what is compared
    report = evaluate_files(asked)
    result = report.gate(new, old, margin=options.margin, require=options.require, strict=options.strict)
    _write(options, result.to_json(), result.to_markdown(), str(result))
    raise typer.Exit(result.exit_status)


def _model(text: str) -> tuple[str, str, str]:
    """The name of a model, the option of ``unskew evaluate`` that reads it, and its text there."""
    from unskew.data.columns import split_names

    whole, names = split_names(text)
    name, equals, rest = whole.partition("=")
    path = Path(whole) if not equals or Path(whole).exists() else Path(rest)
    if path.suffix == ".npz" or path.is_dir():
        kind = "factors"
    elif (
        names
        or path.name == "-"
        or path.exists()
        or path.suffix in {".csv", ".tsv", ".parquet", ".gz", ".run", ".trec"}
    ):
        kind = "scores"
    else:
        word_name, _ = split_name(text)
        return word_name, "model", text
    stem = "stdin" if path.name == "-" else path.name.removesuffix(".gz").rsplit(".", 1)[0]
    named = name if equals and path != Path(whole) else stem
    return named, kind, f"{named}={path}{f':{names}' if names else ''}"


def _unnamed(text: str, kind: str) -> str:
    """A model without its name."""
    return split_name(text)[1] if kind == "model" else text.partition("=")[2]


def _write(options: GateOptions, json: str, markdown: str, text: str) -> None:
    from unskew.cli.outputs import STDOUT
    from unskew.data.writing import saved

    printed = [content for path, content in ((options.json, json), (options.markdown, markdown)) if path == STDOUT]
    for path, content in ((options.json, json), (options.markdown, markdown)):
        if path is not None and path != STDOUT:
            saved(content, path)
    for content in printed or ([] if options.quiet else [f"{text}\n"]):
        typer.echo(content, nl=False)
