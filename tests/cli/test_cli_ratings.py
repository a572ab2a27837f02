"""``unskew evaluate`` on ratings, end to end, and every input that cannot be used: exit 2 and one line."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest


def predictions(world, name: str = "good.csv", noise: float = 0.5, rows: int | None = None) -> str:
    """Predictions for the test rows, or for the first so many of them."""
    test = pl.read_csv(world / "test.csv")
    near = test["rating"].to_numpy() + np.random.default_rng(1).normal(0, noise, len(test))
    frame = test.select("user", "item").with_columns(prediction=pl.Series(near)).head(rows or len(test))
    frame.write_csv(world / name)
    return world / name


def mae(world, name: str, weight: Callable[[pl.DataFrame], pl.Expr]) -> float:
    """A weighted mean of absolute errors, from the files."""
    test, table = pl.read_csv(world / "test.csv"), pl.read_csv(world / name)
    joined = test.join(table, on=["user", "item"], how="inner").with_columns(w=weight(test))
    error = (joined["rating"] - joined["prediction"]).abs()
    return float((error * joined["w"]).sum() / joined["w"].sum())


def by_column(test: pl.DataFrame) -> pl.Expr:
    return 1 / pl.col("propensity")


def equal(test: pl.DataFrame) -> pl.Expr:
    return pl.lit(1.0)


def values(text: str) -> dict[tuple[str, str, str], float]:
    rows = json.loads(text)["estimates"]
    return {(row["model"], row["metric"], row["estimator"]): row["value"] for row in rows}


def test_predictions_are_judged_by_errors_and_the_numbers_are_those_of_the_files(world, unskew):
    predictions(world)
    predictions(world, "bad.csv", noise=2)
    words = ["--predictions", f"good={world / 'good.csv'}", "--predictions", world / "bad.csv"]
    outcome = unskew(*world.evaluate(*words, "--propensity", "column", "--json", "-", model=False))
    assert outcome.code == 0
    found = values(outcome.out)
    assert set(found) == {(m, k, e) for m in ("good", "bad") for k in ("mae", "mse") for e in ("aoa", "snips")}
    for name in ("good", "bad"):
        assert found[name, "mae", "aoa"] == pytest.approx(mae(world, f"{name}.csv", equal))
        assert found[name, "mae", "snips"] == pytest.approx(mae(world, f"{name}.csv", by_column))


def test_ranking_and_rating_metrics_in_one_call(world, unskew):
    predictions(world)
    words = ["--predictions", f"mf={world / 'good.csv'}", "-m", "mae", "-m", "rmse", "-m", "auc", "-m", "cg@3"]
    outcome = unskew(*world.evaluate(*words, "--json", "-"))  # the factors are called mf too
    assert outcome.code == 0
    assert {key[:2] for key in values(outcome.out)} == {("mf", metric) for metric in ("mae", "rmse", "auc", "cg@3")}
    table = unskew(*world.evaluate(*words))
    assert table.code == 0
    for word in ("mae", "rmse", "auc", "cg@3", "lower is better"):
        assert word in table.out


def test_a_page_and_the_json_are_written(world, unskew):
    predictions(world)
    words = ["--predictions", world / "good.csv", "--html", world / "out.html", "--json", world / "out.json"]
    assert unskew(*world.evaluate(*words, model=False)).code == 0
    page, made = Path(world / "out.html").read_text(), json.loads(Path(world / "out.json").read_text())
    assert {row["metric"] for row in made["estimates"]} == {"mae", "mse"}
    for row in made["estimates"]:
        assert row["definition"] in page
        assert f">{row['value']:.4f}" in page


def test_factors_whose_scores_are_ratings_predict_and_rank(world, unskew):
    outcome = unskew(
        *world.evaluate("--predictions", world / "mf.npz", "-m", "mae", "-m", "auc", "--json", "-", model=False)
    )
    assert outcome.code == 0
    assert ("mf", "mae", "aoa") in values(outcome.out)
    assert ("mf", "auc", "aoa(per=pair)") in values(outcome.out)


@pytest.mark.parametrize("word", ["mf-naive(factors=2)", "mf-ips(factors=2)", "mf-ips(factors=2, propensity=uniform)"])
def test_rating_models_are_trained_by_word(world, unskew, word):
    outcome = unskew(*world.evaluate("--model", f"m={word}", "-m", "mae", "-m", "auc", "--json", "-", model=False))
    assert outcome.code == 0
    assert {key[:2] for key in values(outcome.out)} == {("m", "mae"), ("m", "auc")}


def test_rows_without_a_prediction_are_counted_and_refused(world, refuse):
    predictions(world, "short.csv", rows=50)
    words = world.evaluate("--predictions", world / "short.csv", model=False)
    message = refuse(*words, says=("model 'short' has no prediction for 10 of 60 test rows", "--allow-missing"))
    assert "the first is user" in message


def test_rows_without_a_prediction_are_left_out_when_allowed(world, unskew):
    predictions(world, "short.csv", rows=50)
    words = world.evaluate("--predictions", world / "short.csv", "--allow-missing", "--json", "-", model=False)
    outcome = unskew(*words)
    assert outcome.code == 0
    assert "10 test rows excluded from metrics over ratings" in outcome.err
    assert values(outcome.out)["short", "mae", "aoa"] == pytest.approx(mae(world, "short.csv", equal))


def test_a_scale_is_checked_when_it_is_declared(world, refuse, unskew):
    words = world.evaluate("--predictions", predictions(world), model=False)
    plain, declared = (json.loads(unskew(*words, *more, "--json", "-").out) for more in ((), ("--scale", "1-5/1")))
    assert declared["estimates"] == plain["estimates"]
    for scale, says in (
        ("1-4", ("train.csv: rating 5 of user", "is not on the scale 1-4", "--scale")),
        ("2-5", ("rating 1 of user", "not on the scale 2-5")),
        ("1-5/2", ("rating", "not on the scale 1-5/2")),
        ("one to five", ("cannot read the scale 'one to five'", "as in 1-5")),
        ("5-1", ("the least rating must be below the largest",)),
    ):
        refuse(*words, "--scale", scale, says=says)


def sample(world, ratings: list[int]) -> str:
    return world.write("mcar.csv", "rating\n" + "\n".join(map(str, ratings)) + "\n")


def test_naive_bayes_propensities_come_from_a_random_sample(world, unskew):
    sample(world, [1, 1, 1, 2, 2, 3, 3, 4, 5] * 5)
    words = ["--predictions", predictions(world), "--propensity", f"naive-bayes(mcar={world / 'mcar.csv'})"]
    outcome = unskew(*world.evaluate(*words, "-m", "mae", "-e", "ips", "-e", "snips", "--json", "-", model=False))
    assert outcome.code == 0
    assert 0 < values(outcome.out)["good", "mae", "ips"] < 5
    assert "smoothing" not in outcome.err


def test_a_sample_without_some_rating_is_noted_with_smoothing_and_refused_without(world, unskew, refuse):
    sample(world, [1, 2, 3, 4] * 5)
    words = world.evaluate("--predictions", predictions(world), "-m", "mae", "-e", "snips", model=False)
    noted = unskew(*words, "--propensity", f"naive-bayes(mcar={world / 'mcar.csv'})")
    assert noted.code == 0
    assert "propensity of rating 5" in noted.err
    assert "depends on smoothing alone" in noted.err
    refuse(
        *words,
        "--propensity",
        f"naive-bayes(mcar={world / 'mcar.csv'}, smoothing=0)",
        says=("mcar.csv: no sampled pair has rating 5", "use smoothing=1 or a larger sample"),
    )


@pytest.mark.parametrize(
    "content, says",
    [
        ("stars\n3\n", ("no column 'rating'",)),
        ("rating\n", ("mcar.csv",)),
        ("rating\ngood\n", ("mcar.csv", "'good'")),
        ("user,rating\nu1,3\n", ("no column 'item'",)),
    ],
)
def test_a_sample_that_is_none_is_refused(world, refuse, content, says):
    world.write("mcar.csv", content)
    words = ["--predictions", predictions(world), "--propensity", f"naive-bayes(mcar={world / 'mcar.csv'})"]
    refuse(*world.evaluate(*words, model=False), says=says)


def test_a_sample_that_is_missing_is_named(world, refuse):
    words = ["--predictions", predictions(world), "--propensity", f"naive-bayes(mcar={world / 'nope.csv'})"]
    refuse(*world.evaluate(*words, model=False), says=("nope.csv: no such file",))
    words[-1] = "naive-bayes"
    refuse(*world.evaluate(*words, model=False), says=("'naive-bayes' needs mcar",))


def covariates(world, users: range, *, name: str = "users.csv") -> str:
    lines = [f"u{user},{user % 2},{user % 3}" for user in users]
    return world.write(name, "user,old,kind\n" + "\n".join(lines) + "\n")


def test_covariates_of_unknown_users_are_ignored_and_counted(world, unskew):
    covariates(world, range(23))
    words = ["--predictions", predictions(world), "--propensity", f"logistic(users={world / 'users.csv'})"]
    outcome = unskew(*world.evaluate(*words, model=False))
    assert outcome.code == 0
    assert "users.csv names 3 users that the log does not have; they are ignored" in outcome.err


@pytest.mark.parametrize(
    "content, says",
    [
        (None, ("users.csv: 4 of 20 users of the log are missing", "the first one is 'u", "add a row for each")),
        ("user,old\nu1,1\nu1,0\n", ("user 'u1' occurs more than once",)),
        ("who,old\nu1,1\n", ("no column 'user'",)),
        ("user\n" + "\n".join(f"u{user}" for user in range(20)) + "\n", ("only the column 'user'",)),
    ],
)
def test_covariates_that_lack_something_are_refused(world, refuse, content, says):
    covariates(world, range(16))
    if content is not None:
        world.write("users.csv", content)
    words = ["--predictions", predictions(world), "--propensity", f"logistic(users={world / 'users.csv'})"]
    refuse(*world.evaluate(*words, model=False), says=says)


def test_logistic_without_covariates_says_what_it_needs(world, refuse):
    words = ["--predictions", predictions(world), "--propensity", "logistic"]
    refuse(*world.evaluate(*words, model=False), says=("'logistic' needs covariates", "users=users.csv"))


def test_separable_data_is_a_warning_and_no_crash(world, unskew):
    """The covariate of an item is whether it is in the test; all users have all of these items there."""
    rng = np.random.default_rng(0)
    rows = [f"u{user},i{item},{rng.integers(1, 6)}" for user in range(20) for item in range(5)]
    world.write("apart.csv", "user,item,rating\n" + "\n".join(rows) + "\n")
    seen = [f"u{user},i{item},3" for user in range(20) for item in (6, 7)]
    world.write("before.csv", "user,item,rating\n" + "\n".join(seen) + "\nu0,i5,3\nu1,i8,3\n")
    world.write("items.csv", "item,shown\n" + "\n".join(f"i{item},{int(item < 5)}" for item in range(9)) + "\n")
    table = "\n".join(f"u{user},i{item},3" for user in range(20) for item in range(5))
    world.write("three.csv", "user,item,prediction\n" + table + "\n")
    words = ["--predictions", world / "three.csv", "--propensity", f"logistic(items={world / 'items.csv'})"]
    outcome = unskew(*world.evaluate(*words, train="before.csv", test="apart.csv", model=False))
    assert outcome.code == 0, outcome.err
    assert "determines whether a pair is observed (separable data)" in outcome.err
    assert "ConvergenceWarning" not in outcome.err


@pytest.mark.parametrize(
    "bad, says", [("0", "propensity 0 in row 3"), ("nan", "row 3"), ("", "row 3"), ("1.01", "1.01 in")]
)
def test_propensities_that_are_no_probabilities_are_refused(world, refuse, bad, says):
    lines = Path(world / "test.csv").read_text().splitlines()
    lines[3] = ",".join([*lines[3].split(",")[:-1], bad])
    file = predictions(world)
    world.write("odd.csv", "\n".join(lines) + "\n")
    words = world.evaluate("--predictions", file, "--propensity", "column", test="odd.csv", model=False)
    refuse(*words, says=("odd.csv", says))


def test_ips_with_propensities_known_up_to_scale_is_refused_with_a_hint(world, refuse):
    for propensity in ("popularity", "popularity(gamma=1)"):
        words = ["--predictions", predictions(world), "-m", "mae", "-e", "ips", "--propensity", propensity]
        says = ("ips needs absolute propensities", f"{propensity} is known only up to scale", "or snips")
        refuse(*world.evaluate(*words, model=False), says=says)


@pytest.mark.parametrize("metric", ["mae", "cg@3"])
def test_a_test_without_ratings_is_refused(world, refuse, metric):
    pl.read_csv(world / "test.csv").drop("rating").write_csv(world / "bare.csv")
    words = world.evaluate("--predictions", predictions(world), "-m", metric, test="bare.csv", model=metric != "mae")
    refuse(*words, says=("bare.csv has no column 'rating'", f"which {metric} needs", "--rating-col"))


def test_ratings_may_have_another_name(world, unskew):
    predictions(world)
    for part in ("train", "test"):
        pl.read_csv(world / f"{part}.csv").rename({"rating": "stars"}).write_csv(world / f"{part}2.csv")
    words = ["--predictions", world / "good.csv", "--rating-col", "stars", "--json", "-"]
    outcome = unskew(*world.evaluate(*words, train="train2.csv", test="test2.csv", model=False))
    assert values(outcome.out)["good", "mae", "aoa"] == pytest.approx(mae(world, "good.csv", equal))


def test_a_model_of_ratings_needs_ratings_to_learn_from(world, refuse):
    pl.read_csv(world / "train.csv").drop("rating").write_csv(world / "bare.csv")
    words = world.evaluate("--model", "mf-naive", "-m", "mae", train="bare.csv", model=False)
    refuse(*words, says=("bare.csv: has no ratings, which mf-naive needs", "--rating-col"))


BAD_TABLES = {
    "no column": ("user,item,guess\nu1,i1,3\n", ("no column 'prediction'", "expected user, item and prediction")),
    "scores": ("user,item,score\nu1,i1,3\n", ("no column 'prediction'",)),
    "text": ("user,item,prediction\nu1,i1,good\n", ("row 1 has prediction 'good'", "expected a number")),
    "nothing": ("user,item,prediction\nu1,i1,\n", ("row 1 has no prediction",)),
    "infinite": ("user,item,prediction\nu1,i1,inf\n", ("user u1, item i1", "finite")),
    "twice": ("user,item,prediction\nu1,i1,3\nu1,i1,3\n", ("user u1, item i1 has more than one", "keep one")),
    "strangers": ("user,item,prediction\nx1,y1,3\n", ("model 'p' has no prediction for 60 of 60 test rows", "ids")),
    "header only": ("user,item,prediction\n", ("header but no row",)),
    "empty": ("", ("empty",)),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_of_predictions_is_refused(world, refuse, case):
    content, says = BAD_TABLES[case]
    refuse(*world.evaluate("--predictions", world.write("p.csv", content), model=False), says=says)


def test_a_missing_table_is_named(world, refuse):
    for word in (world / "nope.csv", f"m={world / 'nope.csv'}", world / "nope.npz"):
        refuse(*world.evaluate("--predictions", word, model=False), says=("nope.", "no such file"))


def test_two_predictions_of_one_name_are_refused(world, refuse):
    file = predictions(world)
    words = ["--predictions", file, "--predictions", f"good={file}"]
    refuse(*world.evaluate(*words, model=False), says=("two models are called 'good'",))


def test_errors_need_predictions_and_rankings_need_rankers(world, refuse):
    refuse(*world.evaluate("-m", "mae"), says=("mae needs predicted ratings", "use --predictions"))
    words = world.evaluate("--predictions", predictions(world), "-m", "auc", model=False)
    refuse(*words, says=("auc needs scores of all candidates", "give --scores or --factors"))
    refuse(*world.evaluate("--predictions", world / "good.csv", "-m", "mae"), says=("'mf' predicts no ratings",))


@pytest.mark.parametrize(
    "words, says",
    [
        (["-m", "mae@3"], ("mae has no cut-off",)),
        (["-m", "cg"], ("cg needs a cut-off, as in cg@10",)),
        (["-m", "maee"], ("unknown metric 'maee'", "did you mean 'mae'")),
        (["-m", "auc", "-e", "snips(per=item)"], ("for metrics over all pairs",)),
        (["-m", "auc", "--interval", "observation"], ("'observation' is for metrics over all pairs", "use delta")),
        (["-m", "cg@3", "--candidates", "sampled(5)"], ("graded metrics need all candidates", "use unseen")),
    ],
)
def test_words_that_do_not_go_together_are_refused(world, refuse, words, says):
    refuse(*world.evaluate(*words), says=says)


def test_a_toml_file_may_hold_all_of_it(world, unskew, refuse):
    """Paths in it, those within words included, are relative to it."""
    predictions(world, "short.csv", rows=50)
    sample(world, [1, 2, 3, 4, 5] * 4)
    config = (
        'train = "train.csv"\ntest = "test.csv"\npredictions = ["m=short.csv"]\nmetric = ["mae", "rmse"]\n'
        'scale = "1-5"\npropensity = "naive-bayes(mcar=mcar.csv)"\n'
    )
    path = world.write("run.toml", config + "allow-missing = true\n")
    outcome = unskew("evaluate", "--config", path, "--json", "-")
    assert outcome.code == 0, outcome.err
    assert values(outcome.out)["m", "mae", "aoa"] == pytest.approx(mae(world, "short.csv", equal))
    strict = world.write("strict.toml", config)
    refuse("evaluate", "--config", strict, says=("has no prediction for 10 of 60 test rows",))
    assert unskew("evaluate", "--config", strict, "--allow-missing").code == 0
    refuse("evaluate", "--config", world.write("odd.toml", 'allow-missing = "yes"'), says=("true or false",))


def test_positives_of_rankings_do_not_move_errors_of_ratings(world, unskew):
    """Popularity is counted on positives for rankings, but on all rows for metrics over ratings."""
    words = ["--predictions", predictions(world), "-m", "mae", "--json", "-"]
    plain = unskew(*world.evaluate(*words, model=False))
    mixed = unskew(*world.evaluate(*words, "-m", "recall@3", "--positive", "rating>=4"))
    assert values(plain.out)["good", "mae", "snips"] == values(mixed.out)["good", "mae", "snips"]


def test_a_sample_that_is_part_of_the_test_is_told_of_and_gives_no_curve(world, unskew):
    pl.read_csv(world / "test.csv").head(40).write_csv(world / "mcar.csv")
    words = ["--predictions", predictions(world), "--propensity", f"naive-bayes(mcar={world / 'mcar.csv'})"]
    outcome = unskew(*world.evaluate(*words, "--json", "-", model=False))
    assert outcome.code == 0
    assert "remove the random sample from these rows first" in " ".join(json.loads(outcome.out)["warnings"])
    assert json.loads(outcome.out)["run"]["propensity_diagnostics"]["reliability"] == []


def test_a_sample_on_another_scale_is_refused(world, refuse):
    world.write("mcar.csv", "rating\n20\n40\n100\n")
    words = ["--predictions", predictions(world), "--propensity", f"naive-bayes(mcar={world / 'mcar.csv'})"]
    refuse(*world.evaluate(*words, model=False), says=("no rating of the random sample", "same scale"))


def test_numbers_too_large_to_square_are_one_line(world, refuse):
    test = pl.read_csv(world / "test.csv")
    test.select("user", "item", prediction=pl.lit(1e300)).write_csv(world / "huge.csv")
    words = ["--predictions", world / "huge.csv", "-m", "mse", "-e", "aoa"]
    refuse(
        *world.evaluate(*words, model=False),
        says=("mse of model 'huge' is inf for user", "check ratings and predictions"),
    )


def test_accuracy_of_fractions_points_to_rounding(world, unskew):
    words = ["--predictions", predictions(world), "-m", "accuracy", "--json", "-"]
    assert "accuracy(rounded)" in " ".join(json.loads(unskew(*world.evaluate(*words, model=False)).out)["warnings"])
