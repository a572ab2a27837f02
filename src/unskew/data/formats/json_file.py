"""JSON that goes in: read without trust, and compared with a schema that names what does not fit."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from unskew.data.reading import check_readable, read_content
from unskew.errors import DataError, did_you_mean

_MOST = 1 << 28
"""Bytes of a file; nothing that this program writes comes near."""


def read_json(path: str | Path, what: str, hint: str) -> Any:
    """The data of a JSON file.

    Parameters
    ----------
    path : str or Path
    what : str
        What the file should be, as in ``the JSON of a report``.
    hint : str
        What to do if it is something else.

    Raises
    ------
    DataError
        If it is missing, too large, not JSON, or has numbers that are not finite.
    """
    check_readable(Path(path))
    content = read_content(Path(path))
    if len(content) > _MOST:
        raise DataError(f"{path}: {len(content):,} bytes, more than {what} can have; {hint}")
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path}: not {what}, because it is not JSON ({reason:.120}); {hint}") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


@dataclass(frozen=True)
class Each:
    """An object with any keys, whose values all have this schema."""

    schema: Any


@dataclass(frozen=True)
class Least:
    """A whole number of at least this."""

    number: int


class Anything:
    """Whatever JSON can hold."""


def conform(data: Any, schema: Any, where: str, hint: str, path: str = "") -> None:
    """Refuse data that do not have a schema.

    Parameters
    ----------
    data : any
        As `json.loads` returns it.
    schema : any
        A mapping of all keys to their schemas; a list with the schema of its elements; `Each`; `Least`; a tuple of
        alternatives; ``str``, ``bool``, ``int``, ``float`` (a finite number), ``None``; or `Anything`.
    where : str
        Name of the file in messages.
    hint : str
        What to do about it.

    Raises
    ------
    DataError
        With the place of the first thing that does not fit, as in ``worlds[2].loss``.

    Examples
    --------
    >>> from unskew.data.formats.json_file import Each, conform
    >>> conform({"n": 3, "by": {"a": 0.5}}, {"n": int, "by": Each(float)}, "x.json", "make it again")
    """
    problem = _problem(data, schema, path)
    if problem:
        raise DataError(f"{where}: {problem}; {hint}")


def _problem(data: Any, schema: Any, path: str) -> str:
    """What does not fit, empty if all does."""
    if isinstance(schema, Mapping):
        return _problem_of_object(data, schema, path)
    if isinstance(schema, list | Each):
        return _problem_of_parts(data, schema, path)
    if isinstance(schema, tuple):
        problems = [_problem(data, each, path) for each in schema]
        return "" if "" in problems else max(problems, key=len)
    fits, words = _scalar(data, schema)
    return "" if fits or schema is Anything else _other(data, words, path)


def _problem_of_parts(data: Any, schema: list[Any] | Each, path: str) -> str:
    if isinstance(schema, Each):
        if not isinstance(data, Mapping):
            return _other(data, "an object", path)
        return _first((value, schema.schema, _below(path, key)) for key, value in data.items())
    if not isinstance(data, list):
        return _other(data, "a list", path)
    return _first((value, schema[0], f"{path}[{place}]") for place, value in enumerate(data))


def _scalar(data: Any, schema: Any) -> tuple[bool, str]:
    number = isinstance(data, int) and not isinstance(data, bool)
    if schema is None:
        return data is None, "null"
    if schema is str:
        return isinstance(data, str), "a text"
    if schema is bool:
        return isinstance(data, bool), "true or false"
    if isinstance(schema, Least):
        return number and schema.number <= data < 2**63, f"a whole number of at least {schema.number}"
    if schema is int:
        return number and abs(data) < 2**63, "a whole number"
    finite = isinstance(data, float) and math.isfinite(data)
    return finite or (number and abs(data) < 2**63), "a number"


def _problem_of_object(data: Any, schema: Mapping[str, Any], path: str) -> str:
    if not isinstance(data, Mapping):
        return _other(data, "an object", path)
    missing = [key for key in schema if key not in data]
    if missing:
        return f"no {_below(path, missing[0])!r}"
    unknown = [key for key in data if key not in schema]
    if unknown:
        return f"unknown key {_below(path, unknown[0])!r:.80}{did_you_mean(unknown[0], list(schema))}"
    return _first((data[key], each, _below(path, key)) for key, each in schema.items())


def _first(parts: Iterable[tuple[Any, Any, str]]) -> str:
    """The problem of the first part that has one; parts are data, schema and path."""
    return next((problem for part in parts if (problem := _problem(*part))), "")


def _other(data: Any, words: str, path: str) -> str:
    return f"{path or 'it'} is {json.dumps(data, default=str)[:60]}, not {words}"


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
