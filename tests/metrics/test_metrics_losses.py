"""Losses of predicted ratings: by hand, by scikit-learn, and what holds for all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.metrics import MAE, MSE, RMSE, Accuracy, RatingLoss, parse_metric
from unskew.testing.oracles import LOSSES

RATINGS = np.array([5.0, 1, 3, 4])
PREDICTED = np.array([4.0, 1, 3.5, 6])
numbers = st.floats(-100, 100).map(lambda x: round(x, 6))
rated = st.lists(st.tuples(st.integers(0, 5), numbers), min_size=1, max_size=20)


def loss(word: str, values: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    metric = parse_metric(word)
    assert isinstance(metric, RatingLoss)
    return metric.loss(values, predicted)


def columns(rows: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    values, predicted = zip(*rows, strict=True)
    return np.array(values, dtype=float), np.array(predicted, dtype=float)


def test_losses_by_hand():
    assert loss("mae", RATINGS, PREDICTED).tolist() == [1, 0, 0.5, 2]
    assert loss("mse", RATINGS, PREDICTED).tolist() == [1, 0, 0.25, 4]
    assert loss("rmse", RATINGS, PREDICTED).tolist() == [1, 0, 0.25, 4]
    assert loss("accuracy", RATINGS, PREDICTED).tolist() == [0, 1, 0, 0]
    assert loss("accuracy(rounded)", RATINGS, np.array([4.6, 1.4, 3.5, 6])).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "predicted, shown",
    [(2.5, 3), (3.5, 4), (0.5, 1), (-0.5, 0), (-1.5, -1), (2.4999999, 2), (np.nextafter(0.5, 0), 0), (4, 4), (-2, -2)],
)
def test_accuracy_rounds_halves_up_and_nothing_below_them(predicted, shown):
    """Not to even, as numpy has it; and the largest number below a half is no half."""
    right = loss("accuracy(rounded)", np.array([shown, shown + 1, shown - 1.0]), np.full(3, float(predicted)))
    assert right.tolist() == [1, 0, 0]


@pytest.mark.parametrize("word", LOSSES)
@given(rows=rated)
def test_each_row_loses_what_the_definition_says(word, rows):
    want = [LOSSES[word](*row) for row in rows]
    np.testing.assert_allclose(loss(word, *columns(rows)), want, rtol=1e-12)


@settings(max_examples=30)
@given(rows=rated)
def test_means_are_those_of_scikit_learn(rows):
    from sklearn.metrics import accuracy_score, mean_absolute_error, mean_squared_error, root_mean_squared_error

    values, predicted = columns(rows)
    whole = np.floor(predicted).astype(int)
    assert loss("mae", values, predicted).mean() == pytest.approx(mean_absolute_error(values, predicted), rel=1e-12)
    assert loss("mse", values, predicted).mean() == pytest.approx(mean_squared_error(values, predicted), rel=1e-12)
    root = np.sqrt(loss("rmse", values, predicted).mean())
    assert root == pytest.approx(root_mean_squared_error(values, predicted), rel=1e-12)
    right = loss("accuracy", values, whole.astype(float)).mean()
    assert right == pytest.approx(accuracy_score(values.astype(int), whole), rel=1e-12)


@given(rows=rated)
def test_a_right_prediction_loses_nothing_and_no_loss_is_negative(rows):
    values, predicted = columns(rows)
    for word in ("mae", "mse", "rmse"):
        assert (loss(word, values, predicted) >= 0).all()
        assert not loss(word, values, values).any()
    for word in ("accuracy", "accuracy(rounded)"):
        assert set(loss(word, values, predicted)) <= {0.0, 1.0}
        assert loss(word, values, values).all()


@given(rows=rated, shift=st.integers(-50, 50))
def test_losses_depend_on_the_difference_alone_and_errors_on_its_size_alone(rows, shift):
    values, predicted = columns(rows)
    for word in ("mae", "mse"):
        before = loss(word, values, predicted)
        np.testing.assert_allclose(loss(word, values + shift, predicted + shift), before, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(loss(word, predicted, values), before)
    np.testing.assert_allclose(loss("mse", values, predicted), loss("mae", values, predicted) ** 2, rtol=1e-12)


def test_the_rounded_prediction_of_a_whole_number_is_itself():
    whole = np.arange(-5.0, 6)
    np.testing.assert_array_equal(loss("accuracy(rounded)", whole, whole), np.ones(11))


def test_errors_are_better_when_small_and_accuracy_when_large():
    assert [metric.lower_is_better for metric in (MAE(), MSE(), RMSE(), Accuracy())] == [True, True, True, False]
    assert not parse_metric("dcg(gain=value)@5").lower_is_better
    assert [metric.root for metric in (MAE(), MSE(), RMSE(), Accuracy())] == [False, False, True, False]


def test_a_missing_prediction_has_no_loss():
    values, predicted = np.array([3.0, 3]), np.array([np.nan, 3])
    assert np.isnan(loss("mae", values, predicted)).tolist() == [True, False]
    assert np.isnan(loss("mse", values, predicted)).tolist() == [True, False]


def test_words_come_back_and_no_loss_takes_a_cutoff():
    assert str(parse_metric("accuracy( rounded )")) == "accuracy(rounded)"
    assert parse_metric("accuracy(rounded=true)") == Accuracy(rounded=True)
    assert parse_metric("accuracy(rounded=false)") == Accuracy()
    assert parse_metric(MAE()) == MAE()
    for word in ("mae", "mse", "rmse", "accuracy"):
        with pytest.raises(ConfigError, match=f"{word} has no cut-off; leave out @10"):
            parse_metric(f"{word}@10")
    with pytest.raises(ConfigError, match="did you mean 'mae'"):
        parse_metric("maee")


def test_a_loss_of_ones_own_works_by_its_path(tmp_path, monkeypatch):
    source = (
        "from dataclasses import dataclass\n"
        "import numpy as np\n"
        "from unskew.metrics import RatingLoss\n"
        "@dataclass(frozen=True)\n"
        "class Within(RatingLoss):\n"
        "    '''Share of predictions that are too far off.'''\n"
        "    reach: float = 1\n"
        "    def loss(self, values, predicted):\n"
        "        return np.asarray(np.abs(values - predicted) > self.reach, dtype=float)\n"
    )
    (tmp_path / "my_own_losses.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    word = "my_own_losses:Within(reach=0.5)"
    assert str(parse_metric(word)) == word
    assert parse_metric(word).definition == "Share of predictions that are too far off."
    assert loss(word, RATINGS, PREDICTED).tolist() == [1, 0, 0, 1]
    with pytest.raises(ConfigError, match="has no cut-off"):
        parse_metric(f"{word}@3")
