"""Error audits: numbers by hand, what is found in small worlds, and what is said of it."""

import itertools
import json
import sys
from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from unskew import audit, evaluate
from unskew.audit.error.own_models import Observed, OnKnown
from unskew.audit.error.plan import DEPTHS, plan_error
from unskew.audit.error.summary_rows import own_row
from unskew.audit.showing.words import depth_used, lead
from unskew.data import Interactions, split_fractions
from unskew.errors import ConfigError
from unskew.estimators import Comparison
from unskew.models import ItemKnn, Model
from unskew.ranking import MatrixScorer
from unskew.simulators import Ibp
from unskew.trials import Design, Method, Trials

WORD = "ibp(users=60, alpha=20, c=1, sigma=0.2, sizes=pareto(scale=6, shape=1, upper=40))"
WORLD = Ibp(users=60, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=6, shape=1, upper=40)")


@pytest.fixture(scope="module")
def log():
    rows = WORLD.log(5)
    return Interactions.from_arrays(rows.users, rows.items)


@pytest.fixture(scope="module")
def judged(log):
    """Two ready models with a test, two runs of each."""
    split = split_fractions(log, (0.8, 0.2), rng=0)
    ids = split.train.user_vocabulary.ids, split.train.item_vocabulary.ids
    popular = np.tile(split.train.item_counts.astype(float), (len(ids[0]), 1))
    noisy = popular + np.random.default_rng(0).normal(0, 8, popular.shape)
    models = {
        "noisy": MatrixScorer(noisy, user_ids=ids[0], item_ids=ids[1]),
        "plain": MatrixScorer(popular, user_ids=ids[0], item_ids=ids[1]),
    }
    return audit(split.train, models, test=split.test, metrics=["auc"], k=5, depth="quick", world=WORD, runs=3)


def _trials(errors, claimed, level):
    """Runs in which a beats b by nothing in truth, so the estimated difference is the error."""
    design = Design(("a", "b"), ("auc",), (Method(),))
    runs = len(errors)
    estimate = np.full((runs, 2, 1, 1), level)
    shape = (runs, 1, 1, 1)
    return Trials(
        design,
        "by hand",
        0,
        truth=np.full((runs, 2, 1, 1), level),
        population=np.full((runs, 2, 1, 1), np.nan),
        estimate=estimate,
        std_error=np.full((runs, 2, 1, 1), claimed),
        difference=np.array(errors).reshape(shape),
        difference_error=np.full(shape, claimed),
        users=np.full(runs, 10),
        panel_users=np.zeros(runs, dtype=int),
        dropped=np.zeros(runs, dtype=int),
    )


def test_the_chance_of_a_wrong_winner_worked_by_hand():
    # Errors 0.01 and 0.03: mean 0.02, standard deviation 0.01 sqrt 2. The user's values are twice as high, so the mean
    # is 0.04; the user's standard error is 3 times the simulated, so the spread is 0.03 sqrt 2.
    z = NormalDist().inv_cdf(0.975)
    row = Comparison("auc", "aoa", "a", "b", 0.05, 0.05 - 0.03 * z, 0.05 + 0.03 * z, None, None)
    found, errors = own_row(_trials([0.01, 0.03], 0.01, 0.4), Observed(row, 0.8))
    spread = 0.03 * sqrt(2)
    assert errors == pytest.approx([0.04 - 0.03, 0.04 + 0.03])
    assert found.bias == pytest.approx(0.04)
    assert found.error == pytest.approx(sqrt(0.04**2 + spread**2))
    assert found.wrong_winner == pytest.approx(NormalDist().cdf((0.04 - 0.05) / spread))
    assert found.smallest == pytest.approx((z + NormalDist().inv_cdf(0.8)) * spread + 0.04)
    assert (found.observed, found.about, found.reference) == (0.05, "own users", False)


def test_a_difference_the_other_way_has_the_other_chance():
    z = NormalDist().inv_cdf(0.975)
    row = Comparison("auc", "aoa", "a", "b", -0.05, -0.05 - 0.01 * z, -0.05 + 0.01 * z, None, None)
    found, _ = own_row(_trials([0.01, 0.03], 0.01, 0.4), Observed(row, 0.4))
    assert found.wrong_winner == pytest.approx(NormalDist().cdf(-(0.05 + 0.02) / (0.01 * sqrt(2))))


