"""Ranks made before are judged as the model itself would be, or refused."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError
from unskew.evaluation.checking.data import NO_TRAINING_ROW, USERS_ARE_FEW, USERS_WITHOUT_TRAINING
from unskew.metrics import Metric
from unskew.ranking import MatrixScorer, Ranks, prepare_contest, rank

USERS, ITEMS = 40, 30


def rated_split(rule: str = "unseen") -> Split:
    rng = np.random.default_rng(5)
    pairs = rng.permutation(USERS * ITEMS)[:500]
    users, items, values = pairs // ITEMS, pairs % ITEMS, rng.integers(1, 6, len(pairs))
    train, test = (
        Interactions.from_arrays(users[rows], items[rows], values[rows], n_users=USERS, n_items=ITEMS)
        for rows in (slice(0, 300), slice(300, None))
    )
    return Split(train, test, candidates=rule)


def scorer() -> MatrixScorer:
    return MatrixScorer(np.random.default_rng(6).normal(size=(USERS, ITEMS)))


def ranks_on(split: Split, positive: str | None = None) -> Ranks:
    return rank(scorer(), prepare_contest({"m": scorer()}, split, positive=positive), name="m")


@pytest.mark.parametrize("rule", ["unseen", "all", "trained", "listed"])
def test_a_condition_on_positives_picks_the_rows_of_saved_ranks(rule: str) -> None:
    split = rated_split(rule)
    fresh, again = (
        evaluate({"m": model}, split, metrics=["recall@5", "ndcg@5"], positive="rating>=4", propensity="popularity")
        for model in (scorer(), ranks_on(split))
    )
    assert fresh.estimates == again.estimates


def test_sampled_ranks_of_other_positives_are_refused() -> None:
    split = rated_split("sampled(5)")
    with pytest.raises(DataError, match="make the ranks with this condition"):
        evaluate({"m": ranks_on(split)}, split, positive="rating>=4", propensity="popularity")
    made = ranks_on(split, "rating>=4")
    one, other = (
        evaluate({"m": model}, split, positive="rating>=4", propensity="popularity") for model in (scorer(), made)
    )
    assert one.estimates == other.estimates


def test_ranks_made_with_another_train_are_refused() -> None:
    split = rated_split()
    half = replace(split, train=split.train.take(np.arange(150)))
    with pytest.raises(DataError, match="ranks of 'm' were made with another train"):
        evaluate({"m": ranks_on(split)}, half, propensity="popularity")


def test_rows_without_a_rank_are_counted_and_warned_of() -> None:
    split = rated_split()
    positives = ranks_on(split, "rating>=4")
    report = evaluate({"m": positives}, split, metrics=["auc"], propensity="popularity")
    missing = int(np.isin(split.test.users, np.unique(positives.users)).sum()) - len(positives)
    assert missing > 0
    assert {row.dropped_items for row in report.estimates} == {missing}
    assert any("without a rank in the saved ranks" in text for text in report.warnings)


@dataclass(frozen=True)
class Undefined(Metric):
    """Not a number for the first item."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return np.where(above == 0, np.nan, 1.0)


def test_a_metric_that_is_no_number_is_named() -> None:
    with pytest.raises(ConfigError, match="by aoa of model 'm' is nan; check its gains"):
        evaluate({"m": scorer()}, rated_split(), metrics=[Undefined()], estimators=["aoa"])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("popular", "models must be a mapping"),
        ({"m": MatrixScorer}, "model 'm' is the class MatrixScorer"),
        ({"m": 3}, "model 'm' is int, which is not recognised; give an object with a method score"),
    ],
)
def test_what_is_no_model_is_refused_in_words(models: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        evaluate(models, rated_split(), propensity="popularity")  # type: ignore[arg-type]


def test_what_is_no_split_is_refused_in_words() -> None:
    split = rated_split()
    with pytest.raises(DataError, match="expected a Split, got tuple"):
        evaluate({"m": scorer()}, (split.train, split.test), propensity="popularity")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="test must be Interactions, not dict"):
        Split(split.train, {})  # type: ignore[arg-type]


def test_one_word_may_stand_for_a_list_of_one() -> None:
    report = evaluate({"m": scorer()}, rated_split(), metrics="recall@5", estimators="aoa")
    assert [(row.metric, row.estimator) for row in report.estimates] == [("recall@5", "aoa")]


def test_users_without_training_rows_and_few_users_are_warned_of() -> None:
    train = Interactions.from_arrays(["a", "b"], [1, 2])
    test = Interactions.from_arrays(["A", "B"], [2, 1])
    warnings = evaluate({"p": "popular"}, Split(train, test), propensity="popularity").warnings
    assert NO_TRAINING_ROW in warnings
    assert USERS_ARE_FEW.format(users=2) in warnings
    mixed = Split(train, Interactions.from_arrays(["a", "B"], [2, 1]))
    one_is_new = USERS_WITHOUT_TRAINING.format(cold=1, users=2, per_user="split_per_user(...)")
    assert one_is_new in evaluate({"p": "popular"}, mixed, propensity="popularity").warnings


def test_a_lone_model_is_printed_with_what_may_be_assumed() -> None:
    report = evaluate({"m": scorer()}, rated_split(), metrics=["auc"], propensity="popularity")
    row = report.estimate("m", "auc", "snips")
    assert f"{row.assumed_low:.4f} to {row.assumed_high:.4f}" in str(report)
    assert "Which model may be best" not in str(report)


def test_equal_models_are_printed_as_equal() -> None:
    report = evaluate({"b": scorer(), "a": scorer()}, rated_split(), metrics=["auc"], propensity="popularity")
    assert report.answers[0].judging.first == ("a", "b")
    assert "a, b" in str(report)
