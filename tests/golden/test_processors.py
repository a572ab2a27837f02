"""A few golden tests as on other machines; `make processors` runs all."""

import subprocess
import sys
from pathlib import Path

import pytest
from run_processors import Environment, environments, run

SCRIPT = Path(__file__).with_name("run_processors.py")


@pytest.mark.slow
def test_numbers_are_the_same_on_other_processors_and_in_other_places() -> None:
    shown = [
        "haswell",
        "zen",
        "numpy without AVX2",
        "two BLAS threads",
        "hash seed",
        "locale C",
        "no home",
        "few files",
    ]
    words = [word for name in shown for word in ("--only", name)]
    done = subprocess.run([sys.executable, SCRIPT, "--quick", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"\n{name:24}" in done.stdout for name in shown)


def test_each_environment_is_different_or_says_why_it_is_left_out(tmp_path: Path) -> None:
    given = environments(tmp_path)
    assert len({each.name for each in given}) == len(given) == 14
    for each in given:
        assert each.missing or each.files or any(text != "" for text in each.changes.values()), each.name
    left_out = Environment("mars", {"TZ": "Mars"}, missing="nobody is there")
    assert run(left_out, [], tmp_path) == "left out: nobody is there"


def test_a_failed_test_and_an_environment_that_cannot_start_are_seen(tmp_path: Path) -> None:
    assert run(Environment("nothing"), ["-k", "no_such_test"], tmp_path).startswith("FAILED")
    assert run(Environment("no files", files=3), [], tmp_path).startswith("FAILED")
