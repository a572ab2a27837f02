"""The recipes of the documentation for continuous integration run as they are printed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from test_docs import DOCS, bodies, environment, example

PAGE = DOCS / "guide" / "gate.md"


def recipe(beginning: str, end: str) -> str:
    """The file that a cell of the page writes, between these words."""
    (body,) = (body for body in bodies(PAGE, "{code-cell} python") if beginning in body)
    return body.split(beginning, 1)[1].split(end, 1)[0] if end else body.split(beginning, 1)[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    example.write_files()
    return tmp_path


def test_the_steps_of_the_github_workflow_run_and_write_a_summary(folder: Path) -> None:
    workflow = yaml.safe_load(recipe('workflow = r"""', '"""'))
    steps = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    assert steps[0].startswith("pip install")
    variables = {**environment(), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    for step in steps[1:]:
        outcome = subprocess.run(
            ["bash", "-e", "-c", step], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        assert outcome.returncode in {0, 1}, outcome.stderr
    assert (folder / "summary.md").read_text().startswith("### ")
    assert (folder / "gate.json").exists()


def test_the_recipe_for_pytest_runs(folder: Path) -> None:
    (folder / "test_model.py").write_text(recipe("%%writefile test_model.py\n", ""))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"]
    outcome = subprocess.run(words, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout
