"""What is observed, held out, and how likely it was. Fixed seeds; |z| < 4 or p > 1e-4 for each test."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from unskew.arrays import Floats, Ints
from unskew.simulators.observation_kernel import (
    TEST,
    TRAIN,
    draw_disliked,
    draw_observed,
    hold_out,
    solve_chances,
    solve_time,
)

WEIGHTS = (1.0, 2.0, 4.0, 9.0)
NOTHING = np.empty(0)


def set_chances(weights: Sequence[float], n: int) -> dict[frozenset[int], float]:
    """Probability that the first n drawn in proportion to weight are this set, for every set, added over all ways."""
    total = sum(weights)

    @cache
    def chance(drawn: frozenset[int]) -> float:
        if not drawn:
            return 1.0
        return sum(
            chance(drawn - {last}) * weights[last] / (total - sum(weights[k] for k in drawn - {last})) for last in drawn
        )

    return {frozenset(each): chance(frozenset(each)) for each in combinations(range(len(weights)), n)}


def inclusion(weights: Sequence[float], n: int) -> Floats:
    """Probability of each to be among the first n drawn."""
    found = np.zeros(len(weights))
    for drawn, chance in set_chances(weights, n).items():
        found[list(drawn)] += chance
    return found


def observe(weights: Floats, likes: int, n: int, users: int, seed: int) -> Ints:
    """States of users who all have the same likes; one row a user."""
    state = np.zeros(users * likes, dtype=np.int8)
    offsets = np.arange(users + 1) * likes
    draw_observed(offsets, np.tile(weights, users), np.full(users, n), np.random.default_rng(seed), state)
    return state.reshape(users, likes)


def split(state: Ints, share: float, seed: int) -> Ints:
    users, likes = state.shape
    flat = state.ravel().copy()
    none = np.zeros(users + 1, dtype=np.int64)
    offsets = np.arange(users + 1) * likes
    hold_out(offsets, flat, none, np.empty(0, dtype=np.int8), share, np.random.default_rng(seed))
    return flat.reshape(users, likes)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_table_of_all_ways_is_the_sum_over_all_orders(n: int) -> None:
    expected = np.zeros(4)
    for order in permutations(range(4), n):
        chance, left = 1.0, sum(WEIGHTS)
        for item in order:
            chance *= WEIGHTS[item] / left
            left -= WEIGHTS[item]
        expected[list(order)] += chance
    assert inclusion(WEIGHTS, n) == pytest.approx(expected)
    assert expected.sum() == pytest.approx(n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_items_are_observed_as_often_as_in_drawing_one_after_another(n: int) -> None:
    """Each of four items, and each set of n, against the sum over all orders (Tian & Ekstrand 2020, section 3.2)."""
    users = 60_000
    seen = observe(np.array(WEIGHTS), 4, n, users, seed=n) > 0
    assert np.all(seen.sum(axis=1) == n)
    expected = inclusion(WEIGHTS, n)
    assert np.all(np.abs(seen.mean(axis=0) - expected) < 4 * np.sqrt(expected * (1 - expected) / users))
    sets = set_chances(WEIGHTS, n)
    counts = [np.count_nonzero(seen[:, sorted(each)].all(axis=1)) for each in sets]
    assert chisquare(counts, np.array(list(sets.values())) * users).pvalue > 1e-4


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_without_weights_every_set_is_alike_likely(n: int) -> None:
    seen = observe(NOTHING, 5, n, 30_000, seed=n) > 0
    counts = [np.count_nonzero(seen[:, list(each)].all(axis=1)) for each in combinations(range(5), n)]
    assert sum(counts) == 30_000
    assert chisquare(counts).pvalue > 1e-4


def test_nobody_observes_more_than_there_is_or_anything_when_the_size_is_0() -> None:
    for weights in (NOTHING, np.array(WEIGHTS)):
        assert np.all(observe(weights, 4, 9, 3, seed=0) == TRAIN)
        assert not observe(weights, 4, 0, 3, seed=0).any()


def test_a_fifth_rounded_is_held_out_so_one_or_two_rows_have_no_test_row() -> None:
    held = []
    for n in range(1, 13):
        state = split(observe(NOTHING, 12, n, 5, seed=n), 0.2, seed=n)
        assert np.all((state > 0).sum(axis=1) == n)
        (number,) = set((state == TEST).sum(axis=1).tolist())
        held.append(number)
    assert held == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]


def test_train_and_test_are_any_two_disjoint_sets_alike() -> None:
    """Given train, the test is thus a simple random sample of what is liked and not in train."""
    state = split(observe(NOTHING, 5, 4, 40_000, seed=1), 0.25, seed=2)
    codes, counts = np.unique(state @ 3 ** np.arange(5), return_counts=True)
    assert len(codes) == 20  # 5 not observed, times 4 held out
    assert chisquare(counts).pvalue > 1e-4


def test_liked_and_disliked_rows_are_held_out_alike() -> None:
    users, rng = 30_000, np.random.default_rng(3)
    state, extra = np.full(users * 3, TRAIN, dtype=np.int8), np.full(users * 2, TRAIN, dtype=np.int8)
    held = hold_out(np.arange(users + 1) * 3, state, np.arange(users + 1) * 2, extra, 0.4, rng)
    assert np.all(held == 2)
    counts = np.append(state.reshape(-1, 3), extra.reshape(-1, 2), axis=1) == TEST
    assert np.all(counts.sum(axis=1) == 2)
    assert np.all(np.abs(counts.mean(axis=0) - 0.4) < 4 * np.sqrt(0.24 / users))


def chances_of(weights: Floats, n: int, share: float) -> Floats:
    found = np.zeros(len(weights))
    solve_chances(np.array([0, len(weights)]), weights, np.array([n]), np.array([share]), found)
    return found


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_without_weights_p_is_exact(n: int) -> None:
    """Of 5 likes n are observed and 1 of those held out: 1 in 5 is in the test, and 5 - (n - 1) are not in train."""
    assert chances_of(np.ones(5), n, 1 / n) == pytest.approx(np.full(5, 1 / (5 - (n - 1))), rel=1e-8)


@pytest.mark.parametrize(
    ("weights", "worst", "mean"),
    [
        (np.array(WEIGHTS), 0.23, 0.12),
        (np.geomspace(1, 10, 8), 0.095, 0.041),
        (np.linspace(1, 5, 10), 0.065, 0.022),
        (np.geomspace(1, 100, 12), 0.12, 0.05),
    ],
    ids=["four", "eight, 1 to 10", "ten, 1 to 5", "a dozen, 1 to 100"],
)
def test_p_is_near_the_sum_over_all_ways(weights: Floats, worst: float, mean: float) -> None:
    """For every number of rows and a fifth held out; the bounds are what was found first, rounded up."""
    errors = []
    for n in range(1, len(weights)):
        p = inclusion(tuple(weights), n)
        exact = 0.2 * p / (1 - 0.8 * p)
        errors.append(np.abs(chances_of(weights, n, 0.2) / exact - 1))
    assert np.max(errors) < worst
    assert np.mean(errors) < mean


@given(
    weights=st.lists(st.floats(0.5, 1e6), min_size=1, max_size=30),
    place=st.floats(0, 1),
)
def test_the_time_matches_the_number_of_rows(weights: list[float], place: float) -> None:
    wanted = 1 + int(place * (len(weights) - 1))
    time = solve_time(np.array(weights), float(wanted))
    assert -np.expm1(-np.array(weights) * time).sum() == pytest.approx(wanted, rel=1e-8)


@given(weights=st.lists(st.floats(1, 1e5), min_size=1, max_size=30), place=st.floats(0, 1), share=st.floats(0.01, 0.99))
def test_p_is_a_probability_and_grows_with_the_weight(weights: list[float], place: float, share: float) -> None:
    found = chances_of(np.array(sorted(weights)), 1 + int(place * (len(weights) - 1)), share)
    assert np.all(found > 0)
    assert np.all(found <= 1)
    assert np.all(np.diff(found) >= -1e-12)


@pytest.mark.parametrize(
    "popularity", [(3.0, 1.0, 2.0, 0.0, 5.0, 4.0), (1000.0, 1.0, 2.0, 0.0, 3.0, 4.0), (1e7, 1.0, 1.0, 0.0, 2.0, 1.0)]
)
def test_disliked_items_are_drawn_one_after_another_in_proportion_to_weight(popularity: tuple[float, ...]) -> None:
    """Also where nearly all the weight is on what is liked, here the first item; what has no weight is never drawn."""
    users = 20_000
    starts, drawn = draw_disliked(
        np.arange(users + 1),
        np.zeros(users, dtype=np.int32),
        np.cumsum(popularity),
        np.full(users, 2),
        np.random.default_rng(4),
    )
    assert np.array_equal(starts, 2 * np.arange(users + 1))
    pairs = drawn.reshape(-1, 2)
    assert np.all(pairs[:, 0] < pairs[:, 1])
    others = (1, 2, 4, 5)
    expected = inclusion([popularity[item] for item in others], 2)
    seen = np.bincount(drawn, minlength=6) / users
    assert seen[0] == seen[3] == 0
    assert np.all(np.abs(seen[list(others)] - expected) < 4 * np.sqrt(expected * (1 - expected) / users))