def test_a_log_alone_has_the_reference_pair_and_is_told_how_to_learn_more(log):
    found = audit(log, depth="quick", world=WORD, runs=3, metrics=["auc"]).error
    assert {(row.a, row.b) for row in found.pairs} == {("oracle", "popular")}
    assert [row.label for row in found.pairs] == [
        "aoa",
        "snips",
        "snips(per=balanced)",
        "snips(per=user)",
        "snips, true P",
    ]
    assert found.model_pairs == []
    assert 'models={"als": "als", "popular": "popular"}' in found.missing
    assert (found.runs, found.model_runs, found.holdout) == (3, 0, 0.2)
    assert found.pairs[0].bias < -0.02  # what is popular is observed more, which flatters the popular list
    for row in found.pairs:
        assert 0 <= row.wrong_winner <= 1
        assert row.smallest > abs(row.bias)


def test_ready_models_are_played_by_stand_ins(judged):
    found = judged.error
    assert [row.how for row in found.models] == ["stand-in", "stand-in"]
    by_name = {row.model: row for row in found.models}
    assert by_name["plain"].wanted.popularity > by_name["noisy"].wanted.popularity
    assert by_name["plain"].lean > by_name["noisy"].lean
    assert len(found.model_pairs) == 4  # what a log can estimate
    assert {row.about for row in found.model_pairs} == {"population"}
    assert found.missing == ""
    naive = next(row for row in found.model_pairs if (row.metric, row.label) == ("auc", "aoa"))
    assert naive.observed >= 0  # the apparently better one comes first
    assert naive.level > 0.5


def test_observed_differences_are_those_of_an_evaluation(log):
    split = split_fractions(log, (0.8, 0.2), rng=0)
    models = {"popular": "popular", "random": "random"}
    report = evaluate(models, split, metrics=["auc"], estimators=["aoa", "snips"])
    found = audit(split.train, models, test=split.test, metrics=["auc"], k=5, depth="quick", world=WORD, runs=2)
    for row in report.comparisons:
        mine = next(each for each in found.error.model_pairs if each.label == row.estimator)
        sign = 1 if (mine.a, mine.b) == (row.a, row.b) else -1
        assert mine.observed == pytest.approx(sign * row.difference)


def test_words_are_trained_anew_on_each_log(log):
    models = {"popular": "popular", "knn": Model.from_word("item-knn")}
    found = audit(log, models, metrics=["auc"], k=5, depth="quick", world=WORD, runs=2).error
    assert {row.model: row.how for row in found.models} == {"popular": "trained", "knn": "trained"}
    assert found.model_runs == 2
    assert {row.about for row in found.model_pairs} == {"own users"}
    assert found.holdout == pytest.approx(0.2, abs=0.01)


def test_training_that_takes_too_long_is_left_to_a_stand_in_and_told(log, monkeypatch):
    depth = replace(DEPTHS["quick"], effort=1e-9, runs=2, model_runs=2, evaluations=2)
    monkeypatch.setitem(DEPTHS, "quick", depth)
    models = {"popular": "popular", "knn": "item-knn"}
    found = audit(log, models, metrics=["auc"], k=5, depth="quick", world=WORD)
    assert {row.model: row.how for row in found.error.models} == {"popular": "trained", "knn": "stand-in"}
    (told,) = [text for text in found.warnings if "retraining" in text]
    assert told.startswith("retraining knn takes")


def test_no_clock_decides_how_often_models_are_trained(log, monkeypatch):
    depth = replace(DEPTHS["quick"], effort=7.5, runs=2, model_runs=9, evaluations=2)
    monkeypatch.setattr(ItemKnn, "effort", lambda self, train: 1.0)
    monkeypatch.setitem(DEPTHS, "quick", depth)
    models = {"popular": "popular", "knn": "item-knn"}
    options = {"metrics": ["auc"], "k": 5, "depth": "quick", "world": WORD}
    first = audit(log, models, **options)
    hours = itertools.cycle([0.0, 9e3, -9e3])
    monkeypatch.setattr("unskew.audit.error.error_audit.perf_counter", lambda: next(hours))
    again = audit(log, models, **options, threads=1)
    assert first.error.model_runs == again.error.model_runs == 7
    assert first.error.models == again.error.models
    assert first.warnings == again.warnings
    assert any("7 runs of your models per world, not 9" in text for text in first.warnings)


def test_models_are_trained_on_the_items_that_occur():
    model = Model.from_word("item-knn")
    world = WORLD.draw(3)
    whole, part = model.fit(world.train, rng=0), OnKnown(model).fit(world.train, rng=0)
    known = np.flatnonzero(world.train.item_counts)
    assert len(known) < world.n_items
    users = np.arange(5)
    assert part.score(users) == pytest.approx(whole.score(users)[:, known])


