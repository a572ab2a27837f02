"""Top-k over the catalogue against a sort: ties shared, seen items out, any blocks and threads."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.errors import ConfigError, DataError
from unskew.ranking import (
    CallableScorer,
    FactorScorer,
    ListScorer,
    MatrixScorer,
    Scorer,
    Threads,
    TopLists,
    count_top,
    top_kernel,
    top_lists,
)
from unskew.testing.oracles import candidates_of
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld

Listed = dict[int, dict[int, int]]  # user to item to score


def slow_top(scores: dict[int, int], k: int) -> tuple[list[int], dict[int, Fraction]]:
    """The list with ties in the order of items, and each item's chance to be in it when ties are in random order."""
    order = sorted(scores, key=lambda item: (-scores[item], item))
    if len(order) <= k:
        return order, dict.fromkeys(order, Fraction(1))
    edge = scores[order[k - 1]]
    above = [item for item in order if scores[item] > edge]
    level = [item for item in order if scores[item] == edge]
    chances = dict.fromkeys(above, Fraction(1)) | dict.fromkeys(level, Fraction(k - len(above), len(level)))
    return order[:k], chances


def slow_answers(
    world: IntegerWorld, k: int, *, trained: bool, listed: Listed | None = None
) -> tuple[dict[int, list[int]], np.ndarray]:
    """Lists by user and counts by item."""
    lists, counts = {}, [Fraction(0)] * world.n_items
    for user in sorted({owner for owner, _ in world.train}):
        own = dict(enumerate(world.scores[user])) if listed is None else listed.get(user, {})
        allowed = candidates_of(world, user, "trained" if trained else "unseen")
        lists[user], chances = slow_top({item: own[item] for item in allowed if item in own}, k)
        for item, chance in chances.items():
            counts[item] += chance
    return lists, np.array([float(count) for count in counts])


def as_lists(top: TopLists) -> dict[int, list[int]]:
    return {int(user): [int(item) for item in row if item >= 0] for user, row in zip(top.users, top.items, strict=True)}


def scorers_of(world: IntegerWorld) -> list[Scorer]:
    matrix = world.matrix
    shifted = np.roll(np.arange(world.n_items), 1)  # columns that are not in the order of the catalogue
    return [
        MatrixScorer(matrix),
        FactorScorer(np.eye(len(matrix), dtype=np.float32), matrix.T.astype(np.float32)),
        MatrixScorer(matrix[:, shifted], item_ids=shifted, user_ids=np.arange(world.n_users)),
    ]


@pytest.mark.parametrize("catalogue", ["trained", "all"])
@settings(max_examples=60)
@given(world=integer_worlds(), k=st.integers(1, 6))
def test_counts_and_lists_agree_with_a_sort(world: IntegerWorld, k: int, catalogue: str) -> None:
    if not world.train:
        return
    split = world.split("unseen")
    lists, counts = slow_answers(world, k, trained=catalogue == "trained")
    for scorer in scorers_of(world):
        top = count_top(scorer, split, k, catalogue=catalogue)  # type: ignore[arg-type]
        assert top.counts == pytest.approx(counts, abs=1e-12)
        assert (top.k, top.n_users, top.outside) == (k, len(lists), 0)
        assert as_lists(top_lists(scorer, split, k, catalogue=catalogue)) == lists  # type: ignore[arg-type]


@settings(max_examples=60)
@given(world=integer_worlds(), k=st.integers(1, 6), data=st.data())
def test_what_a_top_n_list_leaves_out_is_never_recommended(world: IntegerWorld, k: int, data: st.DataObject) -> None:
    if not world.train:
        return
    items = st.lists(st.integers(0, world.n_items - 1), min_size=1, unique=True)
    chosen = {user: data.draw(items) for user in range(world.n_users)}
    rows = [(user, item, world.scores[user][item]) for user, own in chosen.items() for item in own]
    users, places, scores = zip(*rows, strict=True)
    listed: Listed = {}
    for user, item, score in rows:
        listed.setdefault(user, {})[item] = score
    lists, counts = slow_answers(world, k, trained=True, listed=listed)
    scorer = ListScorer.from_table(list(users), list(places), np.array(scores, dtype=float))
    assert count_top(scorer, world.split("unseen"), k, block_size=2).counts == pytest.approx(counts, abs=1e-12)
    assert as_lists(top_lists(scorer, world.split("unseen"), k)) == lists


@settings(max_examples=25)
@given(world=integer_worlds(), k=st.integers(1, 5), block=st.integers(1, 4), threads=st.integers(1, 3))
def test_blocks_and_threads_do_not_matter(world: IntegerWorld, k: int, block: int, threads: int) -> None:
    if not world.train:
        return
    scorer, split = MatrixScorer(world.matrix), world.split("unseen")
    whole = count_top(scorer, split, k, engine=Threads(1))
    parts = count_top(scorer, split, k, block_size=block, engine=Threads(1))
    spread = count_top(scorer, split, k, block_size=block, engine=Threads(threads))
    assert parts.counts == pytest.approx(whole.counts, abs=1e-12)
    assert spread.counts.tobytes() == parts.counts.tobytes()
    lists = [top_lists(scorer, split, k, engine=Threads(1)), top_lists(scorer, split, k, block_size=block)]
    assert np.array_equal(lists[0].items, lists[1].items)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=40)
