"""Options of ``unskew evaluate`` for items that were drawn at random and labelled, and the split they make."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.columns import Columns
from unskew.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

    from unskew.data import Interactions, Split
    from unskew.evaluation import Report
    from unskew.evaluation.settings.settings import Settings

ExposedFile = Annotated[
    Path | None,
    typer.Option(
        help="In the place of --test: items drawn at random for each user, all labelled; a table user,item,label with "
        "0 and 1, or ratings and --positive."
    ),
]
PopulationWord = Annotated[
    str | None,
    typer.Option(
        help="Among which items models are judged: unseen in train, where exposed rows that are in train leave the "
        "sample, or all, when a model may recommend what a user has; auto is unseen [default: auto]"
    ),
]
CatalogueFile = Annotated[
    Path | None,
    typer.Option(help="A table with a column item: all items that could be drawn, where train lacks some."),
]
UniformFile = Annotated[
    Path | None,
    typer.Option(help="A small randomly exposed file to learn from, for ips, dr and autodebias; read like --exposed."),
]
LabelCol = Annotated[
    str | None,
    typer.Option("--label-col", help="Column of labels 0 and 1 in exposed files [default: label, if there]."),
]


def check_exposed_options(options: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuse options that do not go together, before any file is read.

    Parameters
    ----------
    options : dict
        Of the command line.
    settings : dict
        Those that ``evaluate`` takes, a preset's included.
    """
    if options["exposed"] is None:
        _check_without(options)
        return
    from unskew.data.exposed import POPULATIONS

    if options["test"] is not None:
        raise ConfigError("--test and --exposed both say what to judge on; give one of them")
    if (options["population"] or "auto") not in POPULATIONS:
        raise ConfigError(f"--population {options['population']}: choose all, unseen or auto")
    for name, why in _NOT_WITH.items():
        if options[name]:
            raise ConfigError(f"--{name.replace('_', '-')} {why}")
    if "candidates" in settings:
        raise ConfigError(
            f"--preset {options['preset']} is for --test, as it ranks among {settings['candidates']}; leave it out, "
            "and name metrics and estimators"
        )


def check_counts_used(options: dict[str, Any], resolved: "Settings") -> None:
    """Refuse numbers of relevant items that no estimator of an exposed test would look at."""
    given = options["exposed"] is not None and options["relevant_counts"] is not None
    if given and not any(estimator.needs_relevant for estimator in resolved.estimators):
        raise ConfigError("--relevant-counts is for ips: ure needs no such numbers; leave it out, or name -e ips")


def _check_without(options: dict[str, Any]) -> None:
    for name in ("population", "catalogue"):
        if options[name] is not None:
            raise ConfigError(f"--{name} goes with --exposed; leave it out, or give exposed items in place of --test")
    if options["label_col"] is not None and options["uniform"] is None:
        raise ConfigError("--label-col is of the files of --exposed and --uniform; leave it out, or give one")


def exposed_split(options: dict[str, Any], columns: Columns) -> "tuple[Split, str, list[str]]":
    """The split of an exposed test, how its population is known, and what to be warned of."""
    from unskew.data import Split, find_population, read_catalogue, with_items

    train, validation = _learnt_from(options, columns)
    notes: list[str] = []
    if options["catalogue"] is not None:
        stated = read_catalogue(options["catalogue"], item=columns.item)
        notes = _beside(train, stated, options["catalogue"])
        train = with_items(train, stated)
    exposed = read_labelled("exposed", options, columns)
    population = find_population(options["population"] or "auto", train, exposed)
    return Split(train, exposed, validation, candidates=population.rule, exposed=True), population.why, notes


def _beside(train: "Interactions", stated: "pl.Series", path: Path) -> list[str]:
    """A warning of training items that the catalogue lacks, which are candidates all the same."""
    own = set(train.item_vocabulary.ids[train.item_counts > 0].tolist())
    lacking = len(own - set(stated.to_list()))
    if not lacking:
        return []
    told = f"{path}: lacks {lacking:,} of {len(own):,} items of train, which are ranked too"
    return [f"{told}; if they could not be drawn, leave them out of train"]


def read_labelled(name: str, options: dict[str, Any], columns: Columns) -> "Interactions":
    """The file of an option with its rows labelled 1 or 0, by its labels or by ``--positive``."""
    from unskew.data import Interactions, read_exposed
    from unskew.data.reading import read_table

    path, label = options[name], options["label_col"]
    if options["scale"] is not None and label is None:
        present = read_table(path).columns
        if "label" not in present and (columns.rating or "rating") in present:
            _scale(options).check(Interactions.read(path, user=columns.user, item=columns.item, rating=columns.rating))
    return read_exposed(
        path, user=columns.user, item=columns.item, label=label, rating=columns.rating, positive=options["positive"]
    )


def tell_population(report: "Report", why: str, notes: list[str]) -> "Report":
    """The report with how the population is known, and warnings of it, as where it was found and not given."""
    from unskew.evaluation.checking import warn

    report = replace(report, inputs=replace(report.inputs, population_by=why), notes=tuple(notes))
    return replace(report, warnings=warn(report)) if notes else report


_NOT_WITH = {
    "candidates": "is for --test: exposed items are ranked among what they were drawn from; use --population",
    "predictions": "are of ratings, and exposed rows have labels; give --scores or --factors",
    "allow_missing": "is for --predictions; leave it out with --exposed",
}


def _learnt_from(options: dict[str, Any], columns: Columns) -> "tuple[Interactions, Interactions | None]":
    train = _read_labels(options["train"], options, columns)
    held = options["validation"]
    validation = None if held is None else _read_labels(held, options, columns)
    if options["scale"] is not None:  # labels are on no scale, so it is checked here and not with the whole split
        for part in (train, validation):
            if part is not None:
                _scale(options).check(part)
    return train, validation


def _read_labels(path: Path, options: dict[str, Any], columns: Columns) -> "Interactions":
    """Rows of train or validation, whose labels are taken where there are no ratings."""
    from unskew.data.exposed import check_labels
    from unskew.data.reading import read_table

    label = options["label_col"] or "label"
    present = read_table(path).columns
    if label not in present or (columns.rating or "rating") in present:
        return columns.read(path, strict=False)
    if (options["positive"] or "").lstrip().startswith("rating"):
        raise ConfigError(
            f"{path}: has labels and no ratings, so --positive {options['positive']!r} cannot be asked of it; give it "
            "ratings too, or labels to all files and no --positive"
        )
    rows = replace(columns, rating=label).read(path, strict=False)
    check_labels(rows.values, rows.name)
    return rows


def _scale(options: dict[str, Any]) -> Any:
    from unskew.evaluation.settings.rating_scale import Scale

    return Scale.parse(options["scale"])
