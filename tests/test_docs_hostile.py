"""What hostile inputs and faults came to: kept by the commands that try them, shown on the page on security."""

import json
import sys
from pathlib import Path

from test_docs import DOCS, load

FUZZ = Path(__file__).parent / "fuzz"


def test_inputs_of_all_seeds_are_added_up(tmp_path: Path) -> None:
    page = load(DOCS / "hostile.py")
    assert "Not kept yet" in page.inputs(tmp_path)
    for seed, refused in ((1, 7), (2, 5)):
        counts = {"text": {"accepted": 3, "refused": refused}, "npz": {"silent": 1}}
        (tmp_path / f"fuzz-{seed}.json").write_text(json.dumps({"seed": seed, "seconds": 90, "counts": counts}))
    lines = page.inputs(tmp_path).splitlines()
    assert lines[0] == "11 of seed 1, 9 of seed 2, in 3 minutes on two cores."
    assert lines[4:] == [
        "| npz | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 2 | 0 |",
        "| text | 18 | 6 | 12 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "| all | 20 | 6 | 12 | 0 | 0 | 0 | 0 | 2 | 0 |",
    ]


def test_kills_and_other_injuries_of_a_command_are_one_row(tmp_path: Path) -> None:
    page = load(DOCS / "hostile.py")
    assert "Not kept yet" in page.faults(tmp_path)
    counts = [["split", "kill", "killed", 4], ["split", "disk full", "refused", 2], ["audit", "kill", "whole", 1]]
    (tmp_path / "faults.json").write_text(json.dumps({"kills": 5, "seed": 3, "bad": 0, "counts": counts}))
    assert page.faults(tmp_path).splitlines() == [
        "Seed 3, 5 kills.",
        "",
        "| command | whole | refused | killed | bad |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| `split` | 0 | 2 | 4 | 0 |",
        "| `audit` | 1 | 0 | 0 | 0 |",
        "| all | 1 | 2 | 4 | 0 |",
    ]


def test_the_page_names_the_outcomes_that_there_are() -> None:
    page = load(DOCS / "hostile.py")
    sys.path.insert(0, str(FUZZ))
    try:
        judging = load(FUZZ / "judging.py")
    finally:
        sys.path.remove(str(FUZZ))
    assert (page.GOOD, set(page.BAD)) == (tuple(judging.GOOD), set(judging.BAD))


def test_what_was_kept_is_of_whole_runs_without_a_bad_outcome() -> None:
    page = load(DOCS / "hostile.py")
    for path in page.DATA.glob("fuzz-*.json"):
        counts = json.loads(path.read_text())["counts"]
        assert not [family for family, tally in counts.items() if any(tally.get(name) for name in page.BAD)], path.name
    for path in page.DATA.glob("faults.json"):
        assert json.loads(path.read_text())["bad"] == 0
