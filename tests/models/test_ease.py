"""EASE against Steck's formula written out."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.models import Ease
from unskew.testing.worlds import log_of


@pytest.mark.parametrize("regularisation", [0.5, 10, 500])
@pytest.mark.parametrize("shape", [(40, 12), (8, 25)])
def test_weights_are_those_of_the_formula(regularisation, shape):
    X = (np.random.default_rng(0).random(shape) < 0.3).astype(float)
    X[:, 0] = 1
    P = np.linalg.inv(X.T @ X + regularisation * np.eye(shape[1]))
    B = np.eye(shape[1]) - P @ np.diag(1 / np.diag(P))  # Steck (2019), eq. 8
    scorer = Ease(regularisation=regularisation).fit(log_of(X))
    np.testing.assert_allclose(scorer.weights, B, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scorer.score(np.arange(shape[0])), X @ B, rtol=1e-4, atol=1e-5)
    assert np.all(np.diag(scorer.weights) == 0)
    assert scorer.weights.dtype == np.float32


def test_two_items_by_hand():
    # both users had item 0, one had item 1: X'X + I = [[3, 1], [1, 2]], inverse [[2, -1], [-1, 3]] / 5,
    # so B_01 = -P_01 / P_11 = 1/3 and B_10 = -P_10 / P_00 = 1/2
    scorer = Ease(regularisation=1).fit(Interactions.from_arrays([0, 1, 1], [0, 0, 1]))
    np.testing.assert_allclose(scorer.weights, [[0, 1 / 3], [1 / 2, 0]], rtol=1e-6)


def test_a_large_catalogue_is_refused_with_the_memory_it_needs():
    train = Interactions.from_arrays([0, 1], [0, 1], n_users=2, n_items=50_000)
    with pytest.raises(ConfigError, match=r"50,000 items need about 30.0 GB; use item-knn .*max-items=50000"):
        Ease().fit(train)
    with pytest.raises(ConfigError, match=r"ease\(max-items=1\): 2 items"):
        Ease(max_items=1).fit(Interactions.from_arrays([0, 1], [0, 1]))


def test_a_vanishing_regularisation_is_refused_when_nothing_can_be_inverted():
    X = np.ones((3, 4))
    with pytest.raises(ConfigError, match="larger regularisation"):
        Ease(regularisation=1e-300).fit(log_of(X))