def test_one_model_has_values_but_no_pair(log):
    found = audit(log, {"popular": "popular"}, metrics=["auc"], k=5, depth="quick", world=WORD, runs=2).error
    assert found.model_pairs == []
    assert {row.recommender for row in found.values if row.role != "reference"} == {"popular"}


def test_many_models_are_compared_with_the_next(log):
    models = {f"m{k}": "popular" for k in range(6)}
    found = audit(log, models, metrics=["auc"], k=5, depth="quick", world=WORD, runs=2).error
    assert len({(row.a, row.b) for row in found.model_pairs}) == 4


def test_an_audit_is_the_same_without_optional_packages(log, monkeypatch):
    """Installed packages must not decide a number: optuna and torch are neither looked for nor imported."""
    options = {"depth": "quick", "evaluations": 3, "runs": 2, "metrics": ["auc"]}
    before = audit(log, **options).to_json()
    monkeypatch.setattr("unskew.calibration.suggest.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "optuna", None)  # importing it fails
    monkeypatch.setitem(sys.modules, "torch", None)
    whole = audit(log, **options)
    assert whole.to_json() == before
    assert whole.error.likened.how == "a Gaussian process"
    assert "a search of 3 evaluations by a Gaussian process" in depth_used(whole.error)
    assert not any("unskew[tune]" in warning for warning in whole.warnings)


def test_threads_do_not_change_a_byte_of_an_ensemble(log):
    options = {"depth": "quick", "evaluations": 4, "runs": 2, "metrics": ["auc"], "world": "ibp-pop"}
    assert audit(log, **options, threads=1).to_json() == audit(log, **options, threads=3).to_json()


def test_a_log_too_small_to_calibrate_is_audited_all_the_same():
    log = Interactions.from_arrays([0, 1, 2, 3, 0, 1], ["a", "a", "a", "a", "b", "c"])
    found = audit(log, depth="quick")
    assert found.error is None
    assert found.log.rows == 6
    (told,) = found.warnings
    assert told.startswith("nothing was simulated")
    assert "too small to calibrate" in told


def test_the_json_has_every_number(judged):
    data = json.loads(judged.to_json())["audit"]["error"]
    assert list(data) == [
        "world", "depth", "runs", "model_runs", "level", "power", "holdout", "values", "pairs", "models", "worlds",
        "recommended",
    ]  # fmt: skip
    assert data["world"]["word"].startswith("ibp(users=60")
    assert data["world"]["log_users"] == judged.log.users
    assert set(data["pairs"][0]) >= {"a", "b", "metric", "estimator", "bias", "error", "coverage", "wrong_winner"}
    assert data["models"][0]["wanted"].keys() == {"metric", "popularity"}
    assert audit(Interactions.from_arrays([0, 1, 1], ["a", "a", "b"])).to_dict()["audit"]["error"] is None


def test_table_and_page_say_the_same(judged):
    text, page = str(judged), judged.to_html()
    assert "How wrong can an evaluation on a log like this be?" in text
    for words in lead(judged.error):
        assert words in " ".join(text.split())
    assert "Your " in text
    assert "true P" in text
    assert 'id="error"' in page
    assert page.count("Errors of the difference in") == 2  # the models' pair and the reference
    assert page.count("Chance that the apparent winner") == 2


def test_fewer_users_than_the_log_has_spread_more_and_are_scaled(log):
    few = "ibp(users=30, alpha=20, c=1, sigma=0.2, sizes=pareto(scale=6, shape=1, upper=40))"
    found = audit(log, depth="quick", world=few, runs=3, metrics=["auc"]).error
    assert (found.likened.users, found.likened.log_users) == (30, 60)
    assert "the log has 60" in depth_used(found)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"depth": "thorough"}, "choose none, quick, standard or deep"),
        ({"depth": "quick", "world": "ibp-popp"}, "did you mean"),
        ({"depth": "quick", "world": "marketplace"}, "has no likes"),
        ({"depth": "quick", "world": "ibp(sigma=2)"}, "sigma"),
        ({"depth": "quick", "runs": 1}, "runs 1"),
        ({"depth": "quick", "evaluations": 1}, "evaluations 1"),
        ({"world": "ibp-pop"}, "depth none"),
        ({"runs": 5}, "depth none"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(options, says):
    with pytest.raises(ConfigError, match=says):
        plan_error(**options)
