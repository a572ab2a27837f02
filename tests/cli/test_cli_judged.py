"""Who is judged, from the command line."""

import json

import polars as pl


def partial_lists(world) -> str:
    """Lists of the first five users only."""
    table = pl.read_csv(world / "top.csv")
    table.filter(pl.col("user").is_in([f"u{user}" for user in range(5)])).write_csv(world / "few.csv")
    return world / "few.csv"


def run_of(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def value(made, model: str) -> float:
    (row,) = [row for row in made["estimates"] if row["model"] == model]
    return row["value"]


def test_the_rule_of_users_is_an_option_and_recorded(world, unskew):
    words = world.evaluate("--scores", partial_lists(world), "-m", "recall@3", "-e", "aoa", "--json", "-")
    alone = run_of(unskew(*world.evaluate("-m", "recall@3", "-e", "aoa", "--json", "-")))
    made = {rule: run_of(unskew(*words, "--users", rule)) for rule in ("any", "common", "served")}
    assert [made[rule]["run"]["users"] for rule in made] == ["any", "common", "served"]
    assert run_of(unskew(*words))["estimates"] == made["any"]["estimates"]
    assert value(made["any"], "mf") == value(made["served"], "mf") == value(alone, "mf")
    assert value(made["common"], "few") == value(made["served"], "few") == 4 * value(made["any"], "few")
    assert made["served"]["comparisons"] == made["common"]["comparisons"]


def test_the_rule_of_users_may_be_in_a_file(world, unskew):
    partial_lists(world)
    text = 'train = "train.csv"\ntest = "test.csv"\nscores = ["few.csv"]\nmodel = ["popular"]\nusers = "common"\n'
    world.write("run.toml", text + "max-dropped = 0.9\n")
    assert run_of(unskew("evaluate", "--config", world / "run.toml", "--json", "-"))["run"]["users"] == "common"


def test_an_unknown_rule_of_users_is_refused(world, refuse):
    refuse(*world.evaluate("--users", "all"), says=("unknown rule users='all'", "any, common, served"))


def test_too_much_that_is_left_out_exits_1_after_everything_is_written(world, unskew):
    lists = partial_lists(world)
    words = world.evaluate("--scores", lists, "-m", "recall@3", "--json", world / "out.json", model=False)
    outcome = unskew(*words, "--html", world / "out.html", "--max-dropped", "0.2")
    assert outcome.code == 1
    first, *_, last = outcome.err.splitlines()
    assert first.startswith("warning: 75% of the test rows were not judged (45 of users known to no model)")
    assert last == "unskew: 75.0% of the test rows were not judged, more than --max-dropped 0.2; the warnings say why"
    assert outcome.err.count("of the test rows were not judged") == 2
    assert "recall@3" in outcome.out
    assert f"warning: {json.loads((world.folder / 'out.json').read_text())['warnings'][0]}" == first
    assert "75% of the test rows were not judged" in " ".join(outcome.out.split())[:80]
    assert ">75% of the test rows were not judged" in (world.folder / "out.html").read_text()
    assert unskew(*words, "--max-dropped", "0.8").code == 0


def test_a_share_that_is_none_is_refused(world, refuse):
    refuse(*world.evaluate("--max-dropped", "20"), says=("--max-dropped 20", "between 0 and 1"))


def test_a_split_says_how_much_of_the_test_is_cold(world, unskew):
    rows = [("a", "x", 1), ("a", "y", 2), ("b", "x", 3), ("b", "z", 9), ("c", "x", 10)]
    pl.DataFrame(rows, schema=["user", "item", "timestamp"], orient="row").write_csv(world / "log.csv")
    outcome = unskew("split", world / "log.csv", world / "parts", "--temporal", "0.4")
    assert (
        "cold test users (no training row): 1 of 2, with 1 of 2 (50.0%) test rows; "
        "test rows of cold items (never in train): 1 of 2 (50.0%)"
    ) in outcome.out
