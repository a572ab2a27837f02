"""Scores that all users share are ranked as any model with these scores is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.ranking import Contest, MatrixScorer, prepare_contest, rank
from unskew.ranking.shared_order import rank_shared

COLUMNS = ("users", "items", "above", "tied", "candidates")


def contest_of(scores: np.ndarray, train: list[tuple[int, int]], test: list[tuple[int, int]], rule: str) -> Contest:
    """The contest of a matrix that gives every user these scores."""
    sizes = {"n_users": 4, "n_items": len(scores)}
    parts = [
        Interactions.from_arrays(np.array([u for u, _ in rows], int), np.array([i for _, i in rows], int), **sizes)
        for rows in (train, test)
    ]
    matrix = MatrixScorer(np.tile(scores, (4, 1)).astype(float))
    return prepare_contest({"shared": matrix}, Split(*parts, candidates=rule))


def test_the_user_of_a_popular_item_has_one_item_less_above() -> None:
    scores = np.array([9.0, 5, 5, 1])  # user 0 has item 0 already, so item 1 ties with item 2 for the first place
    contest = contest_of(scores, [(0, 0), (1, 3)], [(0, 1), (1, 1)], "unseen")
    ranks = rank_shared(scores, contest, name="shared")
    assert ranks.above.tolist() == [0, 1]
    assert ranks.tied.tolist() == [1, 1]
    assert ranks.candidates.tolist() == [3, 3]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_ranks_are_those_of_a_matrix(data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 12))
    scores = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    pairs = [(u, i) for u in range(4) for i in range(n)]
    held = data.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=10, unique=True))
    seen = data.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=20, unique=True))
    rule = data.draw(st.sampled_from(["unseen", "all", "listed", "sampled(2)"]))
    ties = data.draw(st.sampled_from(["expected", "optimistic", "pessimistic", "ordinal", "random"]))
    train = [pair for pair in seen if pair not in held] or [next(pair for pair in pairs if pair not in held)]
    contest = contest_of(scores, train, held, rule)
    matrix = MatrixScorer(np.tile(scores, (4, 1)))
    expected = rank(matrix, contest, name="shared", ties=ties, seed=3)
    got = rank_shared(scores, contest, name="shared", ties=ties, seed=3)
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(got, column), getattr(expected, column))
    assert got.sha256 == expected.sha256


@pytest.mark.parametrize("ties", ["expected", "pessimistic"])
def test_equal_scores_tie_all_candidates(ties: str) -> None:
    contest = contest_of(np.zeros(6), [(0, 0), (0, 1)], [(0, 2), (1, 2)], "unseen")
    ranks = rank_shared(np.zeros(6), contest, name="shared", ties=ties)
    assert ranks.tied.tolist() == [3, 5]
    assert ranks.above.tolist() == ([0, 0] if ties == "expected" else [3, 5])
