"""Likes without structure. Fixed seeds; each test fails by chance less than once in 10,000 seeds."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from unskew.errors import ConfigError
from unskew.simulators import UniformLikes
from unskew.simulators.lda_kernel import choose_evenly


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_every_set_of_items_is_alike_likely(size: int) -> None:
    offsets, items = choose_evenly(5, np.full(20_000, size), np.random.default_rng(1))
    seen = Counter(tuple(items[a:b].tolist()) for a, b in pairwise(offsets))
    sets = list(combinations(range(5), size))
    assert set(seen) == set(sets)
    assert len(sets) == 1 or chisquare([seen[each] for each in sets]).pvalue > 1e-4


def test_users_like_as_many_items_as_expected() -> None:
    model = UniformLikes(users=20_000, items=300, likes=7)
    counts = model.like(2).counts
    assert counts.min() >= 1
    assert abs(counts.mean() - model.expected_likes() / 20_000) < 4 * counts.std() / np.sqrt(20_000)


@pytest.mark.parametrize("word", ["uniform(items=0)", "uniform(likes=0)", "uniform(likes=inf)", "uniform(users=0)"])
def test_parameters_out_of_range_are_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="expected"):
        UniformLikes.from_word(word)
