"""Nearest items against loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.data import Interactions
from unskew.models import ItemKnn
from unskew.models import item_knn as module
from unskew.testing.worlds import log_of


def weights_by_loops(X, k, shrinkage):
    n = X.shape[1]
    W = np.zeros((n, n))
    for i in range(n):
        similar = []
        for j in range(n):
            both = sum(1 for u in range(len(X)) if X[u, i] and X[u, j])
            if j != i and both:
                similar.append((-both / (np.sqrt(X[:, i].sum()) * np.sqrt(X[:, j].sum()) + shrinkage), j))
        for value, j in sorted(similar)[:k]:
            W[j, i] = -value
    return W


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_users=st.integers(1, 9),
    n_items=st.integers(1, 9),
    k=st.integers(1, 10),
    shrinkage=st.sampled_from([0, 1, 7.5]),
)
def test_weights_and_scores_are_those_of_loops(seed, n_users, n_items, k, shrinkage):
    X = (np.random.default_rng(seed).random((n_users, n_items)) < 0.5).astype(int)
    X[:, 0] = 1  # no user without a row
    scorer = ItemKnn(neighbours=k, shrinkage=shrinkage).fit(log_of(X))
    W = weights_by_loops(X, k, shrinkage)
    np.testing.assert_allclose(scorer.weights.toarray(), W, rtol=1e-6)
    np.testing.assert_allclose(scorer.score(np.arange(n_users)), X @ W, rtol=1e-5)


def test_two_items_by_hand():
    # items 0 and 1 share one of their 2 and 1 users: 1 / (sqrt(2) + 1)
    scorer = ItemKnn(shrinkage=1).fit(Interactions.from_arrays([0, 1, 1], [0, 0, 1]))
    np.testing.assert_allclose(scorer.weights.toarray(), np.array([[0, 1], [1, 0]]) / (np.sqrt(2) + 1), rtol=1e-6)


def test_of_equally_similar_items_the_first_are_taken():
    scorer = ItemKnn(neighbours=2, shrinkage=0).fit(log_of(np.ones((3, 6), dtype=int)))
    W = scorer.weights.toarray()
    assert np.flatnonzero(W[:, 5]).tolist() == [0, 1]
    assert np.flatnonzero(W[:, 0]).tolist() == [1, 2]


@pytest.mark.parametrize("block", [1, 7, 100])
def test_the_block_size_does_not_matter(block, monkeypatch):
    X = (np.random.default_rng(4).random((50, 40)) < 0.2).astype(int)
    X[:, 0] = 1
    whole = ItemKnn(neighbours=5).fit(log_of(X)).weights.toarray()
    monkeypatch.setattr(module, "BLOCK", block)
    np.testing.assert_array_equal(ItemKnn(neighbours=5).fit(log_of(X)).weights.toarray(), whole)


def test_no_item_has_more_neighbours_than_asked_for():
    X = (np.random.default_rng(4).random((60, 300)) < 0.3).astype(int)
    X[:, 0] = 1
    W = ItemKnn(neighbours=20).fit(log_of(X)).weights
    assert np.diff(W.tocsc().indptr).max() == 20
    assert W.nnz <= 20 * 300
