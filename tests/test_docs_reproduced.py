"""What full runs of the studies found: kept from their JSON, shown on a page, each disagreement with its cause."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from test_docs import DOCS, load
from unskew.studies import STUDIES
from unskew.studies.framework.causes import Cause


def _reproduced(table: str = "table1", study: str = "lim2015") -> dict[str, Any]:
    cell = {"row": "mf", "column": "mse", "data": "coat", "ours": 1.28512345, "tolerance": 0.05}
    cells = [
        {**cell, "paper": 1.202, "agrees": False, "note": ""},
        {**cell, "paper": 1.28, "agrees": True, "note": ""},
        {**cell, "paper": None, "agrees": False, "note": ""},
    ]
    claims = [
        {"claim": "a|b", "holds": False, "evidence": "-1", "source": "paper, Sec. 1"},
        {"claim": "ours fails", "holds": False, "evidence": "-1", "source": "ours"},
        {"claim": "it holds", "holds": True, "evidence": "+1", "source": "paper, Sec. 2"},
    ]
    table = {"table": table, "fast": False, "seed": 0, "seconds": 60.0, "cells": cells, "claims": claims}
    return {"study": study, "fast": False, "seed": 0, "seconds": 60.0, "tables": [table]}


def test_what_full_runs_found_is_read_from_the_json_of_the_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = load(DOCS / "reproduced.py")
    cause = Cause("table1", "mf, mse, coat", "offsets", "unskew reproduce lim2015/table1")
    monkeypatch.setattr(page, "get_study", lambda name: replace(STUDIES[name], causes=(cause,)))
    source = tmp_path / "lim2015.json"
    source.write_text(json.dumps(_reproduced()))
    page.write([source], tmp_path / "kept")
    lines = page.headlines(tmp_path / "kept").splitlines()
    assert "| `lim2015` | 1 of 3 | 1 of 2 | 1 of 2 | 0 of 1 | 0 of 1 | 1 of 2 | 1 |" in lines
    assert "| `yang2018` | - | - | - | - | - | - | - |" in lines
    assert page.disagreements("lim2015", tmp_path / "kept").splitlines()[2:] == [
        "| `table1` | mf, mse, coat: 1.202 | 1.28512, tolerance 0.05 | offsets (unskew reproduce lim2015/table1) |",
        "| `table1` | a\\|b [paper, Sec. 1] | -1 | not known |",
    ]
    assert "No full run" in page.disagreements("yang2018", tmp_path / "kept")


def test_the_run_of_a_table_replaces_what_is_kept_of_it(tmp_path: Path) -> None:
    page = load(DOCS / "reproduced.py")
    for table, seconds in (("table2", 60), ("table1", 60), ("table2", 180)):
        one = _reproduced(table)["tables"][0] | {"study": "lim2015", "seconds": seconds}
        (tmp_path / "one.json").write_text(json.dumps(one))
        page.write([tmp_path / "one.json"], tmp_path / "kept")
    kept = json.loads((tmp_path / "kept" / "lim2015.json").read_text())
    assert [(each["table"], each["seconds"]) for each in kept["tables"]] == [("table1", 60), ("table2", 180)]
    assert "| `lim2015` | 2 of 3 | 2 of 4 | 2 of 4 | 0 of 2 | 0 of 2 | 0 of 4 | 4 |" in page.headlines(
        tmp_path / "kept"
    )


def test_a_small_run_is_not_kept_as_a_full_one(tmp_path: Path) -> None:
    page = load(DOCS / "reproduced.py")
    source = tmp_path / "lim2015.json"
    source.write_text(json.dumps({**_reproduced(), "fast": True}))
    with pytest.raises(SystemExit, match="of the small version"):
        page.write([source], tmp_path / "kept")


def test_kept_tables_are_of_the_studies_and_their_disagreements_have_causes() -> None:
    page = load(DOCS / "reproduced.py")
    assert set(page.STUDIES) == {name for name, study in STUDIES.items() if study.of_paper}
    for path in page.DATA.glob("*.json"):
        tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
        assert {each["table"] for each in tables} <= {each.name for each in STUDIES[path.stem].tables}
        causes = {
            each["what"]: page.cause_of(path.stem, table["table"], each["what"])
            for table in tables
            for each in table["disagreements"]
        }
        assert not [what for what, cause in causes.items() if cause == page.UNKNOWN], path.name
