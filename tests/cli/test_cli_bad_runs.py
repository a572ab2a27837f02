"""Runs that cannot give the numbers asked for, and outputs that cannot be written."""

import json

import numpy as np
import polars as pl
import pytest

USERS = 20


def counts(**changed):
    lines = [f"u{user},{changed.get(f'u{user}', 9)}" for user in range(USERS) if changed.get(f"u{user}") != "-"]
    return "\n".join(["user,relevant", *lines]) + "\n"


def test_ips_without_absolute_propensities_is_refused(world, refuse):
    run = world.evaluate("-e", "ips", "--propensity", "popularity")
    refuse(*run, says=("ips needs absolute propensities", "--propensity column", "snips"))


def test_ips_of_a_mean_without_counts_is_refused(world, refuse):
    run = world.evaluate("-e", "ips", "--propensity", "column", "-m", "recall@5")
    refuse(*run, says=("ips of recall@5", "--relevant-counts", "snips"))


def test_ips_of_a_sum_needs_no_counts(world, unskew):
    """It is the sum of gain / P over the test rows, by the number of users."""
    outcome = unskew(*world.evaluate("-e", "ips", "--propensity", "column", "-m", "dcg@5", "--json", "-"))
    scores = world.array("user_factors") @ world.array("item_factors").T
    for user, item in pl.read_csv(world / "train.csv").select("user", "item").iter_rows():
        scores[int(user[1:]), int(item[1:])] = -np.inf
    total = 0.0
    for user, item, chance in pl.read_csv(world / "test.csv").select("user", "item", "propensity").iter_rows():
        above = int(np.sum(scores[int(user[1:])] > scores[int(user[1:]), int(item[1:])]))
        total += (above < 5) / np.log2(above + 2) / chance
    (row,) = json.loads(outcome.out)["estimates"]
    assert row["value"] == pytest.approx(total / USERS, rel=1e-12)


def test_the_column_propensity_needs_that_column(world, refuse):
    pl.read_csv(world / "test.csv").select("user", "item").write_csv(world / "plain.csv")
    run = world.evaluate("--propensity", "column", test="plain.csv")
    refuse(*run, says=("plain.csv", "no column 'propensity'", "--propensity-col"))


COUNTS = {
    "a user missing": (counts(u7="-"), ("1 of 20 test users have none", "u7", "needs a count")),
    "smaller than observed": (counts(u7=1), ("user u7 has 1 relevant items but 3 held-out", "observed or not")),
    "words": (counts(u7="many"), ("counts.csv", "row 8 has 'many'", "expected a number")),
    "a fraction": (counts(u7=4.5), ("row 8", "whole number")),
    "below 0": (counts(u7=-1), ("row 8", "whole number of 0 or more")),
    "infinite": (counts(u7="inf"), ("row 8", "finite number")),
    "nothing": (counts(u7=""), ("row 8",)),
    "a user twice": (counts() + "u7,9\n", ("user u7 appears more than once",)),
    "a user without id": (counts() + ",9\n", ("row 21 has no id",)),
    "no column of counts": ("user,count\nu1,9\n", ("counts.csv", "no column 'relevant'", "user, count")),
    "no column of users": ("person,relevant\nu1,9\n", ("counts.csv", "no column 'user'")),
    "header only": ("user,relevant\n", ("counts.csv", "header but no row")),
    "empty": ("", ("counts.csv", "empty")),
}


@pytest.mark.parametrize("case", COUNTS)
def test_relevant_counts_that_cannot_be_are_refused(world, refuse, case):
    content, says = COUNTS[case]
    path = world.write("counts.csv", content)
    refuse(*world.evaluate("-e", "ips", "--propensity", "column", "--relevant-counts", path), says=says)


def test_ips_with_all_it_needs_runs(world, unskew):
    path = world.write("counts.csv", counts())
    outcome = unskew(*world.evaluate("-e", "ips", "--propensity", "column", "--relevant-counts", path, "--json", "-"))
    assert outcome.code == 0
    assert json.loads(outcome.out)["run"]["relevant_counts"] is True


def test_counts_may_call_the_user_as_the_log_does(world, unskew):
    path = world.write("counts.csv", counts())
    run = ["-e", "ips", "--propensity", "column", "--relevant-counts", path, "--json", "-"]
    usual = json.loads(unskew(*world.evaluate(*run)).out)["estimates"]
    for name in ("train.csv", "test.csv"):
        world.write(name, (world.folder / name).read_text().replace("user,", "uid,", 1))
    world.write("counts.csv", counts().replace("user,", "uid,"))
    renamed = json.loads(unskew(*world.evaluate(*run, "--user-col", "uid")).out)
    assert renamed["estimates"] == usual


def test_positive_needs_the_column_it_names(world, refuse):
    pl.read_csv(world / "test.csv").select("user", "item").write_csv(world / "plain.csv")
    run = world.evaluate("--positive", "rating>=4", test="plain.csv")
    refuse(*run, says=("plain.csv", "no column 'rating'", "--rating-col"))


