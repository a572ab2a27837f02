"""Where parameters are looked for (Tian & Ekstrand 2020, section 3.3)."""

import numpy as np
import pytest

from unskew.calibration import KINDS, Space
from unskew.calibration.search_space import Range
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.simulators.world import WorldModel


def log_with(least, most, users=30, items=3000):
    counts = np.linspace(least, most, users).astype(int)
    codes = np.concatenate([np.arange(n) for n in counts])
    return Interactions.from_arrays(np.repeat(np.arange(users), counts), codes, n_users=users, n_items=items)


def limits(kind, log):
    return {each.name: (each.low, each.high, each.log, each.whole) for each in Space.of(kind, log).ranges}


def test_the_limits_of_the_buffet_are_those_of_the_paper():
    """Activity from 20 to 1000: scale 16 to 24, upper 800 to 1200."""
    assert limits("ibp-pop", log_with(20, 1000)) == {
        "alpha": (10, 1000, True, False),
        "c": (0.01, 100, True, False),
        "sigma": (0, 0.99, False, False),
        "scale": (16, 24, False, False),
        "shape": (0.1, 20, True, False),
        "upper": (800, 1200, True, False),
    }


def test_the_limits_of_topics_are_those_of_the_paper_with_no_more_likes_than_items():
    found = limits("lda-unif", log_with(20, 1000))
    assert {key: found[key] for key in ("topics", "alpha", "beta")} == {
        "topics": (5, 200, False, True),
        "alpha": (0.01, 1, False, False),
        "beta": (0.01, 1, False, False),
    }
    assert found["likes"] == (5, 1000, True, False)
    assert limits("lda-unif", log_with(20, 2500))["likes"] == (5, 2000, True, False)


def test_a_log_of_short_and_equal_profiles_leaves_room_to_search():
    """All have one row: scale 1 to 1.2, upper from 1.44 to 1.728."""
    found = limits("ibp-unif", log_with(1, 1))
    assert found["scale"][:2] == (1, 1.2)
    assert found["upper"][:2] == (1.44, 1.728)


def test_only_users_and_items_with_a_row_count():
    log = Interactions.from_arrays([0, 0, 3], [1, 2, 1], n_users=9, n_items=9)
    space = Space.of("lda-pop", log)
    assert (space.users, space.items) == (3 - 1, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_corner_is_a_world_whose_word_reads_back(kind):
    space = Space.of(kind, log_with(3, 400))
    rng = np.random.default_rng(0)
    n = len(space.ranges)
    for shares in (np.zeros(n), np.ones(n), *rng.random((20, n))):
        parameters = space.at(shares)
        assert all(each.low <= parameters[each.name] <= each.high for each in space.ranges)
        world = space.world(parameters)
        assert world.users == space.users
        assert world.observe == {"unif": "uniform", "pop": "popular"}[kind.partition("-")[2]]
        assert WorldModel.from_word(str(world)) == world


def test_steps_of_a_range_are_even_on_its_scale():
    assert Range("x", 1, 100, log=True).at(0.5) == pytest.approx(10)
    assert Range("x", 0, 10).at(0.25) == 2.5
    shares = np.linspace(0, 1, 1001)
    assert {Range("x", 5, 8, whole=True).at(share) for share in shares} == {5.0, 6.0, 7.0, 8.0}


def test_an_unknown_world_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="unknown world 'ipb-pop'; did you mean 'ibp-pop'"):
        Space.of("ipb-pop", log_with(3, 40))
