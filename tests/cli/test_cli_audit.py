"""``unskew audit`` on small files: what it prints and writes, and what it refuses."""

import json

import numpy as np
import pytest

from unskew.audit.audit import ROWS_IN_LOG


@pytest.fixture
def found(unskew):
    """Run words that must work and return the JSON."""

    def run(*arguments):
        outcome = unskew("audit", *arguments, "--depth", "none", "--json", "-")
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)

    return run


def test_a_log_alone_is_audited(world, unskew):
    outcome = unskew("audit", world / "train.csv", "--depth", "none")
    assert outcome.code == 0
    assert outcome.err == ""
    assert "most popular items have" in outcome.out
    for word in ("Gini", "density", "top 1%", "head", "middle", "tail"):
        assert word in outcome.out
    assert "gamma" not in outcome.out


def test_numbers_are_those_of_the_file(world, found):
    log = found(world / "train.csv")["audit"]["log"]
    assert (log["users"], log["rows"]) == (20, 100)
    assert sum(n * items for n, items in zip(log["levels"], log["items_at"], strict=True)) == 100
    assert log["density"] == 100 / (20 * log["items"])


def test_files_of_models_have_lists_and_a_line_says_why_no_more(world, unskew):
    outcome = unskew(
        "audit", world / "train.csv", "--scores", world / "top.csv", "--factors", world / "mf.npz", "--k", "3"
    )
    assert outcome.code == 0, outcome.err
    assert "Top-3 lists" in outcome.out
    assert "Metrics over held-out rows" not in outcome.out
    (line,) = [line for line in outcome.err.splitlines() if "no test" in line]
    assert line.startswith("warning: ")


def test_with_a_test_metrics_come_by_stratum(world, found):
    data = found(
        world / "train.csv", "--test", world / "test.csv", "--factors", world / "mf.npz", "--k", "3", "-m", "auc"
    )
    parts = data["audit"]["by_stratum"]
    rows = {part["stratum"]: part["rows"] for part in parts}
    assert rows.pop("all") == sum(rows.values())
    assert {part["metric"] for part in parts} == {"auc"}
    assert data["run"]["split"] == "given"
    assert list(data["run"]["data"]) == ["log", "test"]


def test_models_to_train_are_judged_on_what_is_held_out(world, found):
    words = [world / "train.csv", "--model", "popular", "--k", "3"]
    assert found(*words)["run"]["split"] == "fractions(0.8/0.2), seed 0"
    assert found(*words, "--holdout", "0.3", "--seed", "5")["run"]["split"] == "fractions(0.7/0.3), seed 5"
    assert found(*words, "--temporal", "0.2")["run"]["split"] == "temporal(0.2)"
    assert found(*words)["audit"]["by_stratum"]


def test_the_same_seed_gives_the_same_bytes(world, unskew):
    words = ["audit", world / "train.csv", "--model", "als(factors=3)", "--k", "3", "--depth", "none", "--json", "-"]
    assert unskew(*words).out == unskew(*words, "--threads", "2").out
    assert unskew(*words).out != unskew(*words, "--seed", "1").out


def test_page_and_json_are_written(world, unskew):
    made = [world / "made.html", world / "made.json"]
    outcome = unskew("audit", world / "train.csv", "--html", made[0], "--json", made[1], "--quiet", "--depth", "none")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    page = (world.folder / "made.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert json.loads((world.folder / "made.json").read_text(encoding="utf-8"))["audit"]["models"] == []


def test_positives_and_columns_are_as_elsewhere(world, found):
    world.write("other.csv", "who,what,stars\na,x,5\na,y,1\nb,x,4\nc,y,5\nc,z,5\n")
    words = [world / "other.csv", "--user-col", "who", "--item-col", "what", "--rating-col", "stars"]
    assert found(*words)["audit"]["log"]["rows"] == 5
    assert found(*words, "--positive", "rating>=4")["audit"]["log"]["rows"] == 4


def test_one_popularity_level_is_said_and_never_given_a_gamma(world, unskew):
    users, items = np.divmod(np.arange(24), 4)
    rows = "".join(f"u{u},i{(u + i) % 6}\n" for u, i in zip(users, items, strict=True))
    world.write("even.csv", f"user,item\n{rows}")
    scores = "".join(f"u{u},i{i},{i}\n" for u in range(6) for i in range(6))
    world.write("some.csv", f"user,item,score\n{scores}")
    outcome = unskew("audit", world / "even.csv", "--scores", world / "some.csv", "--k", "1")
    assert outcome.code == 0, outcome.err
    assert "equally popular: there is no head or tail, and gamma is not identified" in outcome.err
    assert "Strata: only one" in outcome.out


def test_a_damaged_or_empty_log_is_refused(world, refuse):
    empty = world.write("empty.csv", "user,item\n")
    refuse("audit", empty, says=("no row",))
    lone = world.write("lone.csv", "user,item\na,x\nb,x\n")
    refuse("audit", lone, says=("only one item",))
    refuse("audit", world / "trian.csv", says=("trian.csv",))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "popular"], "k=50 is not below the"),
        (["--model", "popular", "--k", "0"], "at least 1 place"),
        (["--model", "populr"], "did you mean"),
        (["--model", "popular", "-m", "ndcg@5", "--k", "3"], "ndcg@5 is not a mean over held-out items"),
        (["--model", "popular", "--holdout", "2", "--k", "3"], "between 0 and 1"),
        (["--model", "popular", "--holdout", "0.2", "--temporal", "0.2", "--k", "3"], "choose one"),
        (["--holdout", "0.2"], "there is no model"),
        (["--positive", "rating>9"], "no row to audit"),
        (["--model", "popular", "--k", "3", "--seed", "-1"], "seed -1"),
    ],
)
def test_bad_words_are_refused(world, refuse, words, says):
    refuse("audit", world / "train.csv", *words, says=(says,))


