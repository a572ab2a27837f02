"""Who counts in evaluate(): positives, and users with nothing observed."""

import itertools

import numpy as np
import polars as pl
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators import Aoa, Snips
from unskew.propensities import PropensityModel
from unskew.ranking import ListScorer, MatrixScorer, prepare_contest, rank
from unskew.testing.worlds.long_tail import USERS, skewed_split, whole_scores


def test_only_positives_are_judged_and_the_rest_stay_candidates() -> None:
    """User 0's bad item stands above the good one and takes a place; user 1 has no positive and is dropped."""
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 0, 1], [1, 2, 3], values=[5, 1, 2], n_users=2, n_items=4)
    scorer = MatrixScorer(np.tile([0.0, 1, 3, 2], (2, 1)))
    report = evaluate(
        {"m": scorer}, Split(train, test), metrics=["adg", "auc"], estimators=["aoa"], positive="rating>=4"
    )
    row = report.estimate("m", "auc", "aoa")
    assert (row.value, row.users, row.dropped_users, row.dropped_items) == (pytest.approx(1 - 2 / 3), 1, 1, 0)
    assert report.value("m", "adg", "aoa") == pytest.approx(1 / np.log2(4))
    assert report.run["positive"] == "rating>=4"


def test_positives_of_train_decide_popularity_but_any_training_row_is_seen() -> None:
    train = Interactions.from_arrays([0, 1, 2, 0], [0, 0, 1, 2], values=[5, 1, 5, 1], n_users=3, n_items=4)
    test = Interactions.from_arrays([0, 2], [1, 0], values=[5, 5], n_users=3, n_items=4)
    report = evaluate({"p": "popular"}, Split(train, test), metrics=["auc"], positive="rating>=4")
    assert report.samples.judged.train.item_counts.tolist() == [1, 1, 0, 0]
    assert report.samples.judged.ranks["p"].candidates.tolist() == [2, 3]


def test_a_train_without_the_column_of_the_condition_is_all_positive() -> None:
    split = skewed_split(values=True)
    report = evaluate({"m": whole_scores()}, split, positive="rating>=3")
    assert len(report.samples.judged.train) == len(split.train)


def test_counts_may_be_a_mapping_or_a_frame_with_ids_as_text_or_number() -> None:
    split = skewed_split(propensity=True)
    options = {"metrics": ["recall@5"], "estimators": ["ips"], "propensity": "column"}
    forms = [
        dict.fromkeys(range(USERS), 9),
        {str(user): 9 for user in range(USERS)},
        pl.DataFrame({"user": [str(u) for u in range(USERS)], "relevant": [9] * USERS}),
        pl.DataFrame({"user": range(USERS), "relevant": ["9"] * USERS}).to_pandas(),
    ]
    reports = [evaluate({"m": whole_scores()}, split, relevant=form, **options) for form in forms]  # type: ignore[arg-type]
    assert len({report.value("m", "recall@5", "ips") for report in reports}) == 1


def test_ips_counts_users_with_nothing_observed_as_zero() -> None:
    """Two users with a relevant item each; one is observed with P = 1/2 and at the top: (1 / P / 1 + 0) / 2 = 1."""
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 0], n_users=3, n_items=3)
    test = Interactions.from_arrays([0], [1], propensity=[0.5], n_users=3, n_items=3)
    scorer = MatrixScorer(np.tile([0.0, 2, 1], (3, 1)))
    report = evaluate(
        {"m": scorer},
        Split(train, test),
        metrics=["recall@1", "dcg@1"],
        estimators=["ips", "aoa"],
        propensity="column",
        relevant={0: 1, 1: 1, 2: 0},
    )
    ips, total = report.estimate("m", "recall@1", "ips"), report.estimate("m", "dcg@1", "ips")
    assert (ips.value, ips.users, ips.dropped_users) == (1.0, 2, 0)
    assert (total.value, total.users) == (pytest.approx(2 / 3), 3)
    assert (report.value("m", "recall@1", "aoa"), report.estimate("m", "recall@1", "aoa").users) == (1.0, 1)


def test_the_expectation_of_ips_is_the_truth_through_the_whole_run() -> None:
    """Yang et al. 2018, eq. 8, by enumeration: 3 users with 2, 2 and 1 relevant items, every pattern of observation."""
    relevant = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 2)]
    chance = np.array([0.3, 0.8, 0.5, 0.2, 0.6])
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 0], n_users=3, n_items=5)
    scorer = MatrixScorer(np.random.default_rng(0).normal(size=(3, 5)))
    options = {
        "metrics": ["adg", "dcg"],
        "estimators": ["ips", "aoa"],
        "propensity": "column",
        "relevant": {0: 2, 1: 2, 2: 1},
    }

    def observed(rows: list[int]) -> Report:
        users, items = zip(*(relevant[k] for k in rows), strict=True)
        test = Interactions.from_arrays(users, items, propensity=chance[rows], n_users=3, n_items=5)
        return evaluate({"m": scorer}, Split(train, test), **options)  # type: ignore[arg-type]

    mean = {"adg": 0.0, "dcg": 0.0}
    for bits in itertools.product([False, True], repeat=5):
        rows = [k for k in range(5) if bits[k]]
        probability = float(np.prod(np.where(bits, chance, 1 - chance)))
        if rows:  # an empty test is worth 0, and is refused as such
            report = observed(rows)
            for metric in mean:
                mean[metric] += probability * (report.value("m", metric, "ips") or 0.0)
    whole = observed([0, 1, 2, 3, 4])
    assert mean["adg"] == pytest.approx(whole.value("m", "adg", "aoa"), rel=1e-12)
    assert mean["dcg"] == pytest.approx(whole.value("m", "dcg", "aoa"), rel=1e-12)


