"""The versions of Python that the package names: the same in every place, and found where they are installed."""

import re
import tomllib
from pathlib import Path

import pytest

import run_pythons

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def interpreter(path: Path, says: str) -> Path:
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


def test_the_oldest_version_is_the_same_in_every_setting() -> None:
    oldest = run_pythons.versions()[0]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert f"needs Python {oldest} or later" in (ROOT / "docs" / "start.md").read_text(encoding="utf-8")


def test_the_versions_follow_one_another_and_contributing_has_each() -> None:
    minors = [int(version.removeprefix("3.")) for version in run_pythons.versions()]
    assert minors == list(range(minors[0], minors[-1] + 1))
    rows = re.findall(r"^\| (3\.\d+)\.\d+ \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == run_pythons.versions()


def test_an_interpreter_is_found_on_the_path_or_at_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = interpreter(tmp_path / "python3.13", "echo 3.13.7")
    monkeypatch.setenv("PATH", str(tmp_path))
    for word in ("3.13", str(there)):
        found = run_pythons.find(word)
        assert found == run_pythons.Interpreter(str(there), "3.13.7")
        assert found.version == "3.13"


def test_what_is_missing_or_does_not_start_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter(tmp_path / "python3.12", "echo no such version >&2; exit 127")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_pythons.find("3.12") is None
    assert run_pythons.find("3.14") is None
    assert run_pythons.find(str(tmp_path / "nowhere")) is None


def test_without_any_version_the_run_fails_and_says_what_it_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_pythons.main([]) == 1
    assert capsys.readouterr().out.splitlines() == [f"{version:6} not found" for version in run_pythons.versions()]


def test_tests_run_once_per_version_with_the_words_for_pytest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin").mkdir()
    interpreter(tmp_path / "bin" / "python3.11", "echo 3.11.9")
    interpreter(tmp_path / "bin" / "python3.14", "echo 3.14.2")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(run_pythons, "ENVIRONMENTS", tmp_path)
    for version, code, child in (("3.11", 0, ""), ("3.14", 1, "<failure/>")):
        cases = f"<testcase/><testcase><skipped/></testcase><testcase>{child}</testcase>"
        folder = tmp_path / version
        (folder / "bin").mkdir(parents=True)
        (folder / "installed-test").touch()
        body = f'echo "$@" > {folder}/words\necho "<a><b>{cases}</b></a>" > {folder}/results.xml\nexit {code}'
        interpreter(folder / "bin" / "python", body)
    assert run_pythons.main(["3.11", "3.14", "--", "tests/golden", "-x"]) == 1
    assert capsys.readouterr().out.splitlines()[2:] == [
        "Python 3.11.9   2 passed, 0 failed, 1 skipped",
        "Python 3.14.2   FAILED: 1 passed, 1 failed, 1 skipped",
    ]
    words = (tmp_path / "3.11" / "words").read_text().split()
    assert words[:3] == ["-m", "pytest", "-q"]
    assert words[7:10] == ["-m", "not", "slow"]
    assert words[-2:] == ["tests/golden", "-x"]


def test_an_environment_that_cannot_be_made_is_a_failure_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = interpreter(tmp_path / "python3.13", "exit 1")
    monkeypatch.setattr(run_pythons, "ENVIRONMENTS", tmp_path)
    said = run_pythons.run(run_pythons.Interpreter(str(broken), "3.13.0"), "test", [])
    assert said == f"FAILED: {broken} -m venv {tmp_path / '3.13'}"
