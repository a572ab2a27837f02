"""evaluate() on ratings: which models are judged, what rating models learn with, propensities and scales."""

from dataclasses import dataclass

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.evaluation.checking.models import NOT_JUDGED
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.models import MfIps, MfNaive
from unskew.propensities import NaiveBayes, Popularity, PropensityModel
from unskew.ranking import ItemItemScorer, MatrixScorer, Predictions
from unskew.simulators import MovieLovers
from unskew.testing.worlds.rated_worlds import ITEMS, USERS, RatedWorld, all_pairs, rated_world

WORLD = rated_world()
MF = "factors=2, penalty=1"


def run(models: dict, split: Split | None = None, **options: object) -> Report:
    chosen = {"propensity": "column", "estimators": ["aoa", "snips"], **options}
    return evaluate(models, WORLD.split() if split is None else split, **chosen)  # type: ignore[arg-type]


def ranker() -> MatrixScorer:
    return MatrixScorer(WORLD.predicted["close"])


def judged(report: Report) -> set[tuple[str, str]]:
    return {(row.model, row.metric) for row in report.estimates}


def test_a_model_that_only_ranks_is_left_out_of_losses_with_a_word():
    report = run({"ranks": ranker(), "predicts": WORLD.scorer("flat")}, metrics=["auc", "mae", "mse"])
    assert judged(report) == {("ranks", "auc"), ("predicts", "auc"), ("predicts", "mae"), ("predicts", "mse")}
    assert NOT_JUDGED.format(model="ranks", why="predicts no ratings", metrics="mae, mse") in report.warnings
    assert {(row.metric, row.a, row.b) for row in report.comparisons} == {("auc", "ranks", "predicts")}


def test_predictions_for_some_rows_are_left_out_of_rankings_with_a_word():
    predictions = Predictions.from_frame(WORLD.frame("close"), WORLD.split())
    for model in (predictions, WORLD.table("close")):
        report = run({"some": model, "ranks": ranker()}, metrics=["auc", "cg@3", "mae"])
        assert judged(report) == {("some", "mae"), ("ranks", "auc"), ("ranks", "cg@3")}
        why = "does not score every candidate"
        assert NOT_JUDGED.format(model="some", why=why, metrics="auc, cg@3") in report.warnings


def test_a_table_that_covers_all_candidates_ranks():
    """Under `listed` the test rows are all candidates; under `unseen` all but the training rows are needed."""
    for candidates, which in (
        ("listed", WORLD.in_test),
        ("unseen", ~WORLD.in_train),
        ("all", np.ones_like(WORLD.in_test)),
    ):
        table, split = WORLD.table("close", which), WORLD.split(candidates)
        report = run({"table": table, "whole": WORLD.scorer("close")}, split, metrics=["auc", "cg@3", "mae"])
        for metric in ("auc", "cg@3", "mae"):
            for estimator in ("aoa", "snips"):
                both = [report.value(name, metric, estimator) for name in ("table", "whole")]
                assert both[0] == pytest.approx(both[1], rel=1e-12)
        assert not any("not judged" in text for text in report.warnings)


def test_a_table_that_lacks_one_candidate_of_a_judged_user_does_not_rank():
    user = int(np.flatnonzero(WORLD.judged("unseen").any(axis=1))[0])
    which = ~WORLD.in_train
    which[user, np.flatnonzero(which[user] & ~WORLD.in_test[user])[0]] = False
    table = WORLD.table("close", which)
    with pytest.raises(ConfigError, match="an incomplete table of predictions cannot rank; give read_scores"):
        run({"table": table}, metrics=["auc", "mae"])
    assert run({"table": table}, metrics=["mae"]).value("table", "mae", "aoa") is not None
    report = run({"table": table, "ranks": ranker()}, metrics=["auc", "mae"])
    assert judged(report) == {("table", "mae"), ("ranks", "auc")}


def test_beside_something_that_ranks_predictions_only_predict():
    """The ranking is that of the ranker, the errors those of the table."""
    report = run(
        {"both": (MatrixScorer(-WORLD.predicted["close"]), WORLD.table("close")), "up": WORLD.scorer("close")},
        metrics=["auc", "mae"],
    )
    assert report.value("both", "mae", "aoa") == pytest.approx(report.value("up", "mae", "aoa"), rel=1e-12)
    assert report.value("both", "auc", "aoa") < report.value("up", "auc", "aoa")  # type: ignore[operator]


