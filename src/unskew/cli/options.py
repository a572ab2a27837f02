"""The options that several commands share, and those of ``unskew evaluate``."""

from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from unskew.cli.completion import complete_model, complete_one_of, completes
from unskew.cli.inputs import model_files, path_of, read_config
from unskew.cli.outputs import FORMATS, Outputs

if TYPE_CHECKING:
    from unskew.data import Columns

LogFile = Annotated[
    Path,
    typer.Argument(help="CSV, TSV, Parquet or TREC file, - for stdin, or the name of a downloaded data set."),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder with one folder per data set [default: UNSKEW_DATA, else your data directory]."),
]
FactorFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]FILE",
        help="A .npz file with user and item factors, or a folder of .npy files that stay on disk; repeatable.",
    ),
]
ScoreFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]FILE",
        help="A table user,item,score with all scores or top-N lists, or a TREC run; repeatable.",
    ),
]
ModelWords = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]WORD",
        help="A built-in model to train, as in als(factors=32); repeatable.",
        autocompletion=complete_model,
    ),
]
Positive = Annotated[str | None, typer.Option(help="Condition for positive rows, such as 'rating>=4'.")]
Seed = Annotated[int, typer.Option(help="Seed of all random draws.")]
Threads = Annotated[
    int | None, typer.Option(help="Number of threads; the results do not depend on it [default: all cores].")
]
EngineWord = Annotated[
    str | None, typer.Option("--engine", help="Where the work is done: threads or ray [default: threads].")
]
RayAddress = Annotated[
    str | None,
    typer.Option(help="Address of a Ray cluster, as in auto or host:6379 [default: start one on this machine]."),
]
BlockSize = Annotated[int | None, typer.Option(help="Users scored at a time [default: depends on the catalogue].")]
JsonFile = Annotated[Path | None, typer.Option(help="Write JSON to this file; - prints it instead of the table.")]
HtmlFile = Annotated[Path | None, typer.Option(help="Write an HTML page to this file.")]
WeightColumn = Annotated[str | None, typer.Option(help="Column of weights of test rows [default: all the same].")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no table or progress.")]


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Names of the columns of files, and the format of text files; listed after the command's own options."""

    user_col: Annotated[str | None, typer.Option(help="Column of user ids [default: user].")] = None
    item_col: Annotated[str | None, typer.Option(help="Column of item ids [default: item].")] = None
    rating_col: Annotated[str | None, typer.Option(help="Column of ratings [default: rating, if present].")] = None
    timestamp_col: Annotated[str | None, typer.Option(help="Column of times [default: timestamp, if present].")] = None
    propensity_col: Annotated[
        str | None, typer.Option(help="Column of propensities [default: propensity, if present].")
    ] = None

    header: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Columns of logs without a header line, as in user,item,rating,timestamp; _ is not read.",
        ),
    ] = None
    sep: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Separator in logs: tab, comma, semicolon, pipe, space, or the text itself, as in '::'.",
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of text files, as in latin-1 [default: UTF-8, or what a mark says].")
    ] = None

    @property
    def columns(self) -> "Columns":
        """The names of the columns."""
        from unskew.data import Columns, FileFormat

        named = self.rating_col, self.timestamp_col, self.propensity_col, getattr(self, "label_col", None)
        weight = getattr(self, "weight_col", None)
        layout = FileFormat.of(columns=self.header, sep=self.sep, encoding=self.encoding)
        return Columns(self.user_col or "user", self.item_col or "item", *named, weight=weight, format=layout)


