"""``unskew evaluate --exposed``: what it computes, says and refuses."""

import json
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from unskew.data import Split, exposed_from_frame, read_catalogue, with_items
from unskew.data.interactions import Interactions
from unskew.evaluation import evaluate
from unskew.ranking import read_factors

Rows = list[tuple[str, str, int]]


def drawn(world, *, unseen: bool = False, sizes: Sequence[int] = (6,)) -> Rows:
    """Items drawn for each user by chance, with labels that are 1 for about a third."""
    rng = np.random.default_rng(1)
    train = pl.read_csv(world / "train.csv")
    had = {user: set(rows["item"]) for (user,), rows in train.group_by("user")}
    rows = []
    for place in range(20):
        user = f"u{place}"
        pool = [f"i{item}" for item in range(15) if not (unseen and f"i{item}" in had[user])]
        items = rng.choice(pool, sizes[place % len(sizes)], replace=False)
        rows += [(user, str(item), int(rng.random() < 0.35)) for item in items]
    return rows


def write(world, rows: Rows, name: str = "exposed.csv", column: str = "label") -> str:
    return world.write(name, f"user,item,{column}\n" + "".join(f"{u},{i},{v}\n" for u, i, v in rows))


def command(world, *more: str, file: str = "exposed.csv", population: str | None = "all") -> list[str]:
    told = [] if population is None else ["--population", population]
    files = ["--train", world / "train.csv", "--exposed", world / file, "--factors", world / "mf.npz"]
    return ["evaluate", *files, *told, *more]


def run_of(outcome) -> dict:
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_the_numbers_are_those_of_python(world, unskew):
    write(world, drawn(world))
    made = run_of(unskew(*command(world, "--json", "-")))
    exposed = exposed_from_frame(pl.read_csv(world / "exposed.csv"))
    split = Split(Interactions.read(world / "train.csv"), exposed, candidates="all", exposed=True)
    report = evaluate({"mf": read_factors(world.folder / "mf.npz")}, split)
    assert made["estimates"] == report.to_dict()["estimates"]
    assert {row["estimator"] for row in made["estimates"]} == {"traditional", "ure(aggregate=pooled, reduce=control)"}
    assert {row["metric"] for row in made["estimates"]} == {"recall@10", "precision@10", "ndcg@10"}


def test_ratings_with_a_threshold_are_labels(world, unskew):
    rows = drawn(world)
    write(world, rows)
    write(world, [(u, i, 5 if v else 2) for u, i, v in rows], "rated.csv", "rating")
    # --positive filters train too, so a file of labels needs it for the same run
    by_label = run_of(unskew(*command(world, "--positive", "rating>=4", "--json", "-")))
    by_rating = run_of(unskew(*command(world, "--positive", "rating>=4", "--json", "-", file="rated.csv")))
    assert by_label["estimates"] == by_rating["estimates"]
    assert by_rating["run"]["positive"] == "rating>=4"


def test_labels_may_have_another_column(world, unskew):
    rows = drawn(world)
    write(world, rows)
    write(world, rows, "clicked.csv", "clicked")
    plain = run_of(unskew(*command(world, "--json", "-")))
    named = run_of(unskew(*command(world, "--label-col", "clicked", "--json", "-", file="clicked.csv")))
    assert plain["estimates"] == named["estimates"]


def test_rows_shared_with_train_leave_the_sample_by_default(world, unskew):
    write(world, drawn(world))
    outcome = unskew(*command(world, population=None))
    assert outcome.code == 0
    assert "exposed rows are also in train and left out of the sample" in outcome.err
    auto = run_of(unskew(*command(world, "--json", "-", population=None)))
    run = auto["run"]
    assert (run["candidates"], run["exposed"]["population"]) == ("unseen", "unseen")
    assert run["exposed"]["population_by"].endswith("exposed rows are also in train and were removed")
    assert auto["estimates"] == run_of(unskew(*command(world, "--json", "-", population="unseen")))["estimates"]


