"""`fit_logistic` against scikit-learn, its score equations, and data that it could separate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.arrays import Floats
from unskew.logistic import LogisticFit, fit_logistic, fold_of, log_odds, sigmoid


def drawn(seed: int, rows: int = 300, columns: int = 3) -> tuple[Floats, Floats, Floats, Floats]:
    """Columns, outcomes, weights and offsets of rows whose log-odds are linear."""
    rng = np.random.default_rng(seed)
    x, offset = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    slopes = rng.normal(size=columns)
    outcome = (rng.random(rows) < sigmoid(-0.5 + x @ slopes + offset)).astype(float)
    return x, outcome, rng.uniform(0.2, 5, rows), offset


def scores(fit: LogisticFit, x: Floats, outcome: Floats, weight: Floats, offset: Floats, penalty: float) -> Floats:
    """The derivatives of the penalised log-likelihood, coefficient by coefficient."""
    errors = [
        w * (y - 1 / (1 + np.exp(-(fit.intercept + float(row @ fit.slopes) + o))))
        for row, y, w, o in zip(x, outcome, weight, offset, strict=True)
    ]
    slopes = [
        sum(e * row[k] for e, row in zip(errors, x, strict=True)) - penalty * fit.slopes[k] for k in range(x.shape[1])
    ]
    return np.array([sum(errors), *slopes])


@pytest.mark.parametrize("penalty", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_coefficients_are_those_of_scikit_learn(penalty: float, *, weighted: bool) -> None:
    from sklearn.linear_model import LogisticRegression

    x, outcome, weight, _ = drawn(1)
    given_weight = weight if weighted else None
    fit = fit_logistic(x, outcome, weight=given_weight, penalty=penalty)
    reference = LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=10_000).fit(
        x, outcome, sample_weight=given_weight
    )
    np.testing.assert_allclose(fit.slopes, reference.coef_[0], atol=1e-6)
    np.testing.assert_allclose(fit.intercept, reference.intercept_[0], atol=1e-6)
    assert fit.converged


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), penalty=st.sampled_from([1e-3, 0.1, 5.0]), columns=st.integers(0, 4))
def test_the_score_equations_hold_with_weights_and_an_offset(seed: int, penalty: float, columns: int) -> None:
    x, outcome, weight, offset = drawn(seed, 120, columns)
    fit = fit_logistic(x, outcome, weight=weight, offset=offset, penalty=penalty)
    if 0 < outcome.sum() < len(outcome):
        np.testing.assert_allclose(scores(fit, x, outcome, weight, offset, penalty), 0, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_offsets_far_apart_do_not_lead_past_the_top(seed: int) -> None:
    """Where most chances are near 0 or 1 a full step of Newton's method goes too far."""
    x, outcome, weight, offset = drawn(seed, 100)
    fit = fit_logistic(x, outcome, weight=weight, offset=12 * offset, penalty=0.01)
    assert fit.converged
    np.testing.assert_allclose(scores(fit, x, outcome, weight, 12 * offset, 0.01), 0, atol=1e-5)


def test_a_weight_is_a_number_of_equal_rows() -> None:
    x, outcome, _, offset = drawn(2, 80)
    copies = np.random.default_rng(0).integers(1, 4, 80)
    weighted = fit_logistic(x, outcome, weight=copies.astype(float), offset=offset)
    repeated = fit_logistic(np.repeat(x, copies, axis=0), np.repeat(outcome, copies), offset=np.repeat(offset, copies))
    np.testing.assert_allclose(weighted.slopes, repeated.slopes, atol=1e-8)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=1e-8)


def test_the_covariance_is_the_inverse_information() -> None:
    x, outcome, weight, _ = drawn(3)
    fit = fit_logistic(x, outcome, weight=weight, penalty=0.7)
    rows = np.column_stack([np.ones(len(x)), x])
    chance = sigmoid(fit.logits(x))
    information = sum(w * q * (1 - q) * np.outer(row, row) for w, q, row in zip(weight, chance, rows, strict=True))
    ridge = np.diag([0, 0.7, 0.7, 0.7])
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(information + ridge), rtol=1e-5)


@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_separated_rows_have_finite_coefficients_in_the_right_direction(penalty: float) -> None:
    x = np.linspace(-1, 1, 40)[:, None]
    fit = fit_logistic(x, (x[:, 0] > 0).astype(float), penalty=penalty)
    assert np.isfinite([fit.intercept, *fit.slopes]).all()
    assert np.isfinite(fit.covariance).all()
    assert fit.slopes[0] > 0
    assert fit.converged


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_one_outcome_alone_has_a_finite_fit(outcome: float) -> None:
    x = np.random.default_rng(0).normal(size=(30, 2))
    fit = fit_logistic(x, np.full(30, outcome))
    assert np.isfinite([fit.intercept, *fit.slopes]).all()
    assert (np.abs(sigmoid(fit.logits(x)) - outcome) < 1e-3).all()


def test_a_constant_column_and_two_equal_columns_do_not_fail() -> None:
    x, outcome, _, _ = drawn(4)
    fit = fit_logistic(np.column_stack([x, x[:, 0], np.ones(len(x))]), outcome, penalty=0.1)
    assert fit.slopes[0] == pytest.approx(fit.slopes[3], abs=1e-6)  # the penalty divides an effect evenly
    assert fit.slopes[4] == pytest.approx(0, abs=1e-6)


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=20))
def test_chances_of_any_log_odds_are_in_the_unit_interval(logits: list[float]) -> None:
    chance = sigmoid(np.array(logits))
    assert ((chance >= 0) & (chance <= 1)).all()
    inside = np.abs(logits) < 15
    np.testing.assert_allclose(log_odds(chance)[inside], np.array(logits)[inside], atol=1e-5)


def test_log_odds_of_0_and_1_are_finite() -> None:
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


@given(count=st.integers(0, 50), folds=st.integers(2, 7), seed=st.integers(0, 100))
def test_folds_differ_in_size_by_at_most_one(count: int, folds: int, seed: int) -> None:
    sizes = np.bincount(fold_of(count, folds, np.random.default_rng(seed)), minlength=folds)
    assert sizes.sum() == count
    assert sizes.max() - sizes.min() <= 1


def test_logits_are_those_of_columns_in_the_last_axis():
    fit = LogisticFit(0.5, np.array([2.0, -1.0]), np.eye(3), converged=True)
    columns = np.arange(12.0).reshape(2, 3, 2)
    assert fit.logits(columns).tolist() == [[0.5 + 2 * x - y for x, y in rows] for rows in columns.tolist()]
    assert fit.logits(columns[0]).tolist() == fit.logits(columns)[0].tolist()
