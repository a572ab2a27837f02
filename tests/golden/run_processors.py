"""Run the golden tests as if on other machines: other processors, locales, time zones, limits.

``make processors`` runs all of them under each environment and prints how many passed. ``--quick`` runs a few cases;
``--only haswell`` takes environments by name; what follows ``--`` goes to pytest. An environment that this machine
cannot show is left out, with the reason: a kernel of AVX-512 where the processor has none, a locale that is not
installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.append(str(FOLDER.parent))
from run_pythons import counts  # noqa: E402

QUICK = ("evaluate-defaults", "evaluate-imputed-lists", "exposed-aggregates", "simulate-ibp")
FEW_FILES = 64
FEATURES = """
import json
try:
    from numpy._core import _multiarray_umath as umath
except ImportError:  # before NumPy 2
    from numpy.core import _multiarray_umath as umath
print(json.dumps([name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]))
"""
"""Asks NumPy which features of the processor it uses and can do without."""


@dataclass(frozen=True)
class Environment:
    """How a machine is imitated.

    Parameters
    ----------
    name : str
    changes : mapping
        Variables; None removes one.
    files : int or None
        How many files may be open.
    missing : str
        Why it cannot be had here; empty if it can.
    """

    name: str
    changes: Mapping[str, str | None] = field(default_factory=dict)
    files: int | None = None
    missing: str = ""


def environments(scratch: Path) -> list[Environment]:
    """All environments; `scratch` is for caches that only one of them has."""
    features = disposable_features()
    wide = [name for name in features if "AVX512" in name or name == "X86_V4"]
    no_wide = "" if wide else "the processor has no AVX-512"
    german = next((name for name in installed_locales() if name.lower().startswith("de_de")), "")
    home: dict[str, str | None] = {"HOME": "/proc/nobody", "XDG_CACHE_HOME": None, "XDG_DATA_HOME": None}
    return [
        Environment("one BLAS thread", {"OPENBLAS_NUM_THREADS": "1"}),
        Environment("two BLAS threads", {"OPENBLAS_NUM_THREADS": "2"}),
        Environment("haswell", {"OPENBLAS_CORETYPE": "Haswell"}),
        Environment("zen", {"OPENBLAS_CORETYPE": "Zen"}),
        Environment("skylakex", {"OPENBLAS_CORETYPE": "SkylakeX"}, missing=no_wide),
        Environment("numpy without AVX-512", {"NPY_DISABLE_CPU_FEATURES": " ".join(wide)}, missing=no_wide),
        Environment(
            "numpy without AVX2",
            {"NPY_DISABLE_CPU_FEATURES": " ".join(features)},
            missing="" if features else "NumPy uses none here",
        ),
        Environment("numba for haswell", {"NUMBA_CPU_NAME": "haswell", "NUMBA_CACHE_DIR": str(scratch / "haswell")}),
        Environment("hash seed", {"PYTHONHASHSEED": "1"}),
        Environment("locale C", {"LC_ALL": "C"}),
        Environment("locale de_DE", {"LC_ALL": german}, missing="" if german else "it is not installed"),
        Environment("time zone", {"TZ": "Asia/Kathmandu"}),
        Environment("no home", home),
        Environment("few files", {}, files=FEW_FILES),
    ]


def disposable_features() -> list[str]:
    """The features of this processor that NumPy can be told not to use."""
    done = subprocess.run([sys.executable, "-c", FEATURES], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def installed_locales() -> list[str]:
    """The locales of this machine."""
    try:
        return subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    except FileNotFoundError:
        return []


def run(environment: Environment, words: list[str], scratch: Path) -> str:
    """Run the golden tests in an environment; return the counts, or what went wrong."""
    if environment.missing:
        return f"left out: {environment.missing}"
    variables: dict[str, str] = dict(os.environ)
    for name, text in environment.changes.items():
        variables.pop(name, None)
        if text is not None:
            variables[name] = text
    results = scratch / "results.xml"
    results.unlink(missing_ok=True)
    tests = [str(FOLDER / "test_golden.py"), "-p", "no:cacheprovider", f"--junitxml={results}"]
    command = [sys.executable, "-m", "pytest", "-q", *tests, *words]
    if environment.files is not None:
        command = ["sh", "-c", f'ulimit -n {environment.files}; exec "$@"', "sh", *command]
    started = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    if not results.exists():
        return f"FAILED: pytest ended with {code}"
    return ("FAILED: " if code else "") + f"{counts(results)}, {time.monotonic() - started:.0f} s"


def main(given: list[str]) -> int:
    """Run the environments that are named, or all; the exit code is 1 if a test failed in one of them."""
    words = given[given.index("--") + 1 :] if "--" in given else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--only", action="append", help="an environment; repeatable [default: all]")
    asked = parser.parse_args(given[: given.index("--")] if "--" in given else given)
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        chosen = environments(scratch)
        names = [each.name for each in chosen]
        if unknown := set(asked.only or ()) - set(names):
            parser.error(f"no environment {', '.join(sorted(unknown))}; choose among {', '.join(names)}")
        if asked.quick:
            words = ["-k", " or ".join(QUICK), *words]
        results = {}
        for each in chosen:
            if not asked.only or each.name in asked.only:
                results[each.name] = run(each, words, scratch)
                print(f"{each.name}: {results[each.name]}", flush=True)
    print()
    for name, result in results.items():
        print(f"{name:24}{result}")
    return int(not results or any(result.startswith("FAILED") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
