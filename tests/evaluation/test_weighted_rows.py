"""Test rows with weights: by hand, against plain loops, repeated rows, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.estimators import Aoa, Ips, Rows, Snips
from unskew.metrics import NDCG
from unskew.ranking import MatrixScorer

METRICS = ["recall@2", "adg@3", "auc", "dcg@3", "ndcg@3", "ndcg(ideal=all)@2"]
FORMS = ["aoa", "aoa(per=pair)", "snips", "snips(per=user)", "snips(per=balanced)", "snips(clip=0.5)"]


def world(seed: int, users: int = 12, items: int = 9, *, whole: bool = False) -> tuple[Split, dict[str, MatrixScorer]]:
    """A split whose test rows have propensities and weights from 0 on, or from 1 and whole."""
    rng = np.random.default_rng(seed)
    seen = rng.random((users, items)) < 0.3
    held = ~seen & (rng.random((users, items)) < 0.4)
    held[0, 0], seen[0, 0], seen[:, 1], held[:, 1] = True, False, True, False
    rows = int(held.sum())
    weights = rng.integers(1, 4, rows) if whole else np.round(rng.exponential(size=rows), 2) * (rng.random(rows) < 0.8)
    weights[:2] = 1, 2  # not all the same
    train = Interactions.from_arrays(*np.nonzero(seen), n_users=users, n_items=items)
    test = Interactions.from_arrays(
        *np.nonzero(held), propensity=rng.uniform(0.1, 1, rows), weights=weights, n_users=users, n_items=items
    )
    models = {name: MatrixScorer(rng.integers(0, 6, (users, items)).astype(float)) for name in "ab"}
    return Split(train, test), models


def gains_of(report, model: str, metric) -> tuple[np.ndarray, ...]:
    sample = report.samples.judged
    keys = {(u, i): k for k, (u, i) in enumerate(zip(sample.split.test.users, sample.split.test.items, strict=True))}
    place = [keys[u, i] for u, i in zip(sample.row_users, sample.items, strict=True)]
    test = sample.split.test
    return sample.row_users, sample.gains(model, metric), test.weights[place], test.propensity[place]


def test_two_users_by_hand():
    """User 0 has a hit of weight 3 and a miss of weight 1, user 1 a miss of weight 4: 3/8 of pairs, 3/8 of users."""
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=5)
    test = Interactions.from_arrays([0, 0, 1], [1, 2, 3], weights=[3, 1, 4], n_users=2, n_items=5)
    scores = np.array([[0, 5, 0, 1, 2], [0, 5, 4, 3, 2.0]])
    words = {"metrics": ["recall@1", "precision@1"], "estimators": ["aoa"]}
    report = evaluate({"m": MatrixScorer(scores)}, Split(train, test), **words)
    assert report.value("m", "recall@1", "aoa") == pytest.approx((3 / 4 + 0) / 2)
    assert report.value("m", "precision@1", "aoa") == pytest.approx((3 + 0) / 2 / (8 / 3))  # weights of mean 8/3
    pairs = evaluate(
        {"m": MatrixScorer(scores)}, Split(train, test), metrics=["recall@1"], estimators=["aoa(per=pair)"]
    )
    assert pairs.value("m", "recall@1", "aoa(per=pair)") == pytest.approx(3 / 8)
    assert pairs.estimates[0].target == "observed pairs, rows weighted"


def test_ndcg_by_hand():
    """Weights 1 and 3 at ranks 1 and 2; the ideal list has 3 first."""
    discounts = 1 / np.log2([2, 3])
    value = NDCG().weighted_values(discounts, np.array([1.0, 3.0]), np.array([0, 2]))
    assert value == pytest.approx((1 * discounts[0] + 3 * discounts[1]) / (3 * discounts[0] + 1 * discounts[1]))
    cut = (NDCG() @ 1).weighted_values(np.array([1.0, 0.0]), np.array([1.0, 3.0]), np.array([0, 2]))
    assert cut == pytest.approx(1 / 3)
    assert np.isnan(NDCG().weighted_values(discounts, np.zeros(2), np.array([0, 2])))


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_every_form_against_plain_loops(seed):
    split, models = world(seed)
    words = {"propensity": "column", "metrics": METRICS[:3], "estimators": FORMS[:5]}
    report = evaluate(models, split, **words)
    for metric in report.settings.metrics:
        users, gains, weights, chances = gains_of(report, "a", metric)
        rows = [k for k in range(len(users)) if weights[k] > 0]
        by_user = [[k for k in rows if users[k] == user] for user in sorted({users[k] for k in rows})]

        def ratio(some, corrected, gains=gains, weights=weights, chances=chances):
            weight = [weights[k] / (chances[k] if corrected else 1) for k in some]
            return sum(w * gains[k] for w, k in zip(weight, some, strict=True)) / sum(weight)

        expected = {
            "aoa": np.mean([ratio(some, corrected=False) for some in by_user]),
            "aoa(per=pair)": ratio(rows, corrected=False),
            "snips": ratio(rows, corrected=True),
            "snips(per=user)": np.mean([ratio(some, corrected=True) for some in by_user]),
        }
        means = [
            (
                sum(weights[k] * gains[k] / chances[k] for k in some) / sum(weights[k] for k in some),
                sum(weights[k] / chances[k] for k in some) / sum(weights[k] for k in some),
            )
            for some in by_user
        ]
        expected["snips(per=balanced)"] = sum(above for above, _ in means) / sum(below for _, below in means)
        for estimator, value in expected.items():
            row = report.estimate("a", metric, estimator)
            assert row.value == pytest.approx(value)
            assert row.users == len(by_user)
            assert row.dropped_items == len(users) - len(rows)
            assert row.low <= row.value <= row.high


@given(st.integers(0, 10**6), st.sampled_from([1.0, 3.0, 0.1]))
@settings(max_examples=10)
def test_equal_weights_give_the_bytes_of_no_weights(seed, level):
    split, models = world(seed)
    words = {"propensity": "column", "metrics": [*METRICS, "mrr"]}
    plain, equal = (
        evaluate(models, Split(split.train, Interactions(**{**vars_of(split.test), "weights": weights})), **words)
        for weights in (None, np.full(len(split.test), level))
    )
    for part in ("estimates", "comparisons", "verdict", "warnings"):
        assert json.dumps(plain.to_dict()[part]) == json.dumps(equal.to_dict()[part])
    assert "weights" not in plain.run
    assert equal.run["weights"] == {"mean": pytest.approx(level), "zero_rows": 0, "differ": False}


def vars_of(part: Interactions) -> dict:
    names = ("users", "items", "user_vocabulary", "item_vocabulary", "values", "times", "propensity", "weights")
    return {name: getattr(part, name) for name in names}


@given(st.integers(0, 10**6))
def test_whole_weights_over_pairs_are_repeated_rows(seed):
    """A mean does not know whether a row has weight 2 or occurs twice, and neither does its error over users."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(5), rng.integers(1, 5, 5))
    n = len(user)
    weight, worth, chance = rng.integers(1, 5, n), rng.random(n), rng.uniform(0.1, 1, n)
    once = Rows(worth, user, chance, row_weight=weight.astype(float))
    again = Rows(*(np.repeat(each, weight) for each in (worth, user, chance)))
    for estimator in (Aoa(per="pair"), Snips(), Aoa(), Snips(per="user"), Snips(per="balanced")):
        first, second = (estimator.terms(rows, "mean") for rows in (once, again))
        assert first.value == pytest.approx(second.value)
        assert first.std_error == pytest.approx(second.std_error)


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_the_scale_of_the_weights_changes_nothing(seed):
    split, models = world(seed)
    scaled = Interactions(**{**vars_of(split.test), "weights": split.test.weights * 7})
    words = {"propensity": "column", "metrics": METRICS}
    first, second = (evaluate(models, Split(split.train, test), **words) for test in (split.test, scaled))
    for a, b in zip(first.estimates, second.estimates, strict=True):
        assert a.value == pytest.approx(b.value)
        assert a.std_error == pytest.approx(b.std_error)


