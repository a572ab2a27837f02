"""Sums over rows of 32 bits, which a network sorts, against a plain sort: ties, large cells, minus infinity, sizes."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unskew.arrays import Floats
from unskew.ranking.all_candidates.candidate_kernel import sum_rows
from unskew.ranking.all_candidates.cell_kernel import FEWEST, MOST, arranged, chance_at, pair_space, sum_pairs
from unskew.ranking.all_candidates.sorting_network import REACH, STEP

LOWEST = np.finfo(np.float32).min
POLICIES = ["expected", "optimistic", "pessimistic"]
NO_LISTS = (np.empty(0), np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0), np.zeros(1, np.int64))
KINDS = ["normal", "uniform", "skewed", "heavy", "rounded", "integers", "outlier", "two heaps", "zeros", "constant"]


def row_of(kind: str, n: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    row = rng.standard_normal(n)
    if kind == "uniform":
        row = rng.random(n)
    elif kind == "skewed":
        row = rng.gamma(3, size=n)
    elif kind == "heavy":
        row = rng.standard_t(3, size=n)
    elif kind == "rounded":
        row = np.round(row * 5000) / 5000
    elif kind == "integers":
        row = np.round(row * 3)
    elif kind == "outlier":
        row[n // 2] = 1e30
    elif kind == "two heaps":
        row = np.where(row > 0, 5 + row * 1e-3, row)
    elif kind == "zeros":
        row[rng.random(n) < 10 / n] = 0.0
        row[rng.random(n) < 10 / n] = -0.0
    elif kind == "constant":
        row[:] = 2
    return row.astype(np.float32)


def chances_of(n: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).random(n)
    return np.where(drawn < 0.2, 0, np.where(drawn > 0.9, 1, drawn)).astype(np.float32)


def placed_chances(row: Floats, chances: Floats, policy: str) -> Floats:
    """Chances by place, best score first; those of equal scores are shared."""
    order = np.argsort(-row.astype(float), kind="stable")
    placed, sorted_row = chances[order].astype(float), row[order]
    edges = np.flatnonzero(sorted_row[1:] != sorted_row[:-1]) + 1
    for group in np.split(np.arange(len(row)), edges):
        total = placed[group].sum()
        placed[group] = total / len(group) if policy == "expected" else 0
        if policy != "expected":
            placed[group[0 if policy == "optimistic" else -1]] = total
    return placed


def summed(row: Floats, chances: Floats, excluded: Floats, policy: str) -> tuple[Floats, ...]:
    """Mass, sum of places and sums by table (two of them long) from the kernel."""
    n = len(row)
    tables = [1 / np.log2(np.arange(n) + 2), np.ones(min(n, 50)), np.sqrt(np.arange(n)), np.ones(min(n, 10))]
    offsets = np.cumsum([0, *(len(table) for table in tables)])
    cut = np.array([False, True, False, True])
    mass, _, places, sums, _, _, outside = sum_rows(
        row[None].copy(),
        chances[None, None].copy(),
        np.array([0, len(excluded)]),
        excluded.astype(np.int32),
        np.array([n - len(excluded)]),
        np.ones(1, bool),
        False,
        POLICIES.index(policy),
        0,
        True,
        (np.concatenate(tables), offsets, cut),
        NO_LISTS,
    )
    assert outside[0, 0] == 0
    return mass[0, 0], places[0, 0], sums[0, 0]


def assert_agrees(row: Floats, chances: Floats, excluded: Floats, policy: str) -> None:
    kept = np.setdiff1d(np.arange(len(row)), excluded)
    placed = placed_chances(row[kept], chances[kept], policy)
    m = np.arange(len(kept))
    mass, places, sums = summed(row, chances, excluded, policy)
    np.testing.assert_allclose(mass, placed.sum(), rtol=1e-12)
    np.testing.assert_allclose(places, (placed * m).sum(), rtol=1e-12)
    wanted = [(placed / np.log2(m + 2)).sum(), placed[:50].sum(), (placed * np.sqrt(m)).sum(), placed[:10].sum()]
    np.testing.assert_allclose(sums, wanted, rtol=1e-12)


def suits(row: Floats) -> bool:
    n = len(row)
    chances = chances_of(n, 0)
    candidates = int((row >= LOWEST).sum())
    return bool(sum_pairs(row, chances, candidates, LOWEST, np.zeros(n + STEP), (row, chances), pair_space(n))[0])


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(FEWEST, 3000),
    seed=st.integers(0, 1000),
    share=st.sampled_from([0, 0.01, 0.5]),
    unscored=st.sampled_from([0, 0, 3]),
    policy=st.sampled_from(POLICIES),
)
@example("normal", 20_001, 0, 0.01, 0, "expected")
@example("rounded", 20_000, 0, 0.01, 0, "pessimistic")
@example("zeros", 20_003, 1, 0, 0, "expected")
def test_rows_of_any_shape_agree_with_a_plain_sort(
    kind: str, n: int, seed: int, share: float, unscored: int, policy: str
) -> None:
    row, rng = row_of(kind, n, seed), np.random.default_rng(seed)
    excluded = np.flatnonzero(rng.random(n) < share)
    row[rng.integers(0, n, unscored)] = -np.inf
    assert_agrees(row, chances_of(n, seed), excluded, policy)


@pytest.mark.parametrize("n", [1, 7, FEWEST - 1, FEWEST, FEWEST + 1, 20_001, MOST, MOST + 1, 70_000])
def test_rows_of_any_size_agree_with_a_plain_sort(n: int) -> None:
    assert_agrees(row_of("normal", n, n), chances_of(n, n), np.arange(0), "expected")


@settings(max_examples=60, deadline=None)
@given(scores=st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
@example([0.0, -0.0, 1e-45, -1e-45])
def test_some_scores_of_any_kind_among_normal_ones(scores: list[float]) -> None:
    row = row_of("normal", 600, 0)
    row[100 : 100 + len(scores)] = scores
    assert_agrees(row, chances_of(600, 1), np.arange(0), "expected")


@pytest.mark.parametrize("kind", ["normal", "uniform", "skewed", "rounded", "outlier", "zeros"])
def test_usual_rows_suit_the_network(kind: str) -> None:
    assert suits(row_of(kind, 20_000, 0))


@pytest.mark.parametrize("kind", ["integers", "two heaps", "constant"])
def test_rows_with_crowded_cells_are_refused(kind: str) -> None:
    assert not suits(row_of(kind, 20_000, 0))


def test_rows_with_a_candidate_without_a_score_are_refused() -> None:
    row = row_of("normal", 1000, 0)
    row[3] = -np.inf
    assert suits(row)
    pair = row, chances_of(1000, 0)
    assert not sum_pairs(*pair, 1000, LOWEST, np.zeros(1000 + STEP), pair, pair_space(1000))[0]


def test_large_cells_are_sorted() -> None:
    row = row_of("normal", 5000, 0)
    row[:60] = 1 + np.arange(60)[::-1] * np.float32(2.0**-23)  # far more than the network sorts
    assert REACH < 60
    assert suits(row)
    assert_agrees(row, chances_of(5000, 0), np.arange(0), "expected")


def test_the_order_is_that_of_the_scores() -> None:
    row = np.random.default_rng(0).permutation(np.linspace(-3, 2, 4000, dtype=np.float32))
    chances = ((row + 3) / 5).astype(np.float32)
    table, work = arranged(np.ones(4000), 4000), pair_space(4000)
    assert sum_pairs(row, chances, 4000, LOWEST, table, (row, chances), work)[0]
    assert [chance_at(work[3], place) for place in range(4000)] == sorted(chances.tolist(), reverse=True)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, -np.inf])
def test_chances_outside_the_unit_interval_are_counted(bad: float) -> None:
    row, chances = row_of("normal", 1000, 0), chances_of(1000, 0)
    chances[[5, 700]] = bad
    results = sum_rows(
        row[None],
        chances[None, None],
        np.zeros(2, np.int64),
        np.empty(0, np.int32),
        np.array([1000]),
        np.ones(1, bool),
        False,
        0,
        0,
        True,
        (np.empty(0), np.zeros(1, np.int64), np.empty(0, bool)),
        NO_LISTS,
    )
    assert results[-1].tolist() == [[2]]


def test_a_chance_of_minus_zero_is_zero() -> None:
    chances = chances_of(1000, 0)
    chances[5] = -0.0
    assert_agrees(row_of("normal", 1000, 0), chances, np.arange(0), "expected")
