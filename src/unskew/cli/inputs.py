"""Readers of what commands are given: logs, models, counts of relevant items, and ``--config RUN.toml``."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.errors import ConfigError, DataError, did_you_mean

if TYPE_CHECKING:
    from unskew.data import Columns, Interactions

MODEL_FILES = ("factors", "scores", "predictions")
_PROPENSITY_FILES = ("mcar", "users", "items")  # options of propensity models that name files
_KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    str: ((str,), "text"),
    int: ((int,), "a whole number"),
    float: ((float, int), "a number"),
    bool: ((bool,), "true or false"),
}


def read_log(log: Path, columns: "Columns", *, once: bool = True) -> "Interactions":
    """The rows of a file, or of a data set of that name; repeated rows of a file only `once`."""
    from unskew.cli.screen import aside
    from unskew.data.formats.file_format import STDIN
    from unskew.data.sources import SOURCES, status_of

    if log == STDIN or path_of(log) != log:  # what is said of a file is not said of a data set
        return columns.read(log, once=once)
    if not log.exists() and str(log) in SOURCES:
        source = SOURCES[str(log)]
        interactions = source.read()
        if note := status_of(source).note:
            aside().print(f"note: {log}: {note}", markup=False, highlight=False)
        return interactions
    if not log.exists() and log.name == str(log) and not log.suffix:
        raise DataError(f"{log}: no such file or data set{did_you_mean(str(log), SOURCES)}")
    return columns.read(log, once=once)


def is_data_set(path: Path | None) -> bool:
    """Whether a path is a folder of Parquet files, or a URL."""
    from unskew.data.partitions.locations import as_location, is_folder, is_url

    if path is None:
        return False
    file = path_of(path)
    there = is_folder(file) or is_url(as_location(file))
    if there and file != path:
        raise ConfigError(
            f"{path}: only a single file can have names of its own; use --user-col and so on for a folder"
        )
    return there


def path_of(given: Path) -> Path:
    """The file itself, without the names of columns that may follow it."""
    from unskew.data.columns import split_names

    return Path(split_names(str(given))[0])


def check_judgements(given: Path, rows: "Interactions", positive: str | None) -> None:
    """Refuse to count rows of a qrels file as positives if it judges them not relevant."""
    from unskew.data import TableFile
    from unskew.data.formats.file_format import TREC

    file = TableFile.parse(given)
    is_trec = file.format.of_file(file.path).kind in TREC
    if is_trec and positive is None and rows.values is not None and rows.values.min(initial=1) <= 0:
        raise ConfigError(f"{file.name}: has rows of relevance 0, which are not positives; add --positive 'rating>=1'")


def check_stdin(inputs: Iterable[Path | None]) -> None:
    """Refuse a second input that is stdin, because it can be read once."""
    from unskew.data.formats.file_format import STDIN

    if sum(path == STDIN for path in inputs) > 1:
        raise ConfigError("two inputs are -, but stdin can be read once; name a file for one of them")


def read_models(
    given: Mapping[str, list[str] | None], columns: "Columns", *, parts: int | None = None, work: Path | None = None
) -> dict[str, Any]:
    """The models by name. A table of predictions with the name of a model that ranks becomes part of that model.

    `given` has texts under ``factors``, ``scores``, ``model`` and ``predictions``; each may be missing or None. With
    `parts`, tables of scores and predictions may be data sets in that number of parts; those in another layout are
    copied to the folder `work`.
    """
    from unskew.models import Model
    from unskew.models.model import is_file_name
    from unskew.ranking import read_factors, read_predictions, read_scores

    models: dict[str, Any] = {}
    for name, path in named_files(given.get("factors")):
        _add(models, name, read_factors(path))
    for name, path in named_files(given.get("scores")):
        table = _open_table(path, columns, parts, work, name)
        _add(models, name, table or read_scores(path, user=columns.user, item=columns.item))
    for text in given.get("model") or []:
        name, word = split_name(text)
        if is_file_name(word):
            raise ConfigError(f"--model {text}: this ends like a file; give it as --scores, --factors or --predictions")
        _add(models, name, Model.from_word(word))
    predicted: dict[str, Any] = {}
    for name, path in named_files(given.get("predictions")):
        table = _open_table(path, columns, parts, work, name)
        _add(predicted, name, table or read_predictions(path, user=columns.user, item=columns.item))
    for name, table in predicted.items():
        models[name] = (models[name], table) if name in models else table
    return models


def _open_table(path: Path, columns: "Columns", parts: int | None, work: Path | None, name: str) -> Any:
    """A table of scores as a data set, if it is a folder or a URL and the run is over parts; else None."""
    if parts is None or not is_data_set(path):
        return None
    from unskew.data.partitions import open_by_user
    from unskew.data.partitions.locations import as_location
    from unskew.evaluation.partitioned.part_models import PartTable

    copy = None if work is None else work / f"model-{name}"
    return PartTable(open_by_user(as_location(path), columns, parts, copy))


def model_files(given: Mapping[str, list[str] | None]) -> list[Path]:
    """The files that models are read from."""
    return [path_of(path) for kind in MODEL_FILES for _, path in named_files(given.get(kind))]


def named_files(texts: Iterable[str] | None) -> Iterable[tuple[str, Path]]:
    """Name and path of each ``NAME=FILE``; a file alone is named after itself.

    A path keeps the names of columns that follow it, as in ``lists.csv:user=uid``.
    """
    from unskew.data.columns import split_names

    for text in texts or []:
        whole, names = split_names(text)
        suffix = f":{names}" if names else ""
        name, equals, path = whole.partition("=")
        if not equals or Path(whole).exists():
            file = Path(whole)
            yield "stdin" if whole == "-" else file.name.removesuffix(".gz").rsplit(".", 1)[0], Path(whole + suffix)
        elif not name or not path:
            raise ConfigError(f"cannot read {text!r}; write NAME=FILE or FILE")
        else:
            yield name, Path(path + suffix)


def split_name(text: str) -> tuple[str, str]:
    """The name and the word of ``NAME=WORD``; a word alone is its own name."""
    match = re.fullmatch(r"([^=()]*)=(.*)", text)
    name, word = match.groups() if match else (text, text)
    if not name or not word:
        raise ConfigError(f"cannot read {text!r}; write NAME=WORD or WORD, as in als(factors=32)")
    return name.strip(), word


def _add(models: dict[str, Any], name: str, model: Any) -> None:
    if name in models:
        raise ConfigError(f"two models are called {name!r}; give one another name, as in other={name}")
    models[name] = model


def read_groups(words: Iterable[str], columns: "Columns") -> list[tuple[Any, str | None]]:
    """What to group by, and the column of it: a word, or a table of users or items."""
    from unskew.data.reading import read_table
    from unskew.evaluation.slicing.groups import PERIODS, find_groups

    known = {"popularity", *(f"test:{period}" for period in PERIODS)}
    groups: list[tuple[Any, str | None]] = []
    for word in words:
        file, colon, column = word.rpartition(":") if not Path(word).exists() else (word, "", "")
        if word in known or (file == "test" and not Path(file).exists()) or not Path(file).exists():
            if word not in known and colon and file != "test":
                raise DataError(f"--by {word}: no such file {file!r}; write FILE:COLUMN, or one of {', '.join(known)}")
            groups.append((word, None))
            continue
        table = read_table(Path(file))
        renamed = {columns.user: "user", columns.item: "item"}
        table = table.rename({old: new for old, new in renamed.items() if old in table.columns and old != new})
        groups.append((table, find_groups(table, column or None, file)[1]))  # before the long work
    return groups


def read_relevant(path: Path, columns: "Columns") -> Any:
    """The table of relevant counts, its user column called ``user``."""
    import polars as pl

    from unskew.data import TableFile
    from unskew.data.frames import find_column, to_numbers

    file = TableFile.parse(path, ("user", "relevant"))
    frame, name = file.read(), file.name
    if frame.is_empty():
        raise DataError(f"{name}: has a header but no rows; add a line user,relevant for every user")
    usual = columns.user if columns.user in frame.columns else "user"
    user = find_column(file.names.get("user", usual), frame.columns, name)
    column = file.names.get("relevant", "relevant")
    if column not in frame.columns:
        raise DataError(
            f"{name}: no column {column!r} (it has {', '.join(frame.columns[:8])}); rename the column of counts, or "
            "name it, as in FILE:relevant=NAME"
        )
    counts = to_numbers(frame[column], f"column {column!r} of {name}", times=False)
    return frame.select(frame[user].alias("user"), pl.Series("relevant", counts))


_WORDS = ("metric", "estimator", "propensity", "model", "candidates", "interval")
"""Options whose words may be those of classes of the user's, as in ``module:Name``."""
_IMPORTED = re.compile(r"(?<![\w./\\])[A-Za-z_][\w.]*:[A-Za-z_]\w*(?![\w=])")
"""``module:Name``, and not ``file.csv:encoding=latin-1``."""