def test_all_keeps_rows_shared_with_train_and_says_what_that_means(world, unskew):
    write(world, drawn(world))
    made = run_of(unskew(*command(world, "--json", "-", population="all")))
    assert made["run"]["exposed"]["population"] == "all"
    assert made["verdict"]["summary"][0].startswith("This is about recommenders that may repeat what a user already")
    unseen = run_of(unskew(*command(world, "--json", "-", population=None)))
    assert not [text for text in unseen["verdict"]["summary"] if "may repeat" in text]
    assert [text for text in made["warnings"] if "kept by --population all: the numbers are for recommenders" in text]


def test_without_a_row_shared_with_train_nothing_leaves_the_sample(world, unskew):
    write(world, drawn(world, unseen=True))
    run = run_of(unskew(*command(world, "--json", "-", population=None)))["run"]
    assert run["exposed"]["population"] == "unseen"
    assert run["exposed"]["population_by"] == "no exposed row is in train"


def test_what_is_given_is_recorded_without_a_warning(world, unskew):
    write(world, drawn(world, unseen=True))
    made = run_of(unskew(*command(world, "--json", "-", population="unseen")))
    assert made["run"]["exposed"]["population_by"] == "given"
    assert not [text for text in made["warnings"] if "population" in text]


def test_exposure_sizes_may_differ_and_are_recorded(world, unskew):
    write(world, drawn(world, sizes=(2, 5, 9)))
    run = run_of(unskew(*command(world, "--json", "-")))["run"]
    assert run["exposed"]["rows_a_user"] == {"min": 2, "median": 5, "max": 9}
    assert run["exposed"]["population_size"] == {"min": 15, "median": 15, "max": 15}
    assert run["exposed"]["users"] == 20


def test_a_pair_that_is_there_twice_counts_once_and_is_counted(world, unskew):
    rows = drawn(world)
    write(world, rows)
    once = run_of(unskew(*command(world, "--json", "-")))
    write(world, [*rows, rows[0], rows[7]])
    twice = run_of(unskew(*command(world, "--json", "-")))
    assert once["estimates"] == twice["estimates"]
    assert any(text.startswith("exposed: 2 repeated (user, item) rows") for text in twice["warnings"])
    assert twice["run"]["data"]["test"]["duplicates"] == 2


def test_a_cutoff_beyond_the_population_gives_one_and_a_warning(world, unskew):
    write(world, drawn(world))
    made = run_of(unskew(*command(world, "-m", "recall@15", "-m", "recall@40", "-e", "ure", "--json", "-")))
    assert [row["value"] for row in made["estimates"]] == [1.0, 1.0]
    assert any("no user has more than 15 candidates" in text for text in made["warnings"])


def test_a_catalogue_adds_items_that_train_does_not_have(world, unskew):
    rows = drawn(world)
    write(world, [*rows, ("u0", "i99", 0)])
    world.write("items.csv", "item\ni99\ni98\ni3\ni3\n")
    made = run_of(unskew(*command(world, "--catalogue", world / "items.csv", "--json", "-")))
    assert made["run"]["exposed"]["population_size"] == {"min": 17, "median": 17, "max": 17}


def test_a_toml_file_knows_the_options(world, unskew):
    write(world, drawn(world))
    world.write("items.csv", "item\ni99\n")
    path = world.write(
        "run.toml",
        'train = "train.csv"\nexposed = "exposed.csv"\npopulation = "all"\ncatalogue = "items.csv"\n'
        'factors = "mf.npz"\nestimator = "ure(aggregate=pooled)"\n',
    )
    from_file = unskew("evaluate", "--config", path, "--json", "-")
    more = ("--catalogue", world / "items.csv", "-e", "ure(aggregate=pooled)", "--json", "-")
    assert from_file.out == unskew(*command(world, *more)).out
    assert from_file.code == 0


def test_a_uniform_file_is_read_and_rows_shared_with_the_test_are_told(world, unskew):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    rows = drawn(world)
    write(world, rows)
    write(world, rows[:30], "uniform.csv")
    models = ("--positive", "rating>=4", "--model", "ips(epochs=1, factors=2)", "--uniform", world / "uniform.csv")
    made = run_of(unskew(*command(world, *models, "--json", "-")))
    assert made["run"]["data"]["uniform"]["rows"] == 30
    assert any("30 of 30 uniform rows are also in the test" in text for text in made["warnings"])


