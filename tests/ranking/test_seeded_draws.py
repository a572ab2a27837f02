"""Sampled candidates: the positives and n draws from outside train, validation and test; seeded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.evaluation.collecting.sampled_ranks import in_full
from unskew.ranking import MatrixScorer, Threads, prepare_contest, rank
from unskew.ranking.seeded_draws import draw_outside, join_rows
from unskew.testing.oracles import slow_rank
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld, listed_of, rows_of


@settings(max_examples=60)
@given(world=integer_worlds(max_items=12), n=st.integers(1, 12), seed=st.integers(0, 5))
def test_candidates_are_the_positives_and_n_draws_from_outside_all_parts(
    world: IntegerWorld, n: int, seed: int
) -> None:
    judged = world.test - world.train
    if not judged:
        return
    scorer = MatrixScorer(world.matrix)
    contest = prepare_contest({"model": scorer}, world.split(f"sampled({n})"), seed=seed)
    candidates = dict(zip(contest.users.tolist(), listed_of(contest), strict=True))
    for user, among in candidates.items():
        positives = {item for u, item in judged if u == user}
        touched = {item for u, item in world.train | world.validation | world.test if u == user}
        outside = set(range(world.n_items)) - touched
        assert len(among) == len(set(among))
        assert positives <= set(among)
        drawn = set(among) - positives
        assert drawn <= outside
        assert len(drawn) == min(n, len(outside))
    for user, item, above, tied, size in rows_of(rank(scorer, contest)):
        assert (above, tied) == slow_rank(world.scores[user], item, candidates[user], "expected")
        assert size == len(candidates[user])


def test_rows_that_are_no_positives_are_never_drawn() -> None:
    test = Interactions.from_arrays([0, 0], [1, 2], values=[5, 1], n_users=1, n_items=5)
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=5)
    split = Split(train, test, candidates="sampled(10)")
    contest = prepare_contest({"m": MatrixScorer(np.zeros((1, 5)))}, split, positive="rating>=4")
    assert listed_of(contest) == [[1, 3, 4]]


def drawn(seed: int, users: int = 50, items: int = 40, n: int = 5) -> list[list[int]]:
    offsets = np.zeros(users + 1, np.int64)
    places, chosen = draw_outside(seed, np.arange(users, dtype=np.int32), offsets, np.empty(0, np.int32), n, items)
    return [part.tolist() for part in np.split(chosen, places[1:-1])]


def test_rows_are_joined_in_order_each_item_once() -> None:
    offsets, more = np.array([0, 2, 2, 3]), np.array([0, 2, 3, 3])
    joined = join_rows(offsets, np.array([7, 1, 4], np.int32), more, np.array([1, 3, 5], np.int32))
    assert [column.tolist() for column in joined] == [[0, 3, 4, 5], [1, 3, 7, 5, 4]]


def test_the_seed_decides_and_users_differ() -> None:
    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)
    assert len({tuple(part) for part in drawn(3)}) == 50


def test_draws_do_not_depend_on_the_other_users_or_on_threads() -> None:
    rng = np.random.default_rng(0)
    train = Interactions.from_arrays(rng.integers(0, 40, 200), rng.integers(0, 30, 200), n_users=40, n_items=30)
    test = Interactions.from_arrays(rng.integers(0, 40, 90), rng.integers(0, 30, 90), n_users=40, n_items=30)
    scorer = MatrixScorer(rng.normal(size=(40, 30)))
    whole = Split(train, test, candidates="sampled(6)")
    part = Split(train, test.take(test.users < 10), candidates="sampled(6)")
    contests = [prepare_contest({"model": scorer}, split) for split in (whole, part)]
    rows, fewer = (
        rows_of(rank(scorer, c, engine=Threads(n), block_size=3)) for c, n in zip(contests, (2, 1), strict=True)
    )
    assert [row for row in rows if row[0] < 10] == fewer


@pytest.mark.parametrize("seed", range(3))
def test_every_item_is_drawn_equally_often(seed: int) -> None:
    """5 of 40 items for 4,000 users: chi-square with 39 degrees of freedom, 72.05 at an error rate of 0.001.

    Draws without replacement make the counts less spread than the multinomial, so the rate is an upper bound.
    """
    users, items, n = 4000, 40, 5
    counts = np.bincount(np.concatenate(drawn(seed, users, items, n)), minlength=items)
    expected = users * n / items
    assert np.sum((counts - expected) ** 2 / expected) < 72.05


@pytest.mark.parametrize("inside", [0, 1, 3])
def test_pairs_of_items_are_drawn_together_equally_often(inside: int) -> None:
    """2 of 6 items, 15 pairs, 6,000 users: chi-square with 14 degrees of freedom, 36.12 at an error rate of 0.001.

    With 3 more items that may not be drawn, more than half of all are taken in the end, and the others are shuffled;
    with fewer, an item that may not be drawn is drawn again.
    """
    offsets = np.arange(6001, dtype=np.int64) * inside
    taken = np.tile(np.arange(6, 6 + inside, dtype=np.int32), 6000)
    places, chosen = draw_outside(9, np.arange(6000, dtype=np.int32), offsets, taken, 2, 6 + inside)
    pairs = [tuple(part.tolist()) for part in np.split(chosen, places[1:-1])]
    counts = np.array([pairs.count((a, b)) for a in range(6) for b in range(a + 1, 6)])
    assert np.sum((counts - 400) ** 2 / 400) < 36.12


@settings(max_examples=60)
@given(world=integer_worlds(max_items=12), seed=st.integers(0, 5))
def test_in_full_all_that_could_be_drawn_are_candidates(world: IntegerWorld, seed: int) -> None:
    judged = sorted(world.test - world.train)
    if not judged:
        return
    scorer = MatrixScorer(world.matrix)
    contest = prepare_contest({"model": scorer}, world.split("sampled(2, correction=unbiased)"), seed=seed)
    assert contest.row_pool is not None
    chosen = np.arange(len(contest.users))[:: 1 + seed % 2]
    ranks = rank(scorer, in_full(contest, chosen))
    expected, pools = [], []
    for user, item in judged:
        touched = {i for u, i in world.train | world.validation | world.test if u == user}
        outside = set(range(world.n_items)) - touched
        candidates = outside | {i for u, i in judged if u == user}
        pools.append(len(outside))
        if user in contest.users[chosen]:
            expected.append((user, item, *slow_rank(world.scores[user], item, candidates, "expected"), len(candidates)))
    assert contest.row_pool.tolist() == pools
    assert rows_of(ranks) == expected
    assert ranks.pool is None
