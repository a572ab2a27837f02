"""Audits of a log and of models, worked out by hand and by properties."""

import json

import numpy as np
import pytest
from audited_logs import ITEMS, USERS, scorer, tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import ConfigError, DataError, Interactions, Split, audit, evaluate
from unskew.audit.audit import ALL_EQUAL, OUTSIDE
from unskew.audit.holdout import NO_TEST
from unskew.data import split_leave_one_out
from unskew.models import Model
from unskew.ranking import FactorScorer, MatrixScorer
from unskew.testing.worlds import flat_log, skewed_log


def test_lists_worked_by_hand():
    # without what they have, u0 gets d, u1 gets c, u2 and u3 get b
    row = audit(tiny(), {"mine": scorer(9, 3, 2, 1)}, k=1).model("mine")
    assert (row.users, row.places) == (4, 4)
    assert row.recommended.tolist() == [0, 2, 1, 1]
    assert row.coverage == 0.75
    assert row.gini == 0.375  # (-3 x 0 - 1 x 1 + 1 x 1 + 3 x 2) / (4 x 4)
    assert row.popularity == 1.5  # (2 + 2 + 1 + 1) / 4
    # own items: (4 + 2 + 1) / 3, (4 + 2) / 2, (4 + 1) / 2, 4
    assert row.history == pytest.approx((7 / 3 + 3 + 2.5 + 4) / 4)
    assert row.lift == pytest.approx(1.5 / row.history)
    assert row.shares.tolist() == [0, 0.5, 0.5]
    assert row.outside == 0
    assert row.bias.levels.tolist() == [1, 2, 4]
    assert row.bias.f.tolist() == [1, 2, 0]


def test_ties_for_the_last_place_share_it():
    # u1 has c and d to come, u2 b and c, u3 b, c and d; u0 only d
    row = audit(tiny(), {"mine": scorer(0, 0, 0, 0)}, k=1).model("mine")
    assert row.recommended == pytest.approx([0, 1 / 2 + 1 / 3, 1 / 2 + 1 / 2 + 1 / 3, 1 + 1 / 2 + 1 / 3])
    assert row.coverage == pytest.approx((0 + 5 / 6 + 1 + 1) / 4)  # b is in a list five times out of six at most


def test_metrics_by_stratum_worked_by_hand():
    # recall@1: the held-out rows are b of u2 (first, a hit), c of u1 (first) and c of u2 (second), d of u3 (third)
    test = Interactions.from_arrays(["u2", "u1", "u2", "u3"], ["b", "c", "c", "d"])
    found = audit(tiny(), {"mine": scorer(9, 3, 2, 1)}, test=test, metrics=["recall@1"], k=1)
    assert found.value("mine", "recall@1") == 0.5
    assert found.value("mine", "recall@1", "middle") == 1
    assert found.value("mine", "recall@1", "tail") == pytest.approx(1 / 3)
    counts = {part.stratum: (part.rows, part.estimate.users) for part in found.by_stratum}
    assert counts == {"all": (4, 3), "middle": (1, 1), "tail": (3, 3)}
    (middle,) = [part.estimate for part in found.by_stratum if part.stratum == "middle"]
    assert (middle.std_error, middle.low, middle.high) == (None, None, None)  # one user
    assert middle.target == "observed pairs"


