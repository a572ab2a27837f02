"""How the corpus is stored, and how two values are compared."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RELATIVE, ABSOLUTE = 1e-9, 1e-12
_WIDTH = 150
_LONG = 40
_TABLE = "golden table"


def json_path(name: str, folder: Path = FOLDER) -> Path:
    """Where the numbers of a case are."""
    return folder / "json" / f"{name}.json"


def text_path(name: str, folder: Path = FOLDER) -> Path:
    """Where that is which the terminal showed."""
    return folder / "text" / f"{name}.txt"


def refusals_path(folder: Path = FOLDER) -> Path:
    """Where the refusals are."""
    return folder / "refusals.json"


def read(path: Path) -> Any:
    """A stored value."""
    return unpack(json.loads(path.read_text(encoding="utf-8")))


def write(path: Path, value: Any) -> None:
    """Store a value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump(pack(value)) + "\n", encoding="utf-8")


def pack(value: Any) -> Any:
    """Lists of like dictionaries as tables; what all rows share and words that come again are said once."""
    if isinstance(value, dict):
        return {key: pack(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    if (
        len(value) < 3
        or not value[0]
        or not all(isinstance(row, dict) and list(row) == list(value[0]) for row in value)
    ):
        return [pack(each) for each in value]
    columns = {key: [row[key] for row in value] for key in value[0]}
    same = {key: cells[0] for key, cells in columns.items() if len({json.dumps(cell) for cell in cells}) == 1}
    own = {key: cells for key, cells in columns.items() if key not in same}
    words = {key: list(dict.fromkeys(cells)) for key, cells in own.items() if _repeats(cells)}
    coded = [
        [words[key].index(cell) for cell in cells] if key in words else map(pack, cells) for key, cells in own.items()
    ]
    return {_TABLE: list(columns), "same": same, "words": words, "rows": list(map(list, zip(*coded, strict=True)))}


def _repeats(cells: list[Any]) -> bool:
    """Whether a column is of words that come again and again."""
    return len(cells) >= _LONG and all(isinstance(cell, str) for cell in cells) and 4 * len(set(cells)) <= len(cells)


def unpack(value: Any) -> Any:
    """What `pack` was given."""
    if isinstance(value, list):
        return [unpack(each) for each in value]
    if not isinstance(value, dict):
        return value
    if _TABLE not in value:
        return {key: unpack(each) for key, each in value.items()}
    names, same, words = value[_TABLE], value["same"], value["words"]
    own = [name for name in names if name not in same]
    found = []
    for row in value["rows"]:
        cells = dict(zip(own, row, strict=True))
        read_cells = {name: words[name][cell] if name in words else unpack(cell) for name, cell in cells.items()}
        found.append({name: same[name] if name in same else read_cells[name] for name in names})
    return found


def dump(value: Any, indent: str = "") -> str:
    """JSON that is short and still gives a readable diff: what fits on a line is on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(flat) + len(indent) <= _WIDTH:
        return flat
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [f"{deeper}{json.dumps(key)}: {dump(each, deeper)}" for key, each in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if not any(isinstance(each, dict | list) for each in value):  # a long column of numbers or words
        return flat
    return "[\n" + ",\n".join(deeper + dump(each, deeper) for each in value) + f"\n{indent}]"


def differences(expected: Any, got: Any, path: str = "$") -> Iterator[str]:
    """Where two values differ: words and structure must be equal, numbers nearly so."""
    if isinstance(expected, dict) and isinstance(got, dict):
        if list(expected) != list(got):
            yield f"{path}: expected the keys {list(expected)}, got {list(got)}"
        for key in expected:
            if key in got:
                yield from differences(expected[key], got[key], f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield f"{path}: expected {len(expected)} entries, got {len(got)}"
        for place, (one, other) in enumerate(zip(expected, got, strict=False)):
            yield from differences(one, other, f"{path}[{place}]")
    elif not _equal(expected, got):
        yield f"{path}: expected {expected!r}, got {got!r}"


def _equal(expected: Any, got: Any) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        both_nan = math.isnan(expected) and math.isnan(got)
        return both_nan or math.isclose(expected, got, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(expected) is type(got) and expected == got
