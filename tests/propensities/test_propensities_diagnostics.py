"""Diagnostics: what adds up, and how sure a bin is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.propensities import diagnose, reliability_curve
from unskew.propensities.diagnostics import wilson_interval


def test_sums_and_extremes_by_hand() -> None:
    found = diagnose(np.array([0.5, 0.25, np.nan]), 6)
    assert (found.observed, found.cells, found.smallest, found.largest) == (3, 6, 0.25, 0.5)
    assert found.inverse_sum == 6
    assert found.coverage == 1
    assert found.inverse_sd == pytest.approx(np.sqrt(0.5 / 0.25 + 0.75 / 0.0625))
    assert found.notes == ()


def test_a_sum_far_from_the_number_of_pairs_is_noted_if_absolute() -> None:
    propensity = np.full(1000, 0.5)
    assert "larger than they should be" in diagnose(propensity, 9000).notes[0]
    assert "smaller than they should be" in diagnose(propensity, 1200).notes[0]
    assert diagnose(propensity, 2050).notes == ()
    assert diagnose(propensity, 9000, absolute=False).notes == ()


def test_wilson_agrees_with_a_published_example() -> None:
    """81 of 263 gives 0.2553 to 0.3662 (Newcombe 1998, table I, method 3)."""
    assert wilson_interval(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)


@given(seed=st.integers(0, 1000), levels=st.integers(1, 40), bins=st.integers(1, 12))
def test_bins_hold_every_pair_once_in_order(seed: int, levels: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    predicted = rng.integers(1, levels + 1, 300) / (levels + 1)
    observed = rng.random(300) < predicted
    curve = reliability_curve(predicted, observed, bins=bins)
    assert 1 <= len(curve) <= max(bins, 1)
    assert sum(each.pairs for each in curve) == 300
    assert sum(each.pairs * each.observed for each in curve) == pytest.approx(observed.sum())
    assert sum(each.pairs * each.predicted for each in curve) == pytest.approx(predicted.sum())
    means = [each.predicted for each in curve]
    assert means == sorted(set(means))
    assert all(0 <= each.low <= each.observed <= each.high <= 1 for each in curve)


def test_few_distinct_predictions_have_a_bin_each() -> None:
    curve = reliability_curve(np.array([0.1, 0.9, 0.1, np.nan]), np.array([False, True, True, True]))
    assert [(each.predicted, each.observed, each.pairs) for each in curve] == [(0.1, 0.5, 2), (0.9, 1, 1)]
    assert reliability_curve(np.array([]), np.array([], bool)) == ()


def test_a_sample_of_the_unobserved_is_less_sure_and_its_interval_still_covers() -> None:
    """P = 0.1 for 20,000 pairs of which 300 unobserved are sampled; 400 draws miss the truth in about 5 %.

    More than 36 misses would happen with chance below 0.001 at a true rate of 5 %.
    """
    misses, widths = 0, []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        hits = rng.binomial(20_000, 0.1)
        # the sample falls on two predictions by chance, so that the share of each bin is uncertain
        first_hits, first_others = rng.binomial(hits, 0.5), rng.binomial(300, 0.5)
        observed = np.arange(hits + 300) < hits
        place = np.concatenate([np.arange(hits) < first_hits, np.arange(300) < first_others])
        weight = np.where(observed, 1.0, (20_000 - hits) / 300)
        curve = reliability_curve(np.where(place, 0.1, 0.2), observed, weight)
        misses += not curve[0].low <= 0.1 <= curve[0].high
        widths.append(curve[0].high - curve[0].low)
    assert misses <= 36
    low, high = wilson_interval(0.1, 10_000)
    assert np.mean(widths) > 1.5 * (high - low)
