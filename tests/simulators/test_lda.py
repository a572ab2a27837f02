"""Likes by topics. Fixed seeds; |z| < 4 or p > 1e-4: each test fails by chance less than once in 10,000 seeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, poisson

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.simulators import Lda
from unskew.simulators.lda import dirichlet, poisson_bound, truncated_poisson
from unskew.simulators.lda_kernel import alias_tables, choose_items


def plain(users: int, items: int, topics: int, likes: float, alpha: float, beta: float, seed: int) -> Floats:
    """How often each user chose each item, as the model says it (Tian & Ekstrand 2020, section 3.1)."""
    rng = np.random.default_rng(seed)
    themes = rng.dirichlet(np.full(items, beta), size=topics)
    chosen = np.zeros((users, items))
    for user in range(users):
        taste = rng.dirichlet(np.full(topics, alpha))
        n = 0
        while not 1 <= n <= items:
            n = rng.poisson(likes)
        for topic in rng.choice(topics, size=n, p=taste):
            chosen[user, rng.choice(items, p=themes[topic])] += 1
    return chosen


def ours(users: int, items: int, topics: int, likes: float, alpha: float, beta: float, seed: int) -> Floats:
    model = Lda(users=users, items=items, topics=topics, likes=likes, alpha=alpha, beta=beta, graded=True)
    found = model.like(seed)
    assert found.strength is not None
    chosen = np.zeros((users, items))
    chosen[found.row_users, found.items] = found.strength
    return chosen


def statistics(chosen: Floats) -> list[float]:
    """Choices, likes, how concentrated items and users are, and how alike two users are."""
    liked = chosen > 0
    return [
        chosen.sum(),
        liked.sum(),
        (chosen**2).sum(),
        (chosen.sum(axis=0) ** 2).sum(),
        (liked.sum(axis=0) ** 2).sum(),
        liked.sum(axis=0).max(),
        float(liked[0] @ liked[1].astype(float)),
        float(chosen[:, 0].sum()),
    ]


@pytest.mark.parametrize(("likes", "alpha", "beta"), [(6.0, 0.3, 0.5), (15.0, 1.0, 0.1), (2.0, 0.05, 2.0)])
def test_worlds_have_the_moments_of_the_model_choice_by_choice(likes: float, alpha: float, beta: float) -> None:
    a, b = (
        np.array([statistics(draw(8, 12, 3, likes, alpha, beta, 1000 * k + seed)) for seed in range(count)])
        for k, (draw, count) in enumerate(((ours, 600), (plain, 150)))
    )
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error)


def test_given_tastes_and_themes_items_are_chosen_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    themes, tastes = dirichlet(0.4, 4, 9, rng), dirichlet(0.7, 3, 4, rng)
    kept, other = alias_tables(themes)
    repeats = np.repeat(np.cumsum(tastes, axis=1), 20_000, axis=0)
    offsets, items, times = choose_items(repeats, kept, other, np.full(60_000, 3), rng)
    assert np.array_equal(np.add.reduceat(times, offsets[:-1]), np.full(60_000, 3))  # every choice is counted
    users = np.repeat(np.arange(60_000) // 20_000, np.diff(offsets))
    for user in range(3):
        seen = np.bincount(items[users == user], times[users == user], minlength=9)
        expected = tastes[user] @ themes * 60_000
        keep = expected > 1
        assert seen[~keep].sum() < 20
        assert chisquare(seen[keep], expected[keep] * seen[keep].sum() / expected[keep].sum()).pvalue > 1e-4


@given(width=st.integers(1, 40), concentration=st.floats(1e-4, 50), seed=st.integers(0, 100))
def test_an_alias_table_holds_its_distribution_exactly(width: int, concentration: float, seed: int) -> None:
    themes = dirichlet(concentration, 3, width, seed)
    kept, other = alias_tables(themes)
    for topic in range(3):
        own = np.minimum(kept[topic], 1)
        mass = own + np.bincount(other[topic], 1 - own, minlength=width)
        assert mass / width == pytest.approx(themes[topic], abs=1e-12)


@pytest.mark.parametrize("concentration", [5e-324, 1e-305, 1e-20, 1e-3, 1.0, 1e3, 1e12])
def test_mixes_are_distributions_however_small_the_concentration(concentration: float) -> None:
    mixes = dirichlet(concentration, 200, 7, 4)
    assert np.isfinite(mixes).all()
    assert mixes.sum(axis=1) == pytest.approx(1)
    if concentration <= 1e-20:
        assert np.all(np.isin(mixes, (0, 1)))  # all on one item


@pytest.mark.parametrize("concentration", [0.02, 0.3, 4.0])
def test_mixes_have_the_mean_and_the_variance_of_a_dirichlet(concentration: float) -> None:
    """Mean 1/w and variance (1/w)(1 - 1/w) / (w a + 1)."""
    count, width = 20_000, 5
    mixes = dirichlet(concentration, count, width, 5)
    variance = (1 / width) * (1 - 1 / width) / (width * concentration + 1)
    assert np.all(np.abs(mixes.mean(axis=0) - 1 / width) < 4 * np.sqrt(variance / count))
    squares = (mixes - 1 / width) ** 2
    assert np.all(np.abs(squares.mean(axis=0) - variance) < 4 * squares.std(axis=0) / np.sqrt(count))


@pytest.mark.parametrize(("mean", "most"), [(0.05, 4), (3.0, 5), (40.0, 60), (100.0, 30), (7.0, 1)])
def test_poisson_numbers_are_those_that_lie_within(mean: float, most: int) -> None:
    drawn = truncated_poisson(mean, most, 30_000, 6)
    numbers = np.arange(1, most + 1)
    expected = poisson.pmf(numbers, mean) / poisson.pmf(numbers, mean).sum() * len(drawn)
    seen = np.bincount(drawn, minlength=most + 1)[1:]
    assert seen.sum() == len(drawn)
    keep = expected > 5
    assert seen[~keep].sum() <= max(40, 3 * expected[~keep].sum())
    if keep.sum() > 1:
        assert chisquare(seen[keep], expected[keep] * seen[keep].sum() / expected[keep].sum()).pvalue > 1e-4
    assert drawn.mean() <= poisson_bound(mean, most) + 4 * drawn.std() / np.sqrt(len(drawn))


@pytest.mark.parametrize("mean", [1e-300, 1e300])
def test_poisson_numbers_of_extreme_means_are_the_ends(mean: float) -> None:
    assert set(truncated_poisson(mean, 50, 100, 0)) == {1 if mean < 1 else 50}


def test_strength_is_how_often_an_item_was_chosen_and_changes_no_like() -> None:
    model = Lda(users=50, items=30, likes=40)
    graded = Lda(users=50, items=30, likes=40, graded=True).like(7)
    assert graded.strength is not None
    assert model.like(7).strength is None
    assert np.array_equal(model.like(7).items, graded.items)
    assert graded.strength.min() == 1
    assert graded.strength.max() > 1
    assert graded.strength.sum() >= len(graded)


@settings(max_examples=40)
@given(
    users=st.integers(1, 30),
    items=st.integers(1, 30),
    topics=st.integers(1, 6),
    likes=st.floats(0.01, 100),
    alpha=st.floats(1e-6, 10),
    beta=st.floats(1e-6, 10),
)
def test_any_parameters_give_well_formed_likes(
    users: int, items: int, topics: int, likes: float, alpha: float, beta: float
) -> None:
    found = Lda(users=users, items=items, topics=topics, likes=likes, alpha=alpha, beta=beta).like(0)
    assert (found.n_users, found.n_items) == (users, items)
    assert found.counts.min() >= 1
    keys = found.row_users.astype(int) * items + found.items
    assert np.all(np.diff(keys) > 0)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("lda(items=0)", "lda(items=0): expected 1 or more"),
        ("lda(topics=0)", "expected 1 or more"),
        ("lda(likes=0)", "lda(likes=0): expected a number above 0"),
        ("lda(alpha=-1)", "lda(alpha=-1): expected a number above 0"),
        ("lda(beta=nan)", "expected a number above 0"),
        ("lda(users=10000000, topics=20)", "lda(topics=20): expected at most 5 with these numbers of users and items"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(word: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Lda.from_word(word)
    assert says in str(refused.value)
