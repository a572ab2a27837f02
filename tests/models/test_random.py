"""Chance is uniform, independent, and fixed by its seed."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.models import Random

WORD = 2**64


def splitmix(state):
    """SplitMix64 as published: the next state and the output, in whole numbers."""
    state = (state + 0x9E3779B97F4A7C15) % WORD
    return state, finish(state)


def finish(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    return z ^ (z >> 31)


def fitted(n_users=300, n_items=400, rng=0):
    return Random().fit(Interactions.from_arrays([0], [0], n_users=n_users, n_items=n_items), rng=rng)


def test_the_published_generator_gives_its_published_first_numbers():
    state, first = splitmix(1234567)
    _, second = splitmix(state)
    assert [first, second] == [6457827717110365317, 3203168211198807973]


def test_a_row_is_the_users_own_splitmix_stream():
    seed = int(np.random.default_rng(11).integers(WORD, dtype=np.uint64))
    given = fitted(rng=11).score(np.array([0, 41]))
    for row, user in zip(given, [0, 41], strict=True):
        state = finish((seed + finish((user + 1) * 0x9E3779B97F4A7C15 % WORD)) % WORD)
        for value in row[:20]:
            state, output = splitmix(state)
            assert value == (output >> 11) / 2**53


def test_scores_are_uniform_and_distinct():
    given = fitted().score(np.arange(300))
    assert given.min() >= 0
    assert given.max() < 1
    assert len(np.unique(given)) == given.size
    share = np.histogram(given, bins=10, range=(0, 1))[0] / given.size
    # 120,000 draws: a tenth of them within 5 standard deviations
    np.testing.assert_allclose(share, 0.1, atol=5 * np.sqrt(0.09 / given.size))


@pytest.mark.parametrize("axis", [0, 1])
def test_users_and_items_are_unrelated(axis):
    given = fitted().score(np.arange(300))
    related = np.corrcoef(given, rowvar=axis == 0)
    off = related[np.triu_indices_from(related, 1)]
    n = given.shape[1] if axis == 0 else given.shape[0]
    assert abs(off.mean()) < 0.005
    assert np.std(off) == pytest.approx(1 / np.sqrt(n), rel=0.05)


def test_any_integer_type_of_rows_will_do():
    scorer = fitted()
    whole = scorer.score(np.arange(5))
    for kind in (np.int32, np.int64, np.uint8):
        np.testing.assert_array_equal(scorer.score(np.array([4, 1], dtype=kind)), whole[[4, 1]])
