"""The truncated decomposition against the full one."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.models import Svd
from unskew.testing.worlds import log_of


def random_matrix(shape, seed=0):
    X = (np.random.default_rng(seed).random(shape) < 0.3).astype(float)
    X[:, 0] = 1
    X[0, :] = 1
    return X


@pytest.mark.parametrize("shape", [(40, 15), (15, 40), (20, 20)])
@pytest.mark.parametrize("rank", [1, 4, 14, 15])
def test_scores_are_those_of_the_full_decomposition_cut(shape, rank):
    X = random_matrix(shape)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    scorer = Svd(rank=rank).fit(log_of(X))
    np.testing.assert_allclose(scorer.score(np.arange(shape[0])), (U[:, :rank] * s[:rank]) @ Vt[:rank], atol=2e-6)
    assert scorer.user_factors.dtype == np.float32


def test_the_full_rank_gives_the_matrix_back():
    X = random_matrix((6, 9))
    np.testing.assert_allclose(Svd(rank=6).fit(log_of(X)).score(np.arange(6)), X, atol=1e-5)


def test_more_rank_than_the_data_has_adds_nothing_and_stays_seeded():
    X = np.zeros((12, 10))
    X[::2, ::2] = X[1::2, 1::2] = 1  # a checkerboard has rank 2, and two equal singular values
    first, second = (Svd(rank=6).fit(log_of(X), rng=4) for _ in range(2))
    np.testing.assert_allclose(first.score(np.arange(12)), X, atol=1e-6)
    assert np.count_nonzero(np.abs(first.item_factors).max(axis=0)) == 2
    assert first.item_factors.tobytes() == second.item_factors.tobytes()


def test_the_largest_entry_of_each_item_direction_is_positive():
    Q = Svd(rank=5).fit(log_of(random_matrix((30, 20)))).item_factors
    assert np.all(Q[np.abs(Q).argmax(axis=0), np.arange(5)] > 0)


def test_a_rank_the_matrix_does_not_allow_is_refused_with_the_largest_there_is():
    train = Interactions.from_arrays([0, 1, 2, 2], [0, 1, 0, 1], n_users=9, n_items=7)
    with pytest.raises(ConfigError, match=r"svd: 3 users and 2 items .* at most 2; write svd\(rank=2\)"):
        Svd().fit(train)
