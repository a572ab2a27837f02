"""What whole runs of the studies found: kept from their JSON, shown on a page, each disagreement with its cause."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from test_docs import DOCS, load
from unskew.studies import STUDIES
from unskew.studies.framework.causes import Cause


def _reproduced(study: str = "lim2015") -> dict[str, object]:
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
    counts = {"printed numbers": 2, "claims of the paper": 2, "references": 1, "claims of ours": 0}
    table = {"table": "t", "seconds": 60.0, "cells": cells, "claims": claims, "figures": [], "notes": []}
    shown = {name: {"judged": judged, "good": judged // 2} for name, judged in counts.items()}
    return {"study": study, "fast": False, "seed": 0, "seconds": 120.0, "counts": shown, "tables": [table]}


def test_what_whole_runs_found_is_read_from_the_json_of_the_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = load(DOCS / "reproduced.py")
    cause = Cause("t", "mf, mse, coat", "offsets", "unskew reproduce s/t")
    monkeypatch.setattr(page, "get_study", lambda name: replace(STUDIES[name], causes=(cause,)))
    source = tmp_path / "lim2015.json"
    source.write_text(json.dumps(_reproduced()))
    page.write([source], tmp_path / "kept")
    lines = page.headlines(tmp_path / "kept").splitlines()
    assert "| `lim2015` | 1 of 2 | 1 of 2 | 0 of 1 | - | 1 of 2 | 2 |" in lines
    assert "| `yang2018` | - | - | - | - | - | - |" in lines
    assert page.disagreements("lim2015", tmp_path / "kept").splitlines()[2:] == [
        "| `t` | mf, mse, coat: 1.202 | 1.28512, tolerance 0.05 | offsets (unskew reproduce s/t) |",
        "| `t` | a\\|b [paper, Sec. 1] | -1 | not known |",
    ]
    assert "Not run whole" in page.disagreements("yang2018", tmp_path / "kept")


def test_a_small_run_is_not_kept_as_a_whole_one(tmp_path: Path) -> None:
    page = load(DOCS / "reproduced.py")
    source = tmp_path / "lim2015.json"
    source.write_text(json.dumps({**_reproduced(), "fast": True}))
    with pytest.raises(SystemExit, match="not the JSON of a whole study"):
        page.write([source], tmp_path / "kept")


def test_kept_runs_are_of_the_tables_that_the_studies_have() -> None:
    page = load(DOCS / "reproduced.py")
    assert set(page.STUDIES) == {name for name, study in STUDIES.items() if study.of_paper}
    for path in page.DATA.glob("*.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        assert [each["table"] for each in result["tables"]] == [each.name for each in STUDIES[path.stem].tables]
        causes = {each["what"]: page.cause_of(path.stem, each) for each in result["disagreements"]}
        assert [what for what, cause in causes.items() if cause == page.UNKNOWN] == [], path.name
