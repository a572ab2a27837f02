"""Top-N lists: what is not listed was not recommended, and stands tied below the list."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split, evaluate
from unskew.errors import DataError
from unskew.ranking import ListScorer, MatrixScorer, Ranks, prepare_contest, rank
from unskew.testing.oracles import slow_rows
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld, rows_of

RULES = ["unseen", "all", "trained", "listed", "sampled(2)"]
TIES = ["expected", "optimistic", "pessimistic", "ordinal", "random"]


def lists_of(world: IntegerWorld) -> ListScorer:
    """List the items of positive score, with their scores; the others are left out."""
    padded = np.array([[i if s > 0 else -1 for i, s in enumerate(row)] for row in world.scores])
    return ListScorer.from_arrays(padded, world.matrix, n_items=world.n_items)


def dense_of(world: IntegerWorld) -> MatrixScorer:
    """The same as scores of all items: what is not listed shares the lowest."""
    return MatrixScorer(np.maximum(world.matrix, 0))


def ranked(scorer: object, split: Split, **options: object) -> Ranks:
    return rank(scorer, prepare_contest({"model": scorer}, split), **options)  # type: ignore[arg-type, dict-item]


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=60)
@given(world=integer_worlds(), ties=st.sampled_from(TIES))
def test_lists_rank_as_the_dense_scores_do(world: IntegerWorld, rule: str, ties: str) -> None:
    if not slow_rows(world, "unseen" if rule == "sampled(2)" else rule, "expected"):
        return
    split = world.split(rule)
    ranks = ranked(lists_of(world), split, ties=ties)
    assert rows_of(ranks) == rows_of(ranked(dense_of(world), split, ties=ties))
    assert ranks.listed is not None
    inside = [world.scores[user][item] > 0 for user, item in zip(ranks.users, ranks.items, strict=True)]
    assert (ranks.above < ranks.listed).tolist() == inside


@settings(max_examples=40)
@given(world=integer_worlds())
def test_blocks_and_paths_agree_on_how_many_candidates_are_listed(world: IntegerWorld) -> None:
    if not slow_rows(world, "unseen", "expected"):
        return
    lists, split = lists_of(world), world.split("unseen")
    inside_lists, dense = (ranked(lists, split, ties=ties) for ties in ("expected", "ordinal"))
    expected = [
        sum(s > 0 and (user, i) not in world.train for i, s in enumerate(world.scores[user]))
        for user in inside_lists.users
    ]
    for ranks in (inside_lists, dense):
        assert ranks.listed is not None
        assert ranks.listed.tolist() == expected


def test_without_scores_the_order_of_the_list_is_the_ranking() -> None:
    lists = ListScorer.from_arrays(np.array([[3, 1, 0], [2, -1, -1]]), n_items=4)
    parts = [Interactions.from_arrays([], [], n_users=2, n_items=4)]
    parts.append(Interactions.from_arrays([0, 0, 0, 1, 1], [3, 0, 2, 2, 1], n_users=2, n_items=4))
    ranks = ranked(lists, Split(*parts))
    # user 0: 0 is third, 2 is not listed, 3 is first; user 1: 1 shares the places below 2
    assert ranks.above.tolist() == [2, 3, 0, 1, 0]
    assert ranks.tied.tolist() == [0, 0, 0, 2, 0]
    assert ranks.listed is not None
    assert ranks.listed.tolist() == [3, 3, 3, 1, 1]


def test_seen_items_inside_a_list_take_no_place() -> None:
    lists = ListScorer.from_arrays(np.array([[0, 1, 2]]), n_items=5)
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=5)
    test = Interactions.from_arrays([0, 0], [2, 4], n_users=1, n_items=5)
    ranks = ranked(lists, Split(train, test))
    assert ranks.above.tolist() == [1, 2]
    assert ranks.tied.tolist() == [0, 1]
    assert ranks.candidates.tolist() == [4, 4]
    assert ranks.listed is not None
    assert ranks.listed.tolist() == [2, 2]


def test_an_empty_list_leaves_all_tied() -> None:
    lists = ListScorer.from_arrays(np.array([[-1, -1], [0, 1]]), n_items=4)
    test = Interactions.from_arrays([0], [2], n_users=2, n_items=4)
    ranks = ranked(lists, Split(Interactions.from_arrays([], [], n_users=2, n_items=4), test))
    assert (ranks.above.tolist(), ranks.tied.tolist()) == ([0], [3])


def test_what_is_not_listed_gains_nothing_at_a_cut_off_unless_asked() -> None:
    """2 listed of 6; the cut-off 5 looks beyond the list: 3 of 4 places left for each of the 4 others."""
    lists = ListScorer.from_arrays(np.array([[0, 1]]), n_items=6)
    parts = (
        Interactions.from_arrays([], [], n_users=1, n_items=6),
        Interactions.from_arrays([0], [5], n_users=1, n_items=6),
    )
    settled = {"metrics": ["recall@5", "auc"], "estimators": ["aoa"]}
    zero = evaluate({"m": lists}, Split(*parts), **settled)
    tied = evaluate({"m": lists}, Split(*parts), unlisted="tied", **settled)
    assert zero.value("m", "recall@5", "aoa") == 0
    assert tied.value("m", "recall@5", "aoa") == pytest.approx(3 / 4)
    assert zero.value("m", "auc", "aoa") == tied.value("m", "auc", "aoa") == pytest.approx(1 - 3.5 / 6)
    assert any(
        "lists at most 2 candidates per user, fewer than the cut-off of recall@5" in text for text in zero.warnings
    )


def test_a_dense_table_equals_the_matrix() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 3, (4, 6)).astype(float)
    users, items = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    order = rng.permutation(24)
    table = ListScorer.from_table(users[order], items[order], matrix.ravel()[order])
    train = Interactions.from_arrays([0, 1, 2, 3], [0, 1, 2, 3], n_users=4, n_items=6)
    test = Interactions.from_arrays([0, 1, 2, 3], [5, 5, 4, 0], n_users=4, n_items=6)
    assert rows_of(ranked(table, Split(train, test))) == rows_of(ranked(MatrixScorer(matrix), Split(train, test)))


def test_tables_take_text_and_numbers_for_the_same_ids() -> None:
    frame = pl.DataFrame({"user": ["1", "1", "2"], "item": [10, 9, 9], "score": [0.5, 1.5, 2.5]})
    lists = ListScorer.from_frame(frame)
    assert np.asarray(lists.user_ids).tolist() == [1, 2]
    assert np.asarray(lists.item_ids).tolist() == [9, 10]
    assert lists.score(np.array([1, 0])).tolist() == [[2.5, -np.inf], [1.5, 0.5]]


@pytest.mark.parametrize(
    ("items", "scores", "says"),
    [
        ([[0, 5]], None, "item 5 is in a list"),
        ([0, 1], None, "matrix of integers"),
        ([[0.5, 1]], None, "matrix of integers"),
        ([[0, 1]], [[1.0]], "must have the same shape"),
        ([[0, 1]], [[1.0, np.nan]], "not a finite number"),
    ],
)
def test_lists_that_do_not_fit_are_refused(items: list[object], scores: object, says: str) -> None:
    with pytest.raises(DataError, match=says):
        ListScorer.from_arrays(np.array(items), None if scores is None else np.array(scores), n_items=4)


def test_padding_needs_no_score() -> None:
    lists = ListScorer.from_arrays(np.array([[0, -1]]), np.array([[1.0, np.nan]]), n_items=2)
    assert lists.score(np.array([0])).tolist() == [[1.0, -np.inf]]


@pytest.mark.parametrize(
    ("scores", "items", "says"),
    [
        ([1.0, np.inf], ["a", "b"], r"row 2 \(user v, item b\) has score inf"),
        ([1.0, np.nan], ["a", "b"], r"row 2 \(user v, item b\) has score nan"),
    ],
)
def test_tables_with_scores_that_are_not_finite_are_refused(scores: list[float], items: list[str], says: str) -> None:
    with pytest.raises(DataError, match=says):
        ListScorer.from_table(["u", "v"], items, scores)


def test_tables_with_two_scores_for_one_pair_are_refused() -> None:
    with pytest.raises(DataError, match="user u, item a has more than one score"):
        ListScorer.from_table(["u", "v", "u"], ["a", "a", "a"], [1.0, 2.0, 3.0])


def test_ids_must_number_the_rows() -> None:
    with pytest.raises(DataError, match="2 user_ids for 1 rows"):
        ListScorer.from_arrays(np.array([[0]]), user_ids=["a", "b"])
    with pytest.raises(DataError, match="3 item_ids for 2 rows"):
        ListScorer.from_arrays(np.array([[0]]), n_items=2, item_ids=["a", "b", "c"])
