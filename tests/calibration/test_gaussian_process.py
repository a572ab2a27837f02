"""The sampler that needs no optional package: where it looks, and what it depends on."""

import numpy as np
import pytest
from scipy.stats import norm

from unskew.calibration.gaussian_process import evidence, factor, fit, log_improvements, next_point, solve
from unskew.calibration.search_space import Range

DIMENSIONS = 6
LOW = np.linspace(0.2, 0.8, DIMENSIONS)  # where the bowl below is lowest


def bowl(point):
    return float(np.sum((point - LOW) ** 2))


def search(seed, starts=16, length=24, values=bowl):
    rng = np.random.default_rng(seed)
    points = list(rng.random((starts, DIMENSIONS)))
    for _ in range(length):
        points.append(next_point(np.array(points), np.array([values(each) for each in points]), rng))
    return np.array(points)


def test_it_finds_a_minimum_far_better_than_chance_does():
    """The best of 40 points: less than half as high as that of 40 uniform ones, on average over ten searches."""
    found = np.mean([min(map(bowl, search(seed))) for seed in range(10)])
    chance = np.mean([min(map(bowl, np.random.default_rng(seed).random((40, DIMENSIONS)))) for seed in range(10)])
    assert found < chance / 2


def test_points_are_within_the_cube_and_reach_its_corners():
    points = search(0, values=lambda point: float(point.sum()))
    assert points.min() >= 0
    assert points.max() < 1
    assert points.sum(axis=1).min() < 0.5  # the lowest corner is at 0; uniform points come to 3 on average


@pytest.fixture
def tried():
    points = np.random.default_rng(0).random((20, DIMENSIONS))
    return points, np.array([bowl(each) for each in points])


@pytest.mark.parametrize(
    "change", [lambda v: 1024 * v - 8, lambda v: np.nextafter(v, 9), lambda v: v * (1 + 1e-13 * np.sin(1e9 * v))]
)
def test_neither_scale_nor_last_bits_of_the_values_move_the_choice(tried, change):
    """Logarithms and exponentials differ in the last bit between processors."""
    points, values = tried
    for k in range(30):
        first, second = (next_point(points, each, np.random.default_rng(k)) for each in (values, change(values)))
        assert np.array_equal(first, second)


def test_a_world_that_could_not_be_drawn_counts_as_poor_and_no_worse(tried):
    """However large its penalty is, the next choice is the same."""
    points, values = tried
    first, second = (next_point(points, np.append(values[:-1], each), np.random.default_rng(1)) for each in (50.0, 5e7))
    assert np.array_equal(first, second)


def dense(points, at):
    """Covariance by its formula."""
    h = np.sqrt((at[:-1] * (points[:, None] - points[None]) ** 2).sum(axis=2))
    return (1 + np.sqrt(5) * h + 5 * h**2 / 3) * np.exp(-np.sqrt(5) * h)


def test_the_factor_is_that_of_the_covariance_with_noise(tried):
    points, values = tried
    at = np.array([1, 4, 0.5, 2, 0.1, 9, 0.01])
    lower = factor(points, at)
    assert lower @ lower.T == pytest.approx(dense(points, at) + 0.01 * np.eye(20))
    assert lower @ solve(lower, values) == pytest.approx(values)


def test_improvements_are_those_of_the_conditional_distribution(tried):
    """By the textbook formulas, with a matrix inverse, far below the best too."""
    points, values = tried
    scores, at = values - values.mean(), np.array([1, 4, 0.5, 2, 0.1, 9, 0.01])
    candidates = np.random.default_rng(1).random((200, DIMENSIONS))
    inverse = np.linalg.inv(dense(points, at) + 0.01 * np.eye(20))
    across = dense(np.vstack([candidates, points]), at)[:200, 200:]
    mean, scale = across @ inverse @ scores, scores @ inverse @ scores / 20
    spread = np.sqrt(scale * (1 - np.einsum("ij,jk,ik->i", across, inverse, across)))
    z = (scores.min() - mean) / spread
    found = log_improvements(points, scores, at, candidates)
    near = z > -5
    assert near.any()
    assert found[near] == pytest.approx(np.log(spread * (norm.pdf(z) + z * norm.cdf(z)))[near], abs=1e-6)
    sharp = np.append(np.full(DIMENSIONS, 0.01), 1e-4)  # smooth: bad candidates are surely bad
    assert np.isfinite(log_improvements(points, scores, sharp, candidates)).all()


def test_axes_that_matter_get_greater_rates():
    points = np.random.default_rng(0).random((40, 3))
    values = np.sin(6 * points[:, 0]) + 0.3 * points[:, 1]
    scores = values - values.mean()
    at = fit(points, scores)
    assert at[0] > 4 * at[1] > 4 * at[2]
    assert evidence(points, scores, at) > evidence(points, scores, np.array([1, 1, 1, 0.01]))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_equal_values_and_equal_points_do_no_harm(count):
    found = next_point(np.full((count, 3), 0.5), np.ones(count), np.random.default_rng(0))
    assert ((found >= 0) & (found < 1)).all()


def test_one_trial_is_enough_to_go_on_from():
    assert next_point(np.full((1, 3), 0.5), np.array([1.0]), np.random.default_rng(0)).shape == (3,)


@pytest.mark.parametrize(
    "limits", [Range("a", 5, 200, whole=True), Range("b", 0.01, 100, log=True), Range("c", -1, 3), Range("d", 0, 0.99)]
)
def test_the_share_of_a_value_leads_back_to_it(limits):
    for share in (0.0, 0.3, 0.99):
        value = limits.at(share)
        assert limits.at(limits.share_of(value)) == pytest.approx(value)
        assert 0 <= limits.share_of(value) <= 1
