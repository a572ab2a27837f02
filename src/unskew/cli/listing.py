"""The command ``unskew list``: it prints the names that options accept."""

import dataclasses
import inspect
import json
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from unskew.cli.completion import complete_one_of
from unskew.cli.options import AsJson
from unskew.cli.screen import screen
from unskew.display.phrases import capital
from unskew.display.text_table import print_table, table, words
from unskew.errors import ConfigError, did_you_mean
from unskew.notation import Named

FAMILIES = (
    "metrics",
    "estimators",
    "propensities",
    "models",
    "candidates",
    "intervals",
    "datasets",
    "worlds",
    "profile-sizes",
    "studies",
    "presets",
)

_ONE = {"propensities": "propensity"}

What = Annotated[
    str | None,
    typer.Argument(
        help=f"One of: {', '.join(FAMILIES)} [default: all of them].", autocompletion=complete_one_of(*FAMILIES)
    ),
]


def list_command(what: What = None, as_json: AsJson = False) -> None:
    """List the names that options accept, with definitions."""
    if what is not None and what not in FAMILIES:
        raise ConfigError(f"cannot list {what!r}{did_you_mean(what, FAMILIES)}")
    rows = {family: entries(family) for family in (FAMILIES if what is None else (what,))}
    if as_json:
        typer.echo(json.dumps(rows if what is None else rows[what], indent=2))
        return
    console = screen(highlight=True)
    for family, members in rows.items():
        columns = words(*(name.replace("_", " ") for name in members[0]))
        title = capital(family) if what is None else None
        print_table(table(title, columns, [[_flat(value) for value in row.values()] for row in members]), console)


def entries(what: str) -> list[dict[str, Any]]:
    """The members of a family, one dictionary each."""
    if what == "metrics":
        from unskew.metrics import list_metrics

        return [
            {
                "metric": e.form,
                "kind": e.kind,
                "unbiased_to_missing": e.unbiased_to_missing,
                "definition": e.definition,
                "options": dict(e.options),
            }
            for e in list_metrics()
        ]
    if what == "datasets":
        from unskew.data.sources import SOURCES

        return [{"dataset": name, "title": source.title, "licence": source.licence} for name, source in SOURCES.items()]
    if what == "studies":
        from unskew.studies import STUDIES

        return [
            {"study": f"{study.name}/{table.name}", "title": table.title, "data": ", ".join(table.needs)}
            for study in STUDIES.values()
            for table in study.tables
        ]
    if what == "presets":
        from unskew.evaluation import PRESETS

        return [
            {
                "preset": name,
                "description": preset.title,
                "options": {key: _flat(value) for key, value in preset.settings.items()},
            }
            for name, preset in PRESETS.items()
        ]
    return [
        {
            _ONE.get(what, what.removesuffix("s")): member.word,
            "description": _summary(member),
            "options": _options(member),
        }
        for member in _family(what).members()
    ]


def _family(what: str) -> type[Named]:
    from unskew.data import Candidates
    from unskew.estimators import Estimator, Interval
    from unskew.models import Model
    from unskew.propensities import PropensityModel
    from unskew.simulators import ProfileSizes, WorldModel

    families: dict[str, type[Named]] = {
        "estimators": Estimator,
        "propensities": PropensityModel,
        "models": Model,
        "candidates": Candidates,
        "intervals": Interval,
        "worlds": WorldModel,
        "profile-sizes": ProfileSizes,
    }
    return families[what]


def _summary(member: type[Named]) -> str:
    return inspect.cleandoc(member.__doc__ or "").split("\n\n", 1)[0].replace("\n", " ")


def _options(member: type[Named]) -> dict[str, str]:
    hints = get_type_hints(member)
    options = {}
    fields = [field for field in dataclasses.fields(member) if field.init]  # type: ignore[arg-type]
    # first its own options, then those that the family shares
    for field in sorted(fields, key=lambda field: field.name not in inspect.get_annotations(member)):
        hint = hints[field.name]
        choices = "|".join(map(str, get_args(hint))) if get_origin(hint) is Literal else ""
        default = "needed" if field.default is dataclasses.MISSING else f"{field.default}"
        options[field.name.replace("_", "-")] = f"{default} ({choices})" if choices else default
    return options


def _flat(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={shown}" for key, shown in value.items())
    return str(value)
