"""Options that several commands share, and those of ``unskew evaluate``."""

import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from unskew.cli.inputs import model_files, read_config
from unskew.cli.outputs import Outputs

if TYPE_CHECKING:
    from unskew.data import Columns

LogFile = Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, or the name of a data set that is here.")]
DataFolder = Annotated[
    Path | None,
    typer.Option(help="Where data sets are kept, each in a folder of its name; else UNSKEW_DATA, else your own."),
]
FactorFiles = Annotated[
    list[str] | None, typer.Option(metavar="[NAME=]FILE", help="A .npz of user and item factors; repeatable.")
]
ScoreFiles = Annotated[
    list[str] | None,
    typer.Option(metavar="[NAME=]FILE", help="A table user,item,score, dense or top-N lists; repeatable."),
]
ModelWords = Annotated[
    list[str] | None,
    typer.Option(metavar="[NAME=]WORD", help="A built-in model to train, as in als(factors=32); repeatable."),
]
Positive = Annotated[str | None, typer.Option(help="Which rows are positives, as in 'rating>=4'.")]
Seed = Annotated[int, typer.Option(help="Seed of all draws.")]
Threads = Annotated[int | None, typer.Option(help="[default: all cores]; the numbers do not depend on it.")]
BlockSize = Annotated[int | None, typer.Option(help="Users scored at a time [default: by catalogue size]")]
JsonFile = Annotated[Path | None, typer.Option(help="Write JSON here; - for stdout instead of the table.")]
HtmlFile = Annotated[Path | None, typer.Option(help="Write the page here.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No table or progress.")]

Options = TypeVar("Options")