@pytest.mark.parametrize(
    "make, metrics, error, message",
    [
        (ranker, ["mae"], ConfigError, "mae needs predicted ratings, which no model gives; use read_predictions"),
        (
            lambda: Predictions.from_frame(WORLD.frame("close"), WORLD.split()),
            ["auc"],
            ConfigError,
            "model 'm' gives predictions for some rows only, but auc needs a ranking",
        ),
        (lambda: (ranker(), ranker()), ["auc"], DataError, "give one part that ranks, one that predicts"),
        (lambda: (WORLD.scorer("close"), WORLD.scorer("flat")), ["mae"], DataError, "model 'm': give one part"),
        (lambda: (), ["mae"], DataError, "model 'm': give one part"),
        (lambda: Predictions, ["mae"], DataError, "model 'm' is the class Predictions"),
        (lambda: 3, ["mae"], DataError, "model 'm' is int"),
    ],
)
def test_models_that_cannot_be_judged_are_refused(make, metrics, error, message):
    with pytest.raises(error, match=message) as caught:
        run({"m": make()}, metrics=metrics)
    assert "\n" not in str(caught.value)


def test_a_model_that_no_metric_can_judge_is_refused_among_others():
    with pytest.raises(ConfigError, match="model 'ranks' predicts no ratings, but mae needs them"):
        run({"ranks": ranker(), "predicts": WORLD.scorer("flat")}, metrics=["mae"])
    item_item = ItemItemScorer(np.ones((USERS, ITEMS)), np.eye(ITEMS))
    with pytest.raises(ConfigError, match="model 'old' predicts no ratings"):
        run({"old": item_item, "predicts": WORLD.scorer("flat")}, metrics=["mse"])


def test_a_test_without_ratings_is_refused():
    split = WORLD.split()
    bare = Interactions.from_arrays(split.test.users, split.test.items, n_users=USERS, n_items=ITEMS, name="bare.csv")
    for metric in ("mae", "cg@3"):
        with pytest.raises(DataError, match=f"bare.csv has no column 'rating', which {metric} needs"):
            evaluate({"m": WORLD.scorer("close")}, Split(split.train, bare), metrics=[metric])


def predictions_of(report: Report, name: str = "m") -> np.ndarray:
    assert report.samples.ratings is not None
    return report.samples.ratings.predictions[name].predicted


def expected(model: MfNaive, train: Interactions, report: Report) -> np.ndarray:
    """What a model fitted by hand predicts for the rows of a report."""
    assert report.samples.ratings is not None
    whole = np.asarray(model.fit(train, rng=0).score(np.arange(USERS)))
    return whole[report.samples.ratings.row_users, report.samples.ratings.items]


def test_mf_naive_is_trained_by_word_on_all_rated_rows():
    split = WORLD.split()
    for positive in (None, "rating>=4"):
        report = run({"m": f"mf-naive({MF})"}, split, metrics=["mae", "auc"], positive=positive)
        want = expected(MfNaive(factors=2, penalty=1), split.train, report)
        np.testing.assert_allclose(predictions_of(report), want, rtol=1e-12)
        assert report.run["models"] == {"m": f"mf-naive({MF})"}


def test_mf_ips_learns_with_the_propensities_of_its_own_word_first():
    split = WORLD.split(train_propensity=True)
    word = f"mf-ips({MF}, propensity=popularity(gamma=1))"
    report = run({"m": word}, split, metrics=["mae"])
    own = split.train.with_propensity(training_propensity(Popularity(gamma=1), split.train))
    np.testing.assert_allclose(
        predictions_of(report), expected(MfIps(factors=2, penalty=1), own, report), rtol=1e-9, atol=1e-12
    )
    assert report.run["models"] == {"m": word}


def test_mf_ips_learns_with_the_propensities_of_the_training_rows_else():
    split = WORLD.split(train_propensity=True)
    report = run({"m": f"mf-ips({MF})", "same": f"mf-ips({MF}, propensity=column)"}, split, metrics=["mae"])
    want = expected(MfIps(factors=2, penalty=1), split.train, report)
    np.testing.assert_allclose(predictions_of(report), want, rtol=1e-12)
    np.testing.assert_allclose(predictions_of(report, "same"), want, rtol=1e-12)
    assert report.run["models"]["m"] == f"mf-ips({MF}, propensity=column)"


def test_mf_ips_learns_with_the_propensities_of_the_run_last_and_the_record_says_so():
    split = WORLD.split()
    report = run({"m": f"mf-ips({MF})"}, split, metrics=["mae"], propensity="popularity(gamma=1)")
    own = split.train.with_propensity(training_propensity(Popularity(gamma=1), split.train))
    np.testing.assert_allclose(
        predictions_of(report), expected(MfIps(factors=2, penalty=1), own, report), rtol=1e-9, atol=1e-12
    )
    assert report.run["models"] == {"m": f"mf-ips({MF}, propensity=popularity(gamma=1))"}


