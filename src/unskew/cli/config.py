"""``--config RUN.toml``: the options of a run in a file."""

import tomllib
from pathlib import Path
from typing import Any

from unskew.data.reading import check_readable
from unskew.errors import ConfigError, DataError, did_you_mean

_PATHS = {"train", "test", "validation", "relevant_counts", "json", "html"}
_MODEL_FILES = {"factors", "scores", "predictions"}
_LISTS = {"metric", "estimator", "factors", "scores", "predictions", "model"}
_WHOLE: tuple[tuple[type, ...], str] = ((int,), "a whole number")
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "level": ((float, int), "a number"),
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
        return [_model_file(one, path.parent) for one in values] if name in _MODEL_FILES else values
    if name in _PATHS:
        if not isinstance(value, str):
            raise ConfigError(f"{path}: {_key(name)} = {value!r}: expected the path of a file, as text")
        return Path(value) if value == "-" else path.parent / value
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