def test_a_user_of_the_counts_whom_the_models_know_counts_as_0_even_when_in_neither_file() -> None:
    """Leaving such users out would bias ips upwards; users no model knows are not of the population."""
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    test = Interactions.from_arrays(["a"], ["y"], propensity=[0.5])
    model = MatrixScorer(np.array([[0, 1.0], [1, 0], [0, 1]]), user_ids=["a", "b", "c"], item_ids=["x", "y"])
    counts = {"a": 1, "b": 1, "c": 1, "stranger": 1}
    report = evaluate(
        {"m": model},
        Split(train, test),
        metrics=["recall@1"],
        estimators=["ips"],
        propensity="column",
        relevant=counts,
    )
    assert report.estimates[0].users == 3
    assert report.value("m", "recall@1", "ips") == pytest.approx((1 / 0.5 + 0 + 0) / 3)


class PartlyKnown:
    """A propensity of one half, but for item 2."""

    absolute = True

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        return np.where(items == 2, np.nan, 0.5)


class PartlyKnownModel(PropensityModel):
    def fit(self, train: Interactions, test: Interactions) -> PartlyKnown:
        return PartlyKnown()


def test_a_user_whose_rows_all_lack_a_propensity_counts_as_0_for_ips() -> None:
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 0], n_users=3, n_items=4)
    test = Interactions.from_arrays([0, 1], [1, 2], n_users=3, n_items=4)
    scores = MatrixScorer(np.tile([0, 9, 9, 1.0], (3, 1)))
    (row,) = evaluate(
        {"m": scores}, Split(train, test), metrics=["dcg"], estimators=["ips"], propensity=PartlyKnownModel()
    ).estimates
    assert (row.users, row.dropped_users, row.dropped_items) == (3, 0, 1)


def test_users_unknown_to_a_model_are_dropped_before_their_items_are_looked_at() -> None:
    train = Interactions.from_arrays([0, 1, 2], [0, 1, 0])
    test = Interactions.from_arrays([0, 1, 2], [1, 1, 1], propensity=[0.5] * 3)
    model = MatrixScorer(np.array([[0, 1.0]]), user_ids=[0], item_ids=[0, 1])
    rows = evaluate(
        {"m": model}, Split(train, test), metrics=["dcg"], estimators=["ips", "aoa"], propensity="column"
    ).estimates
    assert [(row.users, row.dropped_users, row.dropped_items) for row in rows] == [(1, 2, 0), (1, 2, 0)]


def test_declared_users_without_rows_count_as_0_for_ips() -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=10, n_items=4)
    test = Interactions.from_arrays([0, 1], [1, 2], propensity=[0.5, 0.5], n_users=10, n_items=4)
    scores = MatrixScorer(np.tile([0, 9, 9, 1.0], (10, 1)))
    (row,) = evaluate(
        {"m": scores}, Split(train, test), metrics=["dcg"], estimators=["ips"], propensity="column"
    ).estimates
    assert row.users == 10


def test_a_model_without_ids_keeps_to_the_items_that_train_declared() -> None:
    train = Interactions.from_arrays([0, 1], [0, 1], n_users=2, n_items=3)
    test = Interactions.from_arrays([0, 1], [1, 7])  # 7 is foreign
    model = MatrixScorer(np.array([[0, 0, 9.0], [0, 0, 9.0]]))
    (row,) = evaluate({"m": model}, Split(train, test), metrics=["recall@1"], estimators=["aoa"]).estimates
    assert (row.value, row.users, row.dropped_items) == (0.0, 2, 0)  # a miss, as no model can find it


def test_a_row_taken_twice_is_one_row() -> None:
    log = Interactions.from_arrays([0, 0, 1], [0, 1, 0], n_users=2, n_items=4)
    assert log.take(np.array([0, 0, 1, 2])).items.tolist() == [0, 1, 0]


@pytest.mark.parametrize("asked", ["zero", "tied"])
def test_saved_ranks_of_lists_follow_the_runs_own_rule_for_the_unlisted(asked: str) -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=5)
    test = Interactions.from_arrays([0, 1], [1, 2], n_users=2, n_items=5)
    split = Split(train, test)
    lists = ListScorer.from_arrays(np.array([[3], [3]]), n_items=5)
    saved = rank(lists, prepare_contest({"m": lists}, split), name="m")
    one, other = (evaluate({"m": model}, split, metrics=["recall@3"], unlisted=asked) for model in (lists, saved))
    assert one.estimates == other.estimates
    assert one.estimates[0].value == (0 if asked == "zero" else pytest.approx(2 / 3))


def test_a_train_without_positives_is_told_of() -> None:
    train = Interactions.from_arrays([0, 1], [0, 1], [1, 1], n_users=2, n_items=3)
    test = Interactions.from_arrays([0, 1], [1, 0], [5, 5], n_users=2, n_items=3)
    model = {"m": MatrixScorer(np.eye(2, 3))}
    report = evaluate(model, Split(train, test), estimators=["snips"], positive="rating>=4")
    assert any("no positive training row to count popularity from" in text for text in report.warnings)


def test_a_form_that_does_not_exist_is_refused_from_python_too() -> None:
    with pytest.raises(ConfigError, match="per='rows': choose from auto, user, pair, item"):
        Aoa(per="rows")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="per='pairs': choose from pair, balanced, user"):
        Snips(per="pairs")  # type: ignore[arg-type]