def test_mf_ips_without_any_propensity_is_refused():
    with pytest.raises(PropensityError, match="train has no column 'propensity'"):
        run({"m": f"mf-ips({MF})"}, metrics=["mae"], propensity="column")


def test_with_equal_propensities_mf_ips_is_mf_naive():
    report = run({"ips": f"mf-ips({MF}, propensity=uniform)", "naive": f"mf-naive({MF})"}, metrics=["mae"])
    np.testing.assert_allclose(predictions_of(report, "ips"), predictions_of(report, "naive"), rtol=1e-9)


def test_relative_propensities_of_training_rows_are_scaled_to_stand_for_all_pairs():
    """Sum of 1/P is users times items; scaling keeps their ratios."""
    train = WORLD.split().train
    scaled = training_propensity(Popularity(gamma=1), train)
    assert np.sum(1 / scaled) == pytest.approx(USERS * ITEMS, rel=1e-12)
    plain = Popularity(gamma=1).fit(train, train)(train.users, train.items)
    np.testing.assert_allclose(scaled / scaled[0], plain / plain[0], rtol=1e-12)


def test_training_propensities_are_probabilities_even_when_nearly_all_is_observed():
    users, items = np.nonzero(np.ones((6, 5)) * (np.arange(5) < np.array([[5], [5], [5], [5], [5], [1]])))
    train = Interactions.from_arrays(users, items, values=np.ones(len(users)), n_users=6, n_items=5)
    scaled = training_propensity(Popularity(gamma=3), train)
    assert scaled.max() == 1
    assert (scaled > 0).all()


def test_training_propensities_that_some_rows_lack_are_refused():
    with pytest.raises(ConfigError, match=r"popularity\(smoothing=1\) has"):
        training_propensity(Missing(), WORLD.split().train)


@dataclass(frozen=True)
class Missing(PropensityModel):
    """Propensities of which the first row's is whatever it was made with."""

    first: float = np.nan
    absolute = True

    def fit(self, train: Interactions, test: Interactions) -> "Missing":
        return self

    def __call__(self, users: np.ndarray, items: np.ndarray, values: np.ndarray | None = None, /) -> np.ndarray:
        return np.append(self.first, np.full(len(users) - 1, 0.5))


@pytest.mark.parametrize("first", [0.0, -0.1, 1.5, np.inf])
def test_propensities_of_a_model_of_ones_own_must_be_probabilities(first):
    with pytest.raises(PropensityError, match=r"is outside \(0, 1\]"):
        run({"m": WORLD.scorer("close")}, metrics=["mae"], propensity=Missing(first))


def test_a_row_without_a_propensity_is_left_out_where_one_is_needed():
    report = run({"m": WORLD.scorer("close")}, metrics=["mae"], propensity=Missing())
    aoa, snips = (report.estimate("m", "mae", estimator) for estimator in ("aoa", "snips"))
    assert snips.dropped_items == aoa.dropped_items + 1


def test_ips_of_errors_needs_absolute_propensities():
    with pytest.raises(
        PropensityError, match=r"ips needs absolute .* only up to scale; use propensity=.column., .*, or snips"
    ):
        run({"m": WORLD.scorer("close")}, metrics=["mae"], estimators=["ips"], propensity="popularity")


def by_rating(world: RatedWorld, candidates: str, sample: np.ndarray) -> dict[float, float]:
    """P(observed | r) counted by hand: observed rows of r over what is expected of r among the candidates."""
    chances = {}
    for rating in range(1, 6):
        share = (np.sum(sample == rating) + 1) / (len(sample) + 5)
        pairs = world.ratings.size * share
        if candidates == "unseen":
            pairs -= np.sum((world.ratings == rating) & world.in_train)
        chances[rating] = min(1.0, np.sum((world.ratings == rating) & world.judged(candidates)) / pairs)
    return chances


@pytest.mark.parametrize("candidates", ["unseen", "all"])
def test_naive_bayes_counts_among_the_pairs_that_could_be_observed(candidates):
    sample = np.repeat(np.arange(1.0, 6), [30, 25, 20, 20, 10])
    chances = by_rating(WORLD, candidates, sample)
    propensity = np.vectorize(chances.get)(WORLD.ratings)
    known = RatedWorld(WORLD.ratings, propensity, WORLD.in_train, WORLD.in_test, WORLD.predicted)
    report = run(
        {"m": WORLD.scorer("close")},
        WORLD.split(candidates),
        metrics=["mae"],
        estimators=["ips", "snips"],
        propensity=NaiveBayes(mcar=sample),
    )
    loss = np.abs(WORLD.ratings - WORLD.predicted["close"])
    for estimator in ("ips", "snips"):
        want = all_pairs(known, loss, estimator, candidates, graded=False)
        assert report.value("m", "mae", estimator) == pytest.approx(want, rel=1e-9)


