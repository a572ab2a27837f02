"""``--weight-col``: test rows with weights on the command line."""

import json

import polars as pl
import pytest

from unskew import Interactions, Split, evaluate

WORDS = ("--model", "popular", "-m", "recall@3", "-e", "snips", "-e", "aoa")


@pytest.fixture
def weighted(world):
    """The test of the small world with a column of revenue."""
    test = pl.read_csv(world / "test.csv")
    revenue = pl.Series("revenue", [float(k % 7) for k in range(len(test))])
    test.with_columns(revenue).write_csv(world / "sold.csv")
    return world


def test_the_column_weights_the_test_and_need_not_be_in_train(weighted, unskew):
    asked = weighted.evaluate(*WORDS, "--weight-col", "revenue", "--json", "-", test="sold.csv", model=False)
    outcome = unskew(*asked)
    assert outcome.code == 0, outcome.err
    record = json.loads(outcome.out)
    split = Split(Interactions.read(weighted / "train.csv"), Interactions.read(weighted / "sold.csv", weight="revenue"))
    report = evaluate({"popular": "popular"}, split, metrics=["recall@3"], estimators=["snips", "aoa"])
    assert record["estimates"] == json.loads(report.to_json())["estimates"]
    assert record["run"]["weights"]["differ"] is True
    assert record["estimates"][0]["target"] == "relevant pairs, rows weighted"


def test_a_split_keeps_the_weights_in_a_column_of_their_own(weighted, unskew):
    outcome = unskew("split", weighted / "sold.csv", weighted / "parts", "--temporal", "0.5", "--weight-col", "revenue")
    assert outcome.code == 0, outcome.err
    assert "weight" in pl.read_csv(weighted / "parts/test.csv").columns


@pytest.mark.parametrize(
    "options, says",
    [
        (("--weight-col", "revenu"), "no column 'revenu'"),
        (("--weight-col", "item"), "expected a number"),
        (("--weight-col", "revenue", "-m", "mrr"), "mrr has no form with weighted rows"),
    ],
)
def test_columns_that_cannot_be_weights_are_refused(weighted, refuse, options, says):
    words = ("--model", "popular", "-m", "recall@3", "-e", "aoa")
    refuse(*weighted.evaluate(*words, *options, test="sold.csv", model=False), says=(says,))


def test_a_negative_weight_is_refused_with_its_row(weighted, refuse):
    lines = (weighted.folder / "sold.csv").read_text().splitlines()
    lines[2] = lines[2].rsplit(",", 1)[0] + ",-5"
    weighted.write("sold.csv", "\n".join(lines) + "\n")
    asked = weighted.evaluate(*WORDS, "--weight-col", "revenue", test="sold.csv", model=False)
    refuse(*asked, says=("weight -5 in row 2", "give 0 or more"))


def test_folders_of_parts_take_no_weights(weighted, unskew, refuse):
    unskew("partition", weighted / "train.csv", weighted / "a", "--partitions", "2", "-q")
    unskew("partition", weighted / "sold.csv", weighted / "b", "--partitions", "2", "-q")
    asked = weighted.evaluate(*WORDS, "--weight-col", "revenue", train="a", test="b", model=False)
    refuse(*asked, says=("--weight-col needs all rows in memory",))
