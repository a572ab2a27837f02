"""Run all golden cases with two checkouts on this machine and compare every byte: ``compare_checkouts.py OLD NEW``.

The cases are those beside this file, so run it from the newer checkout. JSON, what the terminal shows, refusals and
some pages are compared; versions and run times are masked. ``--random 1000`` compares random evaluations instead. Exit
0: all equal, 1: something differs.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHOWN, WIDTH = 3, 220
_CHECK = (
    "import pathlib, sys, unskew; sys.exit(pathlib.Path(unskew.__file__).resolve().parents[1] != pathlib.Path({!r}))"
)


def main() -> None:
    """Read the command line, run both, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="a source checkout")
    parser.add_argument("new", type=Path, help="another one")
    parser.add_argument("names", nargs="*", help="cases; all by default")
    parser.add_argument("--no-studies", action="store_true", help="leave the tables of studies out")
    parser.add_argument(
        "--random", type=int, default=0, help="compare this many random evaluations instead of the cases"
    )
    parser.add_argument("--keep", type=Path, help="keep all outputs in this folder")
    asked = parser.parse_args()
    more = [*asked.names, *(["--no-studies"] if asked.no_studies else []), "--random", str(asked.random)]
    with tempfile.TemporaryDirectory() as scratch:
        place = asked.keep or Path(scratch)
        sides = {"old": asked.old, "new": asked.new}
        runs = [start(checkout, place / side, more) for side, checkout in sides.items()]
        codes = [run.wait() for run in runs]  # of both, before anything is said
        if any(codes):
            sys.exit("a checkout could not be run; see above")
        found = compare(place / "old", place / "new")
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(1 if found else 0)


def start(checkout: Path, out: Path, more: list[str]) -> subprocess.Popen[bytes]:
    """Begin to write the outputs of one checkout; both run side by side."""
    source = (checkout / "src").resolve()
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", _CHECK.format(str(source))], env=environment, check=True, cwd=HERE)
    command = [sys.executable, str(HERE / "make_golden.py"), *more, "--raw", str(out.resolve())]
    return subprocess.Popen(command, env=environment)


def compare(old: Path, new: Path) -> list[str]:
    """Lines on every file that differs."""
    names = sorted({path.name for side in (old, new) for path in side.iterdir()})
    found = []
    for name in names:
        sides = [side / name for side in (old, new)]
        there = [path.exists() for path in sides]
        if not all(there):
            error = " ".join(
                path.read_text(encoding="utf-8").strip() for path in sides if path.suffix == ".error" and path.exists()
            )
            found.append(f"{name}: only {'old' if there[0] else 'new'} has it {error[:WIDTH]}".rstrip())
            continue
        texts = [path.read_bytes().decode("utf-8") for path in sides]
        if texts[0] != texts[1]:
            found += [f"{name}: differs", *first_lines(*texts)]
    return found


def first_lines(old: str, new: str) -> list[str]:
    """The first lines that differ, cut around the first character that does."""
    pairs = itertools.zip_longest(old.splitlines(keepends=True), new.splitlines(keepends=True), fillvalue="")
    shown = []
    for place, (one, other) in enumerate(pairs, 1):
        if one == other:
            continue
        start = max(
            0,
            sum(1 for _ in itertools.takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))
            - WIDTH // 4,
        )
        shown += [
            f"  line {place}, old: {one[start : start + WIDTH].rstrip()}",
            f"  line {place}, new: {other[start : start + WIDTH].rstrip()}",
        ]
        if len(shown) >= 2 * SHOWN:
            break
    return shown


if __name__ == "__main__":
    main()