def test_ips_of_a_sum_is_weighted():
    rows = Rows(np.array([1.0, 2.0]), np.array([0, 1]), np.array([0.5, 0.25]), row_weight=np.array([3.0, 1.0]))
    assert Ips().terms(rows, "sum").value == pytest.approx((3 * 1 / 0.5 + 2 / 0.25) / 2)


def test_losses_are_weighted():
    train = Interactions.from_arrays([0, 1], [0, 1], values=[3, 3], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 1], [2, 2], values=[5, 3], weights=[1, 3], n_users=2, n_items=4)
    model = MatrixScorer(np.full((2, 4), 3.0), ratings=True)
    report = evaluate({"m": model}, Split(train, test), metrics=["mae"], estimators=["aoa"])
    assert report.value("m", "mae", "aoa") == pytest.approx((1 * 2 + 3 * 0) / 4)


def test_weights_of_the_band_and_of_a_sweep_are_those_of_the_estimate():
    split, models = world(3)
    split = Split(split.train, Interactions(**{**vars_of(split.test), "propensity": None}))
    report = evaluate(models, split, metrics=["recall@2"], estimators=["snips"])
    at_zero = [point for point in report.band.points if point.gamma == 0]
    assert [point.value for point in at_zero] == pytest.approx([row.value for row in report.estimates])
    swept = report.sweeps[0]
    place = swept.gammas.index(0.0)
    assert swept.values["a"][place] == pytest.approx(report.value("a", "recall@2", "snips"))


