"""What hostile inputs and faults came to, as Markdown, from what ``make fuzz`` and ``make faults`` kept.

``python tests/fuzz/run.py N --seed S --docs`` and ``python tests/faults/run.py --kills N --docs`` write the files of
``docs/_data/hostile/``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

DATA = Path(__file__).parent / "_data" / "hostile"
GOOD = ("accepted", "refused")
BAD = ("traceback", "memory", "crash", "hang", "silent", "half-written")
OUTCOMES = ("whole", "refused", "killed", "bad")
ABSENT = "*Not kept yet: {}.*"


def inputs(folder: Path = DATA) -> str:
    """Return a table with a row per family of hostile inputs, over all seeds that were kept."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("fuzz-*.json"))]
    if not runs:
        return ABSENT.format("`python tests/fuzz/run.py 100000 --docs`")
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        for family, outcomes in run["counts"].items():
            counts.setdefault(family, Counter()).update(outcomes)
    counts = {**dict(sorted(counts.items())), "all": sum(counts.values(), Counter())}
    rows = [
        [family, f"{tally.total():,}", *(f"{tally[name]:,}" for name in (*GOOD, *BAD))]
        for family, tally in counts.items()
    ]
    seeds = ", ".join(f"{sum(map(_total, run['counts'].values())):,} of seed {run['seed']}" for run in runs)
    minutes = sum(run["seconds"] for run in runs) / 60
    return f"{seeds}, in {minutes:.0f} minutes on two cores.\n\n{_table(['family', 'inputs', *GOOD, *BAD], rows)}"


def faults(folder: Path = DATA) -> str:
    """Return a table with a row per command: kills and other injuries, and what they came to."""
    path = folder / "faults.json"
    if not path.is_file():
        return ABSENT.format("`python tests/faults/run.py --kills 200 --docs`")
    run = json.loads(path.read_text(encoding="utf-8"))
    counts = Counter({(command, outcome): 0 for command, _, outcome, _ in run["counts"] for outcome in OUTCOMES})
    for command, _, outcome, number in run["counts"]:
        counts[command, outcome] += number
    commands = dict.fromkeys(command for command, *_ in run["counts"])
    rows = [[f"`{command}`", *(str(counts[command, outcome]) for outcome in OUTCOMES)] for command in commands]
    totals = [str(sum(counts[command, outcome] for command in commands)) for outcome in OUTCOMES]
    return f"Seed {run['seed']}, {run['kills']} kills.\n\n{_table(['command', *OUTCOMES], [*rows, ['all', *totals]])}"


def _total(outcomes: dict[str, int]) -> int:
    return sum(outcomes.values())


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    digits = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, digits, *rows))