def test_a_ready_model_cannot_be_judged_on_its_own_log(world, refuse):
    refuse("audit", world / "train.csv", "--factors", world / "mf.npz", "--holdout", "0.2", says=("trained already",))


def test_too_few_rows_for_a_split_are_refused(world, refuse):
    few = world.write("few.csv", "user,item\na,x\nb,y\n")
    refuse("audit", few, "--model", "popular", "--k", "1", says=("leave none for test",))


def test_a_test_that_is_the_log_is_refused_with_what_audits_have(world, refuse):
    said = refuse("audit", world / "train.csv", "--test", world / "train.csv", "--model", "popular", "--k", "3")
    assert "no test row is left: 100 are also in the log" in said
    assert "give a --test of other rows, or none" in said
    assert "--candidates" not in said


def test_test_rows_of_the_log_are_dropped_without_a_word_that_audits_lack(world, unskew):
    test, train = ((world.folder / name).read_text().splitlines() for name in ("test.csv", "train.csv"))
    rows = [",".join(line.split(",")[:2]) for line in (*test, *train[1:3])]
    mixed = world.write("mixed.csv", "\n".join(rows) + "\n")
    outcome = unskew("audit", world / "train.csv", "--test", mixed, "--model", "popular", "--k", "3")
    assert outcome.code == 0, outcome.err
    assert f"warning: {ROWS_IN_LOG.format(rows='2 test rows')}" in outcome.err
    assert "--candidates" not in outcome.err


def test_logs_too_small_to_hold_anything_out_are_told_so(world, refuse):
    two = world.write("two.csv", "user,item\na,x\nb,y\n")
    said = refuse("audit", two, "--model", "popular", "--holdout", "0.5", "--k", "1")
    assert "the log is too small: its training rows have 1 item" in said
    assert "--k" not in said
    lone = world.write("lone.csv", "user,item\n" + "".join(f"a,i{k}\n" for k in range(30)))
    said = refuse("audit", lone, "--model", "popular", "--k", "5")
    assert "one user's items are all different, so no model can know them; give a log of more users" in said
    once = world.write("once.csv", "user,item\n" + "".join(f"u{k},i{k}\n" for k in range(30)))
    said = refuse("audit", once, "--model", "popular", "--k", "5")
    assert "the items of the held-out rows occur nowhere else" in said


def test_lists_shorter_than_k_are_warned_of(world, unskew):
    rows = "".join(f"u{user},i{(user + step) % 15},{9 - step}\n" for user in range(20) for step in range(3))
    short = world.write("short.csv", f"user,item,score\n{rows}")
    outcome = unskew("audit", world / "train.csv", "--scores", short, "--factors", world / "mf.npz", "--k", "6")
    assert outcome.code == 0, outcome.err
    (warning,) = [line for line in outcome.err.splitlines() if "places per user" in line]
    assert warning.startswith("warning: model 'short': its lists fill ")
    assert " of 6 places per user (shorter lists" in warning


def test_an_output_never_replaces_what_is_read(world, unskew):
    outcome = unskew("audit", world / "train.csv", "--json", world / "train.csv")
    assert outcome.code == 2
    assert "is read by this run" in outcome.err
