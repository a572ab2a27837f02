"""Tables of other packages and ours as Markdown, from the JSON that ``unskew reproduce peers --json F`` wrote.

``python docs/peers_table.py F`` keeps what the tables need of it in ``docs/_data/peers.json``, with the versions of the
packages and the date, and writes the table of the README again.
"""

import datetime as dt
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from truth_table import README, ROOT, SELECTIVE, Logs, markdown, mean_of, with_table

DATA, RECORD = ROOT / "docs" / "_data" / "peers.json", ROOT / "tests" / "integrations" / "peers.json"
START, END = "<!-- peers: start -->", "<!-- peers: end -->"
HOW = "run `unskew reproduce peers --json peers.json` and `python docs/peers_table.py peers.json`"
ABSENT = f"*Not measured yet: {HOW}.*"
FAST = f"*These numbers are from a fast run: {HOW} for all of it.*"
COLUMNS = ("error", "error, users", "error, scaled", "tau", "winner", "coverage", "seconds")
WORLDS: Mapping[str, Logs] = MappingProxyType(
    {"six worlds with selection": (("worlds",), SELECTIVE), "a world without": (("worlds",), ("mar",))}
)
REAL: Mapping[str, Logs] = MappingProxyType(
    {"Coat": (("coat",), None), "KuaiRec": (("kuairec",), None), "Jester": (("jester",), None)}
)
GROUPS: Mapping[str, Logs] = MappingProxyType({**WORLDS, **REAL})
"""Columns of the documentation."""
SHORT: Mapping[str, Logs] = MappingProxyType(
    {**WORLDS, "six logs of Coat, KuaiRec, Jester": (("coat", "kuairec", "jester"), None)}
)
"""Columns of the README."""
MODULES: Mapping[str, str] = MappingProxyType(
    {
        "ir_measures": "ir_measures",
        "RecTools": "rectools",
        "RecPack": "recpack",
        "PyTorch Geometric": "torch_geometric",
        "WarpRec": "warprec",
    }
)
"""Names of the packages in the recorded numbers."""
RECALLS: Mapping[str, str] = MappingProxyType(
    {
        "ir_measures: R@10": "naive recall",
        "RecTools: Recall@10, debiased": "recall, `debias_config`",
        "RecPack: IPSHitRate@10": "IPS hit rate",
        "PyTorch Geometric: weighted recall@10": "weighted recall",
        "WarpRec: SNIPSRecall@10": "SNIPS recall",
        "WarpRec: IPSRecall@10": "IPS recall",
        "unskew: snips, recall@10": "`snips`",
        "unskew: auto, recall@10": "`auto`",
        "unskew: auto, 1 % random rows, recall@10": "`auto`, with 1 % random rows",
    }
)
"""Rows of recalls, and what they are called there."""
QUOTED = (
    "RecTools: Recall@10, debiased",
    "WarpRec: SNIPSRecall@10",
    "unskew: auto, recall@10",
    "unskew: auto, 1 % random rows, recall@10",
)
"""Rows of the README: the two packages whose recalls are nearest to the truth, and ours by default."""
Values = Mapping[tuple[str, str, str, str], float]
"""By table, data set, row and column."""


