"""``--config RUN.toml``: the options of a run in a file."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from unskew.data.reading import check_readable
from unskew.errors import ConfigError, DataError, did_you_mean

_PATHS = {
    "train",
    "test",
    "exposed",
    "catalogue",
    "uniform",
    "validation",
    "relevant_counts",
    "checkpoints",
    "against",
    "json",
    "html",
}
_MODEL_FILES = {"factors", "scores", "predictions"}
_LISTS = {"metric", "estimator", "factors", "scores", "predictions", "model"}
_TABLES = ("mcar", "users", "items")  # options of propensity models that name files
_WHOLE: tuple[tuple[type, ...], str] = ((int,), "a whole number")
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "level": ((float, int), "a number"),
    "max_dropped": ((float, int), "a number"),
    "seed": _WHOLE,
    "threads": _WHOLE,
    "block_size": _WHOLE,
    "quiet": ((bool,), "true or false"),
    "allow_missing": ((bool,), "true or false"),
}


def read_config(path: Path, known: set[str]) -> dict[str, Any]:
    """Read a TOML file whose keys are the long option names; paths are relative to the file.

    Raises
    ------
    ConfigError
        For a key that is no option, or a value of the wrong kind.
    """
    check_readable(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f'{path}: not valid TOML ({error}); write lines such as metric = ["auc"]') from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    resolved: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if isinstance(value, dict):
            raise ConfigError(f"{path}: table [{key}] means nothing here; put the options at the top level")
        if name not in known:
            options = sorted(option.replace("_", "-") for option in known)
            raise ConfigError(f"{path}: unknown key {key!r}{did_you_mean(key, options)}")
        resolved[name] = _value(name, value, path)
    return resolved


def _value(name: str, value: Any, path: Path) -> Any:
    if name in _LISTS:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise ConfigError(f"{path}: {_key(name)} = {value!r}: expected text or a list of texts")
        if name == "model":
            return [_model_word(one, path.parent) for one in values]
        return [_model_file(one, path.parent) for one in values] if name in _MODEL_FILES else values
    if name in _PATHS:
        if not isinstance(value, str):
            raise ConfigError(f"{path}: {_key(name)} = {value!r}: expected the path of a file, as text")
        return Path(value) if value == "-" else path.parent / value
    if name == "propensity" and isinstance(value, str):
        return _with_folder(value, path.parent)
    kinds, expected = _KINDS.get(name, ((str,), "text"))
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ConfigError(f"{path}: {_key(name)} = {value!r}: expected {expected}")
    return value


def _key(name: str) -> str:
    return name.replace("_", "-")


def _model_file(text: str, folder: Path) -> str:
    name, equals, file = text.partition("=")
    whole = folder / text
    return f"{name}={folder / file}" if equals and not whole.exists() else str(whole)


def _model_word(text: str, folder: Path) -> str:
    from unskew.models import Model

    name, word = split_name(text)
    model: Any = Model.from_word(word)
    own = getattr(model, "propensity", "")
    return f"{name}={replace(model, propensity=_with_folder(own, folder))}" if own else text


def _with_folder(text: str, folder: Path) -> str:
    """A word whose files are named from the folder of the TOML file."""
    from unskew.propensities import From, PropensityModel

    built: Any = PropensityModel.from_word(text)
    files = {key: getattr(built, key) for key in _TABLES if isinstance(getattr(built, key, None), str)}
    moved = {key: str(folder / file) for key, file in files.items()}
    source = getattr(built, "source", None)
    if isinstance(source, From):
        moved["gamma"] = str(From(str(folder / source.file)))
    return str(replace(built, **moved)) if moved else text


def split_name(text: str) -> tuple[str, str]:
    """The name and the word of ``NAME=WORD``; a word alone is its own name."""
    match = re.fullmatch(r"([^=()]*)=(.*)", text)
    name, word = match.groups() if match else (text, text)
    if not name or not word:
        raise ConfigError(f"cannot read {text!r}; write NAME=WORD or WORD, as in als(factors=32)")
    return name.strip(), word
