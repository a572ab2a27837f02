"""Means over replicates: by hand, against plain loops, and the error rate of their intervals."""

from itertools import product
from math import erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from unskew.estimators import Mean, Terms, difference_of_means, influence_of, mean_of_replicates


def test_two_replicates_by_hand():
    """Other users in each: the variance of the mean over users is (2 * 0.03² + 2 * 0.03²) / 4 = 0.0009.

    The variance of 0.2 and 0.4 is 0.02, so the whole variance of the mean is 0.01, and users explain 0.0009 of it.
    """
    mean = mean_of_replicates([0.2, 0.4], [np.array([0.03, -0.03, 0, 0]), np.array([0, 0, 0.03, -0.03])])
    assert mean.value == pytest.approx(0.3)
    assert mean.users_error == pytest.approx(0.03)
    assert mean.replicates_error == pytest.approx(np.sqrt(0.01 - 0.0009))
    _, high = mean.bounds(0.95)
    assert high - mean.value == pytest.approx(12.706 * 0.1, rel=1e-4)  # Student's t with one degree of freedom


def test_shared_users_are_not_counted_twice():
    """The same users with the same influence: more replicates say nothing more about users."""
    same = np.array([0.03, -0.03])
    mean = mean_of_replicates([0.3, 0.3], [same, same])
    assert mean.users_error == pytest.approx(np.sqrt(2) * 0.03)
    assert mean.replicates_error == 0
    assert mean.bounds(0.95)[1] - 0.3 == pytest.approx(1.959964 * mean.users_error)


def test_one_replicate_has_the_error_of_its_users_only():
    terms = Terms(np.array([1.0, 0.0, 1.0]), np.ones(3))
    mean = mean_of_replicates([terms.value], [influence_of(terms)])
    assert mean.std_error == pytest.approx(terms.std_error)
    assert mean.replicates_error is None
    assert mean.bounds(0.95)[0] == pytest.approx(terms.value - 1.959964 * terms.std_error)


def test_an_undefined_replicate_makes_the_mean_undefined():
    mean = mean_of_replicates([0.1, None], [np.zeros(2), np.zeros(2)])
    assert mean.value is None
    assert mean.bounds(0.95) == (None, None)
    assert mean.p_value is None


def test_one_user_has_no_influence():
    assert influence_of(Terms(np.ones(1), np.ones(1))) is None


@given(st.integers(2, 6), st.integers(2, 20), st.integers(0, 10**6))
def test_the_formula_against_plain_loops(replicates, users, seed):
    rng = np.random.default_rng(seed)
    values, influences = rng.normal(size=replicates), rng.normal(size=(replicates, users)) / 10
    mean = mean_of_replicates(values.tolist(), list(influences))
    covariance = influences @ influences.T
    variance = np.trace(covariance) / replicates
    shared = (covariance.sum() - np.trace(covariance)) / (replicates * (replicates - 1))
    between = max(0.0, np.var(values, ddof=1) - (variance - shared))
    assert mean.users_error**2 == pytest.approx(covariance.sum() / replicates**2)
    assert mean.replicates_error**2 == pytest.approx(between / replicates, abs=1e-9)
    assert mean.std_error**2 == pytest.approx(mean.users_error**2 + mean.replicates_error**2)


def error_of(shared, parts, freedoms, users=0.0):
    """Chance that a 95 % interval misses, by quadrature over the spreads that are observed, if values are normal.

    `parts` are the true variances; what is observed of each is a chi-square over its degrees of freedom.
    """
    grid = (np.arange(120) + 0.5) / 120
    axes = [part * chi2.ppf(grid, freedom) / freedom for part, freedom in zip(parts, freedoms, strict=True)]
    deviation, misses = np.sqrt(shared + sum(parts)), []
    for seen in product(*axes):
        spreads = tuple(zip(map(float, seen), freedoms, strict=True))
        _, high = Mean(0.0, np.sqrt(users), 0.0, shared, spreads).bounds(0.95)
        misses.append(erfc(high / deviation / np.sqrt(2)))
    return float(np.mean(misses))