def read_config(path: Path, known: Mapping[str, type], *, imports: bool = False) -> dict[str, Any]:
    """Read a TOML file whose keys are long option names, each of a known kind; paths are relative to the file.

    A word such as ``module:Name`` runs the code of that module. It is refused unless `imports` are allowed, because a
    file may come from somebody else.
    """
    from unskew.data.reading import check_readable

    check_readable(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # also integers of thousands of digits, and deep nesting
        reason = f"{str(error).splitlines()[0]:.160}" if str(error) else "nested too deeply"
        raise ConfigError(f'{path}: not valid TOML ({reason}); write lines such as metric = ["auc"]') from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    resolved: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if isinstance(value, dict):
            raise ConfigError(f"{path}: unknown table [{key}]; put the options at the top level")
        if name not in known:
            options = sorted(option.replace("_", "-") for option in known)
            raise ConfigError(f"{path}: unknown key {key!r}{did_you_mean(key, options)}")
        if "\0" in str(
            value if isinstance(value, str) else "".join(map(str, value)) if isinstance(value, list) else ""
        ):
            raise ConfigError(f"{path}: {key} has a null character, which no path or word has; remove it")
        imported = None if imports or name not in _WORDS else _IMPORTED.search(str(value))
        if imported is not None:
            raise ConfigError(
                f"{path}: {key} has {imported.group()}, which runs the code of a module; add --allow-imports if you "
                "trust the file, or give the word on the command line"
            )
        resolved[name] = _value(name, value, known[name], path)
    return resolved


def _value(name: str, value: Any, kind: type, path: Path) -> Any:
    folder, given = path.parent, f"{path}: {name.replace('_', '-')} = {value!r}"
    if kind is list:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise ConfigError(f"{given}: expected text or a list of texts")
        if name == "model":
            return [_model_word(one, folder) for one in values]
        return [_model_file(one, folder) for one in values] if name in MODEL_FILES else values
    if kind is Path:
        if not isinstance(value, str):
            raise ConfigError(f"{given}: expected the path of a file, as text")
        return Path(value) if value.partition(":")[0] == "-" else folder / value
    if name == "propensity" and isinstance(value, str):
        return _with_folder(value, folder)
    kinds, expected = _KINDS[kind]
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{given}: expected {expected}")
    return value


def _model_file(text: str, folder: Path) -> str:
    from unskew.data.columns import split_names

    given, names = split_names(text)
    name, equals, file = given.partition("=")
    if not equals or (folder / given).exists():
        name, file = "", given
    place = file if file == "-" else str(folder / file)
    return (f"{name}=" if name else "") + place + (f":{names}" if names else "")


def _model_word(text: str, folder: Path) -> str:
    from unskew.models import Model

    name, word = split_name(text)
    model: Any = Model.from_word(word)
    propensity = getattr(model, "propensity", "")
    return f"{name}={replace(model, propensity=_with_folder(propensity, folder))}" if propensity else text


def _with_folder(text: str, folder: Path) -> str:
    """A word whose files are named from the folder of the TOML file."""
    from unskew.propensities import From, PropensityModel

    built: Any = PropensityModel.from_word(text)
    files = {key: getattr(built, key) for key in _PROPENSITY_FILES if isinstance(getattr(built, key, None), str)}
    moved = {key: str(folder / file) for key, file in files.items()}
    source = getattr(built, "source", None)
    if isinstance(source, From):
        moved["gamma"] = str(From(str(folder / source.file)))
    return str(replace(built, **moved)) if moved else text
