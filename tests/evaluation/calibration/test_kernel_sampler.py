"""The sampler that needs no optional package: where it looks, and what it depends on."""

import numpy as np
import pytest

from unskew.evaluation.calibration import kernel_sampler
from unskew.evaluation.calibration.kernel_sampler import next_point
from unskew.evaluation.calibration.spaces import Range

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


@pytest.mark.parametrize("change", [lambda v: 1e6 * v - 5, np.log, lambda v: np.nextafter(v, 9)])
def test_values_count_by_their_order_alone(change):
    """So a last bit that differs between processors, as in a logarithm, cannot move the search."""
    points = np.random.default_rng(0).random((20, DIMENSIONS))
    values = np.array([bowl(each) for each in points])
    first, second = (next_point(points, each, np.random.default_rng(1)) for each in (values, change(values)))
    assert np.array_equal(first, second)


def test_a_last_bit_in_the_kernel_does_not_move_the_choice(monkeypatch):
    """Exponentials differ in the last bit between processors; what is chosen is one of the same candidates."""
    points = np.random.default_rng(0).random((20, DIMENSIONS))
    values = np.array([bowl(each) for each in points])
    before = [next_point(points, values, np.random.default_rng(k)) for k in range(30)]
    monkeypatch.setattr(kernel_sampler, "WIDTH", np.nextafter(kernel_sampler.WIDTH, 1))
    after = [next_point(points, values, np.random.default_rng(k)) for k in range(30)]
    assert np.array_equal(before, after)


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
