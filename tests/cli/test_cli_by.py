"""``--by``: estimates by group in the table, the JSON and the page."""

import json
from pathlib import Path

import polars as pl


def test_estimates_by_group_are_in_the_table_the_json_and_the_page(unskew, world):
    known = pl.read_csv(world / "train.csv")["user"].unique().to_list()
    labels = "".join(f"{user},{'ab'[place % 2]}\n" for place, user in enumerate(known))
    users = world.write("users.csv", "user,kind\n" + labels)
    files = "--json", world / "by.json", "--html", world / "by.html"
    more = ["-m", "recall@5", "-e", "snips", "--by", f"{users}:kind", "--by", "popularity", *files]
    outcome = unskew(*world.evaluate(*more))
    assert outcome.code == 0, outcome.err
    assert "recall@5 by snips, by kind" in outcome.out
    kinds = [each["by"] for each in json.loads(Path(world / "by.json").read_text())["slices"]]
    assert kinds == ["kind", "popularity"]
    page = Path(world / "by.html").read_text()
    assert "By popularity" in page
    assert "&lt;svg" not in page


def test_a_table_of_groups_that_is_not_there_is_named(unskew, world):
    outcome = unskew(*world.evaluate("-e", "snips", "--by", "none.csv:kind"))
    assert outcome.code == 2
    assert "no such file 'none.csv'" in outcome.err


def test_the_column_of_groups_is_checked_before_the_run_and_may_be_the_only_one(unskew, world, refuse):
    users = world.write("users.csv", "user,kind\nu1,a\nu2,b\n")
    message = refuse(*world.evaluate("-e", "snips", "--by", f"{users}:knd"))
    assert "users.csv: no column 'knd' to group by; did you mean 'kind'?" in message
    known = pl.read_csv(world / "train.csv")["user"].unique().to_list()
    users = world.write("users.csv", "user,kind\n" + "".join(f"{u},{'ab'[k % 2]}\n" for k, u in enumerate(known)))
    outcome = unskew(*world.evaluate("-m", "recall@5", "-e", "snips", "--by", users, "--json", "-"))
    assert json.loads(outcome.out)["slices"][0]["by"] == "kind"


def test_csv_says_on_stderr_what_is_not_by_group(unskew, world):
    more = ["-m", "ndcg@5", "-m", "recall@5", "-e", "aoa", "--by", "popularity", "--format", "csv"]
    outcome = unskew(*world.evaluate(*more))
    assert outcome.code == 0, outcome.err
    assert "note: not by group: ndcg@5 by aoa" in outcome.err
    assert "recall@5" in outcome.out
