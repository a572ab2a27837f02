"""Means over replicates: by hand, against plain loops, and the error rate of their intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.estimators import Terms, influence_of, mean_of_replicates


def test_two_replicates_by_hand():
    """Other users in each: the variance of the mean over users is (2 * 0.03² + 2 * 0.03²) / 4 = 0.0009.

    The variance of 0.2 and 0.4 is 0.02, so the whole variance of the mean is 0.01, and users explain 0.0009 of it.
    """
    mean = mean_of_replicates([0.2, 0.4], [np.array([0.03, -0.03, 0, 0]), np.array([0, 0, 0.03, -0.03])])
    assert mean.value == pytest.approx(0.3)
    assert mean.users_error == pytest.approx(0.03)
    assert mean.replicates_error == pytest.approx(np.sqrt(0.01 - 0.0009))
    assert mean.freedom == pytest.approx(1)
    _, high = mean.bounds(0.95)
    assert high - mean.value == pytest.approx(12.706 * 0.1, rel=1e-4)  # Student's t with one degree of freedom


def test_shared_users_are_not_counted_twice():
    """The same users with the same influence: more replicates say nothing more about users."""
    same = np.array([0.03, -0.03])
    mean = mean_of_replicates([0.3, 0.3], [same, same])
    assert mean.users_error == pytest.approx(np.sqrt(2) * 0.03)
    assert mean.replicates_error == 0
    assert mean.freedom == np.inf


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


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [3, 4, 8])
@pytest.mark.parametrize("spread", [0.0, 0.03, 0.1])
def test_intervals_fail_at_about_the_stated_rate(replicates, spread):
    """Users with tastes that they keep over replicates; 95 % intervals must fail in 2 to 8 % of draws."""
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
    assert 0.02 <= misses / draws <= 0.08
