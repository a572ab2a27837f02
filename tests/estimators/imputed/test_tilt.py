"""Tilted weights: moments of the slice, the ridge, and how they move with the slice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.estimators.imputed import shifts_of_tilt, tilted_weights


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_tilted_weights_meet_the_moments_of_the_slice_as_the_ridge_goes_to_0(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, weight = rng.normal(size=(60, 2)), rng.uniform(0.5, 5, 60)
    target = rng.dirichlet(np.ones(60)) @ features  # inside their hull
    got = tilted_weights(features, weight, target, 10**9)
    assert got.sum() == pytest.approx(1)
    np.testing.assert_allclose(got @ features, target, atol=1e-6)
    logs = np.log(got) - np.log(weight)  # linear in the features
    residual = np.linalg.lstsq(np.column_stack([np.ones(60), features]), logs, rcond=None)[1]
    assert residual.sum() < 1e-9


@given(seed=st.integers(0, 10_000), positives=st.integers(1, 500))
def test_the_ridge_is_20_over_the_positives(seed: int, positives: int) -> None:
    rng = np.random.default_rng(seed)
    features, weight, target = rng.normal(size=(40, 2)), rng.uniform(0.5, 5, 40), rng.normal(size=2)
    got = tilted_weights(features, weight, target, positives)
    logs = np.log(got) - np.log(weight)
    tilt = np.linalg.lstsq(np.column_stack([np.ones(40), features]), logs, rcond=None)[0][1:]
    np.testing.assert_allclose(target - got @ features, 20 / positives * tilt, atol=1e-6)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), positives=st.integers(2, 500))
def test_shifts_of_the_tilt_are_its_derivatives(seed: int, positives: int) -> None:
    """Summed over directions, they are J S J' / n, with J the change of the weights over that of the target."""
    rng = np.random.default_rng(seed)
    features, weight = rng.normal(size=(30, 2)), rng.uniform(0.5, 5, 30)
    target, half = 0.5 * rng.normal(size=2), rng.normal(size=(2, 2))
    shares = tilted_weights(features, weight, target, positives)
    slopes = []
    for step in 1e-5 * np.eye(2):
        ahead, behind = (tilted_weights(features, weight, target + sign * step, positives) for sign in (1, -1))
        slopes.append((ahead - behind) / 2e-5)
    jacobian = np.array(slopes).T
    got = shifts_of_tilt(features, shares, half @ half.T, positives)
    np.testing.assert_allclose(got.T @ got, jacobian @ (half @ half.T) @ jacobian.T / positives, atol=1e-7)
    np.testing.assert_allclose(got.sum(axis=1), 0, atol=1e-12)  # the weights still add up to 1


def test_hardly_any_positives_hardly_tilt() -> None:
    features, weight = np.random.default_rng(0).normal(size=(40, 2)), np.ones(40)
    got = tilted_weights(features, weight, np.array([0.5, 0.5]), 1)
    np.testing.assert_allclose(got, 1 / 40, rtol=0.15)


def test_a_target_outside_the_hull_gives_finite_weights() -> None:
    features = np.random.default_rng(0).normal(size=(40, 2))
    got = tilted_weights(features, np.ones(40), np.array([50.0, -50.0]), 1000)
    assert np.isfinite(got).all()
    assert got.sum() == pytest.approx(1)
