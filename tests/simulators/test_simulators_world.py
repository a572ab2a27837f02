import numpy as np
import pytest

from unskew.errors import DataError
from unskew.simulators import World, logistic, solve_offset


def keys(world: World, users: np.ndarray, items: np.ndarray) -> set[int]:
    return set((users.astype(int) * world.n_items + items).tolist())


def draw(seed: int = 0, holdout: float = 0.3) -> World:
    rng = np.random.default_rng(seed)
    relevant = rng.random((400, 30)) < 0.4
    return World.hide(relevant, np.linspace(0.1, 1, 30), holdout, rng=rng)


def test_the_truth_is_what_is_relevant_and_not_in_train() -> None:
    relevant = np.array([[True, True, False], [False, True, True]])
    world = World.hide(np.tile(relevant, (50, 1)), np.array([0.5, 0.5, 0.9]), 0.5, rng=np.random.default_rng(1))
    truth = keys(world, world.truth.users, world.truth.items)
    train = keys(world, world.train.users, world.train.items)
    everything = keys(world, *np.nonzero(np.tile(relevant, (50, 1))))
    assert truth | train == everything
    assert not truth & train
    assert keys(world, world.test.users, world.test.items) < truth


def test_counts_and_offsets_belong_together() -> None:
    world = draw()
    assert np.array_equal(world.relevant_counts, world.truth.user_counts)
    assert np.array_equal(world.truth.by_user[0], world.offsets)
    assert np.array_equal(world.truth.by_user[1], world.items)


def test_users_and_items_are_declared_even_when_never_observed() -> None:
    relevant = np.zeros((20, 5), dtype=bool)
    relevant[:10, :2] = True
    world = World.hide(relevant, np.full(5, 0.8), 0.5, rng=np.random.default_rng(0))
    assert (world.n_users, world.n_items) == (20, 5)
    assert len(world.split.catalogue) == 5


def test_a_propensity_is_the_chance_to_be_in_the_test_given_not_in_train() -> None:
    world = draw(holdout=0.3)
    observation = np.linspace(0.1, 1, 30)
    assert world.test.propensity is not None
    expected = 0.3 * observation / (1 - 0.7 * observation)
    assert np.allclose(world.test.propensity, expected[world.test.items])
    assert world.test.propensity.max() <= 1


def test_candidates_turn_up_in_the_test_as_often_as_their_propensity_says() -> None:
    observation = np.linspace(0.1, 0.9, 30)
    expected = 0.3 * observation / (1 - 0.7 * observation)
    rng = np.random.default_rng(3)
    world = World.hide(rng.random((20_000, 30)) < 0.4, observation, 0.3, rng=rng)
    candidates, found = world.truth.item_counts, world.test.item_counts
    error = (found - candidates * expected) / np.sqrt(candidates * expected * (1 - expected))
    assert np.abs(error).max() < 4
    assert 0.5 < np.std(error) < 1.6


def test_a_world_without_rows_is_refused() -> None:
    with pytest.raises(DataError, match="train or test is empty"):
        World.hide(np.zeros((3, 3), dtype=bool), np.ones(3), 0.5, rng=np.random.default_rng(0))


@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_the_offset_makes_the_mean_chance_the_share(share: float) -> None:
    affinity = np.random.default_rng(0).normal(scale=3, size=(40, 30))
    assert np.mean(logistic(affinity + solve_offset(affinity, share))) == pytest.approx(share, abs=1e-6)


def test_the_offset_of_equal_affinities_is_the_log_odds() -> None:
    assert solve_offset(np.zeros((3, 4)), 0.25) == pytest.approx(np.log(0.25 / 0.75), abs=1e-6)
