"""Every input file is opened once."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, world) -> Counter[str]:
    """How often each file of the world is opened for reading."""
    counts: Counter[str] = Counter()
    plain = Path.open

    def counting(path: Path, mode: str = "r", *more: Any, **options: Any) -> Any:
        if path.parent == world.folder and "r" in mode:
            counts[path.name] += 1
        return plain(path, mode, *more, **options)

    monkeypatch.setattr(Path, "open", counting)
    return counts


@pytest.fixture
def files(world) -> None:
    """What the world lacks: counts of relevant items, a catalogue, a random sample, and validation rows."""
    test = pl.read_csv(world / "test.csv")
    test.group_by("user").agg(pl.len().alias("relevant")).write_csv(world / "relevant.csv")
    pl.read_csv(world / "train.csv").select("item").unique().write_csv(world / "items.csv")
    test.select("user", "item", "rating").write_csv(world / "shown.csv")
    test.head(20).write_csv(world / "held.csv")
    test.tail(20).select("user", "item", pl.lit(1).alias("label")).write_csv(world / "small.csv")


EVALUATED = {
    "a log": (
        ["--test", "test.csv", "--validation", "held.csv", "--relevant-counts", "relevant.csv", "-e", "ips"],
        {"train.csv", "test.csv", "held.csv", "relevant.csv", "mf.npz", "dense.csv"},
    ),
    "a random sample": (
        ["--exposed", "shown.csv", "--validation", "held.csv", "--catalogue", "items.csv", "--uniform", "small.csv"],
        {"train.csv", "shown.csv", "held.csv", "items.csv", "small.csv", "mf.npz", "dense.csv"},
    ),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("case", EVALUATED)
def test_an_evaluation_opens_each_file_once(case, world, unskew, opened):
    more, read = EVALUATED[case]
    words = [world / word if word.endswith(".csv") else word for word in more]
    rules = ["--positive", "rating>=2", "--scale", "1-5", "-m", "recall@3", "--propensity", "column"]
    rules = rules if case == "a log" else rules[:-2]
    models = ["--factors", world / "mf.npz", "--scores", world / "dense.csv"]
    outcome = unskew("evaluate", "--train", world / "train.csv", *words, *models, *rules)
    assert outcome.code == 0, outcome.err
    assert opened == dict.fromkeys(read, 1)


def test_an_audit_and_a_split_open_each_file_once(world, unskew, opened):
    words = ["--test", world / "test.csv", "--scores", world / "dense.csv", "--k", "3", "--depth", "none"]
    assert unskew("audit", world / "train.csv", *words).code == 0
    assert opened == dict.fromkeys(["train.csv", "test.csv", "dense.csv"], 1)
    opened.clear()
    assert unskew("split", world / "train.csv", world / "parts").code == 0
    assert opened == {"train.csv": 1}


def test_files_that_are_named_in_a_word_are_opened_once_and_their_content_is_recorded(world, unskew, opened):
    ratings = "\n".join(str(1 + k % 5) for k in range(40))
    world.write("mcar.csv", f"rating\n{ratings}\n")
    test = pl.read_csv(world / "test.csv")
    test.select("user", "item", pl.lit(3.0).alias("prediction")).write_csv(world / "told.csv")
    opened.clear()
    words = ["--train", world / "train.csv", "--test", world / "test.csv", "--predictions", world / "told.csv"]
    rules = [
        "-m",
        "mae",
        "-e",
        "snips",
        "--positive",
        "rating>=2",
        "--propensity",
        f"naive-bayes(mcar={world / 'mcar.csv'})",
    ]
    outcome = unskew("evaluate", *words, *rules, "--json", "-")
    assert outcome.code == 0, outcome.err
    assert opened == dict.fromkeys(["train.csv", "test.csv", "told.csv", "mcar.csv"], 1)
    digest = hashlib.sha256((world.folder / "mcar.csv").read_bytes()).hexdigest()
    assert json.loads(outcome.out)["run"]["propensity_files"] == {str(world / "mcar.csv"): digest}
