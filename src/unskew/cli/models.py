"""Models named on the command line: files of factors, scores or predictions, and words of built-in ones."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.columns import Columns
from unskew.cli.config import split_name
from unskew.errors import ConfigError

FILE_KINDS = ("factors", "scores", "predictions")

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


def read_models(options: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """The models by name; a table of predictions named like a model that ranks is one model with it.

    Parameters
    ----------
    options : dict
        Texts under ``factors``, ``scores``, ``model`` and ``predictions``; one may be missing or None.
    columns : Columns
    """
    from unskew.models import Model
    from unskew.ranking import read_factors, read_predictions, read_scores

    models: dict[str, Any] = {}
    for name, path in named_files(options.get("factors")):
        _add(models, name, read_factors(path))
    for name, path in named_files(options.get("scores")):
        _add(models, name, read_scores(path, user=columns.user, item=columns.item))
    for text in options.get("model") or []:
        name, word = split_name(text)
        _add(models, name, Model.from_word(word))
    predicted: dict[str, Any] = {}
    for name, path in named_files(options.get("predictions")):
        _add(predicted, name, read_predictions(path, user=columns.user, item=columns.item))
    for name, table in predicted.items():
        models[name] = (models[name], table) if name in models else table
    return models


def model_files(options: dict[str, Any]) -> list[Path]:
    """The files that models are read from."""
    return [path for kind in FILE_KINDS for _, path in named_files(options.get(kind))]


def named_files(texts: Iterable[str] | None) -> Iterable[tuple[str, Path]]:
    """Name and path of each ``NAME=FILE``; a file alone is named after itself."""
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
        raise ConfigError(f"two models are called {name!r}; name them apart, as in other={name}")
    models[name] = model