def test_auto_is_snips_and_the_run_records_the_weights():
    split, models = world(1)
    report = evaluate(models, split, metrics=["recall@2"])
    assert [row.estimator for row in report.estimates] == ["aoa(per=pair)"] * 2 + ["snips"] * 2
    assert "test rows have weights" in report.run["auto"]["why"]
    weights = split.test.weights
    expected = {"mean": pytest.approx(weights.mean()), "zero_rows": int((weights == 0).sum()), "differ": True}
    assert report.run["weights"] == expected


@pytest.mark.parametrize(
    "words, says",
    [
        ({"metrics": ["map@3"]}, "map@3 has no form with weighted rows"),
        ({"metrics": ["hit@3"]}, "hit@3 has no form"),
        ({"estimators": ["ips"], "relevant": True}, "ips of recall@2 with weighted rows needs the weights"),
        ({"estimators": ["dm"]}, "dm takes no account of the weights"),
        ({"until": "decided"}, "until=... is not known for weighted test rows"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(words, says):
    split, models = world(1)
    given = {"metrics": ["recall@2"], "estimators": ["aoa"], "propensity": "column", **words}
    if given.pop("relevant", False):
        given["relevant"] = dict.fromkeys(range(12), 5)
    with pytest.raises(ConfigError, match=says):
        evaluate(models, split, **given)


@pytest.mark.parametrize(
    "weights, says",
    [
        ([1, -2], "weight -2 in row 2 .1 in all. is negative or infinite"),
        ([1, np.inf], "weight inf in row 2"),
        ([1, np.nan], "row 2 has no value"),
        ([0, 0], "all weights are 0"),
        ([1], "expected .2,"),
        (["a", "b"], "expected numbers"),
    ],
)
def test_weights_that_are_none_are_refused(weights, says):
    with pytest.raises(DataError, match=says):
        Interactions.from_arrays([0, 1], [0, 1], weights=weights)


def test_weights_are_read_only_from_a_column_that_is_named():
    frame = pl.DataFrame({"user": [0, 1], "item": [0, 1], "weight": [1.0, 2.0], "revenue": [3.0, None]})
    assert Interactions.from_frame(frame).weights is None
    assert Interactions.from_frame(frame, weight="weight").weights.tolist() == [1, 2]
    with pytest.raises(DataError, match="column 'revenue' of frame: row 2 has no value"):
        Interactions.from_frame(frame, weight="revenue")
    with pytest.raises(DataError, match="did you mean 'revenue'"):
        Interactions.from_frame(frame, weight="revenu")


def test_weights_stay_with_their_rows_and_change_the_fingerprint():
    log = Interactions.from_arrays([0, 1, 2], [0, 1, 2], weights=[1, 2, 3])
    assert log.take(np.array([2, 0])).weights.tolist() == [3, 1]
    assert log.to_polars()["weight"].to_list() == [1, 2, 3]
    plain = Interactions.from_arrays([0, 1, 2], [0, 1, 2])
    assert log.sha256 != plain.sha256
    assert "weights" in repr(log)
