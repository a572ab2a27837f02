"""What observation does to metrics (Tian & Ekstrand 2020): likes and lists stay, what is observed is drawn anew.

Fixed seeds, and |z| < 4: each test fails by chance for one seed in 16,000.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from unskew.arrays import Bools, Floats, Ints
from unskew.simulators import Ibp, Lda, Preferences, PreferenceWorld, World

SIZES = "pareto(scale=3, shape=0.7, upper=40)"


@dataclass(frozen=True)
class Seen:
    """One draw of what is observed, as tables of users with a test row by items."""

    test: Bools
    truth: Bools
    listed: Bools

    def recall(self, of: Bools) -> float:
        return float(np.mean((of & self.listed).sum(axis=1) / of.sum(axis=1)))


def redraw(model: PreferenceWorld, likes: Preferences, listed: Bools, times: int, seed: int) -> Iterator[Seen]:
    rng = np.random.default_rng(seed)
    for _ in range(times):
        world = model.observe_again(likes, rng)
        test, truth = table(world, world.test.users, world.test.items), table(world, *pairs(world))
        users = test.any(axis=1)
        yield Seen(test[users], truth[users], listed[users])


def pairs(world: World) -> tuple[Ints, Ints]:
    return np.repeat(np.arange(world.n_users), world.relevant_counts), world.items


def table(world: World, users: Ints, items: Ints) -> Bools:
    found = np.zeros((world.n_users, world.n_items), dtype=bool)
    found[users, items] = True
    return found


def z(values: list[float] | Floats) -> float:
    return float(np.mean(values) / (np.std(values, ddof=1) / np.sqrt(len(values))))


def setting(observe: Any, times: int = 300) -> tuple[Preferences, list[Seen]]:
    """Likes by topics, and lists of the ten most liked items, the same for all."""
    model = Lda(users=150, items=60, topics=5, likes=20, observe=observe, sizes=SIZES)
    likes = model.like(1)
    listed = np.zeros((150, 60), dtype=bool)
    listed[:, np.argsort(-likes.popularity)[:10]] = True
    return likes, list(redraw(model, likes, listed, times, seed=2))


def test_recall_is_unbiased_under_uniform_observation_and_too_high_under_popular() -> None:
    """For given lists, over users with a test row."""
    errors = {}
    for observe in ("uniform", "popular"):
        _, draws = setting(observe)
        errors[observe] = [seen.recall(seen.test) - seen.recall(seen.truth) for seen in draws]
    assert abs(z(errors["uniform"])) < 4
    assert z(errors["popular"]) > 10


def test_precision_is_the_true_one_times_the_share_of_the_truth_in_the_test() -> None:
    """User by user: hits expected are true hits times |test| / |truth|; so it is too low, whatever the list."""
    _, draws = setting("uniform")
    differences, gaps = [], []
    for seen in draws:
        share = seen.test.sum(axis=1) / seen.truth.sum(axis=1)
        observed = (seen.test & seen.listed).sum(axis=1) / 10
        true = (seen.truth & seen.listed).sum(axis=1) / 10
        differences.append(float(np.mean(observed - true * share)))
        gaps.append(float(np.mean(observed - true)))
    assert abs(z(differences)) < 4
    assert z(gaps) < -10


def test_any_mean_over_a_simple_random_sample_of_the_truth_is_exactly_unbiased() -> None:
    """Recall and the mean of any gain, over all ways to observe and split: Thm. 1 of Lim et al. 2015."""
    gains = [Fraction(1), Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(0)]
    likes = set(range(5))
    for n, held in ((3, 1), (4, 1), (4, 2), (5, 2)):
        seen, true, ways = Fraction(0), Fraction(0), 0
        for observed in combinations(likes, n):
            for test in combinations(observed, held):
                truth = likes - (set(observed) - set(test))
                seen += sum(gains[k] for k in test) / held
                true += sum(gains[k] for k in truth) / len(truth)
                ways += 1
        assert seen / ways == true / ways


def weighed_errors(model: PreferenceWorld, gain: Floats, draws: int) -> tuple[Floats, Floats]:
    """Errors of the sum of gains over the truth, rows weighed up by 1/P and by |truth| / |test| of their user.

    In parts of the mean true sum, over users with a test row.
    """
    likes, rng = model.like(3), np.random.default_rng(4)
    ips, naive, true = [], [], []
    for _ in range(draws):
        world = model.observe_again(likes, rng)
        assert world.test.propensity is not None
        users, items = pairs(world)
        true.append(gain[items[world.test.user_counts[users] > 0]].sum())
        own = gain[world.test.items]
        ips.append((own / world.test.propensity).sum() - true[-1])
        up = world.relevant_counts / np.maximum(world.test.user_counts, 1)
        naive.append((own * up[world.test.users]).sum() - true[-1])
    return np.array(ips) / np.mean(true), np.array(naive) / np.mean(true)


def test_ips_with_the_p_of_the_world_is_unbiased_under_uniform_observation() -> None:
    model = Ibp(users=200, alpha=20, sigma=0.3, observe="uniform", sizes=SIZES)
    ips, naive = weighed_errors(model, 1 / np.log2(np.arange(model.like(3).n_items) + 2), 300)
    assert abs(z(ips)) < 4
    assert ips == pytest.approx(naive)  # P is that share, exactly


def test_ips_with_the_p_of_the_world_is_nearly_unbiased_under_popular_observation() -> None:
    """P is an approximation there: a bias of 1 % is allowed, beside noise; with all rows alike it is far more."""
    model = Ibp(users=200, alpha=80, sigma=0.3, sizes="pareto(scale=10, shape=0.7, upper=60)")
    ips, naive = weighed_errors(model, (np.arange(model.like(3).n_items) < 50).astype(float), 200)
    noise = 4 * np.std(ips) / np.sqrt(len(ips))
    assert noise < 0.04
    assert abs(np.mean(ips)) < 0.01 + noise
    assert np.mean(naive) > 0.2


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        (Ibp(users=300, alpha=100, c=2, sigma=0.3, sizes="pareto(scale=20, shape=0.51, upper=300)"), 0.003),
        (Lda(users=300, items=500, likes=120, sizes="pareto(scale=20, shape=0.51, upper=300)"), 0.003),
        (Ibp(users=300, alpha=12, sigma=0.3, sizes="pareto(scale=5, shape=1, upper=50)"), 0.015),
    ],
    ids=["ibp", "lda", "a dozen likes"],
)
def test_rows_turn_up_in_the_test_as_often_as_p_says_at_every_popularity(model: PreferenceWorld, bound: float) -> None:
    """Given not in train; likes in ten parts by popularity, each within a bound found at first, and noise."""
    likes, rng = model.like(5), np.random.default_rng(6)
    order = np.argsort(np.argsort(likes.popularity[likes.items], kind="stable")) * 10 // len(likes)
    keys = likes.row_users.astype(np.int64) * likes.n_items + likes.items
    expected, found, variance = np.zeros(10), np.zeros(10), np.zeros(10)
    for _ in range(80):
        world = model.observe_again(likes, rng)
        assert world.chances is not None
        users, items = pairs(world)
        parts = order[np.searchsorted(keys, users * likes.n_items + items)]
        expected += np.bincount(parts, world.chances, minlength=10)
        variance += np.bincount(parts, world.chances * (1 - world.chances), minlength=10)
        tested = order[np.searchsorted(keys, world.test.users.astype(np.int64) * likes.n_items + world.test.items)]
        found += np.bincount(tested, minlength=10)
    assert np.all(np.abs(found - expected) < bound * expected + 4 * np.sqrt(variance))
    assert found.sum() == pytest.approx(expected.sum(), rel=0.002)
