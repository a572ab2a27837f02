import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.simulators import Ibp, Marketplace, World
from unskew.trials import Method, Trials, run_trials

SMALL = Ibp(users=40, alpha=15)
FEW = {"metrics": ("recall@10", "mrr@10"), "methods": (Method(), Method("snips", "true"))}


def test_a_run_is_the_same_in_any_number_of_runs_and_threads() -> None:
    several = [
        run_trials(SMALL, 4, ("oracle", "bpr(iterations=5)"), seed=3, threads=threads, **FEW) for threads in (1, 2)
    ]
    fewer = run_trials(SMALL, 2, ("oracle", "bpr(iterations=5)"), seed=3, threads=1, **FEW)
    without = run_trials(SMALL, 2, ("oracle",), seed=3, threads=1, **FEW)
    for name in ("truth", "estimate", "std_error", "difference", "difference_error"):
        first, second = (getattr(trials, name) for trials in several)
        assert np.array_equal(first, second, equal_nan=True)
        assert np.array_equal(first[:2], getattr(fewer, name), equal_nan=True)
    assert np.array_equal(several[0].truth[:2, :1], without.truth, equal_nan=True)
    assert len(np.unique(several[0].estimate[:, 0, 0, 0])) == 4
    other = run_trials(SMALL, 1, ("oracle",), seed=4, **FEW)
    assert other.estimate[0, 0, 0, 0] != several[0].estimate[0, 0, 0, 0]


def test_shapes_and_progress() -> None:
    told: list[tuple[str, int, int]] = []
    trials = run_trials(SMALL, 3, progress=lambda *news: told.append(news), **FEW)
    assert told == [("simulated evaluations", done, 3) for done in (1, 2, 3)]
    assert trials.world == str(SMALL)
    assert len(trials) == 3
    assert trials.truth.shape == trials.error.shape == (3, 3, 2, 2)
    assert trials.difference.shape == trials.true_difference.shape == (3, 3, 2, 2)
    assert np.array_equal(trials.true_difference[:, 0], trials.truth[:, 0] - trials.truth[:, 1], equal_nan=True)
    assert np.isnan(trials.population).all()


def test_a_panel_has_as_many_users_as_the_log() -> None:
    trials = run_trials(SMALL, 2, panel=True, **FEW)
    assert np.all(trials.users + trials.dropped <= 40)
    assert np.all(trials.panel_users > 20)
    assert np.isfinite(trials.population_difference[:, :, 0, :]).all()


def test_a_world_may_be_made_by_any_function() -> None:
    def make(rng: np.random.Generator) -> World:
        return Marketplace(users=60, items=40).draw(rng)

    trials = run_trials(make, 2, ("popular",), **FEW)
    assert trials.world == "given"
    assert trials.difference.shape == (2, 0, 2, 2)
    with pytest.raises(ConfigError, match="a panel needs a world whose number of users"):
        run_trials(make, 2, panel=True, **FEW)


def test_no_run_no_world_and_no_seed_are_refused() -> None:
    with pytest.raises(ConfigError, match="0 runs"):
        run_trials(SMALL, 0)
    with pytest.raises(ConfigError, match="seed -1 must be 0 or more"):
        run_trials(SMALL, 1, seed=-1)
    with pytest.raises(ConfigError, match="'ibp' is not a world; make one with WorldModel"):
        run_trials("ibp", 1)
    with pytest.raises(ConfigError, match="no trial"):
        Trials.of([])