def test_both_weighted_and_exposed_estimators_may_be_asked_for(world, unskew):
    write(world, drawn(world))
    made = run_of(unskew(*command(world, "-m", "recall@3", "-e", "ure", "-e", "snips", "-e", "aoa", "--json", "-")))
    assert [row["estimator"] for row in made["estimates"]] == ["ure", "snips", "aoa"]


REFUSED = {
    "a test too": (["--test", "train.csv"], ("--population is for --exposed without --test", "--candidates")),
    "candidates": (["--candidates", "all"], ("--candidates is for --test", "--population")),
    "a preset": (["--preset", "yang2018"], ("--preset yang2018", "sampled(200)")),
    "predictions": (["--predictions", "dense.csv"], ("--predictions are predicted ratings", "--scores")),
    "missing predictions": (["--allow-missing"], ("--allow-missing", "leave it out")),
    "an unknown population": (["--population", "some"], ("--population some", "all, unseen or auto")),
    "counts that nothing needs": (["--relevant-counts", "x.csv"], ("--relevant-counts is used by ips only",)),
    "literal of another metric": (["-e", "ure(literal)", "-m", "auc"], ("for recall@K only", "use recall@K")),
    "a list metric": (["-e", "ure", "-m", "map@10"], ("ure cannot estimate map@10", "use recall, precision")),
    "snips of ndcg": (["-e", "ure", "-e", "snips", "-m", "ndcg@5"],
                      ("snips cannot estimate ndcg@5", "with --exposed use ure(aggregate=pooled)")),
    "snips of map": (["-e", "snips", "-m", "map@5"], ("snips cannot estimate map@5", "with --exposed use traditional")),
    "a loss": (["-m", "mae"], ("mae is of ratings", "give random ratings as --test")),
    "no such label column": (["--label-col", "liked"], ("no column 'liked'", "user, item, label")),
    "no such catalogue": (["--catalogue", "none.csv"], ("none.csv: no such file",)),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_cannot_go_with_exposed_are_refused(case, world, refuse):
    write(world, drawn(world))
    more, says = REFUSED[case]
    refuse(*command(world, *[world / word if word.endswith(".csv") else word for word in more]), says=says)


def test_options_of_exposed_need_it(world, refuse):
    for option, value in (("--population", "all"), ("--catalogue", world / "train.csv"), ("--label-col", "label")):
        refuse(*world.evaluate(option, value), says=(option, "--exposed"))
    refuse(*world.evaluate("-e", "ure"), says=("ure needs items that were drawn at random", "--exposed"))
    refuse("evaluate", "--train", world / "train.csv", says=("--test is missing", "--exposed, for items"))


def test_labels_other_than_0_and_1_name_the_row(world, refuse):
    rows = drawn(world)
    rows[4] = (*rows[4][:2], 3)
    write(world, rows)
    refuse(*command(world), says=("exposed.csv: label 3 in row 5", "neither 0 nor 1", "--positive"))


def test_ratings_need_a_threshold_and_the_declared_scale(world, refuse):
    rows = [(u, i, 5 if v else 2) for u, i, v in drawn(world)]
    write(world, rows, column="rating")
    refuse(*command(world), says=("exposed.csv: has ratings but no labels", "--positive 'rating>=4'"))
    write(world, [*rows[:-1], (*rows[-1][:2], 7)], column="rating")
    scaled = ("--positive", "rating>=4", "--scale", "1-5")
    refuse(*command(world, *scaled), says=("exposed.csv: rating 7 of user", "not on the scale 1-5"))


def test_a_scale_is_of_ratings_and_not_of_labels(world, unskew):
    write(world, drawn(world))
    scaled, plain = (run_of(unskew(*command(world, *more, "--json", "-"))) for more in (("--scale", "1-5/1"), ()))
    assert scaled["estimates"] == plain["estimates"]


def test_items_outside_the_population_are_refused(world, refuse):
    write(world, [*drawn(world), ("u3", "i99", 1)])
    refuse(*command(world), says=("1 exposed rows are of items outside the population", "item i99", "--catalogue"))


def test_conflicting_exposures_are_refused(world, refuse):
    rows = drawn(world)
    user, item, label = rows[2]
    write(world, [*rows, (user, item, 1 - label)])
    says = (f"user {user}, item {item} is positive in one row and not in another", f"row {len(rows) + 1}", "keep one")
    refuse(*command(world), says=says)


def test_a_sample_without_a_positive_says_nothing(world, refuse):
    rows = [(user, item, 0) for user, item, _ in drawn(world)]
    write(world, rows)
    refuse(*command(world), says=(f"none of {len(rows)} exposed rows is positive", "check the labels"))


def test_empty_files_are_refused(world, refuse):
    write(world, [])
    refuse(*command(world), says=("exposed.csv: has a header but no rows", "user,item,label"))
    write(world, drawn(world))
    world.write("items.csv", "item\n")
    refuse(*command(world, "--catalogue", world / "items.csv"), says=("items.csv: has a header but no rows",))
    world.write("items.csv", "name\nx\n")
    refuse(*command(world, "--catalogue", world / "items.csv"), says=("items.csv: no column 'item'",))


def test_items_of_a_catalogue_exist_without_a_row():
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    wider = with_items(train, ["y", "z"])
    assert wider.to_polars().equals(train.to_polars())
    assert Split(wider, train).catalogue.tolist() == [0, 1, 2]


def test_a_catalogue_counts_an_item_once(tmp_path):
    (tmp_path / "items.csv").write_text("id\n7\n5\n7\n")
    assert read_catalogue(tmp_path / "items.csv", item="id").to_list() == [7, 5]


def test_labels_of_train_are_read_beside_an_exposed_test(world, unskew):
    rows = drawn(world)
    write(world, rows)
    taken = {(user, item) for user, item, _ in rows}
    seen = [(f"u{u}", f"i{i}", int((u + i) % 3 == 0)) for u in range(20) for i in range(15)]
    write(world, [row for row in seen if row[:2] not in taken][:150], "labelled.csv")
    files = ["--train", world / "labelled.csv", "--exposed", world / "exposed.csv", "--population", "all"]
    made = run_of(unskew("evaluate", *files, "--model", "popular", "-m", "recall@2", "--json", "-"))
    assert made["run"]["positive"] == "rating>=1"
    write(world, [("u0", "i0", 3)], "labelled.csv")
    outcome = unskew("evaluate", *files, "--model", "popular")
    assert outcome.code == 2
    assert "label 3 in row 1" in outcome.err


def test_labels_do_not_meet_a_threshold_of_ratings(world, refuse):
    write(world, [(u, i, 5 if v else 2) for u, i, v in drawn(world)], column="rating")
    write(world, drawn(world)[:40], "held.csv")
    asked = command(world, "--positive", "rating>=4", "--validation", world / "held.csv")
    refuse(*asked, says=("held.csv: has labels but no ratings", "--positive 'rating>=4'", "add ratings"))


def test_a_catalogue_without_items_of_train_is_warned_of(world, unskew):
    write(world, drawn(world))
    world.write("items.csv", "item\n" + "".join(f"i{k}\n" for k in range(13)))
    outcome = unskew(*command(world, "--catalogue", world / "items.csv", "-m", "recall@2"))
    assert "items.csv: lacks 2 of 15 items of train, which are candidates all the same" in outcome.err
    world.write("items.csv", "item\n" + "".join(f"i{k}\n" for k in range(15)))
    assert "lacks" not in unskew(*command(world, "--catalogue", world / "items.csv", "-m", "recall@2")).err


def test_users_who_are_all_unknown_are_a_matter_of_ids(world, refuse):
    write(world, [(f"x{user}", item, label) for user, item, label in drawn(world)])
    refuse(*command(world, population=None), says=("no test user is left", "are its user ids"))


def test_a_missing_header_line_is_thought_of(world, refuse):
    world.write("exposed.csv", "".join(f"{u},{i},{v}\n" for u, i, v in drawn(world)))
    refuse(*command(world), says=("exposed.csv: no column 'label'", "is the header line missing?"))


def test_the_defaults_of_a_plan_are_those_of_the_library():
    import inspect

    from unskew.cli.exposures import exposures_command
    from unskew.estimators.exposed.planning import LIKENESS, SPREAD

    given = inspect.signature(exposures_command).parameters
    assert (given["spread"].default, given["likeness"].default) == (SPREAD, LIKENESS)
