"""The same mistake in Python and on the command line: each is told in its own words."""

import json

import polars as pl
import pytest

from unskew import Interactions, Split, evaluate
from unskew.data import exposed_split
from unskew.errors import ConfigError, DataError


def test_a_refusal_names_the_keyword_in_python_and_the_flag_on_the_command_line(world, unskew, refuse):
    rows = Interactions.read(world / "train.csv")
    with pytest.raises(DataError, match=r'are also in train; use candidates="all" to keep them$'):
        evaluate({"popular": "popular"}, Split(rows, rows))
    says = ("are also in train; use --candidates all to keep them\n",)
    refuse(*world.evaluate("--model", "popular", test="train.csv", model=False), says=says)
    with pytest.raises(DataError, match=r"no test row"):  # and Python is spoken again
        evaluate({"popular": "popular"}, Split(rows, rows))


def test_words_are_refused_in_both_spellings(world, refuse):
    rows = Interactions.read(world / "train.csv")
    with pytest.raises(ConfigError, match=r'^assume="gamma=1\.\.2" leaves out the gamma'):
        evaluate({"popular": "popular"}, Split(rows, rows), assume="gamma=1..2")
    refuse(
        *world.evaluate("--assume", "gamma=1..2", "--propensity", "popularity"),
        says=("unskew: --assume gamma=1..2 leaves out",),
    )


def test_a_random_sample_is_told_in_both_spellings(world, unskew):
    pl.read_csv(world / "train.csv").head(60).with_columns(pl.lit(1).alias("label")).write_csv(world / "shown.csv")
    pl.DataFrame({"item": ["i0", "i1"]}).write_csv(world / "items.csv")
    split = exposed_split(world / "train.csv", world / "shown.csv", catalogue=world / "items.csv", population="all")
    report = evaluate({"popular": "popular"}, split, metrics=["recall@3"])
    files = ["--train", world / "train.csv", "--exposed", world / "shown.csv", "--catalogue", world / "items.csv"]
    made = unskew("evaluate", *files, "--population", "all", "--model", "popular", "-m", "recall@3", "--json", "-")
    told = json.loads(made.out)
    assert told["estimates"] == report.to_dict()["estimates"]
    assert told["run"]["exposed"] == report.to_dict()["run"]["exposed"]
    assert any("kept by --population all" in text for text in told["warnings"])
    assert any('kept by population="all"' in text for text in report.warnings)
    assert told["warnings"][0] == report.warnings[0]
    assert "items.csv: lacks 13 of 15 items of train" in told["warnings"][0]


def test_warnings_of_a_run_speak_to_whoever_ran_it(world, unskew):
    split = Split(Interactions.read(world / "train.csv"), Interactions.read(world / "test.csv"))
    report = evaluate({"popular": "popular"}, split, metrics=["auc"])
    command = world.evaluate("--model", "popular", "-m", "auc", "--json", "-", model=False)
    told = json.loads(unskew(*command).out)["warnings"]
    assert any("as in --positive 'rating>=4'" in text for text in told)
    assert any('as in positive="rating>=4"' in text for text in report.warnings)
    assert len(told) == len(report.warnings)
