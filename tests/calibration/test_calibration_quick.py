"""One world for one log, quickly."""

import sys

import numpy as np
import pytest
from calibrated_logs import TRUE, small_log

from unskew.calibration import calibrate_quickly
from unskew.calibration import quick as module
from unskew.calibration.attempt import compare, mean_ratio
from unskew.calibration.calibrate import real_statistics
from unskew.errors import ConfigError, DataError
from unskew.simulators.likeness import STATISTICS


def fresh_loss(world, log, scales):
    """Mean ratio over ten logs that the search has not seen."""
    real = real_statistics(log, 0)
    return np.mean([mean_ratio(compare(world, real, np.random.default_rng(k))[0], scales) for k in range(1000, 1010)])


@pytest.fixture(scope="module")
def found():
    return calibrate_quickly(small_log(), "ibp-pop", evaluations=30)


def test_a_world_calibrated_to_a_log_is_nearly_as_near_as_the_one_it_was_drawn_from(found):
    """On ten fresh logs each: within half as much again of the true parameters, and far below a world at random (1)."""
    true, own = (fresh_loss(world, small_log(), found.scales) for world in (TRUE, found.world))
    assert own < 1.5 * true
    assert own < 0.6


def test_it_says_how_it_was_found(found):
    assert (found.method, found.evaluations, found.users, found.all_users) == ("compiled", 30, 120, 120)
    assert "a Gaussian process with 30 evaluations" in found.note
    assert "sample" not in found.note
    assert found.loss == pytest.approx(np.mean(list(found.ratios.values())) - 1)
    assert found.to_dict()["scales"] == found.scales


def test_the_scale_is_the_median_over_the_starts():
    """Of 5 evaluations, 2 are starts, so the median is their mean."""
    made = calibrate_quickly(small_log(), "ibp-pop", evaluations=5, method="coarse")
    only = calibrate_quickly(small_log(), "ibp-pop", evaluations=4, method="coarse")  # the same 2 starts
    assert made.scales == only.scales
    for each in STATISTICS:
        assert made.ratios[each] == pytest.approx(made.divergences[each] / made.scales[each])


def test_the_search_is_the_same_with_and_without_optional_packages(monkeypatch):
    before = calibrate_quickly(small_log(), "ibp-pop", evaluations=6)
    monkeypatch.setattr("unskew.calibration.suggest.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "optuna", None)  # importing it fails
    assert calibrate_quickly(small_log(), "ibp-pop", evaluations=6) == before
    with pytest.raises(ConfigError, match="needs optuna and torch"):
        calibrate_quickly(small_log(), "ibp-pop", evaluations=6, method="gp")


def test_an_unknown_method_is_refused():
    with pytest.raises(ConfigError, match="unknown method 'bayes': choose compiled, gp, coarse"):
        calibrate_quickly(small_log(), evaluations=4, method="bayes")


def test_the_same_seed_gives_the_same_world():
    first, again, other = (calibrate_quickly(small_log(), "ibp-pop", evaluations=5, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.word != other.word


def test_a_long_log_is_represented_by_some_of_its_users(monkeypatch):
    log = small_log()
    monkeypatch.setattr(module, "MOST_ROWS", len(log) // 2)
    made = calibrate_quickly(log, "ibp-pop", evaluations=4, method="coarse")
    assert 40 <= made.users < 120 == made.all_users
    assert made.world.users == made.users
    assert f"random sample of {made.users} of the 120 users" in made.note


def test_progress_counts_every_evaluation():
    heard = []
    calibrate_quickly(small_log(), evaluations=5, method="coarse", progress=lambda *told: heard.append(told))
    assert [done for _, done, _ in heard] == [0, 1, 2, 3, 4, 5]
    assert {total for _, _, total in heard} == {5}


def test_too_few_evaluations_and_too_large_worlds_are_refused(monkeypatch):
    with pytest.raises(ConfigError, match="evaluations 1: expected 2 or more"):
        calibrate_quickly(small_log(), evaluations=1)
    log = small_log()
    monkeypatch.setattr(type(TRUE), "expected_likes", lambda self: 1e12)
    with pytest.raises(DataError, match=r"no world could be drawn \(1e\+12 likes"):
        calibrate_quickly(log, evaluations=4, method="coarse")
