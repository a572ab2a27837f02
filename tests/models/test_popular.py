"""Popularity is counting."""

import numpy as np

from unskew.data import Interactions
from unskew.models import Popular
from unskew.models import popular as module


def test_the_score_is_the_count_for_everybody():
    scorer = Popular().fit(Interactions.from_arrays([0, 1, 2, 0], [5, 5, 5, 9]))
    np.testing.assert_array_equal(scorer.score(np.array([2, 0])), [[3, 1], [3, 1]])
    np.testing.assert_array_equal(scorer.item_ids, [5, 9])
    assert scorer.user_factors.dtype == np.float32


def test_counts_too_large_for_float32_are_kept_exact(monkeypatch):
    monkeypatch.setattr(module, "EXACT_IN_FLOAT32", 2)
    scorer = Popular().fit(Interactions.from_arrays([0, 1, 2, 0], [5, 5, 5, 9]))
    assert scorer.item_factors.dtype == np.float64
    np.testing.assert_array_equal(scorer.score(np.array([1])), [[3, 1]])
