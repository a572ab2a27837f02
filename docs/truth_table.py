"""Tables of measured errors as Markdown, from the JSON that ``unskew reproduce truth --json F`` wrote.

``python docs/truth_table.py F`` keeps what the tables need of it in ``docs/_data/truth.json``, and writes the table of
the README again.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[1]
DATA, README = ROOT / "docs" / "_data" / "truth.json", ROOT / "README.md"
START, END = "<!-- truth: start -->", "<!-- truth: end -->"
"""The table of the README is between these lines."""
HOW = "run `unskew reproduce truth --json truth.json` and `python docs/truth_table.py truth.json`"
ABSENT = f"*Not measured yet: {HOW}.*"
FAST = f"*These numbers are from a fast run: {HOW} for all of it.*"
COLUMNS = ("error", "tau", "coverage")
PUBLISHED = "snips, popularity"
LABELLED, SLICED = "ratings or labels", "ratings or labels, and random rows"
POSITIVE, POSITIVE_SLICED = "positives alone", "positives, and random rows"
FORMS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        LABELLED: ("naive", PUBLISHED, "snips, exposure", "dm", "dr", "blend", "auto"),
        SLICED: ("blend, 1 % slice", "blend, 3 % slice"),
        POSITIVE: (
            "positives: naive",
            f"positives: {PUBLISHED}",
            "positives: snips, exposure",
            "positives: auto",
        ),
        POSITIVE_SLICED: ("positives: blend(q=slice), 1 % slice", "positives: blend(q=slice), 3 % slice"),
    }
)
"""Rows of the study that are shown, by what a log has; those that a run lacks are left out."""
NAMES: Mapping[str, str] = MappingProxyType({PUBLISHED: f"{PUBLISHED} (published)"})
SETS: Mapping[str, Sequence[str]] = MappingProxyType(
    {"Simulated worlds": ("worlds", "large"), "Real data": ("coat", "kuairec", "jester")}
)
"""Tables of the study by the title under which they are shown."""
SELECTIVE = ("pop", "popq", "personal", "self", "mixed", "adverse")
Logs: TypeAlias = tuple[Sequence[str], Sequence[str] | None]
"""Tables of a study, and their data sets whose mean is shown, all by default."""
SHORT: Mapping[str, Logs] = MappingProxyType(
    {
        "six worlds with selection": (("worlds",), SELECTIVE),
        "a world without selection": (("worlds",), ("mar",)),
        "six logs of Coat, KuaiRec, Jester": (SETS["Real data"], None),
    }
)
"""Rows of the README."""

Place: TypeAlias = tuple[str, str]
"""The table of the study and the data set; a world may be in two tables."""
Values: TypeAlias = Mapping[tuple[Place, str, str], float]


def errors_table(path: Path = DATA) -> str:
    """Return one table per kind of data: a row per form of estimate, a column per data set."""
    if not path.is_file():
        return ABSENT
    result = json.loads(path.read_text(encoding="utf-8"))
    values = _values(result)
    parts = [FAST] if result["fast"] else []
    for title, tables in SETS.items():
        places = list(dict.fromkeys(place for place, _, _ in values if place[0] in tables))
        if places:
            heads = [f"{data}, large" if table == "large" else data for table, data in places]
            parts.append(
                "\n".join([f"**{title}**", "", *markdown(["you have", "estimate", *heads], _rows(values, places))])
            )
    return "\n\n".join(parts)


def readme_table(path: Path = DATA) -> str:
    """Return error, order and coverage: naive, published and ours."""
    if not path.is_file():
        return ABSENT
    result = json.loads(path.read_text(encoding="utf-8"))
    values, lines = _values(result), []
    for given, start, slices in ((LABELLED, "", "blend"), (POSITIVE, "positives: ", "positives: blend(q=slice)")):
        forms = [f"{start}naive", f"{start}{PUBLISHED}", f"{start}auto", f"{slices}, 1 % slice"]
        for name, (tables, asked) in SHORT.items():
            places = [place for place in dict.fromkeys(place for place, _, _ in values) if place[0] in tables]
            places = [place for place in places if asked is None or place[1] in asked]
            if places:
                lines.append([given, name, *(_entry(values, places, form) for form in forms)])
    heads = ["the log has", "data", "naive", "published", "ours: `auto`", "ours, with 1 % random rows"]
    return "\n".join([*([FAST, ""] if result["fast"] else []), *markdown(heads, lines)])


def with_table(text: str, table: str, start: str = START, end: str = END) -> str:
    """Return the text of the README with this table between these lines."""
    before, rest = text.split(start)
    return f"{before}{start}\n{table}\n{end}{rest.split(end)[1]}"


def reduced(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tables need of the JSON of a study."""
    shown = {form for forms in FORMS.values() for form in forms}
    kept = [
        {
            "table": table["table"],
            "seconds": table["seconds"],
            "cells": [
                {"row": cell["row"], "column": cell["column"], "data": cell["data"], "ours": round(cell["ours"], 5)}
                for cell in table["cells"]
                if cell["ours"] is not None and cell["row"] in shown and cell["column"] in COLUMNS
            ],
            "claims": [{name: claim[name] for name in ("claim", "holds", "evidence")} for claim in table["claims"]],
        }
        for table in result["tables"]
    ]
    return {"study": result["study"], "fast": result["fast"], "seed": result["seed"], "tables": kept}


def write(source: Path, data: Path = DATA, readme: Path = README) -> None:
    """Write the data of the documentation and the table of the README from the JSON of a full run."""
    result = reduced(json.loads(source.read_text(encoding="utf-8")))
    data.parent.mkdir(exist_ok=True)
    data.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), readme_table(data)), encoding="utf-8")


def mean_of(numbers: Iterable[float | None]) -> float | None:
    """Return the mean of the numbers that are known; None without one."""
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if known else None


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in rows)]


def _values(result: Mapping[str, Any]) -> Values:
    return {
        ((table["table"], cell["data"]), cell["row"], cell["column"]): cell["ours"]
        for table in result["tables"]
        for cell in table["cells"]
        if cell["ours"] is not None
    }


def _rows(values: Values, places: Sequence[Place]) -> Iterable[list[str]]:
    measured = {form for place, form, column in values if column == "error" and place in places}
    for given, forms in FORMS.items():
        for form in forms:
            if form in measured:
                name = form.removeprefix("positives: ")
                yield [given, NAMES.get(name, name), *(_entry(values, [place], form) for place in places)]


def _entry(values: Values, places: Sequence[Place], form: str) -> str:
    """Error / tau (coverage), in the mean over data sets."""
    error, tau, coverage = (mean_of(values.get((place, form, column)) for place in places) for column in COLUMNS)
    if error is None:
        return "-"
    order = "-" if tau is None else f"{tau:.2f}"
    return f"{error:.2f} / {order}" + ("" if coverage is None else f" ({coverage:.0%})")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
