"""Worlds of likes from draw to split. Tests by chance have fixed seeds; each would fail for one seed in 10,000."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from unskew.data import Interactions
from unskew.errors import ConfigError, DataError
from unskew.simulators import Ibp, Lda, ParetoSizes, Preferences, PreferenceWorld, UniformLikes, World, WorldModel

SIZES = "pareto(scale=3, shape=1, upper=30)"
WORLDS: list[PreferenceWorld] = [
    Ibp(users=120, alpha=12, sizes=SIZES),
    Ibp(users=120, alpha=12, sizes=SIZES, observe="uniform", excess="reject"),
    Lda(users=120, items=80, likes=15, sizes=SIZES, graded=True, observe="preferred"),
    Lda(users=120, items=80, likes=15, sizes=SIZES, dislikes=0.3),
    UniformLikes(users=120, items=80, likes=15, sizes="beta-binomial(high=30, low=2)", graded=True, dislikes=0.1),
]


def keys(world: World, rows: Interactions) -> set[int]:
    return set((rows.users.astype(int) * world.n_items + rows.items).tolist())


def liked(world: World) -> set[int]:
    assert world.likes is not None
    return set((world.likes.row_users.astype(int) * world.n_items + world.likes.items).tolist())


@pytest.mark.parametrize("model", WORLDS, ids=str)
def test_the_truth_is_what_is_liked_and_not_in_train(model: PreferenceWorld) -> None:
    world = model.draw(3)
    assert world.likes is not None
    train, test, truth = keys(world, world.train), keys(world, world.test), keys(world, world.truth)
    assert truth == liked(world) - train
    assert not train & test
    assert np.array_equal(world.truth.items, world.items)
    assert (len(train), len(test)) == (len(world.train), len(world.test))
    if not model.dislikes:
        assert test < truth
        assert train < liked(world)


@pytest.mark.parametrize("model", WORLDS, ids=str)
def test_the_log_is_train_and_test_of_the_same_draw(model: PreferenceWorld) -> None:
    world, log = model.draw(4), model.log(4)
    assert keys(world, log) == keys(world, world.train) | keys(world, world.test)
    assert len(log) == len(world.train) + len(world.test)
    assert (log.n_users, log.n_items) == (world.n_users, world.n_items)


@pytest.mark.parametrize("model", WORLDS, ids=str)
def test_a_seed_gives_the_same_bytes_and_another_seed_others(model: PreferenceWorld) -> None:
    a, b, other = model.draw(5), WorldModel.from_word(str(model)).draw(np.random.default_rng(5)), model.draw(6)
    for part in ("train", "test"):
        assert getattr(a, part).users.tobytes() == getattr(b, part).users.tobytes()
        assert getattr(a, part).items.tobytes() == getattr(b, part).items.tobytes()
    assert a.test.propensity is not None
    assert b.test.propensity is not None
    assert a.test.propensity.tobytes() == b.test.propensity.tobytes()
    assert keys(a, a.train) != keys(other, other.train)


@pytest.mark.parametrize("model", WORLDS, ids=str)
def test_p_of_the_test_is_that_of_its_truth_row_and_a_probability(model: PreferenceWorld) -> None:
    world = model.draw(7)
    assert world.chances is not None
    assert world.test.propensity is not None
    assert np.all(world.test.propensity > 0)
    assert np.all(world.test.propensity <= 1)
    users = np.repeat(np.arange(world.n_users), world.relevant_counts)
    of = dict(zip((users * world.n_items + world.items).tolist(), world.chances.tolist(), strict=True))
    for key, p in zip(
        (world.test.users.astype(int) * world.n_items + world.test.items).tolist(), world.test.propensity, strict=True
    ):
        if key in of:
            assert p == of[key]
    without = world.test.user_counts[users] == 0
    assert np.all(world.chances[without] == 0)
    assert np.all(world.chances[~without] > 0) or model.dislikes


def test_a_profile_that_is_too_large_is_cut_or_its_size_drawn_anew() -> None:
    sizes = ParetoSizes(scale=3, shape=1, upper=30)
    values, chances = sizes.pmf()
    for excess in ("clamp", "reject"):
        model = UniformLikes(users=20_000, items=8, likes=1e6, sizes=str(sizes), observe="uniform", excess=excess)
        seen = np.bincount(model.log(8).user_counts, minlength=9)
        expected = np.zeros(9)
        expected[3:] = chances[values <= 8]
        if excess == "clamp":
            expected[8] += chances[values > 8].sum()
        expected *= 20_000 / expected.sum()
        assert seen[:3].sum() == 0
        assert chisquare(seen[3:], expected[3:]).pvalue > 1e-4


def test_who_has_one_or_two_rows_has_no_test_row_but_a_truth() -> None:
    world = Ibp(users=400, alpha=12, sizes="pareto(scale=1, shape=0.7, upper=10)").draw(9)
    rows = world.train.user_counts + world.test.user_counts
    assert np.all(world.test.user_counts == np.rint(0.2 * rows))
    few = (rows > 0) & (rows <= 2)
    assert few.any()
    assert np.all(world.test.user_counts[few] == 0)
    assert world.relevant_counts[few].sum() > 0


def test_items_more_users_like_are_observed_more_often_only_when_popularity_counts() -> None:
    popular = Lda(users=500, items=200, likes=40, sizes=SIZES)
    ratios = {}
    for observe in ("uniform", "popular"):
        world = replace(popular, observe=observe).draw(10)
        assert world.likes is not None
        log = keys(world, world.train) | keys(world, world.test)
        seen = np.isin(world.likes.row_users.astype(int) * world.n_items + world.likes.items, list(log))
        weight = world.likes.popularity[world.likes.items]
        ratios[observe] = weight[seen].mean() / weight.mean()
        error = weight.std() / weight.mean() / np.sqrt(seen.sum())
        assert (abs(ratios[observe] - 1) < 4 * error) == (observe == "uniform")
    assert ratios["popular"] > 1


def test_what_is_preferred_is_observed_more_often() -> None:
    """Two likes each and one row: a strength of 4 against 1 is observed four times in five."""
    users = 10_000
    strength = np.tile([1.0, 4.0], users)
    likes = Preferences(np.arange(users + 1) * 2, np.tile(np.arange(2, dtype=np.int32), users), 2, strength)
    model = UniformLikes(users=users, graded=True, observe="preferred", sizes="pareto(scale=1, upper=1.5)", holdout=0.6)
    with pytest.raises(DataError, match="train or test is empty"):
        model.observe_again(likes, 11)  # 0.6 of a row is one row, and train has none
    world = replace(model, sizes="pareto(scale=1, upper=2.5)", holdout=0.4).observe_again(likes, 11)
    single = world.train.user_counts + world.test.user_counts == 1
    second = world.train.items[single[world.train.users]]
    assert abs(second.mean() - 0.8) < 4 * np.sqrt(0.16 / len(second))


def test_graded_likes_have_strengths_all_alike_likely_and_the_truth_keeps_them() -> None:
    world = UniformLikes(users=2000, items=100, likes=20, graded=True).draw(12)
    assert world.likes is not None
    assert world.likes.strength is not None
    assert world.strength is not None
    values, counts = np.unique(world.likes.strength, return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5]
    assert chisquare(counts).pvalue > 1e-4
    assert len(world.strength) == len(world.items)
    assert Ibp(users=50, alpha=9).draw(0).strength is None


def test_as_many_rows_are_disliked_as_asked_for() -> None:
    world = UniformLikes(users=4000, items=300, likes=60, dislikes=0.25, sizes=SIZES).draw(13)
    for part in (world.train, world.test):
        disliked = len(keys(world, part) - liked(world))
        assert abs(disliked - 0.25 * len(part)) < 4 * np.sqrt(0.25 * 0.75 * len(part))


@pytest.mark.parametrize("observe", ["uniform", "popular"])
def test_p_of_disliked_rows_weighs_them_up_to_all_that_could_be(observe: str) -> None:
    """Over users with a test row and a disliked one, the sum of 1/P is the number of disliked items not in train."""
    model = Lda(users=3000, items=60, likes=25, dislikes=0.5, observe=observe, sizes="pareto(scale=10, upper=15)")  # type: ignore[arg-type]
    world = model.draw(14)
    assert world.likes is not None
    assert world.test.propensity is not None
    known = world.likes.popularity > 0
    own = np.zeros((world.n_users, world.n_items), dtype=bool)
    own[world.likes.row_users, world.likes.items] = True
    train = np.zeros_like(own)
    train[world.train.users, world.train.items] = True
    test = np.zeros_like(own)
    test[world.test.users, world.test.items] = True
    eligible = test.any(axis=1) & ((train | test) & ~own).any(axis=1)
    candidates = (known & ~own & ~train)[eligible].sum()
    off = ~own[world.test.users, world.test.items]
    weighed = (1 / world.test.propensity[off]).sum()
    assert weighed / candidates == pytest.approx(1, abs=0.1)


def test_nothing_that_nobody_likes_is_consumed() -> None:
    for observe in ("uniform", "popular"):
        model = Lda(users=60, items=3000, likes=10, dislikes=0.5, observe=observe)  # type: ignore[arg-type]
        world = model.draw(15)
        assert world.likes is not None
        assert np.all(world.likes.popularity[world.train.items] > 0)
        assert np.all(world.likes.popularity[world.test.items] > 0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("users=0", "expected 1 to 40,000,000"),
        ("users=1000000000000", "expected 1 to 40,000,000"),
        ("observe=often", "popular"),
        ("excess=cut", "clamp"),
        ("holdout=0", "ibp(holdout=0): expected a share between 0 and 1"),
        ("holdout=1", "expected a share between 0 and 1"),
        ("dislikes=1", "expected a share of 0 or more, below 1"),
        ("dislikes=-0.1", "expected a share of 0 or more, below 1"),
        ("observe=preferred", "add 'graded'"),
        ("sizes=poisson(3)", "poisson"),
        ("sizes=pareto(scale=5, upper=5)", "above the scale 5"),
    ],
)
def test_options_out_of_range_are_refused_with_the_range(options: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        WorldModel.from_word(f"ibp({options})")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("ibp(users=3, alpha=1e-9)", "no user likes an item"),
        ("ibp(users=3, sizes=pareto(scale=1, upper=1.5))", "train or test is empty"),
        ("uniform(users=1000000, likes=900)", "900,000,000 likes are expected, but at most 40,000,000"),
        ("lda(users=1000000, likes=500)", "500,000,000 likes are expected"),
    ],
)
def test_worlds_with_too_little_or_too_much_are_refused(word: str, says: str) -> None:
    with pytest.raises(DataError) as refused:
        WorldModel.from_word(word).draw(0)
    assert says in str(refused.value)


def test_expected_likes_are_those_drawn() -> None:
    for model in (Ibp(users=2000, alpha=20), UniformLikes(users=2000, items=5000, likes=0.3)):
        counts = model.like(16).counts
        assert abs(counts.sum() - model.expected_likes()) < 4 * np.sqrt(2000) * 20
    small = Lda(users=2000, items=5000, likes=0.3)
    assert small.like(16).counts.sum() <= small.expected_likes() + 4 * np.sqrt(2000)
    assert small.expected_likes() > 2000  # nobody likes nothing