@dataclass(frozen=True)
class EvaluateOptions(ColumnOptions):
    """The options of ``unskew evaluate``, from the command line or a ``--config`` file."""

    train: Annotated[
        Path | None,
        typer.Option(
            help="Training interactions: a file (- is stdin; FILE:user=NAME,item=NAME for column names of its "
            "own), or a folder or URL of Parquet files, read part by part."
        ),
    ] = None
    test: Annotated[Path | None, typer.Option(help="Held-out interactions, in the same form as --train.")] = None
    exposed: Annotated[
        Path | None,
        typer.Option(
            help="Items drawn at random, all labelled; a table user,item,label with labels 0 and 1, or with ratings "
            "and --positive. Instead of --test it is the test; next to --test it is a slice that corrects blend."
        ),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(
            help="With --exposed, the items to rank among: unseen excludes the user's training items, also from "
            "the sample; all keeps them; auto is unseen [default: auto]."
        ),
    ] = None
    catalogue: Annotated[
        Path | None,
        typer.Option(help="A table with a column item of all items that could be drawn, if train lacks some."),
    ] = None
    uniform: Annotated[
        Path | None,
        typer.Option(
            help="A small randomly exposed file that ips, dr and autodebias learn from; same format as --exposed."
        ),
    ] = None
    validation: Annotated[
        Path | None,
        typer.Option(
            help="Validation interactions, which choose when to stop training: by the first metric, or, for models of "
            "labels, by AUC."
        ),
    ] = None
    windows: Annotated[
        Path | None,
        typer.Option(
            help="Folder of unskew split --rolling instead of --train and --test; {window} in files is its name."
        ),
    ] = None
    factors: FactorFiles = None
    scores: ScoreFiles = None
    model: ModelWords = None
    predictions: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="A table user,item,prediction with predicted ratings; repeatable."),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            help="Settings of a paper, as in yang2018; options that you give take precedence.",
            autocompletion=completes("presets"),
        ),
    ] = None
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="WORD",
            help="Metric to compute [default: recall@10 adg@10 auc; mae mse for predictions; "
            "recall@10 precision@10 ndcg@10 with --exposed]; repeatable.",
            autocompletion=completes("metrics"),
        ),
    ] = None
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            "-e",
            metavar="WORD",
            help="How to estimate it [default: aoa(per=pair) and auto, the correction that suits the data; aoa for "
            "metrics without a mean over pairs; with folders of Parquet files aoa(per=pair) and snips; with --exposed "
            "alone traditional and ure(aggregate=pooled, "
            "reduce=control)]; repeatable.",
            autocompletion=completes("estimators"),
        ),
    ] = None
    propensity: Annotated[
        str | None,
        typer.Option(
            help="Propensity model [default: popularity, which is popularity(gamma=0)].",
            autocompletion=completes("propensities"),
        ),
    ] = None
    assume: Annotated[
        str | None,
        typer.Option(
            metavar="gamma=LOW..HIGH",
            help="Range of popularity biases to consider: each corrected number is also reported over this range "
            "[default: gamma=-0.5..1.5, or the fit of gamma=auto].",
        ),
    ] = None
    candidates: Annotated[
        str | None,
        typer.Option(
            help="Items to rank among: unseen, all, trained, listed or sampled(n) [default: unseen].",
            autocompletion=completes("candidates"),
        ),
    ] = None
    ties: Annotated[
        str | None,
        typer.Option(help="Rank of ties: expected, optimistic, pessimistic, random, ordinal [default: expected]."),
    ] = None
    positive: Positive = None
    relevant_counts: Annotated[
        Path | None, typer.Option(help="A table user,relevant with each user's number of relevant items, for ips.")
    ] = None
    unlisted: Annotated[
        str | None,
        typer.Option(help="Items outside a top-N list: zero for no gain, or tied, below the list [default: zero]."),
    ] = None
    users: Annotated[
        str | None,
        typer.Option(
            help="Test users to include: any (known to some model), common (known to all models), or served (for each "
            "model, the users it knows) [default: any]."
        ),
    ] = None
    max_dropped: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Exit with 1 if a larger share of the test rows cannot be evaluated, as in 0.2."
        ),
    ] = None
    scale: Annotated[str | None, typer.Option(help="Rating scale, as in 1-5 or 0.5-5/0.5.")] = None
    allow_missing: Annotated[
        bool | None, typer.Option("--allow-missing", help="Exclude test rows that lack a prediction of some model.")
    ] = None
    checkpoints: Annotated[
        Path | None,
        typer.Option(help="Folder where iterative models save their state, to resume after an interruption."),
    ] = None
    level: Annotated[float | None, typer.Option(help="Confidence level of the intervals [default: 0.95].")] = None
    interval: Annotated[
        str | None,
        typer.Option(
            help="Kind of interval: delta, bootstrap(2000), bootstrap(2000, weights=poisson) or observation "
            "[default: delta]."
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of all random draws [default: 0].")] = None
    threads: Threads = None
    engine: EngineWord = None
    ray_address: RayAddress = None
    block_size: BlockSize = None
    until: Annotated[
        str | None,
        typer.Option(metavar="decided|width<X", help="Rank users in random order, and stop when this is reached."),
    ] = None
    on: Annotated[
        str | None,
        typer.Option(metavar="METRIC:ESTIMATOR", help="What --until is about [default: the first metric, corrected]."),
    ] = None
    work: Annotated[
        Path | None,
        typer.Option(
            help="For folders of Parquet files: a folder that keeps finished parts, so that a run that was stopped "
            "goes on, and a copy by user of files in another layout."
        ),
    ] = None
    partitions: Annotated[
        int | None,
        typer.Option(help="For folders of Parquet files: parts of the copy in --work [default: by number of rows]."),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="For folders of Parquet files: a limit, as in 4GiB, that is checked first."),
    ] = None
    no_baselines: Annotated[
        bool | None,
        typer.Option("--no-baselines", help="Leave out the baselines popular and random, which are not models here."),
    ] = None
    no_group_seeds: Annotated[
        bool | None,
        typer.Option(
            "--no-group-seeds", help="Judge als/seed0, als/seed1 and so on as models of their own, not as one model."
        ),
    ] = None
    against: Annotated[
        Path | None,
        typer.Option(help="JSON of an earlier run; report what changed, and how much the size of the test explains."),
    ] = None
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUPS", help="Estimates by group: FILE:COLUMN, popularity or test:week; repeatable."),
    ] = None
    json: JsonFile = None
    html: HtmlFile = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="table|md|csv|latex|json",
            help="What to print: tables for the terminal, or the estimates as Markdown, CSV, LaTeX or JSON "
            "[default: table].",
            autocompletion=complete_one_of(*FORMATS),
        ),
    ] = None
    config: Annotated[Path | None, typer.Option(help="TOML file with these options; flags take precedence.")] = None
    allow_imports: Annotated[
        bool, typer.Option("--allow-imports", help="Let words of --config such as module:Name run code.")
    ] = False
    quiet: Annotated[bool | None, typer.Option("--quiet", "-q", help="Print no table, progress or warnings.")] = None
    _: KW_ONLY
    label_col: Annotated[
        str | None, typer.Option(help="Column of labels 0 and 1 in exposed files [default: label, if present].")
    ] = None
    weight_col: WeightColumn = None

    def with_config(self) -> "EvaluateOptions":
        """These options, completed by those of the ``--config`` file."""
        if self.config is None:
            return self
        hints = get_type_hints(EvaluateOptions)
        kinds = {field.name: _kind(hints[field.name]) for field in fields(self) if field.name not in _NOT_IN_FILES}
        kinds["columns"] = kinds.pop("header")  # keys are the names of options
        from_file = read_config(self.config, kinds, imports=self.allow_imports)
        if "columns" in from_file:
            from_file["header"] = from_file.pop("columns")
        return replace(self, **{name: value for name, value in from_file.items() if not _is_given(getattr(self, name))})

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of `evaluate` that were given."""
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
        given = [getattr(self, name) for name in INPUTS]
        return [*(None if path is None else path_of(path) for path in given), *model_files(self.models)]

    @property
    def outputs(self) -> Outputs:
        """The files that are written."""
        return Outputs(self.json, self.html, self.format)


SETTINGS = (
    *("propensity", "candidates", "ties", "positive", "level", "interval", "seed", "block_size", "unlisted", "users"),
    *("scale", "allow_missing", "assume"),
)
"""Options that are keywords of `evaluate` with the same name; metric and estimator are plural there."""
INPUTS = ("train", "test", "exposed", "catalogue", "uniform", "validation", "relevant_counts", "against")


_NOT_IN_FILES = ("config", "allow_imports")
"""Options that a ``--config`` file cannot have."""


def _is_given(value: object) -> bool:
    return value is not None and value != []


def _kind(hint: Any) -> type:
    """The type of an option that may be left out: list for ``list[str] | None``."""
    kind: type = next(one for one in get_args(hint) if one is not NoneType)
    return get_origin(kind) or kind
