"""Run a case through the front doors and keep what came of it, without what may differ from run to run."""

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from golden_calls import CALLS
from golden_cases import CASES, LISTS, LONGER_STUDIES, STUDIES, Case
from golden_refusals import REFUSALS

from unskew.cli.options import EvaluateOptions

RESULT = "result.json"
PAGE = "page.html"
MASKED = frozenset({"unskew", "versions", "seconds"})
# the same in raw text, where the bytes of two checkouts are compared
_MASKS = (
    (re.compile(r'"unskew": "[^"]*"'), '"unskew": "*"'),
    (re.compile(r'"versions": \{[^}]*\}'), '"versions": {}'),
    (re.compile(r'"seconds": [-+.e0-9]+'), '"seconds": 0'),
    (
        re.compile(
            r"\b(unskew|numpy|numba|scipy|torch|polars)( |&nbsp;|</t[dh]>\s*<td[^>]*>)v?\d+(\.\d+)+\S*?(?=[\s,;.<]|$)"
        ),
        r"\1\2*",
    ),
    (re.compile(r"\b\d+(\.\d+)? (s|seconds|minutes)\b(?= on | of |</|\.?$)", re.MULTILINE), r"* \2"),
)


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Golden:
    """What is kept of a case: its JSON, the raw text of that, what the terminal showed, and the page."""

    value: Any
    raw: str = ""
    text: str | None = None
    page: str | None = None


def run_command(words: list[str]) -> Outcome:
    """One command line, in this process."""
    from unskew.__main__ import main
    from unskew.compiling import COMPILING

    out, err, code = io.StringIO(), io.StringIO(), 0
    with _process(["unskew", *words]), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as leave:
            code = int(leave.code or 0)
    lines = err.getvalue().splitlines(keepends=True)  # what is compiled depends on the cache
    return Outcome(code, out.getvalue(), "".join(line for line in lines if not line.startswith(COMPILING)))


@contextlib.contextmanager
def _process(argv: list[str]) -> Iterator[None]:
    """Arguments, search path and width of the screen as in a process of its own."""
    kept_argv, kept_path, kept = sys.argv, list(sys.path), dict(os.environ)
    sys.argv = argv
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        os.environ.pop(name, None)
    os.environ["NO_COLOR"] = "1"
    try:
        yield
    finally:
        sys.argv, sys.path[:] = kept_argv, kept_path
        os.environ.clear()
        os.environ.update(kept)


def run_case(name: str, inputs: Path, place: Path, *, page: bool = False) -> Golden:
    """A case by name, in a folder of its own that has a copy of the inputs."""
    if name in CALLS:
        return _in_copy(inputs, place, lambda: _called(CALLS[name]))
    if name in LISTS:
        return Golden(json.loads(run_command([*shlex.split(LISTS[name]), "--json"]).out), text=_transcript(LISTS[name]))
    case = {**CASES, **STUDIES, **LONGER_STUDIES}[name]
    return _in_copy(inputs, place, lambda: _commands(case, page=page))


def run_refusals(inputs: Path, place: Path) -> dict[str, dict[str, Any]]:
    """Every refusal: its exit code and its line on stderr."""

    def run() -> dict[str, dict[str, Any]]:
        told = {}
        for command in REFUSALS:
            outcome = run_command(shlex.split(command))
            told[command] = {"exit": outcome.code, "stdout": outcome.out, "stderr": outcome.err.rstrip("\n")}
        return told

    return _in_copy(inputs, place, run)


def _in_copy(inputs: Path, place: Path, run: Callable[[], Any]) -> Any:
    """Run in a fresh copy of the inputs, so that every path in what is said is relative."""
    shutil.copytree(inputs, place)
    with contextlib.chdir(place):
        return run()


def _called(function: Callable[[], Any]) -> Golden:
    value = json.loads(json.dumps(function(), default=_plain))
    return Golden(mask(value), raw=mask_text(json.dumps(value, indent=1)))


