"""Several worlds for one log: what they share, and what they do not depend on."""

import numpy as np
import pytest
from calibrated_logs import small_log

from unskew.calibration import calibrate_ensemble
from unskew.calibration.calibrate import real_statistics
from unskew.calibration.ensemble import fit_of
from unskew.errors import ConfigError, DataError
from unskew.simulators import Ibp
from unskew.simulators.likeness import STATISTICS

KINDS = ("ibp-pop", "ibp-unif")


@pytest.fixture(scope="module")
def found():
    return calibrate_ensemble(small_log(), KINDS, searches=2, evaluations=10, threads=1)


def test_every_kind_and_search_has_a_world_of_its_own(found):
    assert [(fit.kind, fit.search) for fit in found.fits] == [(kind, k) for kind in KINDS for k in range(2)]
    assert len({str(fit.world) for fit in found.fits}) == 4
    assert {fit.world.observe for fit in found.fits if fit.kind == "ibp-unif"} == {"uniform"}
    assert found.evaluations == 2 * (4 + 2 * 6)  # the 4 starts of a kind are shared
    assert found.missing == ()


def test_losses_are_on_one_scale_for_all_kinds(found):
    for fit in found.fits:
        ratios = [fit.divergences[each] / found.scales[each] for each in STATISTICS]
        assert fit.loss == pytest.approx(np.mean(ratios) - 1)


def test_a_fit_is_measured_on_a_log_that_was_not_chosen_for_being_near(found):
    """The searches saw other draws: no divergence of a fit is one of those, and a new draw gives others again."""
    fit = found.fits[0]
    real = real_statistics(small_log(), 0)
    again, floor = fit_of(fit.world, real, np.random.default_rng(99))
    assert again != fit.divergences
    assert all(value >= 0 for value in floor.values())
    assert again["item-popularity"] == pytest.approx(fit.divergences["item-popularity"], rel=1.0)


def test_a_world_is_at_its_floor_for_a_log_of_its_own():
    """Ten logs of one world: their divergence from a new log of it is that between two logs of it, on average."""
    world = Ibp(users=120, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=8, shape=1, upper=60)")
    gaps = []
    for k in range(10):
        apart, floor = fit_of(world, real_statistics(world.log(k), 0), np.random.default_rng(100 + k))
        gaps.append([apart[each] - floor[each] for each in STATISTICS])
    error = np.std(gaps, axis=0, ddof=1) / np.sqrt(10)
    assert np.all(np.abs(np.mean(gaps, axis=0)) < 4 * error)


def test_threads_do_not_change_it(found):
    assert calibrate_ensemble(small_log(), KINDS, searches=2, evaluations=10, threads=3) == found


def test_another_seed_finds_other_worlds(found):
    other = calibrate_ensemble(small_log(), KINDS, searches=2, evaluations=10, seed=1)
    assert not {str(fit.world) for fit in other.fits} & {str(fit.world) for fit in found.fits}


def test_progress_counts_every_evaluation():
    heard = []
    calibrate_ensemble(
        small_log(), KINDS, searches=1, evaluations=3, threads=2, progress=lambda *told: heard.append(told)
    )
    assert [done for _, done, _ in heard] == list(range(7))
    assert {total for _, _, total in heard} == {6}


def test_a_kind_that_cannot_be_drawn_is_left_out_and_named(monkeypatch):
    log = small_log()
    monkeypatch.setattr(Ibp, "expected_likes", lambda self: 1e12)
    found = calibrate_ensemble(log, ("ibp-pop", "uniform-pop"), searches=1, evaluations=3)
    assert found.missing == ("ibp-pop",)
    assert {fit.kind for fit in found.fits} == {"uniform-pop"}
    with pytest.raises(DataError, match="no world could be drawn"):
        calibrate_ensemble(log, ("ibp-pop",), searches=1, evaluations=3)


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ConfigError, match="0 searches of 5 evaluations"):
        calibrate_ensemble(small_log(), KINDS, searches=0, evaluations=5)
    with pytest.raises(ConfigError, match="evaluations"):
        calibrate_ensemble(small_log(), KINDS, searches=1, evaluations=1)
