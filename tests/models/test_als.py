"""ALS against the dense normal equations and its own objective."""

import numpy as np
import pytest

from unskew.models import Als
from unskew.testing.worlds import log_of


def small(seed=0, shape=(30, 20), share=0.25):
    X = (np.random.default_rng(seed).random(shape) < share).astype(float)
    X[:, 0] = 1  # no user without a row
    return X


def objective(X, P, Q, model):
    """The sum of Hu, Koren and Volinsky, eq. 3, over every pair."""
    total = 0.0
    for u in range(len(P)):
        for i in range(len(Q)):
            total += (1 + model.alpha * X[u, i]) * (X[u, i] - P[u] @ Q[i]) ** 2
    return total + model.regularisation * (np.sum(P**2) + np.sum(Q**2))


def dense_side(X, Q, model):
    """Eq. 4, user by user, with the whole confidence matrix."""
    P = np.zeros((len(X), Q.shape[1]))
    for u in range(len(X)):
        C = np.diag(1 + model.alpha * X[u])
        P[u] = np.linalg.solve(Q.T @ C @ Q + model.regularisation * np.eye(Q.shape[1]), Q.T @ C @ X[u])
    return P


@pytest.mark.parametrize("factors", [1, 3, 4, 7, 13])
@pytest.mark.parametrize("alpha", [0.5, 1, 40])
def test_each_side_solves_the_dense_normal_equations(factors, alpha):
    X, model = small(), Als(factors=factors, alpha=alpha, regularisation=0.1, iterations=3)
    scorer = model.fit(log_of(X))
    P = scorer.user_factors.astype(float)
    # the items were solved last, so they are the exact answer to the users
    np.testing.assert_allclose(scorer.item_factors, dense_side(X.T, P, model), rtol=1e-3, atol=1e-4)


def test_one_iteration_is_both_sides_solved_once_from_the_seeded_start():
    X, model = small(), Als(factors=5, iterations=1, regularisation=0.1)
    start = np.random.default_rng(3).standard_normal((20, 5), dtype=np.float32).astype(float)
    P = dense_side(X, start * 0.1 / np.sqrt(5), model)
    scorer = model.fit(log_of(X), rng=3)
    np.testing.assert_allclose(scorer.user_factors, P, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(scorer.item_factors, dense_side(X.T, P, model), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("alpha", [1, 20])
def test_the_objective_never_grows(alpha):
    X = small(1)
    values = []
    for iterations in range(1, 9):
        model = Als(factors=6, alpha=alpha, regularisation=0.5, iterations=iterations)
        scorer = model.fit(log_of(X), rng=7)
        values.append(objective(X, scorer.user_factors, scorer.item_factors, model))
    assert np.all(np.diff(values) <= 1e-5 * values[0])
    assert values[-1] < values[0]


def test_factors_are_float32_and_may_outnumber_the_items():
    scorer = Als(factors=32).fit(log_of(small(shape=(6, 4))))
    assert scorer.user_factors.dtype == scorer.item_factors.dtype == np.float32
    assert scorer.user_factors.shape == (6, 32)
    assert scorer.item_factors.shape == (4, 32)


def test_an_item_nobody_had_has_no_factors():
    X = small()
    X[:, 7] = 0
    assert np.all(Als(factors=3).fit(log_of(X)).item_factors[7] == 0)