@pytest.mark.parametrize("freedom", [1, 2, 4])
@pytest.mark.parametrize("ratio", [0.03, 0.3, 1.0, 3.0, 30.0])
def test_an_interval_misses_in_at_most_5_percent_of_cases_for_any_ratio_of_variances(ratio, freedom):
    """The limit has room for the quadrature, which is off by less than 0.002 at a ratio of infinity."""
    assert 0.005 < error_of(1.0, [ratio], [freedom]) < 0.052


def test_without_a_shared_part_the_interval_is_that_of_student():
    assert error_of(0.0, [1.0], [1]) == pytest.approx(0.05, abs=0.002)
    assert error_of(0.0, [1.0], [4]) == pytest.approx(0.05, abs=0.001)


@pytest.mark.parametrize("ratios", [(1.0, 1.0), (10.0, 10.0), (10.0, 0.1)])
def test_a_difference_of_two_replicates_each_misses_in_at_most_5_percent_of_cases(ratios):
    assert 0.001 < error_of(1.0, ratios, [1, 1]) < 0.052


def test_users_alone_are_the_least_error():
    """Two replicates that agree by chance do not make the interval shorter than users allow."""
    mean = mean_of_replicates([0.3, 0.3], [np.array([0.03, -0.03, 0, 0]), np.array([0, 0, 0.03, -0.03])])
    assert mean.replicates_error == 0
    assert mean.bounds(0.95)[1] - 0.3 == pytest.approx(1.959964 * 0.03)


@given(
    st.floats(-1, 1).filter(lambda value: abs(value) > 1e-3),
    st.floats(0, 0.01),
    st.lists(st.tuples(st.floats(1e-8, 0.01), st.integers(1, 9)), min_size=1, max_size=2),
)
def test_the_p_value_is_the_level_at_which_the_interval_reaches_zero(value, shared, spreads):
    mean = Mean(value, np.sqrt(shared / 2), 0.01, shared, tuple(spreads))
    p = mean.p_value
    low, high = mean.bounds(1 - p) if p > 1e-12 else (0.0, 0.0)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-4)
    assert (p < 0.05) == (not mean.bounds(0.95)[0] <= 0 <= mean.bounds(0.95)[1])


def test_the_p_value_of_two_values_is_that_of_student():
    """Values 1 and 3 have the mean 2 and the error 1: t = 2 with one degree of freedom has p = 0.2952."""
    mean = mean_of_replicates([1.0, 3.0], [np.zeros(2), np.zeros(2)])
    assert mean.p_value == pytest.approx(0.295167, abs=1e-5)


def test_means_without_spread_have_the_p_value_of_what_is_known():
    still = [np.zeros(2)]
    assert difference_of_means(Mean(0.3, 0.0), Mean(0.3, 0.0), (still, still)).p_value == 1
    assert difference_of_means(Mean(0.3, 0.0), Mean(0.2, 0.0), (still, still)).p_value == 0
    assert difference_of_means(Mean(0.3), Mean(0.2), (still, still)) == Mean(pytest.approx(0.1))
    assert difference_of_means(Mean(None), Mean(0.2), (still, still)) == Mean(None)


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [2, 4, 8])
@pytest.mark.parametrize("spread", [0.0, 0.03, 0.1])
def test_intervals_fail_at_most_at_the_stated_rate(replicates, spread):
    """Users with tastes that they keep over replicates; 95 % intervals must fail in at most 5 % of draws.

    Of 3,000 draws, 5 % are 150 with a deviation of 12; the limit of 6 % is 2.5 deviations above.
    """
    rng, users, misses, draws = np.random.default_rng(1), 200, 0, 3000
    for _ in range(draws):
        tastes = rng.normal(scale=0.3, size=users)
        values, influences = [], []
        for level in rng.normal(scale=spread, size=replicates):
            present = rng.random(users) < 0.6
            gains = np.where(present, level + tastes + rng.normal(scale=0.4, size=users), 0.0)
            terms = Terms(gains[present], np.ones(int(present.sum())))
            whole = np.zeros(users)
            whole[present] = influence_of(terms)
            values.append(terms.value)
            influences.append(whole)
        low, high = mean_of_replicates(values, influences).bounds(0.95)
        misses += not low <= 0 <= high
    assert 0.005 <= misses / draws <= 0.06
