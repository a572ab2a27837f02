"""``--config RUN.toml``: the options of a run in a file."""

import tomllib
from pathlib import Path
from typing import Any

from unskew.errors import ConfigError, DataError, did_you_mean

_PATHS = {"train", "test", "validation", "relevant_counts", "json", "html"}
_MODEL_FILES = {"factors", "scores"}
_LISTS = {"metric", "estimator", "factors", "scores", "model"}


def read_config(path: Path, known: set[str]) -> dict[str, Any]:
    """Read a TOML file whose keys are the long option names; paths are relative to the file.

    Raises
    ------
    ConfigError
        For a key that is no option, or a value of the wrong kind.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; check the path")
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML ({error})") from error
    resolved: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        if name not in known:
            options = sorted(option.replace("_", "-") for option in known)
            raise ConfigError(f"{path}: unknown key {key!r}{did_you_mean(key, options)}")
        resolved[name] = _value(name, value, path)
    return resolved


def _value(name: str, value: Any, path: Path) -> Any:
    if name in _LISTS:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise ConfigError(f"{path}: {name} must be text or a list of texts")
        return [_model_file(one, path.parent) for one in values] if name in _MODEL_FILES else values
    if name in _PATHS:
        if not isinstance(value, str):
            raise ConfigError(f"{path}: {name} must be the path of a file, as text")
        return path.parent / value
    kinds: dict[str, tuple[type, ...]] = {
        "level": (float, int),
        "seed": (int,),
        "threads": (int,),
        "block_size": (int,),
        "quiet": (bool,),
    }
    expected = kinds.get(name, (str,))
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        raise ConfigError(f"{path}: {name} = {value!r} is not of the kind expected ({expected[0].__name__})")
    return value


def _model_file(text: str, folder: Path) -> str:
    name, equals, file = text.partition("=")
    return f"{name}={folder / file}" if equals else str(folder / text)