def test_items_that_the_log_does_not_have_get_their_own_share():
    wide = MatrixScorer(np.tile([0.0, 0, 0, 0, 5], (4, 1)), user_ids=USERS, item_ids=[*ITEMS, "new"])
    found = audit(tiny(), {"mine": wide}, k=1)
    assert found.model("mine").outside == 1
    assert found.model("mine").shares.tolist() == [0, 0, 0]
    assert OUTSIDE.format(model="mine", share=1) in found.warnings


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_strata_add_up_to_the_mean_over_pairs_and_shares_to_1(seed):
    rng = np.random.default_rng(seed)
    whole = skewed_log(20, 14, seed)
    held = rng.random(len(whole)) < 0.3
    held[0] = True
    split = Split(whole.take(~held), whole.take(held))
    model = MatrixScorer(
        rng.integers(0, 5, (20, 14)).astype(float), user_ids=whole.user_vocabulary.ids, item_ids=np.arange(14)
    )
    metrics = ["auc", "recall@3", "adg@3", "adg"]
    found = audit(split.train, {"m": model}, test=split.test, metrics=metrics, k=4)
    beside = evaluate({"m": model}, split, metrics=metrics, estimators=["aoa(per=pair)"])
    for metric in metrics:
        mine = [p for p in found.by_stratum if p.estimate.metric == metric]
        whole_value = next(p.estimate for p in mine if p.stratum == "all")
        parts = [(p.rows, p.estimate.value) for p in mine if p.stratum != "all"]
        together = sum(rows * value for rows, value in parts) / sum(rows for rows, _ in parts)
        assert together == pytest.approx(whole_value.value, abs=1e-12)
        same = beside.estimate("m", metric, "aoa(per=pair)")
        assert (whole_value.value, whole_value.low, whole_value.users) == (same.value, same.low, same.users)
    row = found.model("m")
    assert row.shares.sum() + row.outside == pytest.approx(1)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_names_of_users_and_items_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    users, items = rng.permutation(20), rng.permutation(14)
    log = skewed_log(20, 14, seed)
    user_of, item_of = log.user_vocabulary.ids[log.users], log.item_vocabulary.ids[log.items]
    scores = rng.integers(0, 5, (20, 14)).astype(float)
    other_scores = np.empty_like(scores)
    other_scores[np.ix_(users, items)] = scores
    ids = {"user_ids": np.arange(20), "item_ids": np.arange(14)}
    found = audit(Interactions.from_arrays(user_of, item_of), {"m": MatrixScorer(scores, **ids)}, k=3)
    renamed = Interactions.from_arrays(users[user_of], items[item_of])
    other = audit(renamed, {"m": MatrixScorer(other_scores, **ids)}, k=3)
    assert found.log.to_dict() == other.log.to_dict()
    assert found.strata.to_dict() == other.strata.to_dict()
    one, two = found.model("m").to_dict(), other.model("m").to_dict()
    for key in ("coverage", "gini", "average_recommendation_popularity", "average_history_popularity", "f"):
        assert one[key] == pytest.approx(two[key])
    assert list(one["places_by_stratum"].values()) == pytest.approx(list(two["places_by_stratum"].values()))


def test_models_to_train_are_judged_on_a_fifth_of_the_log_by_default():
    found = audit(skewed_log(), {"popular": "popular", "knn": Model.from_word("item-knn")}, k=10)
    assert found.split == "fractions(0.8/0.2), seed 0"
    assert found.log.rows == 960
    assert found.strata.rows.sum() == 768
    assert {part.stratum for part in found.by_stratum} == {"all", "head", "middle", "tail"}
    assert found.described == {"popular": "popular", "knn": "item-knn"}
    # popularity alone finds what is popular, and little else
    assert found.value("popular", "recall@10", "head") > 0.5 > found.value("popular", "recall@10", "tail")
    assert found.model("popular").lift > found.model("knn").lift
    assert found.model("popular").gamma.gamma > 0


def test_a_holdout_by_time_counts_popularity_before_the_test_begins():
    log = skewed_log()
    found = audit(log, {"popular": "popular"}, temporal=0.25, k=10)
    assert found.split == "temporal(0.25)"
    assert found.strata.rows.sum() == 720
    assert not [text for text in found.warnings if "by time" in text]
    split = split_leave_one_out(log)
    looking_ahead = audit(split.train, {"popular": "popular"}, test=split.test, k=10)
    assert [text for text in looking_ahead.warnings if "by time, but popularity was counted on" in text]


def test_without_a_test_ready_models_have_lists_only_and_it_is_said():
    found = audit(tiny(), {"mine": scorer(9, 3, 2, 1), "popular": "popular"}, k=1)
    assert found.by_stratum == ()
    assert found.split == "none"
    assert [row.model for row in found.models] == ["mine", "popular"]
    assert NO_TEST in found.warnings


def test_a_log_alone_is_enough():
    found = audit(tiny())
    assert found.models == ()
    assert found.by_stratum == ()
    assert found.warnings == ()
    assert found.run["split"] == "none"


def test_popularity_counts_only_positives():
    log = skewed_log()
    found = audit(log, {"popular": "popular"}, positive="rating>=4", k=5)
    assert found.log.rows == int(np.sum(log.values >= 4))
    judged = next(part for part in found.by_stratum if part.stratum == "all")
    assert judged.rows < 0.2 * len(log)


def test_equal_popularity_leaves_gamma_unidentified():
    users, items = np.divmod(np.arange(30), 6)
    found = audit(Interactions.from_arrays(users, items), {"m": FactorScorer(np.ones((5, 1)), np.ones((6, 1)))}, k=2)
    assert found.model("m").gamma is None
    assert found.to_dict()["audit"]["models"][0]["gamma"] is None
    assert found.strata.items.tolist() == [0, 6, 0]
    (said,) = [text for text in found.warnings if "gamma" in text]
    assert "equally popular" in said


