"""The same mistake in Python and on the command line: each is told in its own words."""

import json

import pytest

from unskew import Interactions, Split, evaluate
from unskew.errors import DataError


def test_a_refusal_names_the_keyword_in_python_and_the_flag_on_the_command_line(world, unskew, refuse):
    rows = Interactions.read(world / "train.csv")
    with pytest.raises(DataError, match=r'are also in train; use candidates="all" to keep them$'):
        evaluate({"popular": "popular"}, Split(rows, rows))
    says = ("are also in train; use --candidates all to keep them\n",)
    refuse(*world.evaluate("--model", "popular", test="train.csv", model=False), says=says)
    with pytest.raises(DataError, match=r"no test row"):  # and Python is spoken again
        evaluate({"popular": "popular"}, Split(rows, rows))


def test_warnings_of_a_run_speak_to_whoever_ran_it(world, unskew):
    split = Split(Interactions.read(world / "train.csv"), Interactions.read(world / "test.csv"))
    report = evaluate({"popular": "popular"}, split, metrics=["auc"])
    command = world.evaluate("--model", "popular", "-m", "auc", "--json", "-", model=False)
    told = json.loads(unskew(*command).out)["warnings"]
    assert any("as in --positive 'rating>=4'" in text for text in told)
    assert any('as in positive="rating>=4"' in text for text in report.warnings)
    assert len(told) == len(report.warnings)