def test_observation_intervals_are_for_metrics_over_all_pairs():
    models = {"m": WORLD.scorer("close")}
    for metric in ("auc", "recall@3", "dcg@3", "ndcg@3"):
        with pytest.raises(
            ConfigError, match=f"'observation' is for metrics over all pairs, such as mae, not for {metric}"
        ):
            run(models, metrics=["mae", metric], estimators=["aoa"], interval="observation")
    report = run(models, metrics=["mae", "cg@3"], estimators=["ips"], interval="observation")
    rows = WORLD.judged("unseen")
    loss, p = np.abs(WORLD.ratings - WORLD.predicted["close"])[rows], WORLD.propensity[rows]
    error = np.sqrt(np.sum(loss**2 * (1 - p) / p**2)) / WORLD.pairs("unseen").sum()
    row = report.estimate("m", "mae", "ips")
    assert row.std_error == pytest.approx(error, rel=1e-12)
    assert row.high - row.low == pytest.approx(2 * 1.959964 * error, rel=1e-6)  # type: ignore[operator]
    assert report.run["interval"] == "observation"


def test_item_normalised_forms_are_refused_for_rankings():
    for estimator in ("aoa(per=item)", "snips(per=item)"):
        with pytest.raises(ConfigError, match="it is for metrics over all pairs, such as mae; use snips"):
            run({"m": WORLD.scorer("close")}, metrics=["auc"], estimators=[estimator])
        report = run({"m": WORLD.scorer("close")}, metrics=["mae"], estimators=[estimator])
        assert report.estimate("m", "mae", estimator).target.endswith("mean over items")


def test_a_declared_scale_is_checked_on_every_part():
    models = {"m": WORLD.scorer("close")}
    assert run(models, metrics=["mae"], scale="1-5/1").settings.scale is not None
    with pytest.raises(DataError, match=r"train: rating 5 of user .* is not on the scale 1-4; correct the rows"):
        run(models, metrics=["mae"], scale="1-4")
    users, items = np.nonzero(WORLD.in_test)
    test = Interactions.from_arrays(users, items, values=np.full(len(users), 3.5), n_users=USERS, n_items=ITEMS)
    with pytest.raises(DataError, match=rf"rating 3.5 of user {users[0]}, item {items[0]} \({len(users)} such\)"):
        evaluate(models, Split(WORLD.split().train, test), metrics=["mae"], scale="1-5/1")


def test_movie_lovers_have_the_wrong_order_naively_and_the_right_one_by_snips():
    """The sample of figure 1 of Schnabel et al. 2016: 16 liked, 8 dramas, 3 disliked."""
    world = MovieLovers(p=0.2, lovers=(8, 8), films=(2, 2, 2))
    shown = np.zeros(world.ratings.size, dtype=bool)
    for stars, count in ((5, 16), (3, 8), (1, 3)):
        shown[np.flatnonzero(world.ratings == stars)[:count]] = True
    users, items = np.nonzero(shown.reshape(world.ratings.shape))
    test = Interactions.from_arrays(
        users,
        items,
        values=world.ratings[users, items],
        propensity=world.propensity[users, items],
        n_users=16,
        n_items=6,
    )
    none = Interactions.from_arrays([], [], n_users=16, n_items=6)
    models = {name: MatrixScorer(p, ratings=True) for name, p in zip("ab", world.predictions, strict=True)}
    report = run(models, Split(none, test), metrics=["mae"], estimators=["aoa", "snips", "ips"])
    assert [report.value(name, "mae", "aoa") for name in "ab"] == pytest.approx([16 / 27, 12 / 27])
    assert [report.value(name, "mae", "snips") for name in "ab"] == pytest.approx([32 / 62, 120 / 62])
    # P = .2, .1 and .02: dramas stand for 10 pairs each, disliked films for 50, of 96
    assert [report.value(name, "mae", "ips") for name in "ab"] == pytest.approx([2 * 80 / 96, 4 * 150 / 96])
    naive, corrected, _ = (row.difference for row in report.comparisons)
    assert naive > 0 > corrected  # type: ignore[operator]
