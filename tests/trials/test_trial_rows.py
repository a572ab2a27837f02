import numpy as np
import pytest

from unskew.errors import DataError
from unskew.testing.worlds.true_worlds import draw_world, make_world
from unskew.trials import judged_rows, split_panel


def test_truth_and_test_are_joined_by_user_and_item() -> None:
    # user 0 has a disliked item in the test, user 1 nothing held out, user 2 likes nothing outside train
    world = make_world(
        {0: [1, 3], 1: [0, 2], 2: [0]},
        {0: [0], 1: [1], 2: [0]},
        {0: {2: 0.25, 3: 0.5}, 2: {1: 0.5}},
        n_users=3,
        n_items=5,
        strength={(0, 1): 2.0, (0, 3): 5.0},
    )
    judged = judged_rows(world)
    assert judged.users.tolist() == [0]
    assert judged.items.tolist() == [1, 2, 3]
    assert judged.in_truth.tolist() == [True, False, True]
    assert judged.in_test.tolist() == [False, True, True]
    assert judged.propensity is not None
    assert judged.propensity.tolist() == [0.25, 0.5]
    assert judged.strength is not None
    assert judged.strength.tolist() == [2.0, 0.0, 5.0]
    assert judged.candidates.tolist() == [1]  # items 0 and 1 were trained on, 0 by the user
    assert judged.relevant.tolist() == [2]
    assert judged.left_out == 1


def test_a_world_in_which_nobody_can_be_judged_is_refused() -> None:
    world = make_world({0: [0]}, {0: [0]}, {0: {1: 0.5}}, n_users=1, n_items=2)
    with pytest.raises(DataError, match="no user has a test row and a relevant item"):
        judged_rows(world)


@pytest.mark.parametrize("seed", range(5))
def test_a_panel_is_the_rest_of_the_world_under_the_log_of_the_first(seed: int) -> None:
    world = draw_world(seed, n_users=12)
    own, panel = split_panel(world, 7)
    assert (own.n_users, panel.world.n_users, own.n_items) == (7, 5, world.n_items)
    assert own.train.users.tolist() == world.train.users[world.train.users < 7].tolist()
    strangers = panel.judged(own.train.item_counts)
    assert strangers.in_truth.all()
    trained = set(own.train.items.tolist())
    for k, user in enumerate(strangers.users + 7):
        truth = world.items[world.offsets[user] : world.offsets[user + 1]].tolist()
        assert strangers.items[strangers.offsets[k] : strangers.offsets[k + 1]].tolist() == truth
        mine = set(world.train.items[world.train.users == user].tolist())
        assert strangers.candidates[k] == len(trained - mine)
        assert np.any(world.test.users == user)


def test_a_panel_needs_users_on_both_sides() -> None:
    world = draw_world(0)
    for users in (0, world.n_users):
        with pytest.raises(DataError, match="leave none for a panel"):
            split_panel(world, users)


def test_the_stand_in_varies_about_the_estimate_as_the_population_does() -> None:
    # Users have true values of variance 1 and are measured with noise of variance 0.5 each: with m users the error
    # against the population has variance 1.5 / m, and the stand-in must show the same, whatever the size of the panel.
    rng = np.random.default_rng(5)
    draws, m = 4000, 30
    for more in (1, 3):
        own, other = rng.standard_normal((draws, m)), rng.standard_normal((draws, more * m))
        estimate = own.mean(axis=1) + np.sqrt(0.5) * rng.standard_normal((draws, m)).mean(axis=1)
        share = np.sqrt(more / (1 + more))
        stand_in = (1 - share) * own.mean(axis=1) + share * other.mean(axis=1)
        # a sample variance of 4000 normal draws has a relative standard error of sqrt(2 / 4000) = 0.022; 4 of them
        assert np.var(estimate - stand_in) == pytest.approx(1.5 / m, rel=0.09)
        assert np.var(estimate - own.mean(axis=1)) < 0.6 / m
