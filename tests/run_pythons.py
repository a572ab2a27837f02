"""Run the tests under every version of Python that the package names, as far as they are installed here.

``make pythons`` runs all that are not slow. ``python tests/run_pythons.py 3.13 /opt/python3.14/bin/python3`` takes the
versions and interpreters that are named; what follows ``--`` goes to pytest. An environment is made once per version,
in ``.pythons/``, with the pins of ``constraints.txt`` and the extra ``test``, which has no torch: tests that need it
are skipped, with the reason. ``--extras test,models`` installs it.
"""

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".pythons"
CLASSIFIER = "Programming Language :: Python :: "
AT_ONCE = ("-n", "2", "--dist", "loadgroup")
"""As `make test` does."""
ASK = "import sys; print('.'.join(map(str, sys.version_info[:3])))"


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs here."""

    path: str
    full: str

    @property
    def version(self) -> str:
        """The version without its last number, as 3.13."""
        return self.full.rpartition(".")[0]


def versions() -> list[str]:
    """The versions that the package names, oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [each.removeprefix(CLASSIFIER) for each in project["classifiers"] if each.startswith(CLASSIFIER)]


def find(word: str) -> Interpreter | None:
    """The interpreter of a version on the path, or at a path; none if it is missing or does not start."""
    path = shutil.which(f"python{word}" if word[:1].isdigit() else word)
    if path is None:
        return None
    asked = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=False)
    return Interpreter(path, asked.stdout.strip()) if asked.returncode == 0 else None  # a shim may have no version


def run(python: Interpreter, extras: str, words: list[str]) -> str:
    """Run the tests in the environment of a version; return the counts, or what went wrong."""
    folder = ENVIRONMENTS / python.version
    inside, done, results = folder / "bin" / "python", folder / f"installed-{extras}", folder / "results.xml"
    if not done.exists():
        pip = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pins = ["--constraint", str(ROOT / "constraints.txt")]
        made = [python.path, "-m", "venv", str(folder)]
        for command in (made, [*pip, *pins, "--editable", f"{ROOT}[{extras}]"]):
            if subprocess.run(command, check=False).returncode:
                return f"FAILED: {' '.join(command)}"
        done.touch()
    results.unlink(missing_ok=True)
    command = [str(inside), "-m", "pytest", "-q", *AT_ONCE, "-m", "not slow", f"--junitxml={results}", *words]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if not results.exists():
        return f"FAILED: pytest ended with {code}"
    return ("FAILED: " if code else "") + counts(results)


def counts(results: Path) -> str:
    """How many tests passed, failed and were skipped, in a file that pytest wrote."""
    kinds = {"failure": "failed", "error": "failed", "skipped": "skipped"}
    cases = ET.parse(results).getroot().iter("testcase")
    found = Counter(next((kinds[part.tag] for part in case if part.tag in kinds), "passed") for case in cases)
    return ", ".join(f"{found[kind]} {kind}" for kind in ("passed", "failed", "skipped"))


def main(given: list[str]) -> int:
    """Run the tests under the versions that are named, or all; the exit code is 1 if some failed or none ran."""
    words = given[given.index("--") + 1 :] if "--" in given else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="a version or an interpreter; all by default")
    parser.add_argument("--extras", default="test", help="extras to install, such as test,models")
    asked = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    found = {word: find(word) for word in asked.pythons or versions()}
    for word, python in found.items():
        print(f"{word:6} {f'{python.full}, {python.path}' if python else 'not found'}", flush=True)
    results = {python.full: run(python, asked.extras, words) for python in found.values() if python}
    for full, result in results.items():
        print(f"Python {full:8} {result}")
    return int(not results or any(result.startswith("FAILED") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
