"""Evaluations that work, from files of every kind."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

from unskew import __version__

ESTIMATE = [
    "model", "metric", "definition", "estimator", "target", "value", "std_error", "low", "high", "level",
    "assumed_low", "assumed_high", "users", "dropped_users", "dropped_items", "effective_sample_size", "effective_rows",
    "max_weight_share", "clipped_share", "tied_share",
]  # fmt: skip
COMPARISON = ["metric", "estimator", "a", "b", "difference", "low", "high", "p_value", "p_value_holm"]


@pytest.fixture
def report(unskew):
    """Run words that must work and return the JSON."""

    def run(*arguments):
        outcome = unskew(*arguments, "--json", "-")
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)

    return run


def values(report, **wanted):
    return [
        (row["metric"], row["estimator"], row["value"])
        for row in report["estimates"]
        if all(row[key] == value for key, value in wanted.items())
    ]


def numbers(report):
    return [(row["model"], *row.values()) for row in report["estimates"]]


def test_the_json_is_what_the_design_says(world, report):
    found = report(*world.evaluate("--model", "popular", "--propensity", "popularity"))
    assert list(found) == [
        *("unskew", "run", "estimates", "verdict", "comparisons", "baselines", "sensitivity", "warnings"),
    ]
    assert found["unskew"] == __version__
    assert [list(row) for row in found["estimates"]] == [ESTIMATE] * 12
    assert [list(row) for row in found["comparisons"]] == [COMPARISON] * 6
    assert all(isinstance(text, str) for text in found["warnings"])
    first = found["estimates"][0]
    assert (first["model"], first["metric"], first["estimator"]) == ("mf", "recall@10", "aoa(per=pair)")
    assert first["definition"] == "hits / all relevant; ties expected; unseen"
    assert found["estimates"][2]["target"] == "relevant pairs"
    auc = found["estimates"][-1]
    assert auc["low"] < auc["value"] < auc["high"]
    assert (first["level"], first["users"], first["dropped_users"], first["dropped_items"]) == (0.95, 20, 0, 0)


def test_the_run_holds_what_decides_the_numbers_and_nothing_else(world, report):
    run = report(*world.evaluate("--threads", "1", "--positive", "rating>=2"))["run"]
    assert (run["propensity"], run["users"]) == ("column", "any")  # the test has one, and none was named
    assert (run["candidates"], run["ties"], run["positive"]) == ("unseen", "expected", "rating>=2")
    assert (run["level"], run["interval"], run["seed"]) == (0.95, "delta", 0)
    assert run["data"]["train"]["rows"] == 100
    assert len(run["data"]["test"]["sha256"]) == 64
    text = json.dumps(run)
    assert "threads" not in text
    assert str(world.folder) not in text


def test_one_model_has_no_comparisons(world, report):
    assert report(*world.evaluate())["comparisons"] == []


def test_defaults_are_three_metrics_by_two_estimators(world, report):
    found = [(row["metric"], row["estimator"]) for row in report(*world.evaluate())["estimates"]]
    assert found == [(m, e) for m in ("recall@10", "adg@10", "auc") for e in ("aoa(per=pair)", "snips")]


def test_json_on_stdout_is_nothing_but_json(world, unskew):
    outcome = unskew(*world.evaluate("--json", "-", "--html", world / "page.html", "--model", "popular"))
    assert outcome.out.startswith("{")
    assert outcome.out.endswith("}\n")
    json.loads(outcome.out)
    assert all(line.startswith("warning: ") for line in outcome.err.splitlines())
    assert (world.folder / "page.html").exists()


def test_the_file_holds_the_same_bytes_as_stdout(world, unskew):
    unskew(*world.evaluate("--json", world / "out.json"))
    assert (world.folder / "out.json").read_text() == unskew(*world.evaluate("--json", "-")).out


def test_the_page_is_one_file_with_the_models_in_it(world, unskew):
    outcome = unskew(*world.evaluate("--model", "<b>bold</b>=popular", "--html", world / "page.html"))
    assert outcome.code == 0
    page = (world.folder / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "recall@10" in page
    assert "<b>bold</b>" not in page


def test_the_table_goes_to_stdout_and_warnings_to_stderr(world, unskew):
    outcome = unskew(*world.evaluate("--model", "popular"))
    for words in ("recall@10", "snips", "mf", "popular", "95% interval", "Best against next"):
        assert words in outcome.out
    assert "warning" not in outcome.out
    assert outcome.err.startswith("warning: the test has a column propensity, which is used")
    assert "warning: model 'popular'" in outcome.err


def test_quiet_says_nothing_but_still_writes(world, unskew):
    outcome = unskew(*world.evaluate("--model", "popular", "--json", world / "out.json", "--quiet"))
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert json.loads((world.folder / "out.json").read_text())["warnings"]


def test_quiet_leaves_json_on_stdout(world, unskew):
    outcome = unskew(*world.evaluate("--model", "popular", "--json", "-", "-q"))
    json.loads(outcome.out)
    assert outcome.err == ""


def test_factors_without_ids_follow_the_order_of_train_and_test_together(world, report):
    # u0, u1, u10, ... is the order of text ids
    users, items = np.argsort(world.array("user_ids")), np.argsort(world.array("item_ids"))
    path = world.factors(
        user_factors=world.array("user_factors")[users],
        item_factors=world.array("item_factors")[items],
        user_ids=None,
        item_ids=None,
    )
    with_ids, without = report(*world.evaluate()), report(*world.evaluate("--factors", f"mf={path}", model=False))
    assert numbers(without) == numbers(with_ids)


def test_an_item_bias_moves_the_ranks_and_a_user_bias_does_not(world, report):
    plain = values(report(*world.evaluate()))
    by_user = world.factors("by_user.npz", user_bias=np.arange(20.0))
    by_item = world.factors("by_item.npz", item_bias=100.0 * np.arange(15))
    assert values(report(*world.evaluate("--factors", by_user, model=False))) == plain
    best = world.factors("best.npz", user_factors=np.zeros((20, 4)), item_bias=np.arange(15.0))
    moved = values(report(*world.evaluate("--factors", by_item, model=False)))
    assert moved == values(report(*world.evaluate("--factors", best, model=False)))
    assert moved != plain


def test_distance_factors_rank_as_the_table_of_their_distances(world, report):
    users, items = world.array("user_factors").astype(float), world.array("item_factors").astype(float)
    path = world.factors(user_factors=users, item_factors=items, similarity="distance")
    scores = -((users[:, None, :] - items[None, :, :]) ** 2).sum(axis=2)
    pl.DataFrame(
        {
            "user": np.repeat(world.array("user_ids"), 15).tolist(),
            "item": np.tile(world.array("item_ids"), 20).tolist(),
            "score": scores.ravel(),
        }
    ).write_parquet(world / "distance.parquet")
    by_factors = values(report(*world.evaluate("--factors", path, model=False)))
    assert by_factors == values(report(*world.evaluate("--scores", world / "distance.parquet", model=False)))


def test_a_dense_table_of_scores_equals_the_factors_it_came_from(world, report):
    found = report(*world.evaluate("--scores", world / "dense.csv", "-m", "recall@3", "-m", "auc", "-m", "map"))
    assert values(found, model="dense") == values(found, model="mf")
    assert not any("lists at most" in warning for warning in found["warnings"])


def test_a_top_n_list_counts_as_far_as_it_goes_and_warns_beyond(world, report):
    run = world.evaluate("--scores", world / "top.csv", "--candidates", "all", "-m", "recall@4", "-m", "recall@6")
    found = report(*run)
    assert values(found, model="top", metric="recall@4") == values(found, model="mf", metric="recall@4")
    (warning,) = [text for text in found["warnings"] if "lists at most 4" in text]
    assert "recall@6" in warning
    assert "recall@4" not in warning


def test_unlisted_items_gain_nothing_or_stand_tied(world, report):
    run = world.evaluate("--scores", world / "top.csv", "--candidates", "all", "-m", "recall@10", model=False)
    zero, tied = report(*run), report(*run, "--unlisted", "tied")
    assert zero["estimates"][0]["value"] < tied["estimates"][0]["value"]


@pytest.mark.parametrize("word", ["popular", "random", "svd(rank=3)", "ease", "item-knn", "als(factors=4)"])
def test_built_in_models_are_trained_by_their_word(world, report, word):
    found = report(*world.evaluate("--model", word, "--model", f"again={word}", model=False))
    assert values(found, model=word) == values(found, model="again")
    assert found["run"]["models"] == {word: word, "again": word}


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_threads_do_not_change_a_byte(world, unskew, threads):
    run = world.evaluate(
        "--scores", world / "top.csv", "--model", "als(factors=4)", "--model", "random", "--block-size", "3",
        "--ties", "random", "--candidates", "sampled(5)", "--interval", "bootstrap(100)", "--json", "-",
    )  # fmt: skip
    assert unskew(*run, "--threads", threads).out == unskew(*run, "--threads", "3").out


def test_the_seed_decides_what_is_drawn(world, report):
    run = world.evaluate("--candidates", "sampled(4)", "-m", "auc")
    assert values(report(*run, "--seed", "1")) == values(report(*run, "--seed", "1"))
    assert values(report(*run, "--seed", "1")) != values(report(*run, "--seed", "2"))


def gzipped(world, name, frame):
    world.write(name, gzip.compress(frame.write_csv().encode()))


FORMS = {
    "csv": lambda world, name, frame: frame.write_csv(world / name),
    "csv.gz": gzipped,
    "tsv": lambda world, name, frame: frame.write_csv(world / name, separator="\t"),
    "tsv.gz": lambda world, name, frame: world.write(name, gzip.compress(frame.write_csv(separator="\t").encode())),
    "parquet": lambda world, name, frame: frame.write_parquet(world / name),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_files_does_not_matter(world, unskew, form):
    plain = unskew(*world.evaluate("--scores", world / "top.csv", "--json", "-"))
    for name in ("train", "test", "top"):
        FORMS[form](world, f"{name}.{form}", pl.read_csv(world / f"{name}.csv"))
    files = {"train": f"train.{form}", "test": f"test.{form}"}
    other = unskew(*world.evaluate("--scores", world / f"top.{form}", "--json", "-", **files))
    assert other.code == 0, other.err
    assert other.out == plain.out


def test_columns_may_have_other_names(world, unskew):
    names = {"user": "uid", "item": "movie", "rating": "stars", "timestamp": "when", "propensity": "p"}
    options = [word for key, name in names.items() for word in (f"--{key}-col", name)]
    more = ["--positive", "rating>=2", "--propensity", "column", "--json", "-"]
    plain = unskew(*world.evaluate("--scores", world / "top.csv", *more))
    for file in ("train", "test", "top"):
        frame = pl.read_csv(world / f"{file}.csv")
        frame.rename({key: name for key, name in names.items() if key in frame.columns}).write_csv(
            world / f"{file}.csv"
        )
    renamed = unskew(*world.evaluate("--scores", world / "top.csv", *more, *options))
    assert renamed.code == 0, renamed.err
    assert renamed.out == plain.out


def test_an_id_is_the_same_as_text_and_as_number(world, unskew):
    def strip(frame):
        return frame.with_columns(pl.col("user", "item").str.slice(1))

    train, test, top = (strip(pl.read_csv(world / f"{name}.csv")) for name in ("train", "test", "top"))
    as_numbers = [pl.col("user", "item").cast(pl.Int64)]
    train.write_csv(world / "train.csv")
    test.with_columns(as_numbers).write_parquet(world / "test.parquet")
    top.write_parquet(world / "top.parquet")
    path = world.factors(user_ids=np.arange(20), item_ids=np.array([str(item) for item in range(15)]))
    outcome = unskew(
        *world.evaluate(
            "--factors", path, "--scores", world / "top.parquet", "--json", "-", test="test.parquet", model=False
        )
    )
    assert outcome.code == 0, outcome.err
    assert "unknown" not in outcome.err
    assert {row["users"] for row in json.loads(outcome.out)["estimates"]} == {20}


def test_validation_items_stay_candidates_but_are_not_drawn(world, report):
    frame = pl.read_csv(world / "train.csv")
    frame[::5].write_csv(world / "validation.csv")
    kept = frame.with_row_index().filter(pl.col("index") % 5 != 0).drop("index")
    kept.write_csv(world / "less.csv")
    validation = ["--validation", world / "validation.csv"]
    run = world.evaluate("-m", "auc", "-e", "aoa", train="less.csv")
    with_it, without = report(*run, *validation), report(*run)
    assert values(with_it) == values(without)
    assert "validation" in with_it["run"]["data"]
    assert "validation" not in without["run"]["data"]
    drawn = [*run, "--candidates", "sampled(6)"]
    assert values(report(*drawn, *validation)) != values(report(*drawn))


def test_positive_selects_rows_and_is_recorded(world, report):
    found = report(*world.evaluate("--positive", "rating>=4", "-m", "recall@5", "-e", "aoa"))
    liked = pl.read_csv(world / "test.csv").filter(pl.col("rating") >= 4)
    assert found["run"]["positive"] == "rating>=4"
    assert found["run"]["judged"]["users"] == liked["user"].n_unique()
    assert found["run"]["judged"]["rows"] == len(liked)
    assert found["estimates"][0]["dropped_users"] == 20 - liked["user"].n_unique()


def test_repeated_rows_are_counted(world, unskew):
    text = (world.folder / "test.csv").read_text()
    world.write("twice.csv", text + text.splitlines()[1] + "\n")
    assert "test: 1 repeated" in unskew(*world.evaluate(test="twice.csv")).err


def test_one_user_has_no_interval(world, report):
    lines = (world.folder / "test.csv").read_text().splitlines()[:4]
    world.write("one.csv", "\n".join(lines) + "\n")
    found = report(*world.evaluate(test="one.csv"))
    assert {(row["std_error"], row["low"], row["high"]) for row in found["estimates"]} == {(None, None, None)}
    assert any("only one user" in text for text in found["warnings"])


def test_a_file_name_with_an_equals_sign_can_be_given(world, report):
    path = world.factors("rank=4.npz")
    assert report(*world.evaluate("--factors", path, model=False))["run"]["models"] == {"rank=4": "FactorScorer"}


@pytest.mark.xdist_group("ray")
@pytest.mark.filterwarnings("ignore")
def test_an_evaluation_on_ray_prints_the_same_json(world, unskew):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'unskew[ray]'")
    words = ["evaluate", "--train", world / "train.csv", "--test", world / "test.csv", "--model", "popular"]
    words += ["--model", "als(factors=2)", "-m", "recall@2", "-e", "aoa", "--json", "-"]
    try:
        ours, theirs = unskew(*words, "--engine", "ray"), unskew(*words)
    finally:
        ray.shutdown()
    assert ours.code == theirs.code == 0, ours.err
    assert ours.out == theirs.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "rays"], "unknown engine 'rays'"),
        (["--ray-address", "auto"], "--ray-address auto needs --engine ray"),
    ],
)
def test_engines_are_refused_before_files_are_read(world, unskew, words, said):
    got = unskew("evaluate", "--train", world / "no.csv", "--test", world / "no.csv", "--model", "popular", *words)
    assert got.code == 2
    assert said in got.err
    assert "no.csv" not in got.err


def test_an_evaluation_may_stop_early(world, unskew):
    words = ["evaluate", "--train", world / "train.csv", "--test", world / "test.csv", "--model", "popular"]
    words += ["--model", "random", "-m", "auc", "-e", "aoa"]
    got = unskew(*words, "--until", "decided", "--json", "-")
    assert got.code == 0, got.err
    assert json.loads(got.out)["run"]["until"]["on"] == "auc:aoa"
    for more, said in (
        (["--until", "soon"], "--until soon: expected decided, or width<0.005"),
        (["--until", "decided", "--on", "auc:snips"], "--on auc:snips: this run does not compute it"),
        (["--on", "auc:aoa"], "--on auc:aoa needs --until"),
    ):
        refused = unskew(*words, *more)
        assert refused.code == 2
        assert said in refused.err
        assert len(refused.err.strip().splitlines()) == 1
