"""Table of measured errors as Markdown, from the JSON that ``unskew reproduce truth --json`` wrote."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "_data" / "truth.json"
ABSENT = "*Not measured yet: run `unskew reproduce truth --json docs/_data/truth.json`.*"
FAST = "*These numbers are from a fast run: run `unskew reproduce truth --json docs/_data/truth.json` for all of it.*"
FORMS = (
    "naive",
    "snips, popularity",
    "snips, exposure",
    "dm",
    "dr",
    "blend",
    "blend, 1 % slice",
    "blend, 3 % slice",
    "positives: snips, exposure",
    "positives: blend(q=slice), 1 % slice",
    "positives: blend(q=slice), 3 % slice",
)
"""Rows of the study that are shown, in this order; those that a run lacks are left out."""


def errors_table(path: Path = DATA) -> str:
    """Return one row per form of estimate and one column per data set: error, tau and coverage."""
    if not path.is_file():
        return ABSENT
    result = json.loads(path.read_text(encoding="utf-8"))
    values = {
        (cell["row"], cell["data"], cell["column"]): cell["ours"]
        for table in result["tables"]
        for cell in table["cells"]
        if cell["ours"] is not None
    }
    names = tuple(dict.fromkeys(data for _, data, _ in values))
    measured = {form for form, _, column in values if column == "error"}
    lines = [f"| estimate | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    lines += [
        f"| {form} | {' | '.join(_entry(values, form, data) for data in names)} |" for form in FORMS if form in measured
    ]
    return "\n".join([*([FAST, ""] if result["fast"] else []), *lines])


def _entry(values: Mapping[tuple[str, str, str], Any], form: str, data: str) -> str:
    error, tau, coverage = (values.get((form, data, column)) for column in ("error", "tau", "coverage"))
    if error is None:
        return "-"
    order = "-" if tau is None else f"{tau:.2f}"
    return f"{error:.2f} / {order}" + ("" if coverage is None else f" ({coverage:.0%})")
