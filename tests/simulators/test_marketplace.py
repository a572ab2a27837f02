import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.simulators import Marketplace, WorldModel

SMALL = Marketplace(users=300, items=80)


def test_the_same_seed_draws_the_same_world() -> None:
    first, second, other = SMALL.draw(1), SMALL.draw(1), SMALL.draw(2)
    assert first.train.sha256 == second.train.sha256
    assert first.test.sha256 == second.test.sha256
    assert np.array_equal(first.items, second.items)
    assert first.train.sha256 != other.train.sha256


def test_the_word_is_parsed_and_printed() -> None:
    word = "marketplace(users=300, items=80, exponent=0.5)"
    assert str(WorldModel.from_word(word)) == word
    assert SMALL.draw(0).origin == "marketplace(users=300, items=80)"


def test_the_share_liked_is_relevant() -> None:
    world = Marketplace(users=1000, items=200, liked=0.3).draw(0)
    assert (len(world.items) + len(world.train)) / (1000 * 200) == pytest.approx(0.3, abs=0.01)


def test_exposure_falls_from_the_top_to_the_floor() -> None:
    # 0.9, 0.9 / 2, 0.9 / 3, then the floor
    assert Marketplace(items=5, exponent=1, floor=0.25).exposure() == pytest.approx([0.9, 0.45, 0.3, 0.25, 0.25])


def test_exposure_has_nothing_to_do_with_relevance() -> None:
    world = Marketplace(users=4000, items=400, strength=1).draw(0)
    everything = world.truth.item_counts + world.train.item_counts
    order = np.argsort(-world.train.item_counts)
    # the most observed tenth is no more relevant than the rest, beyond what tastes make by chance
    assert everything[order[:40]].mean() == pytest.approx(everything.mean(), rel=0.15)


def test_strong_tastes_make_items_differ_more_in_how_many_like_them() -> None:
    def spread(strength: float) -> float:
        world = Marketplace(users=500, items=300, strength=strength).draw(0)
        return float(np.std(world.truth.item_counts + world.train.item_counts))

    assert spread(0) < spread(3)


@pytest.mark.parametrize(
    "word, hint",
    [
        ("marketplace(users=0)", "at least 1"),
        ("marketplace(tastes=0)", "at least 1"),
        ("marketplace(liked=1)", "share between 0 and 1"),
        ("marketplace(holdout=0)", "share between 0 and 1"),
        ("marketplace(exponent=-1)", "0 or more"),
        ("marketplace(strength=nan)", "0 or more"),
        ("marketplace(floor=0)", "0 < floor"),
        ("marketplace(top=0.01)", "0 < floor"),
        ("marketplace(top=1.5)", "top <= 1"),
        ("marketplace(user=3)", "did you mean 'users'"),
        ("market", "did you mean 'marketplace'"),
    ],
)
def test_options_that_mean_nothing_are_refused(word: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        WorldModel.from_word(word)