@given(
    n=st.integers(1, 1500),
    k=st.integers(1, 60),
    levels=st.sampled_from([2, 5, 100, 100_000]),
    absent=st.sampled_from([0.0, 0.5, 0.99, 1.0]),
    scale=st.sampled_from([1.0, -1.0, 1e-30, 1e30]),
    seed=st.integers(0, 2**32 - 1),
)
def test_long_rows_agree_with_a_sort(
    n: int, k: int, levels: int, absent: float, scale: float, seed: int, dtype: type
) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, levels, (2, n))
    scores: np.ndarray = (whole * scale).astype(dtype)
    gone = rng.random((2, n)) < absent
    scores[gone] = -np.inf
    no_one = np.zeros(3, np.int64), np.empty(0, np.int32)
    lists = top_kernel.list_top(scores.copy(), *no_one, k)
    sure, shared = top_kernel.count_top(scores.copy(), *no_one, k)
    expected = [Fraction(0)] * n
    for row in range(2):
        sign = -1 if scale < 0 else 1
        own = {item: sign * int(whole[row, item]) for item in range(n) if not gone[row, item]}
        best, chances = slow_top(own, k)
        assert [int(item) for item in lists[row] if item >= 0] == best
        for item, chance in chances.items():
            expected[item] += chance
    assert sure + shared == pytest.approx(np.array([float(chance) for chance in expected]), abs=1e-12)


def test_items_tied_for_the_last_place_share_it() -> None:
    # user 0 has item 0; of items 1, 2, 3 the first is best and the others tie for the second place
    train = Interactions.from_arrays([0, 1, 1, 1], [0, 1, 2, 3], n_users=2, n_items=4)
    scorer = MatrixScorer(np.array([[9, 5, 1, 1.0], [3, 0, 0, 0]]))
    top = count_top(scorer, train, 2)
    assert top.counts.tolist() == [1, 1, 0.5, 0.5]  # user 1 has one candidate only, item 0
    assert top_lists(scorer, train, 2).items.tolist() == [[1, 2], [0, -1]]


def test_an_item_train_has_no_code_for_takes_a_place_outside() -> None:
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    scorer = MatrixScorer(np.array([[0, 1, 2.0], [0, 1, 2]]), user_ids=["a", "b"], item_ids=["x", "y", "new"])
    top = count_top(scorer, train, 1, catalogue="all")
    assert (top.counts.tolist(), top.outside) == ([0, 0], 2)
    assert top_lists(scorer, train, 1, catalogue="all").items.tolist() == [[-1], [-1]]
    known = count_top(scorer, train, 1)
    assert (known.counts.tolist(), known.outside, known.catalogue.tolist()) == ([1, 1], 0, [0, 1])


def test_users_without_a_training_row_or_unknown_to_the_model_are_not_recommended_to() -> None:
    train = Interactions.from_arrays([0, 1], [0, 1], n_users=3, n_items=3)
    scorer = MatrixScorer(np.zeros((2, 3)), user_ids=[0, 2], item_ids=[0, 1, 2])
    assert count_top(scorer, train, 1, catalogue="all").n_users == 1
    assert top_lists(scorer, train, 1).users.tolist() == [0]


def test_an_item_listed_twice_counts_where_it_stands_first() -> None:
    train = Interactions.from_arrays([0, 1, 1, 1], [3, 0, 1, 2], n_users=2, n_items=4)
    scorer = ListScorer.from_arrays(np.array([[0, 1, 0], [3, -1, -1]]), n_items=4)
    assert top_lists(scorer, train, 2).items.tolist() == [[0, 1], [3, -1]]
    assert count_top(scorer, train, 2).counts.tolist() == [1, 1, 0, 1]


def test_the_scorer_keeps_its_own_array() -> None:
    matrix = np.array([[1.0, 2, 3], [3, 2, 1]])
    matrix.setflags(write=False)
    train = Interactions.from_arrays([0, 1], [2, 0], n_users=2, n_items=3)
    count_top(CallableScorer(lambda users: matrix[users[0] : users[-1] + 1]), train, 1, catalogue="all")
    assert matrix.tolist() == [[1, 2, 3], [3, 2, 1]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_named(bad: float) -> None:
    train = Interactions.from_arrays(["ann", "bob"], ["x", "y"])
    with pytest.raises(DataError, match="user bob, item x the score"):
        count_top(MatrixScorer(np.array([[0, 1], [bad, 1]])), train, 1)


def test_progress_is_told_of_every_block() -> None:
    train = Interactions.from_arrays([0, 1, 2], [0, 1, 0], n_users=3, n_items=2)
    told: list[tuple[int, int]] = []
    for ask in (count_top, top_lists):
        told.clear()
        ask(MatrixScorer(np.zeros((3, 2))), train, 1, block_size=2, progress=lambda *step: told.append(step))
        assert told == [(1, 2), (2, 2)]


def test_bad_requests_are_refused_with_a_hint() -> None:
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=2)
    scorer = MatrixScorer(np.zeros((1, 2)))
    with pytest.raises(ConfigError, match="must be at least 1"):
        count_top(scorer, train, 0)
    with pytest.raises(ConfigError, match="unknown catalogue 'al'; did you mean 'all'"):
        count_top(scorer, train, 1, catalogue="al")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="knows no user of train"):
        count_top(MatrixScorer(np.zeros((1, 2)), user_ids=[7], item_ids=[0, 1]), train, 1)


def test_the_test_part_tells_what_the_rows_of_a_scorer_without_ids_stand_for() -> None:
    train, test = Interactions.from_arrays(["b"], ["y"]), Interactions.from_arrays(["a"], ["x"])
    scorer = MatrixScorer(np.array([[0, 1], [1, 0.0]]))  # rows a, b; columns x, y
    assert top_lists(scorer, Split(train, test), 1, catalogue="all").users.tolist() == [1]
