"""``unskew simulate``."""

import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unskew import __version__
from unskew.calibration.result import Calibrated, Calibration, LogFacts
from unskew.simulators import WorldModel
from unskew.simulators.likeness import STATISTICS

SMALL = "ibp(users=80, alpha=12, sizes=pareto(scale=4, upper=20))"
FILES = {"train.parquet", "test.parquet", "truth.parquet", "relevant.parquet", "world.json"}


def read(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(folder / f"{name}.parquet")


def test_the_files_are_the_world_of_the_seed(unskew, tmp_path):
    outcome = unskew("simulate", SMALL, tmp_path / "new" / "out", "--seed", "3")
    assert (outcome.code, outcome.err) == (0, "")
    out = tmp_path / "new" / "out"
    assert {path.name for path in out.iterdir()} == FILES
    world = WorldModel.from_word(SMALL).draw(3)
    for name, part in (("train", world.train), ("test", world.test)):
        frame = read(out, name)
        assert frame["user"].to_list() == part.users.tolist()
        assert frame["item"].to_list() == part.items.tolist()
    assert read(out, "train").columns == ["user", "item"]
    assert np.array_equal(read(out, "test")["propensity"], world.test.propensity)
    truth = read(out, "truth")
    assert truth["item"].to_list() == world.items.tolist()
    assert np.array_equal(truth["chance"], world.chances)
    facts = json.loads((out / "world.json").read_text())
    assert (facts["world"], facts["seed"], facts["unskew"]) == (str(WorldModel.from_word(SMALL)), 3, __version__)
    assert WorldModel.from_word(facts["world"]).draw(facts["seed"]).n_items == facts["items"]
    for number in (facts["items"], facts["likes"], facts["train_rows"], facts["test_rows"], facts["test_users"]):
        assert f" {number:,} " in outcome.out


def test_relevant_counts_are_of_all_that_is_relevant_and_of_what_train_has(unskew, tmp_path):
    unskew("simulate", SMALL, tmp_path)
    seen = set(read(tmp_path, "train")["item"])
    truth, relevant = read(tmp_path, "truth"), read(tmp_path, "relevant")
    assert relevant.columns == ["user", "relevant", "relevant_trained"]
    for user, everything, known in relevant.iter_rows():
        own = truth.filter(pl.col("user") == user)["item"]
        assert known == sum(item in seen for item in own)
        assert everything == len(own)


@pytest.mark.parametrize(
    "word",
    [
        SMALL,
        "lda(users=80, items=60, likes=20, graded, observe=preferred)",
        "uniform(users=80, items=60, likes=20, dislikes=0.3)",
        "marketplace(users=100, items=40)",
    ],
)
def test_the_command_it_prints_runs(unskew, tmp_path, word):
    outcome = unskew("simulate", word, tmp_path)
    command = shlex.split(outcome.out.splitlines()[-1])
    assert command[:2] == ["unskew", "evaluate"]
    assert ("ips" in command) == ("dislikes" not in word)
    result = unskew(*command[1:], "--json", "-")
    assert result.code == 0, result.err
    assert {row["estimator"] for row in json.loads(result.out)["estimates"]} == set(command) & {"aoa", "snips", "ips"}
    assert ("strength" in read(tmp_path, "truth").columns) == ("graded" in word)


def test_ips_of_the_files_meets_the_mean_over_the_truth_of_the_files(unskew, tmp_path):
    """A true value is a plain mean over truth.parquet; |z| < 4, with the interval's own standard error."""
    unskew("simulate", "ibp(users=600, alpha=60, sigma=0.3, observe=uniform)", tmp_path)

    def judge(test, estimator, *more):
        files = ("--train", tmp_path / "train.parquet", "--test", tmp_path / f"{test}.parquet")
        outcome = unskew("evaluate", *files, "--model", "popular", "-m", "adg", "-e", estimator, *more, "--json", "-")
        (row,) = json.loads(outcome.out)["estimates"]
        return row

    row = judge("test", "ips", "--propensity", "column", "--relevant-counts", tmp_path / "relevant.parquet")
    assert abs(row["value"] - judge("truth", "aoa")["value"]) < 4 * (row["high"] - row["low"]) / 2 / 1.96


def test_old_files_are_replaced_and_others_stay(unskew, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    unskew("simulate", SMALL, tmp_path, "--seed", "1")
    first = (tmp_path / "train.parquet").read_bytes()
    unskew("simulate", SMALL, tmp_path, "--seed", "2")
    assert (tmp_path / "train.parquet").read_bytes() != first
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"mine.txt"}


def test_quiet_says_nothing(unskew, tmp_path):
    outcome = unskew("simulate", SMALL, tmp_path, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("ibp(sigma=1)", "below 1"),
        ("ibp(c=-0.6)", "above -sigma, which is -0.5"),
        ("ibp(alpha=-2)", "above 0"),
        ("ibp(sizes=normal(3))", "normal"),
        ("ibp(holdout=0)", "between 0 and 1"),
        ("ibp(alpha=10000, users=100000)", "1,000,000,000 likes are expected"),
        ("ibp(users=2, alpha=1e-9)", "no user likes an item"),
        ("ipb", "did you mean 'ibp'"),
        ("ibp(alhpa=3)", "alpha"),
        ("missing.json", "no such file"),
        ("ibp(", "closing bracket"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line_and_nothing_is_written(unskew, tmp_path, word, says):
    outcome = unskew("simulate", word, tmp_path / "out")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err
    assert "this is a bug" not in outcome.err
    assert not (tmp_path / "out").exists()


def test_bad_places_and_options_are_refused(unskew, tmp_path):
    (tmp_path / "file").write_text("x")
    assert "this is a file" in unskew("simulate", SMALL, tmp_path / "file").err
    assert "cannot be created" in unskew("simulate", SMALL, tmp_path / "file" / "under").err
    assert "0 or more" in unskew("simulate", SMALL, tmp_path / "out", "--seed", "-1").err
    assert "is a word" in unskew("simulate", SMALL, tmp_path / "out", "--world", "ibp-pop").err
    (tmp_path / "other.json").write_text("{}")
    assert "not the JSON of a calibration" in unskew("simulate", tmp_path / "other.json", tmp_path / "out").err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def calibrated(tmp_path) -> Path:
    nothing = dict.fromkeys(STATISTICS, 0.1)
    worlds = {"ibp-pop": SMALL, "uniform-unif": "uniform(users=80, items=60, likes=20, observe=uniform)"}
    found = Calibration(
        LogFacts("log", 1, 1, 1, "0"),
        tuple(Calibrated(kind, word, nothing, nothing, 0.0, nothing, 1, 0, {}) for kind, word in worlds.items()),
        *(nothing, {}, {}, ""),
    )
    place = tmp_path / "calibration.json"
    place.write_text(found.to_json())
    return place


def test_a_calibrated_world_is_drawn_from_its_file(unskew, tmp_path, calibrated):
    several = unskew("simulate", calibrated, tmp_path / "out")
    assert several.code == 2
    assert "--world ibp-pop|uniform-unif" in several.err
    outcome = unskew("simulate", calibrated, tmp_path / "out", "--world", "ibp-pop")
    assert outcome.code == 0, outcome.err
    words = {each["kind"]: each["word"] for each in json.loads(calibrated.read_text())["worlds"]}
    facts = json.loads((tmp_path / "out" / "world.json").read_text())
    assert facts["world"] == str(WorldModel.from_word(words["ibp-pop"]))
    missing = unskew("simulate", calibrated, tmp_path / "out", "--world", "ibp-unif")
    assert missing.code == 2
    assert "no world 'ibp-unif' was calibrated" in missing.err


def test_the_file_of_the_calibration_is_not_written_over(unskew, calibrated):
    place = calibrated.rename(calibrated.with_name("world.json"))
    outcome = unskew("simulate", place, place.parent, "--world", "ibp-pop")
    assert outcome.code == 2
    assert "would overwrite" in outcome.err
