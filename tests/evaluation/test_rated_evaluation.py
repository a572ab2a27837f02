"""evaluate() on ratings: losses and graded sums against loops, and which models are judged by what."""

import numpy as np
import polars as pl
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.ranking import FactorScorer, ListScorer, MatrixScorer, Predictions, prepare_contest, rank
from unskew.testing.worlds.rated_worlds import ITEMS, USERS, all_pairs, places, rated_world, without

WORLD = rated_world()
RULES = ("unseen", "all", "listed")
LOSSES = {
    "mae": lambda y, p: np.abs(y - p),
    "mse": lambda y, p: (y - p) ** 2,
    "accuracy(rounded)": lambda y, p: (y == np.floor(p + 0.5)) * 1.0,
}
ESTIMATORS = ("aoa", "ips", "snips")


def run(models: dict, split: Split | None = None, **options: object) -> Report:
    chosen = {"propensity": "column", "estimators": ESTIMATORS, **options}
    return evaluate(models, WORLD.split() if split is None else split, **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize("candidates", RULES)
def test_losses_are_those_of_the_loops(candidates):
    report = run(
        {name: WORLD.scorer(name) for name in WORLD.predicted}, WORLD.split(candidates), metrics=[*LOSSES, "rmse"]
    )
    for name, predicted in WORLD.predicted.items():
        for estimator in ESTIMATORS:
            values = {}
            for metric, loss in LOSSES.items():
                values[metric] = all_pairs(WORLD, loss(WORLD.ratings, predicted), estimator, candidates, graded=False)
                assert report.value(name, metric, estimator) == pytest.approx(values[metric], rel=1e-12)
            assert report.value(name, "rmse", estimator) == pytest.approx(np.sqrt(values["mse"]), rel=1e-12)


@pytest.mark.parametrize("candidates", RULES)
@pytest.mark.parametrize("k", [1, 4, None])
def test_graded_metrics_are_those_of_the_loops(candidates, k):
    """Users have different numbers of candidates under `unseen` and `listed`."""
    at = "" if k is None else f"@{k}"
    metrics = [f"dcg(gain=value){at}", *([] if k is None else [f"cg@{k}", f"precision(gain=value)@{k}"])]
    report = run({name: WORLD.scorer(name) for name in WORLD.predicted}, WORLD.split(candidates), metrics=metrics)
    pairs = WORLD.pairs(candidates)
    for name in WORLD.predicted:
        place = places(WORLD, name, candidates)
        shown = (place >= 0) & (place < (k or ITEMS))
        worth = {
            f"dcg(gain=value){at}": np.where(shown, 1 / np.log2(np.maximum(place, 0) + 2), 0),
            f"cg@{k}": shown / np.maximum(np.minimum(k or 1, pairs), 1)[:, None],
            f"precision(gain=value)@{k}": shown / (k or 1),
        }
        for metric in metrics:
            for estimator in ESTIMATORS:
                want = all_pairs(WORLD, WORLD.ratings * worth[metric], estimator, candidates, graded=True)
                assert report.value(name, metric, estimator) == pytest.approx(want, rel=1e-12), (metric, estimator)


def test_when_all_pairs_are_observed_every_estimator_knows_the_truth():
    ratings = WORLD.ratings
    users, items = np.nonzero(np.ones_like(ratings))
    empty = Interactions.from_arrays([], [], n_users=USERS, n_items=ITEMS)
    test = Interactions.from_arrays(
        users, items, values=ratings.ravel(), propensity=np.ones(len(users)), n_users=USERS, n_items=ITEMS
    )
    report = run({"m": WORLD.scorer("close")}, Split(empty, test), metrics=["mae", "dcg(gain=value)@3", "cg@3"])
    best = np.take_along_axis(ratings, np.argsort(-WORLD.predicted["close"], axis=1), axis=1)[:, :3]
    for estimator in ESTIMATORS:
        error = np.abs(ratings - WORLD.predicted["close"]).mean()
        assert report.value("m", "mae", estimator) == pytest.approx(error, rel=1e-12)
        assert report.value("m", "cg@3", estimator) == pytest.approx(best.mean(), rel=1e-12)
        dcg = (best / np.log2([2, 3, 4])).sum(axis=1).mean()
        assert report.value("m", "dcg(gain=value)@3", estimator) == pytest.approx(dcg, rel=1e-12)


def test_a_model_may_come_in_any_form():
    split = WORLD.split()
    predicted = WORLD.predicted["close"]
    models = {
        "matrix": MatrixScorer(predicted, ratings=True),
        "factors": FactorScorer(np.eye(USERS), predicted.T, ratings=True),
        "predictions": Predictions.from_frame(WORLD.frame("close"), split),
        "table": WORLD.table("close"),
        "pair": (MatrixScorer(-predicted), WORLD.table("close")),
    }
    report = run(models, split, metrics=["mae", "rmse"])
    for metric in ("mae", "rmse"):
        for estimator in ESTIMATORS:
            row = {name: report.estimate(name, metric, estimator) for name in models}
            for other in row.values():
                assert other.value == pytest.approx(row["matrix"].value, rel=1e-12)
                assert other.std_error == pytest.approx(row["matrix"].std_error, rel=1e-9)
    assert report.run["models"]["pair"] == "MatrixScorer and ListScorer"


def test_predictions_and_a_table_keep_items_that_only_they_know():
    """An item that is not in train is a candidate when the predictions know it, in whichever form they come."""
    train = Interactions.from_arrays(["a", "a", "b"], ["x", "y", "x"], values=[1, 2, 3])
    test = Interactions.from_arrays(["a", "b"], ["z", "y"], values=[5, 4], propensity=[0.5, 0.5])
    split = Split(train, test)
    frame = pl.DataFrame({"user": ["a", "b"], "item": ["z", "y"], "prediction": [3.0, 3.0]})
    columns = Predictions.from_frame(frame, split)
    table = ListScorer.from_table(frame["user"], frame["item"], frame["prediction"].to_numpy(), ratings=True)
    for model in (columns, table):
        report = run({"m": model}, split, metrics=["mae"])
        assert report.value("m", "mae", "aoa") == 1.5
        assert report.value("m", "mae", "ips") == (2 / 0.5 + 1 / 0.5) / 3  # a has 1 candidate, b has 2
        assert report.estimate("m", "mae", "ips").dropped_items == 0


def test_by_default_predictions_have_errors_and_rankers_have_ranking_metrics():
    split = WORLD.split()
    table, ranker = WORLD.table("close"), MatrixScorer(WORLD.predicted["close"])
    ranking = ["recall@10", "adg@10", "auc"]
    for models, metrics in (
        ({"t": table}, ["mae", "mse"]),
        ({"p": Predictions.from_frame(WORLD.frame("close"), split)}, ["mae", "mse"]),
        ({"r": ranker}, ranking),
        ({"r": ranker, "t": table}, [*ranking, "mae", "mse"]),
        ({"r": (ranker, table)}, [*ranking, "mae", "mse"]),
        ({"s": WORLD.scorer("close")}, ranking),
    ):
        assert evaluate(models, split).run["metrics"] == metrics


def test_ranking_and_rating_metrics_go_together_and_the_condition_is_for_positives_alone():
    models = {"m": WORLD.scorer("close")}
    options = {"estimators": ["aoa", "snips"]}
    both = run(models, metrics=["mae", "auc", "cg@3"], positive="rating>=4", **options)
    rated = run(models, metrics=["mae", "cg@3"], **options)
    ranked = run(models, metrics=["auc"], positive="rating>=4", **options)
    everything = run(models, metrics=["auc"], **options)
    for estimator in ("aoa", "snips"):
        for metric in ("mae", "cg@3"):
            assert both.value("m", metric, estimator) == rated.value("m", metric, estimator)
        assert both.value("m", "auc", estimator) == ranked.value("m", "auc", estimator)
        assert both.value("m", "auc", estimator) != everything.value("m", "auc", estimator)
    assert both.estimate("m", "mae", "aoa").target == "observed pairs"
    assert both.estimate("m", "auc", "aoa").target == "observed items, mean over users"


def test_one_metric_over_all_pairs_does_not_change_with_the_others():
    models = {"m": WORLD.scorer("close")}
    metrics = ["dcg(gain=value)@3", "mse", "adg@3", "rmse"]
    together = run(models, metrics=metrics, estimators=["aoa", "snips"], interval="bootstrap(200)")
    for metric in metrics:
        alone = run(models, metrics=[metric], estimators=["aoa", "snips"], interval="bootstrap(200)")
        for estimator in ("aoa", "snips"):
            assert together.estimate("m", metric, estimator) == alone.estimate("m", metric, estimator)


def test_users_without_a_row_count_with_their_pairs_for_ips():
    report = run({"m": WORLD.scorer("close")}, metrics=["mae", "cg@3"])
    assert report.estimate("m", "mae", "ips").users == USERS
    rows = WORLD.judged("unseen")
    assert report.estimate("m", "mae", "snips").users == rows.any(axis=1).sum() <= USERS - 2
    loss = np.abs(WORLD.ratings - WORLD.predicted["close"])
    assert report.value("m", "mae", "ips") == pytest.approx(
        np.sum(loss[rows] / WORLD.propensity[rows]) / (USERS * ITEMS - WORLD.in_train.sum()), rel=1e-12
    )


def test_users_that_occur_nowhere_and_were_not_declared_are_no_population():
    users, items = np.nonzero(WORLD.in_test)
    names = np.array([f"u{user}" for user in range(USERS)])
    things = np.array([f"i{item}" for item in range(ITEMS)])
    test = Interactions.from_arrays(
        names[users], things[items], values=WORLD.ratings[WORLD.in_test], propensity=WORLD.propensity[WORLD.in_test]
    )
    seen, had = np.nonzero(WORLD.in_train)
    train = Interactions.from_arrays(names[seen], things[had], values=WORLD.ratings[WORLD.in_train])
    model = MatrixScorer(WORLD.predicted["close"], names, things, ratings=True)
    report = run({"m": model}, Split(train, test), metrics=["mae"])
    assert report.estimate("m", "mae", "ips").users == USERS - 1  # user 1 has neither train nor test


def test_rows_that_are_also_in_train_are_judged_only_where_seen_items_are_candidates():
    both = int((WORLD.in_train & WORLD.in_test).sum())
    assert both
    for candidates, dropped in (("unseen", both), ("all", 0), ("listed", 0)):
        report = run({"m": WORLD.scorer("close")}, WORLD.split(candidates), metrics=["mae"])
        row = report.estimate("m", "mae", "aoa")
        assert row.dropped_items == dropped
        assert report.run["judged"]["rows"] == WORLD.judged(candidates).sum()


def test_graded_metrics_are_over_all_candidates_so_not_sampled_ones():
    with pytest.raises(ConfigError, match="graded metrics need all candidates"):
        run({"m": WORLD.scorer("close")}, WORLD.split("sampled(3)"), metrics=["cg@2"])
    assert run({"m": WORLD.scorer("close")}, WORLD.split("sampled(3)"), metrics=["mae"]).value(
        "m", "mae", "snips"
    ) == run({"m": WORLD.scorer("close")}, metrics=["mae"]).value("m", "mae", "snips")


def test_missing_predictions_are_refused_with_their_number():
    gone = WORLD.in_test & (np.arange(ITEMS) == 3)
    rows = int((gone & WORLD.judged("unseen")).sum())
    total = int(WORLD.judged("unseen").sum())
    user = int(np.flatnonzero((gone & WORLD.judged("unseen")).any(axis=1))[0])
    models = {"whole": WORLD.table("flat"), "short": WORLD.table("close", WORLD.in_test & ~gone)}
    with pytest.raises(DataError) as caught:
        run(models, metrics=["mae"])
    assert f"model 'short' has no prediction for {rows} of {total} test rows" in str(caught.value)
    assert f"the first is user {user}, item 3" in str(caught.value)
    assert "allow_missing=True" in str(caught.value)


def test_allowed_to_be_missing_they_are_left_out_for_all_models_and_counted():
    gone = WORLD.in_test & (np.arange(ITEMS) == 3)
    rows = int((gone & WORLD.judged("unseen")).sum())
    models = {"whole": WORLD.scorer("flat"), "short": WORLD.table("close", WORLD.in_test & ~gone)}
    report = run(models, metrics=["mae"], estimators=["aoa", "snips"], allow_missing=True)
    smaller = without(WORLD, gone)
    for name, predicted in (("whole", WORLD.predicted["flat"]), ("short", WORLD.predicted["close"])):
        for estimator in ("aoa", "snips"):
            want = all_pairs(smaller, np.abs(WORLD.ratings - predicted), estimator, "unseen", graded=False)
            assert report.value(name, "mae", estimator) == pytest.approx(want, rel=1e-12)
    assert any(f"{rows} test rows excluded from metrics over ratings" in text for text in report.warnings)
    seen_too = int((WORLD.in_train & WORLD.in_test).sum())
    assert report.estimate("whole", "mae", "aoa").dropped_items == rows + seen_too


def test_ips_of_a_loss_needs_a_prediction_for_every_row():
    """The pairs that missing rows stand for would stay in its denominator, and the loss would come out too low."""
    gone = WORLD.in_test & (np.arange(ITEMS) == 3)
    models = {"short": WORLD.table("close", WORLD.in_test & ~gone)}
    with pytest.raises(ConfigError, match=r"ips of mae is over all pairs.* have none; use snips"):
        run(models, metrics=["mae"], estimators=["ips"], allow_missing=True)


def test_missing_predictions_do_not_touch_metrics_of_rankings():
    gone = WORLD.in_test & (np.arange(ITEMS) == 3)
    models = {"whole": WORLD.scorer("flat"), "short": WORLD.table("close", WORLD.in_test & ~gone)}
    options = {"metrics": ["mae", "dcg(gain=value)@3"], "estimators": ["aoa", "snips"], "allow_missing": True}
    report, alone = run(models, **options), run({"whole": WORLD.scorer("flat")}, **options)
    for estimator in ("aoa", "snips"):
        metric = "dcg(gain=value)@3"
        assert report.value("whole", metric, estimator) == alone.value("whole", metric, estimator)


def test_rows_of_a_table_outside_the_test_change_no_loss():
    """A table is only looked up by a loss; further rows must not let users or items in or out."""
    wanted = run({"m": WORLD.table("close")}, metrics=["mae"])
    more = run({"m": WORLD.table("close", np.ones_like(WORLD.in_test))}, metrics=["mae"])
    rows = Predictions.from_frame(WORLD.frame("close"), WORLD.split())
    for estimator in ESTIMATORS:
        value = wanted.value("m", "mae", estimator)
        assert more.value("m", "mae", estimator) == value
        assert run({"m": rows}, metrics=["mae"]).value("m", "mae", estimator) == value


def test_predictions_of_other_codes_or_repeated_rows_are_refused():
    users, items = np.array([3, 3]), np.array([1, 1])
    twice = Predictions(users, items, np.ones(2), np.ones(2))
    with pytest.raises(DataError, match="occurs twice"):
        run({"m": twice}, metrics=["mae"], allow_missing=True)
    outside = Predictions(np.array([99]), np.array([1]), np.ones(1), np.ones(1))
    with pytest.raises(DataError, match="user code 99 is outside 0 to 24"):
        run({"m": outside}, metrics=["mae"], allow_missing=True)


def test_predictions_of_nothing_are_refused_even_when_some_may_be_missing():
    other = pl.DataFrame({"user": ["nobody"], "item": ["nothing"], "prediction": [3.0]})
    strangers = Predictions.from_frame(other, WORLD.split())
    assert strangers.missing == len(strangers)
    for allowed in (False, True):
        with pytest.raises(DataError, match="are its user and item ids those of the test"):
            run({"m": strangers}, metrics=["mae"], allow_missing=allowed)


def test_saved_ranks_have_graded_metrics_too():
    split = WORLD.split()
    scorer = WORLD.scorer("close")
    ranks = rank(scorer, prepare_contest({"m": scorer}, split), name="m")
    metrics = ["cg@3", "dcg(gain=value)", "adg"]
    options = {"metrics": metrics, "estimators": ["aoa", "snips"]}
    live, saved = run({"m": scorer}, split, **options), run({"m": ranks}, split, **options)
    for metric in metrics:
        for estimator in ("aoa", "snips"):
            assert saved.value("m", metric, estimator) == live.value("m", metric, estimator)


def test_saved_ranks_among_items_that_only_their_model_knew_have_graded_metrics():
    """Train has two items, the model four; ranks must not be judged as if there were two or three."""
    train = Interactions.from_arrays(list("aab"), list("xyx"), values=[1, 2, 3])
    test = Interactions.from_arrays(list("abb"), list("zyz"), values=[5, 4, 3], propensity=[0.5, 0.5, 0.5])
    split = Split(train, test)
    scorer = MatrixScorer(np.arange(8.0).reshape(2, 4), list("ab"), list("xyzw"), ratings=True)
    ranks = rank(scorer, prepare_contest({"m": scorer}, split), name="m")
    for estimator in ESTIMATORS:
        live, saved = (run({"m": model}, split, metrics=["cg@2"]) for model in (scorer, ranks))
        assert saved.value("m", "cg@2", estimator) == live.value("m", "cg@2", estimator)
    # a has z and w, b has y, z and w; w stands above all: cg@2 of a is 5 / 2 at P = 1/2, of b 3 / 2
    assert live.value("m", "cg@2", "ips") == pytest.approx((5 / 2 / 0.5 + 3 / 2 / 0.5) / 2)


def test_saved_ranks_of_positives_only_have_no_graded_metrics():
    split = WORLD.split()
    scorer = WORLD.scorer("close")
    ranks = rank(scorer, prepare_contest({"m": scorer}, split, positive="rating>=4"), name="m")
    with pytest.raises(DataError, match="ranks of 'm' do not have all rated test rows; make them without a condition"):
        run({"m": ranks}, split, metrics=["cg@3"])


def test_two_models_are_compared_on_the_same_rows():
    report = run({name: WORLD.scorer(name) for name in WORLD.predicted}, metrics=["mae"])
    for row in report.comparisons:
        values = [report.value(name, "mae", row.estimator) for name in (row.a, row.b)]
        assert row.difference == pytest.approx(values[0] - values[1])  # type: ignore[operator]
        assert row.low < row.difference < row.high  # type: ignore[operator]
        assert 0 <= row.p_value <= row.p_value_holm <= 1  # type: ignore[operator]
