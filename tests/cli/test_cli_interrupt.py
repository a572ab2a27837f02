"""Ctrl-C: exit 130, one line, no half file and no temporary one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unskew.evaluation import Report

LINE = "unskew: interrupted; no file was left half written\n"
ONCE = "compiling, once; this takes some seconds\n"
"""What is said first where the loops have not been compiled yet."""

# Models that tell the test how far the run has come.
STAGES = """
import time
from dataclasses import dataclass
from pathlib import Path
from unskew.models import Popular

@dataclass(frozen=True)
class Marking(Popular):
    def fit(self, train, **settings):
        Path("{mark}").touch()
        return super().fit(train, **settings)

@dataclass(frozen=True)
class Endless(Popular):
    def fit(self, train, **settings):
        Path("{mark}").touch()
        while True:
            time.sleep(0.01)
"""


@pytest.fixture
def big(tmp_path):
    """Factors that take many seconds to rank."""
    users, items = 120_000, 20_000
    rng = np.random.default_rng(0)
    for name in ("train", "test"):
        frame = pl.DataFrame({"user": np.arange(users), "item": rng.integers(0, items, users)})
        frame.write_csv(tmp_path / f"{name}.csv")
    np.savez(
        tmp_path / "mf.npz",
        user_factors=rng.normal(size=(users, 64)).astype(np.float32),
        item_factors=rng.normal(size=(items, 64)).astype(np.float32),
        user_ids=np.arange(users),
        item_ids=np.arange(items),
    )
    return tmp_path


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    (folder / "stages.py").write_text(STAGES.format(mark=folder / "mark"))
    (folder / "out").mkdir()
    files = ["--train", folder / "train.csv", "--test", folder / "test.csv"]
    outputs = ["--json", folder / "out" / "run.json", "--html", folder / "out" / "run.html"]
    return subprocess.Popen(
        [sys.executable, "-m", "unskew", "evaluate", *files, *outputs, *words],
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupt(process: subprocess.Popen[str], mark: Path, *, after: float) -> tuple[int, str, str]:
    """Wait for the mark, then a little, then press Ctrl-C."""
    deadline = time.monotonic() + 60
    while not mark.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(after)
    assert process.poll() is None, "the run ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_while_ranking_leaves_nothing(big, threads):
    models = [
        "--factors",
        str(big / "mf.npz"),
        "--model",
        "mark=stages:Marking",
        "-e",
        "aoa",
    ]  # so that ranking comes soon
    code, out, err = interrupt(start(big, *models, "--threads", threads), big / "mark", after=0.5)
    assert (code, out, err.removeprefix(ONCE)) == (130, "", LINE)
    assert list((big / "out").iterdir()) == []


def test_ctrl_c_while_training_leaves_nothing(world):
    process = start(world.folder, "--model", "stages:Endless")
    code, out, err = interrupt(process, world.folder / "mark", after=0.1)
    assert (code, out, err.removeprefix(ONCE)) == (130, "", LINE)
    assert list((world.folder / "out").iterdir()) == []


def test_ctrl_c_inside_code_made_from_text_has_the_same_status(world):
    (world.folder / "textual.py").write_text(
        "from dataclasses import dataclass\n"
        "from unskew.models import Popular\n"
        "@dataclass(frozen=True)\n"
        "class Textual(Popular):\n"
        "    def fit(self, train, **settings):\n"
        "        exec('raise KeyboardInterrupt')\n"
    )
    process = start(world.folder, "--model", "textual:Textual")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.removeprefix(ONCE)) == (130, "", LINE)


def test_ctrl_c_inside_a_callback_of_compiled_code_is_not_lost(world):
    (world.folder / "callback.py").write_text(
        "import ctypes, os, signal, time\n"
        "from dataclasses import dataclass\n"
        "from unskew.models import Popular\n"
        "def press():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "@dataclass(frozen=True)\n"
        "class Callback(Popular):\n"
        "    def fit(self, train, **settings):\n"
        "        ctypes.CFUNCTYPE(None)(press)()\n"
        "        time.sleep(60)\n"
    )
    out, err = (process := start(world.folder, "--model", "callback:Callback")).communicate(timeout=30)
    assert (process.returncode, out, err.removeprefix(ONCE)) == (130, "", LINE)


def stop(*arguments, **named):
    raise KeyboardInterrupt


@pytest.mark.parametrize("stage", ["to_html", "to_json"])
def test_ctrl_c_while_the_report_is_made_leaves_nothing(world, unskew, monkeypatch, stage):
    monkeypatch.setattr(Report, stage, stop)
    (world.folder / "out").mkdir()
    outcome = unskew(*world.evaluate("--json", world / "out/run.json", "--html", world / "out/run.html"))
    assert (outcome.code, outcome.out, outcome.err) == (130, "", LINE)
    assert list((world.folder / "out").iterdir()) == []


@pytest.mark.parametrize("stage", ["chmod", "replace"])
def test_ctrl_c_while_files_get_their_names_leaves_no_half_file(world, unskew, monkeypatch, stage):
    monkeypatch.setattr(Path, stage, stop)
    (world.folder / "out").mkdir()
    outcome = unskew(*world.evaluate("--json", world / "out/run.json", "--html", world / "out/run.html"))
    assert outcome.code == 130
    assert list((world.folder / "out").iterdir()) == []


def test_ctrl_c_while_splitting_leaves_no_file(world, unskew, monkeypatch):
    monkeypatch.setattr(pl.DataFrame, "write_csv", stop)
    outcome = unskew("split", world / "train.csv", world / "parts")
    assert (outcome.code, outcome.err) == (130, LINE)
    assert list((world.folder / "parts").iterdir()) == []


def test_an_error_while_writing_leaves_no_file_either(world, unskew, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    (world.folder / "out").mkdir()
    outcome = unskew(*world.evaluate("--json", world / "out/run.json", "--html", world / "out/run.html"))
    assert outcome.code == 2
    assert "cannot be written (No space left on device)" in outcome.err
    assert list((world.folder / "out").iterdir()) == []
