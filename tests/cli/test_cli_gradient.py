"""Models that learn step by step, on the command line: validation, checkpoints, and what stands beside the bar."""

import io
import json
import os
import re
import sys

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from unskew.cli.screen import Bars
from unskew.models import Model

WORD = "bpr(factors=4, iterations=200, batch=50, learning-rate=0.05, every=50)"


@pytest.fixture
def validated(world):
    """The words of an evaluation with validation rows: the last training row of each user."""
    train = pl.read_csv(world / "train.csv")
    last = np.arange(len(train)) % 5 == 4
    train.filter(pl.Series(last)).write_csv(world / "validation.csv")
    train.filter(pl.Series(~last)).write_csv(world / "less.csv")
    (world.folder / "kept").mkdir()
    words = world.evaluate("--validation", world / "validation.csv", train="less.csv", model=False)
    return [*words, "--model", f"mine={WORD}"]


def test_a_model_is_chosen_by_validation_rows_and_a_resumed_run_gives_the_same_json(unskew, world, validated):
    assert unskew(*validated, "--json", world / "plain.json").code == 0
    kept = ["--checkpoints", world / "kept"]
    assert unskew(*validated, *kept, "--json", world / "first.json").code == 0
    file = world.folder / "kept" / "mine.npz"
    written = file.stat().st_mtime_ns
    assert unskew(*validated, *kept, "--json", world / "again.json", "--threads", "1").code == 0
    assert file.stat().st_mtime_ns == written  # nothing was left to train
    texts = [(world.folder / f"{name}.json").read_bytes() for name in ("plain", "first", "again")]
    assert texts[0] == texts[1] == texts[2]
    run = json.loads(texts[0])["run"]
    (chosen,) = run["models"].values()
    assert Model.from_word(chosen).iterations in {50, 100, 150, 200}
    assert "validation" in run["data"]


def test_a_missing_folder_for_checkpoints_is_refused(refuse, world, validated):
    refuse(*validated, "--checkpoints", world / "no/where", says=("--checkpoints", "none can be made there"))
    refuse(*validated, "--checkpoints", world / "train.csv", says=("not a folder",))


def test_a_broken_checkpoint_is_refused(refuse, world, validated):
    world.write("kept/mine.npz", "no zip")
    refuse(*validated, "--checkpoints", world / "kept", says=("mine.npz: not a checkpoint", "remove it"))


def test_a_checkpoint_of_another_seed_is_refused(unskew, refuse, world, validated):
    kept = [*validated, "--checkpoints", world / "kept"]
    assert unskew(*kept).code == 0
    refuse(*kept, "--seed", "1", says=("mine.npz: this checkpoint is of another seed",))


def test_divergence_is_one_line_with_the_step_and_a_hint(refuse, world):
    words = world.evaluate("--model", "bpr(learning-rate=1e30, iterations=50, batch=50)", model=False)
    refuse(*words, says=("training diverged: at step 2 the loss", "try a smaller learning-rate than 1e+30"))


def test_tune_without_validation_is_refused(refuse, world):
    refuse(*world.evaluate("--model", "bpr(tune=true)", model=False), says=("give --validation",))


def test_an_empty_validation_file_is_refused(refuse, world, validated):
    world.write("validation.csv", "user,item,rating,timestamp\n")
    refuse(*validated, says=("validation",))


def test_words_stand_beside_the_bar_of_their_stage():
    stream = io.StringIO()
    columns = TextColumn("{task.description}"), TextColumn("{task.fields[words]}", markup=False)
    with Progress(*columns, console=Console(file=stream, force_terminal=True, width=100)) as progress:
        bars = Bars(progress)
        bars.say("training a", "too early")  # there is no such bar yet
        bars("training a", 1, 4)
        bars("training b", 2, 3)
        bars.say("training a", "loss 0.5, recall@10 [0.25]")
        tasks = {task.description: (task.completed, task.total, task.fields["words"]) for task in progress.tasks}
    assert tasks == {"training a": (1, 4, "loss 0.5, recall@10 [0.25]"), "training b": (2, 3, "")}
    assert "loss 0.5, recall@10 [0.25]" in stream.getvalue()


def test_a_terminal_shows_the_loss_and_the_validation_metric(world, validated, on_terminal):
    command = [sys.executable, "-m", "unskew", *validated, "--json", world / "out.json"]
    shown = on_terminal(command, {**os.environ, "TERM": "xterm", "COLUMNS": "150"})
    assert "training mine" in shown
    assert re.search(r"loss 0\.\d{4}, recall@10 [01]\.\d{4}", shown)
