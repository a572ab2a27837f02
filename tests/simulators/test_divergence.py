"""The smoothed Kullback-Leibler divergence (Tian & Ekstrand 2020, section 3.3)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.data import Interactions
from unskew.errors import DataError
from unskew.simulators.likeness import STATISTICS, Histogram, divergence, divergences, measure

cells = st.dictionaries(st.integers(0, 6), st.integers(1, 9), min_size=1)


def histogram(counts):
    return Histogram(np.array(sorted(counts)), np.array([counts[cell] for cell in sorted(counts)]))


def test_it_is_the_sum_worked_by_hand():
    """Counts 3, 1 against 1, 3: eps is 0.1, p is (3.1, 1.1)/4.2 and q the reverse, D = (2/4.2) ln(3.1/1.1)."""
    found = divergence(histogram({1: 3, 2: 1}), histogram({1: 1, 2: 3}))
    assert found == pytest.approx(2 / 4.2 * math.log(3.1 / 1.1), rel=1e-12)


def test_disjoint_histograms_are_a_finite_way_apart():
    """One cell each, counts 2 and 4: eps is 0.2, p = (2.2, 0.2)/2.4, q = (0.2, 4.2)/4.4."""
    p, q = (2.2 / 2.4, 0.2 / 2.4), (0.2 / 4.4, 4.2 / 4.4)
    expected = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    assert divergence(histogram({1: 2}), histogram({5: 4})) == pytest.approx(expected, rel=1e-12)


def test_the_smallest_count_of_either_sets_the_smoothing():
    """Counts 10 against 5: eps is 0.5, and in one cell p = q = 1; with a second cell it matters."""
    assert divergence(histogram({1: 10}), histogram({1: 5})) == 0
    p, q = (10.5 / 31, 20.5 / 31), (5.5 / 6, 0.5 / 6)
    expected = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    assert divergence(histogram({1: 10, 2: 20}), histogram({1: 5})) == pytest.approx(expected, rel=1e-12)


def test_a_simulation_without_any_count_is_like_an_even_one():
    assert divergence(histogram({1: 4, 2: 4}), Histogram(np.array([], int), np.array([], int))) == pytest.approx(0)


def test_two_empty_histograms_are_refused():
    empty = Histogram(np.array([], int), np.array([], int))
    with pytest.raises(DataError, match="empty"):
        divergence(empty, empty)


@given(cells)
def test_equal_histograms_have_none(counts):
    assert divergence(histogram(counts), histogram(counts)) == 0


@given(cells, cells)
def test_it_is_finite_and_never_negative(one, other):
    found = divergence(histogram(one), histogram(other))
    assert math.isfinite(found)
    assert found >= 0


def test_all_four_are_compared():
    rng = np.random.default_rng(0)
    rows = np.argwhere(rng.random((40, 30)) < 0.4)
    real = measure(Interactions.from_arrays(rows[:, 0], rows[:, 1], n_users=40, n_items=30))
    assert divergences(real, real) == dict.fromkeys(STATISTICS, 0.0)