@pytest.mark.parametrize("how", [{}, {"holdout": 0.5, "seed": 3}, {"positive": "rating>=4"}])
def test_a_holdout_invents_no_popularity_levels(how):
    log = flat_log()
    rated = Interactions.from_arrays(log.users, log.items, values=np.tile([1, 4, 4, 5, 2, 4], 60))
    found = audit(rated, {"knn": "item-knn", "popular": "popular"}, k=10, **how)
    assert found.by_stratum  # rows were held out, so training counts differ
    assert [row.gamma for row in found.models] == [None, None]
    each = 4 if "positive" in how else 6
    for row in found.models:
        assert row.why.startswith(f"every item has {each} interactions")
    assert found.strata.items.tolist() == [0, 60, 0]
    assert {part.stratum for part in found.by_stratum} == {"all", "middle"}
    assert [row.lift for row in found.models] == pytest.approx([1, 1])
    (said,) = [text for text in found.warnings if "gamma" in text]
    assert said == ALL_EQUAL.format(before=" before rows are held out")


def test_two_popularity_levels_of_the_log_stay_two_when_rows_are_held_out():
    whole = flat_log()
    found = audit(whole.take(np.arange(1, len(whole))), {"popular": "popular"}, k=10)
    assert found.model("popular").gamma is None
    assert "every item has 5 or 6 interactions" in found.model("popular").why
    assert found.strata.rows.tolist() == [354, 0, 5]
    assert found.counted_on == "rows"


def test_what_popularity_is_counted_on_is_named():
    log, model = skewed_log(), {"popular": "popular"}
    assert "Strata: thirds of the training rows" in str(audit(log, model, k=10))
    assert "Strata: thirds of the rows" in str(audit(log))
    assert "Strata: thirds of the training rows" in str(audit(log.take(np.arange(900)), model, test=log, k=10))


def test_the_same_run_gives_the_same_bytes_on_any_number_of_threads():
    log = skewed_log()
    made = [audit(log, {"als": "als(factors=4)"}, k=10, seed=3, threads=n).to_json() for n in (1, 2)]
    assert made[0] == made[1]
    other = audit(log, {"als": "als(factors=4)"}, k=10, seed=4).to_json()
    assert other != made[0]


def test_the_json_has_what_the_tables_show():
    found = audit(skewed_log(), {"popular": "popular"}, k=10, metrics=["auc"])
    data = json.loads(found.to_json())
    assert list(data) == ["unskew", "audit", "run", "warnings"]
    assert list(data["audit"]) == ["log", "strata", "models", "by_stratum", "error"]
    assert data["audit"]["log"]["gini"] == found.log.gini
    assert sum(data["audit"]["models"][0]["places_by_stratum"].values()) == pytest.approx(1)
    assert [row["stratum"] for row in data["audit"]["by_stratum"]] == ["all", "head", "middle", "tail"]
    assert data["run"]["k"] == 10
    text = str(found)
    assert f"{found.log.gini:.3f}" in text
    assert f"{found.value('popular', 'auc', 'tail'):.4f}" in text


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        ({"models": {"p": "popular"}, "k": 60}, ConfigError, "k=60 is not below the [0-9]+ items in training"),
        ({"models": {"p": "popular"}, "k": 0}, ConfigError, "at least 1 place"),
        (
            {"models": {"p": "popular"}, "metrics": ["ndcg@10"]},
            ConfigError,
            "ndcg@10 is not a mean over held-out",
        ),
        ({"models": {"p": "popular"}, "metrics": ["dcg@10"]}, ConfigError, "use auc, recall@K or adg@K"),
        ({"models": {"p": "popular"}, "holdout": 0.2, "temporal": 0.2}, ConfigError, "choose one"),
        ({"models": {"p": "popular"}, "holdout": 1.5}, ConfigError, "between 0 and 1"),
        ({"holdout": 0.2}, ConfigError, "there is no model"),
        (
            {"models": {"m": FactorScorer(np.ones((2, 1)), np.ones((2, 1)))}, "holdout": 0.2},
            ConfigError,
            "trained already",
        ),
        ({"models": ["popular"]}, DataError, "mapping"),
        ({"positive": "rating>5"}, DataError, "no row to audit"),
    ],
)
def test_what_cannot_be_is_refused(how, kind, says):
    with pytest.raises(kind, match=says):
        audit(skewed_log(), **how)


def test_too_few_rows_for_a_split_are_refused():
    with pytest.raises(DataError, match="leave none for test"):
        audit(Interactions.from_arrays([0, 1], [0, 1]), {"p": "popular"}, k=1)
    with pytest.raises(DataError, match="expected Interactions"):
        audit([1, 2])  # type: ignore[arg-type]


def test_a_model_matched_by_order_alone_is_warned_of():
    found = audit(tiny(), {"mine": FactorScorer(np.ones((4, 1)), np.ones((4, 1)))}, k=1)
    assert "model 'mine' has no user_ids and item_ids" in found.warnings[0]
