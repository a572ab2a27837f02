"""The tables of other packages in README and documentation are those of the study."""

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

import unskew
from unskew.studies.peers import STUDY
from unskew.studies.peers.methods import METHODS

ROOT = Path(__file__).resolve().parent.parent


def _peers(**tables: dict[tuple[str, str], dict[str, float]]) -> dict[str, object]:
    """The JSON of the study of other packages: by table, measures by row and data set."""
    made = [
        {
            "table": name,
            "seconds": 1.0,
            "cells": [
                {"row": row, "column": column, "data": data, "ours": value, "spread": None, "note": ""}
                for (row, data), measures in numbers.items()
                for column, value in measures.items()
            ],
            "claims": [
                {"claim": "ours is nearest", "holds": name != "coat", "evidence": f"on {name}", "source": "ours"}
            ],
            "figures": ["large"],
        }
        for name, numbers in tables.items()
    ]
    return {"study": "peers", "fast": False, "seed": 0, "tables": made}


@pytest.fixture
def peers_table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("peers_table")


def test_the_tables_of_other_packages_are_read_from_the_json_of_the_study(
    tmp_path: Path, peers_table: ModuleType
) -> None:
    source, data, readme = (tmp_path / name for name in ("all.json", "peers.json", "README.md"))
    assert "unskew reproduce peers --json" in peers_table.readme_table(data)
    theirs, ours = "WarpRec: SNIPSRecall@10", "unskew: auto, recall@10"
    plain = {"error": 0.5, "error, users": 0.5, "error, scaled": 0.75, "tau": 0.25, "winner": 1.0, "seconds": 99.0}
    covered = {**plain, "error": 0.125, "coverage": 0.5, "seconds": 3.0}
    result = _peers(
        worlds={(theirs, "pop"): plain, (theirs, "self"): {**plain, "error": 1.0}, (ours, "mar"): covered},
        coat={(theirs, "coat"): {**plain, "winner": 0.0}},
    )
    source.write_text(json.dumps(result), encoding="utf-8")
    readme.write_text(f"before\n{peers_table.START}\n{peers_table.END}\nafter\n", encoding="utf-8")
    peers_table.write(source, data, readme)
    assert "figures" not in data.read_text(encoding="utf-8")
    recorded = json.loads(peers_table.RECORD.read_text(encoding="utf-8"))["packages"]["warprec"]
    lines = readme.read_text(encoding="utf-8").splitlines()
    assert lines[2].startswith("| package | recall@10 | six worlds with selection | a world without | six logs of Coat")
    numbers = f"50% | none | {recorded['seconds']:.1f} |"
    start = f"| WarpRec {recorded['version']} | SNIPS recall | 0.75 / 0.25 | - |"
    assert f"{start} 0.50 / 0.25 | {numbers}" in lines
    assert f"{start} 0.50 / 0.25 | - | - | {numbers}" in peers_table.recalls_table(data)
    (mine,) = [line for line in lines if line.endswith("| `auto` | - | 0.12 / 0.25 | - | 100% | 50% | 3.0 |")]
    assert mine.startswith(f"| unskew {unskew.__version__} |")
    assert "| SNIPSRecall@10 | 0.75 / 0.25 |" in peers_table.all_table(data)
    assert "| SNIPS recall | 0.50 / 0.75 |" in peers_table.other_errors(data)
    assert peers_table.failed_claims(data).splitlines() == [
        "1 of our 2 claims hold. These do not:",
        "",
        "- `coat`: ours is nearest (on coat).",
    ]


def test_the_readme_has_the_table_of_other_packages(peers_table: ModuleType) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert peers_table.with_table(text, peers_table.readme_table(), peers_table.START, peers_table.END) == text
    result = json.loads(peers_table.DATA.read_text(encoding="utf-8"))
    assert not result["fast"]
    assert result["date"] in peers_table.origin()
    assert f"`unskew reproduce peers` on {result['date']}" in text
    packages = json.loads(peers_table.RECORD.read_text(encoding="utf-8"))["packages"]
    assert all(result["versions"][name] == packages[module]["version"] for name, module in peers_table.MODULES.items())


def test_every_row_of_the_tables_of_other_packages_is_a_method_of_the_study(peers_table: ModuleType) -> None:
    rows = set(map(str, METHODS))
    assert set(peers_table.QUOTED) <= set(peers_table.RECALLS) <= rows
    assert {row.partition(": ")[0] for row in rows} == {*peers_table.MODULES, "unskew"}
    assert {table for tables, _ in peers_table.GROUPS.values() for table in tables} == {
        table.name for table in STUDY.tables
    }
