"""What full runs of the studies found, as Markdown, from the JSON that ``unskew reproduce STUDY --json F`` wrote.

``python docs/reproduced.py F ...`` keeps what the page needs of it in ``docs/_data/reproduced/``, one file per study. A
file may hold a study or one of its tables (``unskew reproduce STUDY/TABLE --json F``), which replaces what is kept of
that table.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unskew.studies import get_study

ROOT = Path(__file__).parents[1]
DATA = ROOT / "docs" / "_data" / "reproduced"
STUDIES = ("schnabel2016", "yang2018", "lim2015", "tian2020", "wang2024")
COUNTS = ("printed numbers", "claims of the paper", "references", "claims of ours")
_COUNTED = ("good", "judged", "left open")
OURS = "ours"
UNKNOWN = "not known"
"""The cause of what no experiment has explained."""
_DIGITS = 5


def headlines(folder: Path = DATA) -> str:
    """Return a table with a row per study: what was compared and judged in the last full runs, and the minutes."""
    rows = []
    for study in STUDIES:
        tables = _read(folder, study)
        if not tables:
            rows.append([f"`{study}`", *["-"] * (len(COUNTS) + 3)])
            continue
        shown = (_of(tables, name) for name in COUNTS)
        causes = [cause_of(study, table["table"], each["what"]) for table in tables for each in table["disagreements"]]
        known = sum(cause != UNKNOWN for cause in causes)
        run = f"{len(tables)} of {len(get_study(study).tables)}"
        minutes = sum(table["seconds"] for table in tables) / 60
        rows.append([f"`{study}`", run, *shown, f"{known} of {len(causes)}", f"{minutes:.0f}"])
    heads = ["study", "tables", "printed numbers that agree", "claims of the paper that hold", "references that agree"]
    return _table([*heads, "claims of ours that hold", "disagreements with a known cause", "minutes"], rows)


def _of(tables: list[Any], name: str) -> str:
    good, judged, left = (sum(table["counts"][name].get(k, 0) for table in tables) for k in _COUNTED)
    shown = f"{good} of {judged}" if judged else "-"
    return f"{shown}, {left} left open" if left else shown


def disagreements(study: str, folder: Path = DATA) -> str:
    """Return what does not come out of a paper, each with the numbers that show it, and its cause."""
    tables = _read(folder, study)
    if not tables:
        return f"*No full run is kept: `unskew reproduce {study} --json F` and `python docs/reproduced.py F`.*"
    rows = [
        [f"`{name}`", *map(_cell, (each["what"], each["found"], cause_of(study, name, each["what"])))]
        for name, apart in ((table["table"], table["disagreements"]) for table in tables)
        for each in apart
    ]
    return _table(["table", "what the paper says", "what we found", "cause"], rows) if rows else "*Nothing disagrees.*"


def cause_of(study: str, table: str, what: str) -> str:
    """Return the cause that the study has for it, or `UNKNOWN`."""
    causes = (cause for cause in get_study(study).causes if cause.table == table)
    return next((str(cause) for cause in causes if cause.of in what), UNKNOWN)


def reduced(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page needs of the JSON of a table."""
    return {
        **{name: table[name] for name in ("table", "seed", "seconds")},
        "counts": {
            name: dict(zip(_COUNTED, (each.count(True), len(each) - each.count(None), each.count(None)), strict=True))
            for name, each in _judged(table).items()
        },
        "disagreements": list(_disagreements(table)),
    }


def _judged(table: Mapping[str, Any]) -> dict[str, list[bool | None]]:
    """Whether each number that was compared agrees, and each claim that was judged holds; None where that is open."""
    cells = [(each["paper"] is not None, each["agrees"]) for each in table["cells"] if each["agrees"] is not None]
    claims = [
        (each["source"] != OURS, each["holds"])
        for each in table["claims"]
        if each["holds"] is not None or "left_open" in each
    ]
    parts = ((cells, True), (claims, True), (cells, False), (claims, False))
    results = ([good for of_paper, good in some if of_paper is wanted] for some, wanted in parts)
    return dict(zip(COUNTS, results, strict=True))


def _disagreements(table: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for cell in table["cells"]:
        if cell["paper"] is not None and cell["agrees"] is False:
            what = f"{cell['row']}, {cell['column']}, {cell['data']}: {cell['paper']:g}"
            ours = f"{round(cell['ours'], _DIGITS):g}, tolerance {round(cell['tolerance'], _DIGITS):g}"
            yield {"what": what, "found": ours}
    for claim in table["claims"]:
        if claim["holds"] is False and claim["source"] != OURS:
            what = f"{claim['claim']} [{claim['source']}]"
            yield {"what": what, "found": claim["evidence"]}


def write(sources: Iterable[Path], folder: Path = DATA) -> None:
    """Write the data of the documentation from the JSON of full runs, keeping the tables that they do not have."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        result = json.loads(source.read_text(encoding="utf-8"))
        if result["fast"]:
            raise SystemExit(f"{source}: this is of the small version; run 'unskew reproduce' without --fast")
        study = result["study"]
        kept = {each["table"]: each for each in _read(folder, study)}
        kept |= {each["table"]: reduced(each) for each in result.get("tables", [result])}
        tables = [kept[each.name] for each in get_study(study).tables if each.name in kept]
        text = json.dumps({"study": study, "tables": tables}, indent=1, ensure_ascii=False)
        (folder / f"{study}.json").write_text(text + "\n", encoding="utf-8")


def _read(folder: Path, study: str) -> list[Any]:
    """What is kept of the tables of a study, in its order."""
    path = folder / f"{study}.json"
    tables: list[Any] = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.is_file() else []
    return tables


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


if __name__ == "__main__":
    write(map(Path, sys.argv[1:]))
