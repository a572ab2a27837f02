"""What models predicted: taken from tables, from scorers and from files."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.errors import DataError
from unskew.ranking import (
    CallableScorer,
    FactorScorer,
    ItemItemScorer,
    ListScorer,
    MatrixScorer,
    Predictions,
    look_up,
    predict,
    prepare_contest,
)

USERS, ITEMS = list("abc"), list("vwxyz")


def small_split() -> Split:
    train = Interactions.from_arrays(list("aabc"), list("vwxy"), values=[1, 2, 3, 4])
    return Split(train, Interactions.from_arrays(list("cabb"), list("zyvz"), values=[5, 4, 3, 2]))


def random_split(seed: int, users: int = 20, items: int = 15) -> Split:
    rng = np.random.default_rng(seed)
    seen = rng.random((users, items))
    parts = [np.nonzero(where) for where in (seen < 0.3, (seen > 0.3) & (seen < 0.6))]
    logs = [
        Interactions.from_arrays(u, i, values=rng.integers(1, 6, len(u)), n_users=users, n_items=items)
        for u, i in parts
    ]
    return Split(*logs)


def made(predicted: list[float]) -> Predictions:
    n = len(predicted)
    return Predictions(np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32), np.ones(n), np.array(predicted))


def test_a_frame_is_matched_to_the_sorted_test_by_id():
    """In another order, with a row too many, and one test row without a prediction."""
    split = small_split()
    frame = pl.DataFrame(
        {"user": ["b", "a", "a", "c"], "item": ["v", "y", "z", "z"], "prediction": [1.5, 2.5, 9.0, 3.5]}
    )
    predictions = Predictions.from_frame(frame, split)
    assert split.user_vocabulary.decode(predictions.users).tolist() == ["a", "b", "b", "c"]
    assert split.item_vocabulary.decode(predictions.items).tolist() == ["y", "v", "z", "z"]
    assert predictions.values.tolist() == [4, 3, 2, 5]
    np.testing.assert_array_equal(predictions.predicted, [2.5, 1.5, np.nan, 3.5])
    assert (len(predictions), predictions.missing) == (4, 1)


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_any_frame_will_do_and_the_column_may_have_another_name(kind):
    frame = pl.DataFrame({"user": ["a", "b"], "item": ["y", "v"], "stars": ["2.5", "1"]})
    given_frame = {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}[kind]
    predictions = Predictions.from_frame(given_frame, small_split(), prediction="stars")
    np.testing.assert_array_equal(predictions.predicted, [2.5, 1, np.nan, np.nan])


@pytest.mark.parametrize("as_text", [False, True])
def test_ids_match_as_text_or_as_numbers(as_text):
    split = Split(
        Interactions.from_arrays([1, 2], [10, 20]), Interactions.from_arrays([2, 1, 10], [10, 20, 20], values=[1, 2, 3])
    )
    users, items = [10, 2, 1], [20, 10, 20]
    frame = pl.DataFrame({"user": users, "item": items, "prediction": [3.0, 1, 2]})
    if as_text:
        frame = frame.with_columns(pl.col("user", "item").cast(pl.String))
    predictions = Predictions.from_frame(frame, split)
    np.testing.assert_array_equal(predictions.predicted, predictions.values)


def test_a_test_without_ratings_can_have_predictions():
    train = Interactions.from_arrays(["a"], ["v"])
    split = Split(train, Interactions.from_arrays(["a"], ["w"]))
    predictions = Predictions.from_frame(pl.DataFrame({"user": ["a"], "item": ["w"], "prediction": [2.0]}), split)
    assert np.isnan(predictions.values).all()
    assert predictions.predicted.tolist() == [2]


BAD_FRAMES = {
    "no prediction": ({"user": ["a"], "item": ["v"], "score": [1.0]}, "no column 'prediction'"),
    "near miss": ({"user": ["a"], "item": ["v"], "predicton": [1.0]}, "did you mean 'predicton'"),
    "no user": ({"who": ["a"], "item": ["v"], "prediction": [1.0]}, "no column 'user'"),
    "text": ({"user": ["a"], "item": ["v"], "prediction": ["good"]}, "'good'"),
    "nothing": ({"user": ["a", "b"], "item": ["v", "v"], "prediction": [1.0, None]}, "row 2"),
    "infinite": ({"user": ["a"], "item": ["v"], "prediction": [np.inf]}, "finite"),
    "twice": ({"user": ["a", "a"], "item": ["v", "v"], "prediction": [1.0, 2.0]}, "user a, item v has more than one"),
    "no id": ({"user": ["a", None], "item": ["v", "v"], "prediction": [1.0, 2.0]}, "row 2 has no id"),
}


@pytest.mark.parametrize("case", BAD_FRAMES)
def test_a_frame_that_says_nothing_is_refused(case):
    columns, message = BAD_FRAMES[case]
    with pytest.raises(DataError, match=message) as caught:
        Predictions.from_frame(pl.DataFrame(columns), small_split())
    assert "predictions" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_of_different_lengths_and_infinite_numbers_are_refused():
    with pytest.raises(DataError, match=r"columns of different lengths \(1, 2\)"):
        Predictions(np.zeros(2, int), np.zeros(2, int), np.zeros(2), np.zeros(1))
    with pytest.raises(DataError, match="row 2 is infinite"):
        made([1.0, -np.inf, np.nan])


def test_missing_counts_the_rows_without_a_prediction():
    assert made([1.0, np.nan, 2.0, np.nan]).missing == 2
    assert made([]).missing == 0


def test_the_fingerprint_is_that_of_the_rows_and_what_was_predicted():
    base = made([1.0, 2.0, np.nan])
    assert base.sha256 == made([1.0, 2.0, np.nan]).sha256
    others = [
        made([1.0, 2.0, 3.0]),
        made([1.0, np.nextafter(2.0, 3), np.nan]),
        replace(base, users=base.users[::-1]),
        replace(base, items=base.items[::-1]),
    ]
    assert len({base.sha256, *(other.sha256 for other in others)}) == 5
    assert replace(base, values=np.zeros(3)).sha256 == base.sha256


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_rows_are_found_in_any_order(seed):
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((6, 7)) < 0.5)
    order = rng.permutation(len(users))
    predicted = rng.normal(size=len(users))
    predictions = Predictions(users[order], items[order], predicted[order], predicted[order])
    asked = rng.integers(0, 8, (2, 20))
    known = {(u, i): p for u, i, p in zip(users, items, predicted, strict=True)}
    want = [known.get((u, i), np.nan) for u, i in asked.T]
    np.testing.assert_array_equal(predictions.of(asked[0], asked[1]), want)


def test_of_no_predictions_nothing_is_found():
    assert np.isnan(made([]).of(np.array([0, 1]), np.array([0, 5]))).all()
    assert made([1.0]).of(np.array([], int), np.array([], int)).shape == (0,)


def scorers(seed: int, users: int, items: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(users, 3)), rng.normal(size=(items, 3))
    biases = {"user_bias": rng.normal(size=users), "item_bias": rng.normal(size=items)}
    matrix = rng.normal(size=(users, items))
    rows = np.repeat(np.arange(users), items), np.tile(np.arange(items), users)
    return {
        "dot": FactorScorer(left, right),
        "biased": FactorScorer(left, right, **biases),
        "distance": FactorScorer(left, right, similarity="distance", **biases),
        "float32": FactorScorer(left.astype("f4"), right.astype("f4"), **biases),
        "matrix": MatrixScorer(matrix),
        "callable": CallableScorer(lambda codes: matrix[codes]),
        "item-item": ItemItemScorer(matrix, rng.normal(size=(items, items))),
        "list": ListScorer.from_table(rows[0], rows[1], matrix.ravel()),
    }


@pytest.mark.parametrize("kind", scorers(0, 2, 2))
def test_predictions_are_the_scores_of_the_rows(kind):
    split = random_split(1)
    scorer = scorers(2, 20, 15)[kind]
    contest = prepare_contest({"m": scorer}, split)
    whole = np.asarray(scorer.score(np.arange(20)), dtype=float)
    want = whole[contest.row_users, contest.items]
    tolerance = 1e-5 if kind == "float32" else 1e-12
    np.testing.assert_allclose(predict(scorer, contest, name="m"), want, rtol=tolerance, atol=tolerance)


def test_distance_predictions_by_hand():
    split = Split(
        Interactions.from_arrays([0], [0], n_users=1, n_items=2),
        Interactions.from_arrays([0], [1], n_users=1, n_items=2),
    )
    scorer = FactorScorer(
        np.array([[1.0, 2]]), np.array([[0.0, 0], [3, 1]]), np.array([0.5]), np.array([0.0, 4]), similarity="distance"
    )
    assert predict(scorer, prepare_contest({"m": scorer}, split), name="m").tolist() == [4.5 - (4 + 1)]


def test_many_users_are_scored_in_blocks():
    split = random_split(3, users=700, items=6)
    matrix = np.random.default_rng(4).normal(size=(700, 6))
    calls: list[int] = []

    def score(codes: np.ndarray) -> np.ndarray:
        calls.append(len(codes))
        return matrix[codes]

    scorer = CallableScorer(score)
    contest = prepare_contest({"m": scorer}, split)
    np.testing.assert_array_equal(predict(scorer, contest, name="m"), matrix[contest.row_users, contest.items])
    assert len(calls) > 1
    assert sum(calls) == len(contest.users)


def test_ids_of_the_model_may_come_in_another_order_and_as_text():
    split = small_split()
    users, items = ["c", "b", "a"], ["z", "y", "x", "w", "v"]
    matrix = np.arange(15.0).reshape(3, 5)
    for scorer in (
        MatrixScorer(matrix, users, items),
        FactorScorer(np.eye(3), matrix.T, user_ids=users, item_ids=items),
    ):
        contest = prepare_contest({"m": scorer}, split)
        want = [
            matrix[users.index(str(u)), items.index(str(i))]
            for u, i in zip(
                split.user_vocabulary.decode(contest.row_users),
                split.item_vocabulary.decode(contest.items),
                strict=True,
            )
        ]
        assert predict(scorer, contest, name="m").tolist() == want


def test_an_item_unknown_to_the_model_has_no_prediction():
    split = small_split()
    known = MatrixScorer(np.ones((3, 4)), USERS, ITEMS[:4])
    other = MatrixScorer(np.ones((3, 5)), USERS, ITEMS)
    contest = prepare_contest({"m": known, "other": other}, split)
    predicted = predict(known, contest, name="m")
    at_z = split.item_vocabulary.decode(contest.items) == "z"
    np.testing.assert_array_equal(np.isnan(predicted), at_z)
    assert at_z.sum() == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_no_number_names_user_and_item(bad):
    split = small_split()
    matrix = np.ones((3, 5))
    matrix[1, 4] = bad
    scorer = MatrixScorer(matrix, USERS, ITEMS)
    with pytest.raises(DataError, match=f"model 'm': prediction {bad} for user b, item z; predictions must be finite"):
        predict(scorer, prepare_contest({"m": scorer}, split), name="m")


def test_a_score_that_is_no_number_but_is_not_asked_for_does_no_harm():
    matrix = np.ones((3, 5))
    matrix[0, 0] = np.nan  # seen by a in training
    scorer = MatrixScorer(matrix, USERS, ITEMS)
    assert predict(scorer, prepare_contest({"m": scorer}, small_split()), name="m").tolist() == [1, 1, 1, 1]


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_a_table_is_looked_up_by_id(seed):
    split = random_split(seed % 7)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(22 * 17)[: int(rng.integers(1, 300))]
    users, items, values = rows // 17, rows % 17, rng.normal(size=len(rows))
    table = ListScorer.from_table(users, items, values)
    test = split.sorted_test
    known = {(u, i): v for u, i, v in zip(users, items, values, strict=True)}
    want = [known.get((u, i), np.nan) for u, i in zip(test.users, test.items, strict=True)]
    np.testing.assert_array_equal(look_up(table, split, test.users, test.items), want)


def test_a_table_without_ids_is_of_the_ids_of_the_split_in_order():
    split = small_split()
    lists = np.array([[0, 1, 2, 3, 4]] * 3)
    table = ListScorer.from_arrays(lists, np.arange(15.0).reshape(3, 5))
    test = split.sorted_test
    assert look_up(table, split, test.users, test.items).tolist() == [3, 5, 9, 14]
    short = ListScorer.from_arrays(lists[:2], np.arange(10.0).reshape(2, 5))
    with pytest.raises(DataError, match="2 user rows but train and test have 3 distinct users; give user_ids"):
        look_up(short, split, test.users, test.items)
