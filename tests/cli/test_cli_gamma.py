"""``--propensity popularity(gamma=auto)`` and ``popularity(gamma=from(FILE))`` from the command line."""

import json

import pytest


def test_auto_says_which_gammas_it_found(world, unskew):
    asked = ["-m", "auc", "-e", "snips", "--propensity", "popularity(gamma=auto)"]
    outcome = unskew(*world.evaluate(*asked, "--json", world / "out.json", "--html", world / "out.html"))
    assert outcome.code == 0, outcome.err
    assert "Over the gammas found" in outcome.out
    assert "(bpr " in outcome.out
    told = json.loads((world.folder / "out.json").read_text())
    assert told["run"]["propensity"] == "popularity(gamma=auto)"
    found = told["run"]["gamma"]
    assert found["models"][0]["model"] == "bpr"
    assert {"gamma", "std_error", "levels"} < set(found["models"][0])
    assert {(row["metric"], row["estimator"], row["model"]) for row in told["sensitivity"]} == {("auc", "snips", "mf")}
    assert {found["min"], found["mean"], found["max"]} <= {row["gamma"] for row in told["sensitivity"]}
    assert all(found["min"] <= row["gamma"] <= found["max"] for row in told["sensitivity"])
    middle = next(row["value"] for row in told["sensitivity"] if row["gamma"] == found["used"])
    assert middle == told["estimates"][0]["value"]
    assert 'id="sensitivity"' in (world.folder / "out.html").read_text()


@pytest.mark.parametrize("name", ["mf.npz", "dense.csv", "top.csv"])
def test_the_logging_model_may_be_factors_scores_or_lists(world, unskew, name):
    word = f"popularity(gamma=from({world / name}))"
    outcome = unskew(*world.evaluate("-m", "auc", "-e", "snips", "--propensity", word, "--json", "-"))
    assert outcome.code == 0, outcome.err
    run = json.loads(outcome.out)["run"]
    assert run["propensity"] == word
    assert [model["model"] for model in run["gamma"]["models"]] == [world / name]
    assert len(run["propensity_files"][world / name]) == 64


def test_the_file_is_named_from_the_folder_of_the_config(world, unskew, monkeypatch):
    monkeypatch.chdir("/")
    (world.folder / "mf.npz").rename(world.folder / "my factors.npz")
    path = world.write(
        "run.toml",
        'train = "train.csv"\ntest = "test.csv"\nmodel = "popular"\nmetric = "auc"\n'
        "propensity = \"popularity(gamma=from('my factors.npz'), smoothing=2)\"\n",
    )
    outcome = unskew("evaluate", "--config", path, "--json", "-")
    assert outcome.code == 0, outcome.err
    word = json.loads(outcome.out)["run"]["propensity"]
    assert word == f'popularity(gamma=from("{world / "my factors.npz"}"), smoothing=2)'


@pytest.mark.parametrize(
    ("gamma", "says"),
    [
        ("from(nowhere.npz)", "nowhere.npz"),
        ("from()", "expected a number, auto or from(FILE)"),
        ("automatic", "expected a number, auto or from(FILE)"),
    ],
)
def test_a_gamma_from_nowhere_is_refused(world, refuse, gamma, says):
    refuse(*world.evaluate("--propensity", f"popularity(gamma={gamma})"), says=(says,))


def test_a_log_of_one_popularity_level_is_refused(world, refuse):
    rows = [f"u{user},i{(user + step) % 20}" for user in range(20) for step in range(3)]
    world.write("even.csv", "user,item\n" + "\n".join(rows) + "\n")
    said = refuse(*world.evaluate("--propensity", "popularity(gamma=auto)", train="even.csv"))
    assert "gamma is not identified: every item has 3 interactions" in said
