"""Hotelling's test in the leading directions of a covariance."""

import numpy as np
import pytest
from scipy.stats import binom, kstest

from unskew.arrays import Floats
from unskew.estimators.imputed import hotelling
from unskew.estimators.imputed.directions import leading, mahalanobis


def random_covariance(rng: np.random.Generator, models: int) -> Floats:
    half = rng.normal(size=(models, models))
    return np.asarray(half @ half.T * 1e-4)


def null_p_values(positives: int, draws: int, seed: int) -> Floats:
    """Hotelling's p of gaps that are noise of a known covariance."""
    rng = np.random.default_rng(seed)
    covariance = random_covariance(rng, 5)
    gaps = rng.multivariate_normal(np.zeros(5), covariance, size=draws)
    return np.array([hotelling(gap, covariance, positives) for gap in gaps])


def test_the_p_of_noise_is_uniform_with_many_positives() -> None:
    """Kolmogorov and Smirnov's test at 1 in 10,000."""
    assert kstest(null_p_values(10**7, 2000, 1), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("positives", [8, 20, 100])
def test_the_p_of_noise_is_not_too_small_with_few_positives(positives: int) -> None:
    """The test rejects at most 5 %; more than the 99.99 % quantile of that number fails."""
    rejected = int(np.sum(null_p_values(positives, 2000, positives) < 0.05))
    assert rejected <= binom.ppf(0.9999, 2000, 0.05)


def test_a_gap_of_many_standard_errors_is_refuted() -> None:
    covariance = random_covariance(np.random.default_rng(0), 4)
    gap = 30 * np.sqrt(np.diag(covariance))
    assert hotelling(gap, covariance, 50) < 1e-6
    assert hotelling(gap, covariance, 3) < 1e-6  # fewer positives than directions
    assert hotelling(np.zeros(4), covariance, 50) == 1
    assert hotelling(gap, np.zeros((4, 4)), 50) == 1


def test_directions_without_variance_are_left_out_of_the_distance() -> None:
    covariance = np.diag([1.0, 1.0, 1e-30])
    distance, directions = mahalanobis(np.array([1.0, 2.0, 1.0]), covariance)
    assert (distance, directions) == (pytest.approx(5.0), 2)
    equal = np.ones((3, 3))  # three models whose estimates are the same
    assert mahalanobis(np.array([1.0, 1.0, 1.0]), equal) == (pytest.approx(1.0), 1)


def test_directions_of_equal_eigenvalues_do_not_depend_on_the_last_bits() -> None:
    rng = np.random.default_rng(0)
    for models, levels in ((3, [1.9, 1, 1]), (6, [5, 2, 2, 2, 1, 1]), (4, [1, 1, 1, 1])):
        turned = np.linalg.qr(rng.normal(size=(models, models)))[0]
        covariance = (turned * np.array(levels)) @ turned.T
        want = leading(covariance)
        for _ in range(5):
            noise = 1e-15 * rng.normal(size=covariance.shape)
            got = leading(covariance + noise + noise.T)
            # each direction up to its sign
            np.testing.assert_allclose(np.abs(np.sum(got * want, axis=0)), 1 / np.array(levels[: want.shape[1]]), 1e-6)
        np.testing.assert_allclose(want.T @ covariance @ want, np.eye(want.shape[1]), atol=1e-9)
