"""One evaluation, and what is tried next."""

import logging
import math
import sys

import numpy as np
import pytest
from calibrated_logs import TRUE, small_log

from unskew.calibration import Space, require_gp
from unskew.calibration.attempt import PENALTY, Trial, compare, mean_ratio, value_of
from unskew.calibration.calibrate import real_statistics
from unskew.calibration.suggest import gp_is_here, seeds_of, starting_point, suggest
from unskew.errors import ConfigError, DataError
from unskew.simulators.likeness import STATISTICS


def rng(seed=0):
    return np.random.default_rng(seed)


def bowl(space, parameters):
    """Best where every parameter is a third of the way up."""
    way = {
        each.name: math.log(parameters[each.name] / each.low) / math.log(each.high / each.low)
        if each.log
        else (parameters[each.name] - each.low) / (each.high - each.low)
        for each in space.ranges
    }
    return sum((share - 1 / 3) ** 2 for share in way.values())


def test_the_true_world_is_nearer_than_another():
    real = real_statistics(small_log(), 0)
    near, why = compare(TRUE, real, rng())
    assert why == ""
    space = Space.of("ibp-unif", small_log())
    far, _ = compare(space.world(space.at([0.9] * 6)), real, rng())
    assert all(near[each] < far[each] for each in STATISTICS)


def test_a_world_that_is_too_large_is_not_drawn_and_its_penalty_grows_with_its_size():
    """120 users like 40 items each: 4,800 likes."""
    real = real_statistics(small_log(), 0)
    twice, why = compare(TRUE, real, rng(), largest=2400)
    assert set(twice.values()) == {2 * PENALTY}
    assert "likes are expected" in why
    assert set(compare(TRUE, real, rng(), largest=480)[0].values()) == {10 * PENALTY}
    assert max(compare(TRUE, real, rng())[0].values()) < PENALTY


@pytest.mark.parametrize("error", [DataError("no user likes an item"), MemoryError()])
def test_a_world_without_observations_or_memory_gets_a_penalty(monkeypatch, error):
    real = real_statistics(small_log(), 0)

    def fail(self, rng):
        raise error

    monkeypatch.setattr(type(TRUE), "log", fail)
    found, why = compare(TRUE, real, rng())
    assert set(found.values()) == {PENALTY}
    assert why in {"no user likes an item", "out of memory"}


def test_the_mean_ratio_of_the_paper_is_found():
    """Tian & Ekstrand 2020, Table 1, IBP-Unif on ML1M: a mean loss of 3059.54 % above the best of each statistic."""
    best = dict(zip(STATISTICS, (0.002, 0.458, 0.006, 0.262), strict=True))
    found = dict(zip(STATISTICS, (0.170, 0.973, 0.227, 0.373), strict=True))
    assert 100 * (mean_ratio(found, best) - 1) == pytest.approx(3059.54, abs=0.005)
    trial = Trial("ibp-unif", "joint", 0, {}, found)
    assert value_of(trial, "joint", best) == pytest.approx(math.log(31.5954), abs=2e-6)  # as printed, four digits
    assert value_of(trial, "user-user", best) == math.log(0.227)


def test_starts_fill_the_space_more_evenly_than_chance_would():
    """Of 16 points, each half of each of six ranges gets 6 to 10; independent draws would fail this four times in five.

    The chance that a binomial number of 16 lies within 6 to 10 is 0.79, and 0.79 to the sixth is 0.24.
    """
    space = Space.of("ibp-pop", small_log())
    points = [starting_point(space, 0, "starts", k) for k in range(16)]
    for each in space.ranges:
        below = sum(point[each.name] < each.at(0.5) for point in points)
        assert 6 <= below <= 10
    assert len({tuple(point.values()) for point in points}) == 16


@pytest.mark.usefixtures("gaussian_process")
def test_a_gaussian_process_comes_nearer_to_the_best_than_as_many_quasi_random_points():
    space = Space.of("uniform-pop", small_log())
    points = [starting_point(space, 0, "starts", k) for k in range(22)]
    tried = [(point, bowl(space, point)) for point in points[:8]]
    for k in range(14):
        point = suggest(space, tried, 0, "joint", k, "gp")
        assert all(each.low <= point[each.name] <= each.high for each in space.ranges)
        tried.append((point, bowl(space, point)))
    assert min(value for _, value in tried) < min(bowl(space, point) for point in points) / 2


@pytest.mark.usefixtures("gaussian_process")
def test_whole_numbers_stay_whole():
    space = Space.of("lda-pop", small_log())
    point = starting_point(space, 0, "starts", 0)
    assert point["topics"].is_integer()
    assert suggest(space, [(point, 1.0)], 0, "joint", 0, "gp")["topics"].is_integer()


@pytest.mark.usefixtures("gaussian_process")
def test_a_suggestion_depends_on_what_it_is_told_and_on_nothing_else():
    space = Space.of("ibp-pop", small_log())
    tried = [(point, bowl(space, point)) for point in (starting_point(space, 0, "starts", k) for k in range(6))]
    first = suggest(space, tried, 0, "joint", 0, "gp")
    suggest(space, tried[:3], 5, "item-item", 2, "gp")  # whatever was asked in between
    assert suggest(space, tried, 0, "joint", 0, "gp") == first
    assert suggest(space, tried, 1, "joint", 0, "gp") != first


@pytest.mark.usefixtures("gaussian_process")
def test_nothing_is_logged_and_the_level_of_logging_is_as_before(caplog):
    import optuna

    before = optuna.logging.get_verbosity()
    space = Space.of("ibp-pop", small_log())
    point = starting_point(space, 0, "starts", 0)
    with caplog.at_level(logging.DEBUG):
        suggest(space, [(point, 1.0)], 0, "joint", 0, "gp")
    assert not [record for record in caplog.records if record.name.startswith("optuna")]
    assert optuna.logging.get_verbosity() == before


def test_seeds_differ_by_every_word():
    states = {
        int(seeds_of(*words).generate_state(1)[0])
        for words in ((0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a"))
    }
    assert len(states) == 5


def test_without_the_packages_the_hint_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.setattr("unskew.calibration.suggest.find_spec", lambda name: None)
    assert not gp_is_here()
    with pytest.raises(ConfigError, match=r"pip install 'unskew\[tune\]'.*coarse=True"):
        require_gp()