def command_of(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command of a function of options: the fields of their dataclass are what typer parses."""

    def make(run: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**given: Any) -> None:
            run(options(**given))

        command.__signature__ = inspect.signature(options)  # type: ignore[attr-defined]
        command.__annotations__ = get_type_hints(options, include_extras=True)
        return command

    return make


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What the columns of files are called; listed after the command's own options."""

    user_col: Annotated[str | None, typer.Option(help="Column of user ids [default: user].")] = None
    item_col: Annotated[str | None, typer.Option(help="Column of item ids [default: item].")] = None
    rating_col: Annotated[str | None, typer.Option(help="Column of ratings [default: rating, if there].")] = None
    timestamp_col: Annotated[str | None, typer.Option(help="Column of times [default: timestamp, if there].")] = None
    propensity_col: Annotated[
        str | None, typer.Option(help="Column of propensities [default: propensity, if there].")
    ] = None

    @property
    def columns(self) -> "Columns":
        """The names of the columns."""
        from unskew.data import Columns

        named = self.rating_col, self.timestamp_col, self.propensity_col, getattr(self, "label_col", None)
        return Columns(self.user_col or "user", self.item_col or "item", *named)


@dataclass(frozen=True)
class EvaluateOptions(ColumnOptions):
    """The options of ``unskew evaluate``: what typer parses, ``--config`` may hold and `evaluate` is given."""

    train: Annotated[Path | None, typer.Option(help="Training interactions.")] = None
    test: Annotated[Path | None, typer.Option(help="Held-out interactions.")] = None
    exposed: Annotated[
        Path | None,
        typer.Option(
            help="In the place of --test: items drawn at random for each user, all labelled; a table user,item,label "
            "with 0 and 1, or ratings and --positive."
        ),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(
            help="Among which items models are judged: unseen in train, where exposed rows that are in train leave the "
            "sample, or all, when a model may recommend what a user has; auto is unseen [default: auto]"
        ),
    ] = None
    catalogue: Annotated[
        Path | None,
        typer.Option(help="A table with a column item: all items that could be drawn, where train lacks some."),
    ] = None
    uniform: Annotated[
        Path | None,
        typer.Option(
            help="A small randomly exposed file to learn from, for ips, dr and autodebias; read like --exposed."
        ),
    ] = None
    validation: Annotated[
        Path | None,
        typer.Option(
            help="Validation interactions; the first metric on them chooses the step of bpr and the like, the AUC of "
            "their labels the epoch of bias and the like."
        ),
    ] = None
    factors: FactorFiles = None
    scores: ScoreFiles = None
    model: ModelWords = None
    predictions: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="A table user,item,prediction of predicted ratings; repeatable."),
    ] = None
    preset: Annotated[
        str | None, typer.Option(help="Settings of a paper, as in yang2018; an option of one's own wins over them.")
    ] = None
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="WORD",
            help="[default: recall@10 adg@10 auc, mae mse for predictions; recall@10 precision@10 ndcg@10 with "
            "--exposed]; repeatable.",
        ),
    ] = None
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            "-e",
            metavar="WORD",
            help="[default: aoa(per=pair) snips, and aoa for metrics without a mean over pairs; with --exposed "
            "traditional and ure(aggregate=pooled, reduce=control)]; repeatable.",
        ),
    ] = None
    propensity: Annotated[str | None, typer.Option(help="[default: popularity, which is popularity(gamma=0)]")] = None
    assume: Annotated[
        str | None,
        typer.Option(
            metavar="gamma=LOW..HIGH",
            help="Popularity biases that are held possible: each corrected number is also given over all of them "
            "[default: gamma=-0.5..1.5, or what gamma=auto finds].",
        ),
    ] = None
    candidates: Annotated[
        str | None, typer.Option(help="unseen, all, trained, listed or sampled(n) [default: unseen]")
    ] = None
    ties: Annotated[
        str | None, typer.Option(help="expected, optimistic, pessimistic, random or ordinal [default: expected]")
    ] = None
    positive: Positive = None
    relevant_counts: Annotated[
        Path | None, typer.Option(help="Table user,relevant: each user's number of relevant items, for ips.")
    ] = None
    unlisted: Annotated[
        str | None, typer.Option(help="What is outside a top-N list gains zero, or stands tied below it.")
    ] = None
    users: Annotated[
        str | None,
        typer.Option(
            help="Which test users are judged: any (known to a model), common (known to all), or served (for each "
            "model those whom it knows) [default: any]"
        ),
    ] = None
    max_dropped: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Exit 1 when a larger share of the test rows cannot be judged, as in 0.2."),
    ] = None
    scale: Annotated[str | None, typer.Option(help="The scale of the ratings, as in 1-5 or 0.5-5/0.5.")] = None
    allow_missing: Annotated[
        bool | None, typer.Option("--allow-missing", help="Leave out test rows without a prediction, for all models.")
    ] = None
    checkpoints: Annotated[
        Path | None,
        typer.Option(help="Folder where models that learn step by step keep their state, to go on after a stop."),
    ] = None
    level: Annotated[float | None, typer.Option(help="Level of the intervals [default: 0.95]")] = None
    interval: Annotated[str | None, typer.Option(help="delta, bootstrap(2000) or observation [default: delta]")] = None
    seed: Annotated[int | None, typer.Option(help="Seed of all draws [default: 0]")] = None
    threads: Threads = None
    block_size: BlockSize = None
    against: Annotated[
        Path | None,
        typer.Option(help="JSON of an earlier run: say what moved, and what the size of the test explains."),
    ] = None
    json: JsonFile = None
    html: HtmlFile = None
    config: Annotated[Path | None, typer.Option(help="TOML file with these options; a flag wins over it.")] = None
    quiet: Annotated[bool | None, typer.Option("--quiet", "-q", help="No table, progress or warnings.")] = None
    _: KW_ONLY
    label_col: Annotated[
        str | None, typer.Option(help="Column of labels 0 and 1 in exposed files [default: label, if there].")
    ] = None

    def with_config(self) -> "EvaluateOptions":
        """These options, with those of the ``--config`` file where none was given."""
        if self.config is None:
            return self
        hints = get_type_hints(EvaluateOptions)
        kinds = {field.name: _kind(hints[field.name]) for field in fields(self) if field.name != "config"}
        found = read_config(self.config, kinds)
        return replace(self, **{name: value for name, value in found.items() if not _is_given(getattr(self, name))})

    @property
    def settings(self) -> dict[str, Any]:
        """What was given of the settings of `evaluate`."""
        named = {
            "metrics": self.metric,
            "estimators": self.estimator,
            **{name: getattr(self, name) for name in SETTINGS},
        }
        return {name: value for name, value in named.items() if _is_given(value)}

    @property
    def models(self) -> dict[str, list[str] | None]:
        """Words and files of models, by kind."""
        return {"factors": self.factors, "scores": self.scores, "model": self.model, "predictions": self.predictions}

    @property
    def inputs(self) -> list[Path | None]:
        """The files that are read."""
        return [*(getattr(self, name) for name in INPUTS), *model_files(self.models)]

    @property
    def outputs(self) -> Outputs:
        """The files that are written."""
        return Outputs(self.json, self.html)


SETTINGS = (
    *("propensity", "candidates", "ties", "positive", "level", "interval", "seed", "block_size", "unlisted", "users"),
    *("scale", "allow_missing", "assume"),
)
"""Options that `evaluate` takes under the same name; metrics and estimators have the plural there."""
INPUTS = ("train", "test", "exposed", "catalogue", "uniform", "validation", "relevant_counts", "against")


def _is_given(value: object) -> bool:
    return value is not None and value != []


def _kind(hint: Any) -> type:
    """The type of an option that may be left out: of ``list[str] | None`` it is list."""
    kind: type = next(one for one in get_args(hint) if one is not NoneType)
    return get_origin(kind) or kind
