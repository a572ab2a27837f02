"""``unskew gate``: exit status, files, names of models, and refusals."""

import json
from pathlib import Path

import pytest


def words(world, new, old, *more, metric="recall@5"):
    files = ["--train", world / "train.csv", "--test", world / "test.csv"]
    return ["gate", new, old, *files, "-m", metric, "-e", "snips", *more]


def test_the_exit_status_is_the_decision(unskew, world):
    seen = set()
    for margin in ("0", "1"):
        outcome = unskew(*words(world, world / "mf.npz", "popular", "--margin", margin, "--json", "-"))
        decision = json.loads(outcome.out)["decision"]
        assert outcome.code == {"ship": 0, "hold": 3, "reject": 1}[decision]
        seen.add(decision)
    assert "ship" in seen  # a metric of at most 1 cannot fall by more than 1


def test_files_are_written_and_the_text_is_printed(unskew, world):
    files = "--json", world / "gate.json", "--markdown", world / "gate.md"
    outcome = unskew(*words(world, world / "mf.npz", "popular", "--margin", "1", *files))
    assert outcome.code == 0
    assert outcome.out.startswith("Ship: mf is not worse than popular on recall@5 by more than 1")
    assert Path(world / "gate.md").read_text().startswith("### Ship: mf is not worse")
    assert json.loads(Path(world / "gate.json").read_text())["new"] == "mf"
    assert not unskew(*words(world, world / "mf.npz", "popular", "--margin", "1", "--quiet")).out
    assert unskew(*words(world, world / "mf.npz", "popular", "--margin", "1", "--markdown", "-")).out.startswith("### ")


def test_two_files_of_the_same_name_are_new_and_old(unskew, world):
    factors = world / "mf.npz"
    read = json.loads(unskew(*words(world, factors, factors, "--margin", "1", "--json", "-")).out)
    assert (read["new"], read["old"]) == ("new", "old")
    word = "als(factors=2)"
    read = json.loads(unskew(*words(world, word, word, "--margin", "1", "--json", "-")).out)
    assert (read["new"], read["old"], read["difference"]["value"]) == ("new", "old", 0)
    read = json.loads(unskew(*words(world, f"a={factors}", world / "dense.csv", "--json", "-")).out)
    assert (read["new"], read["old"]) == ("a", "dense")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--require", "sure"], "choose one of interval, band, robust"),
        (["--margin", "-1"], "give a number of 0 or more"),
        (["-m", "auc"], "a gate has one metric"),
        (["--model", "als"], "No such option: --model"),
    ],
)
def test_bad_words_are_refused_in_one_line(unskew, world, more, says):
    outcome = unskew(*words(world, world / "mf.npz", "popular", *more))
    assert outcome.code == 2
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_file_that_is_not_there_is_named(unskew, world):
    outcome = unskew(*words(world, world / "none.npz", "popular"))
    assert outcome.code == 2
    assert "none.npz" in outcome.err
    outcome = unskew(*words(world, "poplar", "popular"))
    assert outcome.code == 2
    assert "did you mean 'popular'" in outcome.err