def _measured(shown: Callable[[Mapping[str, Any]], str]) -> Callable[..., str]:
    """Let a function of the kept result take its file, and say so where there is none."""

    @wraps(shown)
    def read(path: Path = DATA) -> str:
        return shown(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else ABSENT

    return read


@_measured
def readme_table(result: Mapping[str, Any]) -> str:
    """Return error and order of some recalls, and winner, coverage and seconds."""
    return _recalls(result, QUOTED, SHORT)


@_measured
def recalls_table(result: Mapping[str, Any]) -> str:
    """Return the same for every recall, by data set."""
    return _recalls(result, tuple(RECALLS), GROUPS)


def _recalls(result: Mapping[str, Any], shown: Sequence[str], groups: Mapping[str, Logs]) -> str:
    values = _values(result)
    rows = [
        [
            *_names(result, row, RECALLS[row]),
            *_entries(values, row, ("error", "tau"), groups),
            *_whole(result, values, row),
        ]
        for row in shown
    ]
    heads = ["package", "recall@10", *groups, "winner", "coverage", "seconds"]
    return "\n".join([*_note(result), *markdown(heads, rows)])


@_measured
def all_table(result: Mapping[str, Any]) -> str:
    """Return the same for every metric of every package."""
    values = _values(result)
    rows = [
        [*_names(result, row, row.partition(": ")[2]), *_entries(values, row, ("error", "tau")), _winner(values, row)]
        for row in dict.fromkeys(row for _, _, row, _ in values)
    ]
    return "\n".join([*_note(result), *markdown(["package", "metric", *GROUPS, "winner"], rows)])


@_measured
def other_errors(result: Mapping[str, Any]) -> str:
    """Return the errors of recalls by the mean over users, and of values with the true mean over models."""
    values = _values(result)
    rows = [
        [*_names(result, row, called), *_entries(values, row, ("error, users", "error, scaled"))]
        for row, called in RECALLS.items()
    ]
    return "\n".join([*_note(result), *markdown(["package", "recall@10", *GROUPS], rows)])


@_measured
def failed_claims(result: Mapping[str, Any]) -> str:
    """Return how many of the claims hold, and those that fail, with their evidence."""
    every = [(table["table"], claim) for table in result["tables"] for claim in table["claims"]]
    failed = [f"- `{table}`: {claim['claim']} ({claim['evidence']})." for table, claim in every if not claim["holds"]]
    held = f"{len(every) - len(failed)} of our {len(every)} claims hold."
    return "\n".join([f"{held} These do not:", "", *failed]) if failed else held


@_measured
def origin(result: Mapping[str, Any]) -> str:
    """Return date and versions in a sentence."""
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return f"Computed on {result['date']} with {versions}; the packages gave their numbers on {result['recorded']}."


def reduced(result: Mapping[str, Any], record: Mapping[str, Any], date: str) -> dict[str, Any]:
    """Return what the tables need of the JSON of the study and of the packages' recorded numbers."""
    kept = [
        {
            "table": table["table"],
            "seconds": table["seconds"],
            "cells": [
                {"row": cell["row"], "column": cell["column"], "data": cell["data"], "ours": round(cell["ours"], 5)}
                for cell in table["cells"]
                if cell["ours"] is not None and cell["column"] in COLUMNS
            ],
            "claims": [{name: claim[name] for name in ("claim", "holds", "evidence")} for claim in table["claims"]],
        }
        for table in result["tables"]
    ]
    packages = record["packages"]
    return {
        "study": result["study"],
        "fast": result["fast"],
        "seed": result["seed"],
        "date": date,
        "recorded": record["date"],
        "versions": {
            "unskew": version("unskew"),
            "Python": platform.python_version(),
            "numpy": version("numpy"),
            **{name: packages[module]["version"] for name, module in MODULES.items()},
        },
        "seconds": {name: packages[module]["seconds"] for name, module in MODULES.items()},
        "tables": kept,
    }


def write(source: Path, data: Path = DATA, readme: Path = README, record: Path = RECORD) -> None:
    """Write the data of the documentation and the table of the README from the JSON of a full run."""
    result, numbers = (json.loads(path.read_text(encoding="utf-8")) for path in (source, record))
    kept = reduced(result, numbers, dt.datetime.now(tz=dt.UTC).date().isoformat())
    data.parent.mkdir(exist_ok=True)
    data.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    readme.write_text(with_table(text, readme_table(data), START, END), encoding="utf-8")


def _note(result: Mapping[str, Any]) -> list[str]:
    return [FAST, ""] if result["fast"] else []


def _values(result: Mapping[str, Any]) -> Values:
    return {
        (table["table"], cell["data"], cell["row"], cell["column"]): cell["ours"]
        for table in result["tables"]
        for cell in table["cells"]
    }


def _names(result: Mapping[str, Any], row: str, called: str) -> list[str]:
    package = row.partition(": ")[0]
    return [f"{package} {result['versions'][package]}", called]


def _entries(values: Values, row: str, columns: Sequence[str], groups: Mapping[str, Logs] = GROUPS) -> list[str]:
    """Two measures on each group of data sets."""
    entries = []
    for group in groups.values():
        numbers = [_mean(values, group, row, column) for column in columns]
        entries.append("-" if None in numbers else " / ".join(f"{number:.2f}" for number in numbers))
    return entries


def _whole(result: Mapping[str, Any], values: Values, row: str) -> list[str]:
    """Winner and coverage over all groups; seconds of the package itself, and the most of ours over the worlds.

    The most, because the check of ``auto`` on simulated logs is remembered for similar logs of one process.
    """
    package = row.partition(": ")[0]
    coverage = mean_of(_mean(values, group, row, "coverage") for group in GROUPS.values())
    ours = [
        value for (table, _, each, name), value in values.items() if (table, each, name) == ("worlds", row, "seconds")
    ]
    seconds = result["seconds"].get(package) or max(ours, default=0.0)
    return [_winner(values, row), "none" if coverage is None else f"{coverage:.0%}", f"{seconds:.1f}"]


def _winner(values: Values, row: str) -> str:
    share = mean_of(_mean(values, group, row, "winner") for group in GROUPS.values())
    return "-" if share is None else f"{share:.0%}"


def _mean(values: Values, group: Logs, row: str, column: str) -> float | None:
    """The mean over the data sets of a group."""
    tables, asked = group
    return mean_of(
        value
        for (name, data, each, measure), value in values.items()
        if name in tables and each == row and measure == column and (asked is None or data in asked)
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
