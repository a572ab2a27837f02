"""What users consume of a list, and how likely that was."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.errors import ConfigError, DataError
from unskew.feedback import Behaviour, play_round
from unskew.feedback.behaviour import join
from unskew.ranking import TopLists
from unskew.simulators import Preferences, World

LIKES = Preferences(np.array([0, 3, 5]), np.array([0, 1, 3, 0, 2], dtype=np.int32), 4)
"""User 0 likes items 0, 1 and 3; user 1 likes 0 and 2."""
LOG = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=4)
LISTS = TopLists(np.array([0, 1], dtype=np.int32), np.array([[2, 1], [3, 2]], dtype=np.int32))
"""Each user is shown a disliked item first and a liked one second."""


def play(behaviour: Behaviour, seed: int = 0, lists: TopLists = LISTS, observe: str = "uniform") -> World:
    return play_round(LIKES, LOG, lists, behaviour, np.random.default_rng(seed), observe=observe)


def pairs(log: Interactions) -> list[tuple[int, int]]:
    return list(zip(log.users.tolist(), log.items.tolist(), strict=True))


def test_the_chances_of_a_round_worked_by_hand() -> None:
    """Place 2 is looked at with 1/2 and taken with 0.8; q is 0.1.

    Item 1 of user 0 and item 2 of user 1 are shown there: 1 - (1 - 0.4) (1 - 0.1) = 0.46. Item 3 of user 0 is not
    shown: 0.1.
    """
    world = play(Behaviour(eta=1, take=0.8, organic=0.1))
    assert world.offsets.tolist() == [0, 2, 3]
    assert world.items.tolist() == [1, 3, 2]
    assert world.chances == pytest.approx([0.46, 0.1, 0.46])


def test_all_is_consumed_where_nothing_is_left_to_chance() -> None:
    """Every place is looked at, what is liked is taken, what is not too, and nothing is found otherwise."""
    world = play(Behaviour(eta=0, take=1, organic=0, dislikes=1))
    assert pairs(world.test) == [(0, 1), (0, 2), (1, 2), (1, 3)]
    assert world.test.propensity == pytest.approx([1, 1, 1, 1])
    assert pairs(join(world)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (1, 3)]


def test_nothing_disliked_is_consumed_unless_asked_for() -> None:
    world = play(Behaviour(eta=0, take=1, organic=1))
    assert pairs(world.test) == [(0, 1), (0, 3), (1, 2)]


def test_an_empty_place_is_passed_over() -> None:
    """The second place of user 0 is empty; user 1 has no list."""
    lists = TopLists(np.array([0], dtype=np.int32), np.array([[1, -1]], dtype=np.int32))
    assert play(Behaviour(eta=1, take=1, organic=0), lists=lists).chances == pytest.approx([1, 0, 0])


def test_what_is_found_follows_the_popularity_and_has_the_mean_asked_for() -> None:
    """Items 0 to 3 are liked by 2, 1, 1, 1 users, so the likes weigh 2, 1, 1, 2, 1, on average 7/5."""
    found = Behaviour(organic=0.14).organic_chances(LIKES, "popular")
    assert found == pytest.approx([0.2, 0.1, 0.1, 0.2, 0.1])
    assert Behaviour(organic=0.14).organic_chances(LIKES) == pytest.approx([0.14] * 5)


def test_what_is_found_follows_the_strength_and_is_never_above_1() -> None:
    graded = Preferences(LIKES.offsets, LIKES.items, 4, np.array([1.0, 1, 1, 1, 6]))
    assert Behaviour(organic=0.2).organic_chances(graded, "preferred") == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.6])
    assert Behaviour(organic=0.5).organic_chances(graded, "preferred").max() == 1


def test_rows_are_in_the_test_as_often_as_their_propensity_says() -> None:
    """2,000 rounds with fixed lists. Five counts within 4 standard errors: wrong once in 3,000 times by chance."""
    behaviour, rng = Behaviour(eta=0.7, take=0.6, organic=0.15, dislikes=0.3), np.random.default_rng(5)
    rounds, counts, chances = 2_000, np.zeros((2, 4)), np.zeros((2, 4))
    for _ in range(rounds):
        world = play_round(LIKES, LOG, LISTS, behaviour, rng, observe="popular")
        counts[world.test.users, world.test.items] += 1
        assert world.test.propensity is not None
        chances[world.test.users, world.test.items] = world.test.propensity
    expected = np.zeros((2, 4))
    expected[[0, 0, 1], [1, 3, 2]] = np.asarray(world.chances)
    expected[[0, 1], [2, 3]] = 0.3  # the disliked ones, at the first place
    assert chances == pytest.approx(expected)
    seen = expected > 0
    spread = np.sqrt(expected * (1 - expected) / rounds)
    assert np.all(np.abs(counts / rounds - expected)[seen] < 4 * spread[seen])
    assert not counts[~seen].any()


def test_a_list_must_not_hold_what_is_in_the_log() -> None:
    lists = TopLists(np.array([1], dtype=np.int32), np.array([[2, 0]], dtype=np.int32))
    with pytest.raises(DataError, match="user 1 is shown item 0, which is in the log already"):
        play(Behaviour(), lists=lists)


@pytest.mark.parametrize(
    ("option", "value"), [("take", 1.5), ("organic", -0.1), ("dislikes", 2.0), ("eta", -1.0), ("eta", np.inf)]
)
def test_an_option_out_of_range_is_refused(option: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"{option}="):
        Behaviour(**{option: value})
