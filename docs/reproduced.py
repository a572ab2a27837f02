"""What whole runs of the studies found, as Markdown, from the JSON that ``unskew reproduce STUDY --json F`` wrote.

``python docs/reproduced.py F ...`` keeps what the page needs of it in ``docs/_data/reproduced/``, one file per study.
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
UNKNOWN = "not known"
"""The cause of what no experiment has explained."""
_DIGITS = 5


def headlines(folder: Path = DATA) -> str:
    """Return a table with a row per study: what was compared and judged in its last whole run, and the minutes."""
    rows = []
    for study in STUDIES:
        result = _read(folder, study)
        if result is None:
            rows.append([f"`{study}`", *["-"] * (len(COUNTS) + 2)])
            continue
        counts = (result["counts"][name] for name in COUNTS)
        shown = (f"{count['good']} of {count['judged']}" if count["judged"] else "-" for count in counts)
        causes = [cause_of(study, each) for each in result["disagreements"]]
        known = sum(cause != UNKNOWN for cause in causes)
        rows.append([f"`{study}`", *shown, f"{known} of {len(causes)}", f"{result['seconds'] / 60:.0f}"])
    heads = ["study", "printed numbers that agree", "claims of the paper that hold", "references that agree"]
    return _table([*heads, "claims of ours that hold", "disagreements with a known cause", "minutes"], rows)


def disagreements(study: str, folder: Path = DATA) -> str:
    """Return what does not come out of a paper, each with the numbers that show it, and its cause."""
    result = _read(folder, study)
    if result is None:
        return f"*Not run whole: `unskew reproduce {study} --json F` and `python docs/reproduced.py F`.*"
    rows = [
        [f"`{each['table']}`", *map(_cell, (each["what"], each["found"], cause_of(study, each)))]
        for each in result["disagreements"]
    ]
    return _table(["table", "what the paper says", "what we found", "cause"], rows) if rows else "*Nothing disagrees.*"


def cause_of(study: str, disagreement: Mapping[str, str]) -> str:
    """Return the cause that the study has for it, or `UNKNOWN`."""
    causes = (cause for cause in get_study(study).causes if cause.table == disagreement["table"])
    return next((str(cause) for cause in causes if cause.of in disagreement["what"]), UNKNOWN)


def reduced(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page needs of the JSON of a study."""
    tables = [{"table": each["table"], "seconds": each["seconds"]} for each in result["tables"]]
    apart = [each for table in result["tables"] for each in _disagreements(table)]
    kept = {name: result[name] for name in ("study", "fast", "seed", "seconds")}
    return {**kept, "counts": result["counts"], "tables": tables, "disagreements": apart}


def _disagreements(table: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for cell in table["cells"]:
        if cell["paper"] is not None and cell["agrees"] is False:
            what = f"{cell['row']}, {cell['column']}, {cell['data']}: {cell['paper']:g}"
            ours = f"{round(cell['ours'], _DIGITS):g}, tolerance {round(cell['tolerance'], _DIGITS):g}"
            yield {"table": table["table"], "what": what, "found": ours}
    for claim in table["claims"]:
        if claim["holds"] is False and claim["source"] != "ours":
            what = f"{claim['claim']} [{claim['source']}]"
            yield {"table": table["table"], "what": what, "found": claim["evidence"]}


def write(sources: Iterable[Path], folder: Path = DATA) -> None:
    """Write the data of the documentation from the JSON of full runs."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        result = json.loads(source.read_text(encoding="utf-8"))
        if result["fast"] or "tables" not in result:
            raise SystemExit(f"{source}: not the JSON of a whole study; run 'unskew reproduce STUDY --json F'")
        text = json.dumps(reduced(result), indent=1, ensure_ascii=False)
        (folder / f"{result['study']}.json").write_text(text + "\n", encoding="utf-8")


def _read(folder: Path, study: str) -> Any:
    path = folder / f"{study}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


if __name__ == "__main__":
    write(map(Path, sys.argv[1:]))
