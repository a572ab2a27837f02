"""Write the golden corpus, or with ``--raw`` all outputs of one checkout for ``compare_checkouts.py``.

``make golden`` runs it. Give names of cases to write these alone.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import golden_files
from golden_calls import CALLS
from golden_cases import CASES, LISTS, LONGER_STUDIES, STUDIES
from golden_runs import data_here, data_of_studies, run_case, run_refusals
from golden_worlds import write_worlds

PAGES = {name for name, case in {**CASES, **STUDIES}.items() if case.page}
STORED = [*CALLS, *(name for name, case in CASES.items() if case.stored), *LISTS, *STUDIES]
ALL = [*CALLS, *CASES, *LISTS, *STUDIES, *LONGER_STUDIES]


def main() -> None:
    """Read the command line and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases; all by default, and the refusals")
    parser.add_argument("--raw", type=Path, help="write unrounded outputs and pages here instead of the corpus")
    parser.add_argument("--no-studies", action="store_true", help="leave the tables of studies out")
    parser.add_argument("--random", type=int, default=0, help="with --raw: write random evaluations, this many, alone")
    asked = parser.parse_args()
    if asked.raw is not None and asked.random:
        _keep_random(asked.random, asked.raw)
        return
    names = asked.names or (STORED if asked.raw is None else ALL)
    if asked.no_studies:
        names = [name for name in names if not name.startswith("study-")]
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs"
        inputs.mkdir()
        write_worlds(inputs)
        for name in names:
            started = time.perf_counter()
            if asked.raw is None:
                _store(name, inputs, Path(folder) / name)
            else:
                _keep_raw(name, inputs, Path(folder) / name, asked.raw)
            _say(f"{name}: {time.perf_counter() - started:.1f} s")
        if not asked.names:
            told = run_refusals(inputs, Path(folder) / "refusals")
            place = golden_files.FOLDER if asked.raw is None else asked.raw
            golden_files.write(golden_files.refusals_path(place), told)
    if asked.raw is None and not asked.names:
        _forget_others()


def study_data(name: str) -> dict[str, str]:
    """Which of the data sets that a study table can use are here."""
    here, table = data_here(), STUDIES[name].command.split()[1]
    return {each: here[each] for each in data_of_studies()[table]}


def _store(name: str, inputs: Path, place: Path) -> None:
    path, here = golden_files.json_path(name), study_data(name) if name in STUDIES else {}
    if here and path.exists() and (stored := golden_files.read(path)["data"]) != here:
        # numbers of other data would look like a change
        _say(f"{name}: left as it is, because it was made with {stored}, and here is {here}")
        return
    golden = run_case(name, inputs, place)
    golden_files.write(path, {"data": here, "result": golden.value} if name in STUDIES else golden.value)
    if golden.text is not None:
        path = golden_files.text_path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(golden.text, encoding="utf-8")


def _keep_raw(name: str, inputs: Path, place: Path, out: Path) -> None:
    """Write all that a case gave; one that fails does not stop the others."""
    out.mkdir(parents=True, exist_ok=True)
    page = name in PAGES
    try:
        golden = run_case(name, inputs, place, page=page)
    except Exception as error:  # noqa: BLE001  # a case that fails in one checkout is a difference to report
        (out / f"{name}.error").write_text(f"{type(error).__name__}: {error}\n", encoding="utf-8")
        return
    parts = {"json": golden.raw, "txt": golden.text, "html": golden.page}
    for suffix, text in parts.items():
        if text is not None:
            (out / f"{name}.{suffix}").write_text(text, encoding="utf-8")


def _keep_random(runs: int, out: Path) -> None:
    """Write what random evaluations gave, and what they raised where it is not a refusal."""
    from golden_random import outcome

    out.mkdir(parents=True, exist_ok=True)
    for seed in range(runs):
        try:
            text = outcome(seed)
        except Exception as error:  # noqa: BLE001  # as for the cases
            text = f"raises {type(error).__name__}: {error}\n"
        (out / f"random-{seed:06}.txt").write_text(text, encoding="utf-8")


def _forget_others() -> None:
    """Remove files of cases that are no more."""
    for folder in ("json", "text"):
        for path in (golden_files.FOLDER / folder).iterdir():
            if path.stem not in STORED:
                path.unlink()


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


if __name__ == "__main__":
    main()
