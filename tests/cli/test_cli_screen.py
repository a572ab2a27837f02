"""The width of what is printed, the formats of `--format`, help texts and completion."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from unskew.cli import screen
from unskew.cli.completion import complete_model, completes, words_of
from unskew.cli.listing import FAMILIES
from unskew.estimators import Estimator
from unskew.metrics import parse_metric
from unskew.propensities import PropensityModel

WORDS = ("-m", "recall@10", "-e", "aoa(per=pair)", "-e", "snips(per=balanced)", "--model", "popular")


@pytest.mark.parametrize(
    ("given", "columns"), [("80", 80), ("40", 80), ("150", 150), ("999", 200), ("0", 120), ("x", 120)]
)
def test_columns_sets_the_width_from_80_to_200(monkeypatch, given, columns):
    monkeypatch.setenv("COLUMNS", given)
    assert screen.columns() == columns


@pytest.mark.parametrize(("terminal", "columns"), [(60, 80), (100, 100), (300, 200)])
def test_a_terminal_has_its_own_width(monkeypatch, terminal, columns):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(screen.shutil, "get_terminal_size", lambda *_: os.terminal_size((terminal, 24)))
    assert screen.columns() == columns


@pytest.mark.parametrize("width", ["80", "120", "200"])
def test_every_table_of_an_evaluation_fits(world, unskew, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    outcome = unskew(*world.evaluate(*WORDS))
    assert outcome.code == 0
    lines = [line.rstrip() for line in outcome.out.splitlines() if not line.startswith(("targets:", "note:"))]
    assert max(map(len, lines)) <= int(width)
    assert "…" not in outcome.out
    for word in ("recall@10", "aoa", "(per=pair)", "snips", "(per=balanced)", "popular"):
        assert word in outcome.out


@pytest.mark.parametrize("words", [("list",), ("datasets",), ("reproduce",)])
def test_lists_fit_80_columns(unskew, monkeypatch, tmp_path, words):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path))
    outcome = unskew(*words)
    assert outcome.code == 0
    assert "…" not in outcome.out
    if words == ("list",):
        assert max(len(line.rstrip()) for line in outcome.out.splitlines()) <= 80


def test_list_alone_lists_everything(unskew):
    out = unskew("list").out
    for word in ("Metrics", "Estimators", "snips", "recall@K", "als", "schnabel2016/fig1", "popularity"):
        assert word in out
    assert list(json.loads(unskew("list", "--json").out)) == list(FAMILIES)


def test_each_format_prints_the_estimates(world, unskew):
    asked = world.evaluate(*WORDS, "--quiet", "--format")
    assert unskew(*asked, "md").out.startswith("**")
    assert unskew(*asked, "latex").out.startswith("\\begin{tabular}")
    rows = list(csv.DictReader(io.StringIO(unskew(*asked, "csv").out)))
    report = json.loads(unskew(*asked, "json").out)
    assert [float(row["value"]) for row in rows] == [row["value"] for row in report["estimates"]]
    assert unskew(*asked, "table").out == ""


def test_a_format_goes_to_stdout_and_warnings_to_stderr(world, unskew):
    loud = unskew(*world.evaluate(*WORDS, "--format", "csv"))
    assert loud.out == unskew(*world.evaluate(*WORDS, "--format", "csv", "-q")).out
    assert "warning:" in loud.err


def test_a_format_may_be_in_the_configuration(world, unskew):
    config = world.write("run.toml", 'format = "csv"\n')
    assert unskew(*world.evaluate(*WORDS, "--config", config)).out.startswith("model,metric")


def test_wrong_formats_are_refused(world, refuse):
    refuse(*world.evaluate(*WORDS, "--format", "cvs"), says=("--format cvs: unknown; did you mean 'csv'?",))
    refuse(*world.evaluate(*WORDS, "--format", "md", "--json", "-"), says=("leave one out",), outputs=False)


@pytest.mark.parametrize("words", [["--help"], ["datasets", "--help"], ["evaluate", "--help"], ["audit", "--help"]])
def test_help_is_not_cut(unskew, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    outcome = unskew(*words)
    assert outcome.code == 0
    assert "..." not in outcome.out.replace("[ARGS]...", "")
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_words_are_completed_from_the_registries():
    assert ("snips", Estimator.from_word("snips").__doc__.splitlines()[0])[0] in dict(completes("estimators")("sn"))
    assert {word for word, _ in completes("propensities")("")} == {each.word for each in PropensityModel.members()}
    assert [word for word, _ in complete_model("mine=item")] == ["mine=item-knn"]
    metrics = [word for word, _ in words_of("metrics")]
    assert {"recall@10", "auc", "adg", "adg@10", "recall(of=min)@10"} <= set(metrics)
    for word in metrics:
        parse_metric(word)


@pytest.mark.parametrize(
    ("typed", "words"),
    [("evaluate -m recall(", ["recall(of=min)@10"]), ("list me", ["metrics"]), ("evaluate --format l", ["latex"])],
)
def test_a_shell_gets_the_words(typed, words):
    place = str(len(typed.split()))
    settings = {"_UNSKEW_COMPLETE": "complete_bash", "COMP_WORDS": f"unskew {typed}", "COMP_CWORD": place}
    done = subprocess.run(
        [sys.executable, "-m", "unskew"], env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (words, "")


def test_completion_is_installed_for_a_shell(tmp_path):
    home = os.environ | {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    words = [sys.executable, "-m", "unskew", "--install-completion", "bash"]
    done = subprocess.run(words, env=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scripts = [path for path in Path(tmp_path).rglob("*.sh") if "_UNSKEW_COMPLETE" in path.read_text(encoding="utf-8")]
    assert scripts
