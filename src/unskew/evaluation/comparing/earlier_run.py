"""`Earlier`: an earlier run, from its report or from the JSON that it wrote."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from unskew import __version__
from unskew.data.formats.json_file import Anything, Each, Least, conform, read_json
from unskew.errors import ConfigError, DataError, Option, first_of
from unskew.estimators import Estimate
from unskew.evaluation.record import ROWS_A_USER

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Other: TypeAlias = Union["Report", Mapping[str, Any], str, Path]
Words: TypeAlias = tuple[str, str, str]  # model, metric, estimator

_KINDS = {"str": str, "float": float, "int": Least(0), "float | None": (float, None)}
_ESTIMATE = {  # a union has a name of its own from Python 3.14 on, so that only classes are asked for theirs
    each.name: _KINDS[each.type.__name__ if isinstance(each.type, type) else str(each.type)]
    for each in fields(Estimate)
}
"""The schema of an estimate, from its types."""
FEW = 6  # names or words that are listed one by one


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier run, as far as it is known."""

    where: str  # its name in messages
    run: Mapping[str, Any]  # what decided its numbers
    estimates: tuple[Estimate, ...]
    report: "Report | None" = None  # with its ranks; None when only its JSON is available
    file: str | None = None

    @property
    def by_words(self) -> dict[Words, Estimate]:
        """The estimates by model, metric and estimator."""
        return {(row.model, row.metric, row.estimator): row for row in self.estimates}

    def check_shared(self, here: Collection[Words]) -> None:
        """Refuse a run that has no estimate in common with these words."""
        there = self.by_words
        names, their_names = ({model: None for model, _, _ in keys} for keys in (here, there))
        if names.keys().isdisjoint(their_names):
            raise ConfigError(
                f"{self.where}: no model in common (there {first_of(their_names, FEW)}; here {first_of(names, FEW)}); "
                "name the model as it was named there, as in NAME=FILE"
            )
        if there.keys().isdisjoint(here):
            known = dict.fromkeys(f"{metric} by {estimator}" for model, metric, estimator in there if model in names)
            raise ConfigError(
                f"{self.where}: no metric and estimator in common; it has {first_of(known, FEW)}, ask for those"
            )


def read_earlier(other: "Other | Earlier") -> Earlier:
    """Return the earlier run of a report or of its JSON; refuse anything else, and other versions."""
    from unskew.evaluation.report import Report

    if isinstance(other, Earlier):
        return other
    if not isinstance(other, Report | Mapping | str | Path):
        raise DataError(
            f"the earlier run must be a report, its JSON or the file that holds it, not {type(other).__name__}; "
            f"{_hint()}"
        )
    if isinstance(other, Report):
        return Earlier("the other report", other.run, other.estimates, other)
    if isinstance(other, Mapping):
        return _checked(other, "the other run")
    path = Path(other)
    given = read_json(path, "the JSON of a report", _hint())
    if not isinstance(given, dict):
        raise DataError(f"{path}: not the JSON of a report; {_hint()}")
    return replace(_checked(given, str(path)), file=str(path))


def _checked(given: Mapping[str, Any], where: str) -> Earlier:
    for key, what in (("study", "a study"), ("audit", "an audit")):
        if key in given:
            raise DataError(f"{where}: the JSON of {what}, not of a report; {_hint()}")
    missing = [key for key in ("unskew", "run", "estimates") if key not in given]
    if missing:
        raise DataError(f"{where}: not the JSON of a report, because it has no {missing[0]!r}; {_hint()}")
    version = str(given["unskew"])
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise DataError(
            f"{where}: written by unskew {version}, but this is {__version__}, where the same words may mean other "
            "things; make it again with this version"
        )
    complete = f"{where}: not a complete report"
    conform(given["estimates"], [Each(Anything)], complete, _hint(), "estimates")
    rows = [{name: row[name] for name in _ESTIMATE if name in row} for row in given["estimates"]]
    conform(rows, [_ESTIMATE], complete, _hint(), "estimates")
    try:
        _check_run(given["run"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{complete} ({type(error).__name__}: {error}); {_hint()}") from error
    return Earlier(where, given["run"], tuple(Estimate(**row) for row in rows))


def _check_run(run: Mapping[str, Any]) -> None:
    if not all(isinstance(part, Mapping) for part in (run, run["data"], *run["data"].values(), *_parts(run))):
        raise TypeError("the data and the judged rows must be objects")
    for part in _parts(run):
        if not all(isinstance(part[key], int) and part[key] > 0 for key in ("users", "rows")):
            raise ValueError("users and rows must be whole numbers above 0")
    _check_sizes(run["judged"])
    if not isinstance(run["data"]["test"]["sha256"], str):
        raise TypeError("the test has no fingerprint")
    if not isinstance(run["models"], Mapping):
        raise TypeError("models must be names and words")


def _parts(run: Mapping[str, Any]) -> list[Any]:
    return [run["judged"], *([run["rated"]] if "rated" in run else [])]


def _check_sizes(judged: Mapping[str, Any]) -> None:
    """Refuse numbers of users by number of rows that do not add up."""
    if ROWS_A_USER not in judged:
        return
    sizes = {int(size): users for size, users in judged[ROWS_A_USER].items()}
    whole = all(isinstance(users, int) and users > 0 and size > 0 for size, users in sizes.items())
    rows = sum(size * users for size, users in sizes.items())
    if not whole or (sum(sizes.values()), rows) != (judged["users"], judged["rows"]):
        raise ValueError(f"{ROWS_A_USER} must be numbers of users that add up to users and rows")


def _hint() -> str:
    return f"give what '{Option('json', command='evaluate')}' wrote"