def more_test_rows(world, *rows):
    world.write("more.csv", (world.folder / "test.csv").read_text() + "".join(f"{row},3,1,0.5\n" for row in rows))
    return "more.csv"


def test_some_unknown_test_users_are_dropped_and_counted(world, unskew):
    test = more_test_rows(world, "stranger,i1", "stranger,i2", "another,i1")
    outcome = unskew(*world.evaluate("--json", world / "out.json", test=test))
    assert outcome.code == 0
    assert "warning: 2 test users (3 rows)" in outcome.err
    report = json.loads((world.folder / "out.json").read_text())
    assert {(row["users"], row["dropped_users"]) for row in report["estimates"]} == {(20, 2)}
    assert any("2 test users (3 rows)" in warning for warning in report["warnings"])


def test_a_run_in_which_no_test_user_is_known_is_refused(world, refuse):
    world.write("strangers.csv", "user,item\nx1,i1\nx2,i2\n")
    refuse(*world.evaluate(test="strangers.csv"), says=("no test user is left", "'mf' knows 0 of 2", "user ids"))


def test_some_unknown_test_items_are_misses_and_counted(world, unskew):
    test = more_test_rows(world, "u1,nowhere", "u2,nowhere", "u2,elsewhere")
    outcome = unskew(*world.evaluate("--json", world / "out.json", test=test))
    assert outcome.code == 0
    assert "warning: 3 test rows are of items that are neither in train nor known to a model" in outcome.err
    report = json.loads((world.folder / "out.json").read_text())
    assert {row["dropped_items"] for row in report["estimates"]} == {0}


def test_a_run_in_which_no_test_item_is_known_is_refused(world, refuse):
    world.write("nowhere.csv", "user,item\nu1,x1\nu2,x2\n")
    refuse(*world.evaluate(test="nowhere.csv"), says=("no test row is left", "2 test items", "item ids"))


def test_a_test_that_was_all_trained_on_is_refused(world, refuse):
    refuse(*world.evaluate(test="train.csv"), says=("100 are also in train", "--candidates all"))


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_an_output_that_cannot_be_written_is_refused_before_the_work(world, refuse, option):
    run = world.evaluate()
    refuse(*run, option, world / "no/such/out", says=("does not exist", "create it first"), outputs=False)
    refuse(*run, option, str(world.folder), says=("this is a directory", "name a file in it"), outputs=False)
    refuse(*run, option, world / "train.csv/out", says=("train.csv is a file, not a folder",), outputs=False)
    refuse(*run, option, world / ("x" * 300), says=("cannot be written to",), outputs=False)


def test_a_full_disk_is_one_line(world, refuse):
    refuse(*world.evaluate("--json", "/dev/full"), says=("/dev/full: cannot be written", "No space"), outputs=False)


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize("name", ["train.csv", "test.csv", "mf.npz"])
def test_an_output_never_writes_over_an_input(world, refuse, option, name):
    refuse(*world.evaluate(option, world / name), says=(name, "is read by this run", "name another"), outputs=False)


def test_two_outputs_need_two_files(world, refuse):
    out = world / "out"
    refuse(*world.evaluate("--json", out, "--html", out), says=("already written by --json",), outputs=False)


def test_the_page_does_not_go_to_stdout(world, refuse):
    refuse(*world.evaluate("--html", "-"), says=("only --json can go to stdout",), outputs=False)


def test_a_device_is_written_to_and_stays_one(world, unskew):
    assert unskew(*world.evaluate("--json", "/dev/null", "--html", "/dev/null")).code == 0
    with open("/dev/null", "rb") as null:  # noqa: PTH123
        assert null.read() == b""


def test_an_output_through_a_link_keeps_the_link(world, unskew):
    target, link = world.folder / "target.json", world.folder / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    assert unskew(*world.evaluate("--json", str(link))).code == 0
    assert link.is_symlink()
    assert "estimates" in target.read_text()


def test_a_failed_run_leaves_an_older_report_as_it_was(world, unskew):
    old = world.write("out.json", "old")
    assert unskew(*world.evaluate("--json", old, test="nope.csv")).code == 2
    assert (world.folder / "out.json").read_text() == "old"


def test_metrics_of_ratings_are_told_what_random_ratings_are_good_for(refuse, tmp_path):
    rows = [f"u{u},i{i},{1 + (u + i) % 5}" for u in range(6) for i in range(6)]
    for name, some in (("train", rows[::2]), ("test", rows[1::2]), ("random", rows[::3])):
        (tmp_path / f"{name}.csv").write_text("user,item,rating\n" + "\n".join(some) + "\n")
    words = [
        "--train",
        f"{tmp_path}/train.csv",
        "--exposed",
        f"{tmp_path}/random.csv",
        "--model",
        "mf-naive",
        "-m",
        "mae",
    ]
    hint = "--propensity naive-bayes(mcar=FILE)"
    assert hint in refuse("evaluate", *words)
    assert hint in refuse("evaluate", *words, "--test", f"{tmp_path}/test.csv")
