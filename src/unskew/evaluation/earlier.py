"""An earlier run, from its report or from the JSON it wrote."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from unskew import __version__
from unskew.data.reading import check_readable, read_content
from unskew.errors import ConfigError, DataError
from unskew.estimators import Estimate

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Other: TypeAlias = Union["Report", Mapping[str, Any], str, Path]

_HINT = "give what 'unskew evaluate --json' wrote"
_NUMBERS = ("value", "std_error")


@dataclass(frozen=True, eq=False)
class Earlier:
    """What is known of an earlier run.

    Parameters
    ----------
    where : str
        What to call it in messages.
    run : mapping
        What decided its numbers.
    estimates : tuple of Estimate
    report : Report or None
        The run itself, with its ranks; None when only its JSON is at hand.
    """

    where: str
    run: Mapping[str, Any]
    estimates: tuple[Estimate, ...]
    report: "Report | None" = None

    def check_models(self, names: Iterable[str]) -> None:
        """Refuse a run that shares no model with these."""
        theirs = list(dict.fromkeys(row.model for row in self.estimates))
        if not set(theirs) & set(names):
            raise ConfigError(
                f"{self.where}: no model in common (there {', '.join(theirs[:5]) or 'none'}; here "
                f"{', '.join(list(names)[:5])}); name the model as it was named there, as in NAME=FILE"
            )


def read_earlier(other: "Other | Earlier") -> Earlier:
    """Take a report as it is, or read the JSON of one.

    Raises
    ------
    DataError
        For what is no file, no JSON, or the JSON of something else or of another version.
    """
    from unskew.evaluation.report import Report

    if isinstance(other, Earlier):
        return other
    if isinstance(other, Report):
        return Earlier("the other report", other.run, other.estimates, other)
    if isinstance(other, Mapping):
        return _checked(other, "the other run")
    path = Path(other)
    check_readable(path)
    try:
        given = json.loads(read_content(path).decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error}); {_HINT}") from error
    if not isinstance(given, dict):
        raise DataError(f"{path}: not the JSON of a report; {_HINT}")
    return _checked(given, str(path))


def _checked(given: Mapping[str, Any], where: str) -> Earlier:
    for key, what in (("study", "a study"), ("audit", "an audit")):
        if key in given:
            raise DataError(f"{where}: the JSON of {what}, not of a report; {_HINT}")
    missing = [key for key in ("unskew", "run", "estimates") if key not in given]
    if missing:
        raise DataError(f"{where}: not the JSON of a report, for it has no {missing[0]!r}; {_HINT}")
    version = str(given["unskew"])
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise DataError(
            f"{where}: written by unskew {version}, and this is {__version__}, which may mean other things by the same "
            "words; make it again with this version"
        )
    try:
        _check_run(given["run"])
        rows = tuple(_estimate(row) for row in given["estimates"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{where}: not a whole report ({type(error).__name__}: {error}); {_HINT}") from error
    return Earlier(where, given["run"], rows)


def _check_run(run: Mapping[str, Any]) -> None:
    for part in [run["judged"], *([run["rated"]] if "rated" in run else [])]:
        if not all(isinstance(part[key], int) and part[key] > 0 for key in ("users", "rows")):
            raise ValueError("users and rows must be whole numbers above 0")
    if not isinstance(run["data"]["test"]["sha256"], str):
        raise TypeError("the test has no fingerprint")
    if not isinstance(run["models"], Mapping):
        raise TypeError("models must be names and words")


def _estimate(row: Mapping[str, Any]) -> Estimate:
    made = Estimate(**{field.name: row[field.name] for field in fields(Estimate)})
    for name in _NUMBERS:
        number = getattr(made, name)
        if number is not None and not (isinstance(number, int | float) and math.isfinite(number)):
            raise ValueError(f"{name} must be a number or null")
    if not all(isinstance(word, str) for word in (made.model, made.metric, made.estimator)):
        raise TypeError("model, metric and estimator must be texts")
    return made