def _plain(value: Any) -> Any:
    """An array as a list, a NumPy number as a number."""
    return value.tolist()


def _commands(case: Case, *, page: bool) -> Golden:
    for command in case.before:
        done = run_command(shlex.split(command))
        assert done.code == 0, f"{command}: {done.err}"
    words = shlex.split(case.command)
    files = {"calibrate": ["--out", RESULT]}.get(words[0], [] if case.folder else ["--json", RESULT])
    quiet = ["--no-cache"] if words[0] == "reproduce" else []
    # an older checkout has no baselines to leave out
    plain = words[0] == "evaluate" and not case.baselines and hasattr(EvaluateOptions, "no_baselines")
    quiet += ["--no-baselines"] if plain else []
    outcome = run_command([*words, *files, *quiet, *(["--html", PAGE] if page else [])])
    assert outcome.code in case.codes, f"{case.command}: exit {outcome.code}, {outcome.err}"
    text = _shown(case.command, outcome) if case.text else None
    drawn = mask_text(Path(PAGE).read_text(encoding="utf-8")) if page else None
    if case.folder:
        value = _written(Path(case.folder))
        return Golden(value, json.dumps(value, indent=1), text, drawn)
    # notes say where data that is absent should be put
    raw = Path(RESULT).read_text(encoding="utf-8").replace(data_folder(), "DATA")
    return Golden(mask(json.loads(raw), {*MASKED, *case.masked}), mask_text(raw), text, drawn)


def _transcript(command: str) -> str:
    return _shown(command, run_command(shlex.split(command)))


def _shown(command: str, outcome: Outcome) -> str:
    """What a terminal shows; blanks at the ends of lines are padding of tables."""
    parts = [f"$ unskew {command}", outcome.out.rstrip("\n"), "--- stderr", outcome.err.rstrip("\n")]
    lines = [line.rstrip() for part in parts for line in part.split("\n")]
    return mask_text("\n".join(lines)) + f"\n--- exit {outcome.code}\n"


def _written(folder: Path) -> dict[str, Any]:
    """Files that a command wrote, in short: of tables the columns with their sums, of text a hash."""
    found: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".parquet":
            found[path.name] = _sums(pl.read_parquet(path))
        elif path.suffix == ".json":
            found[path.name] = mask(json.loads(path.read_text(encoding="utf-8")))
        else:
            content = path.read_bytes()
            found[path.name] = {"lines": content.count(b"\n"), "sha256": hashlib.sha256(content).hexdigest()}
    return found


def _sums(frame: pl.DataFrame) -> dict[str, Any]:
    """Rows, and for each column its type and a sum that changes with the order of the rows."""
    places = pl.int_range(1, pl.len() + 1) / pl.len()
    columns = {
        name: {"type": str(kind), "sum": frame.select((pl.col(name).cast(pl.Float64) * places).sum()).item()}
        for name, kind in frame.schema.items()
    }
    return {"rows": frame.height, "columns": columns}


def mask(value: Any, keys: AbstractSet[str] = MASKED) -> Any:
    """The value with what is under these keys blanked: versions and run times."""
    if isinstance(value, dict):
        return {key: None if key in keys else mask(each, keys) for key, each in value.items()}
    return [mask(each, keys) for each in value] if isinstance(value, list) else value


def mask_text(text: str) -> str:
    """The text with versions and run times blanked."""
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text


def data_here() -> dict[str, str]:
    """Which public data sets are here: present, partly or absent."""
    told = json.loads(run_command(["datasets", "--json"]).out)
    return {entry["name"]: entry["presence"] for entry in told}


def data_of_studies() -> dict[str, list[str]]:
    """The data sets that each table of a study can use."""
    told = json.loads(run_command(["list", "studies", "--json"]).out)
    return {row["study"]: [name for name in row["data"].split(", ") if name] for row in told}


@cache
def data_folder() -> str:
    """Where public data sets are looked for."""
    told = json.loads(run_command(["datasets", "--json"]).out)
    return str(Path(told[0]["folder"]).parent)
