"""Rank() against a slow oracle: every candidate rule and tie policy, any blocks and threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.errors import ConfigError, DataError
from unskew.ranking import (
    CallableScorer,
    FactorScorer,
    MatrixScorer,
    Ranks,
    Scorer,
    Threads,
    default_block_size,
    prepare_contest,
    rank,
)
from unskew.testing.oracles import slow_rows
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld, rows_of

RULES = ["unseen", "all", "trained", "listed"]
FIXED = ["expected", "optimistic", "pessimistic", "ordinal"]


def factors_of(matrix: np.ndarray, dtype: type = np.float32) -> FactorScorer:
    """Factors whose product is the matrix, exactly."""
    return FactorScorer(np.eye(len(matrix), dtype=dtype), matrix.T.astype(dtype))


def ranked(scorer: Scorer, split: Split, **options: object) -> Ranks:
    return rank(scorer, prepare_contest({"model": scorer}, split), **options)  # type: ignore[arg-type]


def refused(world: IntegerWorld, rule: str) -> bool:
    """Whether no row can be judged, which must then be said."""
    if slow_rows(world, rule, "expected"):
        return False
    with pytest.raises(DataError, match="no test row is left"):
        ranked(MatrixScorer(world.matrix), world.split(rule))
    return True


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=60)
@given(world=integer_worlds())
def test_ranks_agree_with_the_oracle(world: IntegerWorld, rule: str) -> None:
    if refused(world, rule):
        return
    scorer = MatrixScorer(world.matrix)
    contest = prepare_contest({"model": scorer}, world.split(rule))
    for ties in FIXED:
        ranks = rank(scorer, contest, ties=ties)
        assert rows_of(ranks) == slow_rows(world, rule, ties)
        assert (ranks.ties, ranks.candidate_rule) == (ties, rule)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=50)
@given(world=integer_worlds(), rule=st.sampled_from(RULES), ties=st.sampled_from(FIXED))
def test_factors_in_either_precision_agree_with_the_oracle(
    world: IntegerWorld, rule: str, ties: str, dtype: type
) -> None:
    if not refused(world, rule):
        ranks = ranked(factors_of(world.matrix, dtype), world.split(rule), ties=ties)
        assert rows_of(ranks) == slow_rows(world, rule, ties)


@settings(max_examples=50)
@given(world=integer_worlds(), rule=st.sampled_from(RULES), seed=st.integers(0, 50))
def test_random_ties_put_each_group_in_one_order(world: IntegerWorld, rule: str, seed: int) -> None:
    if refused(world, rule):
        return
    rows = slow_rows(world, rule, "expected")
    ranks = ranked(MatrixScorer(world.matrix), world.split(rule), ties="random", seed=seed)
    places = list(zip(ranks.users.tolist(), ranks.above.tolist(), strict=True))
    assert len(set(places)) == len(places)
    for (_, _, above, tied, _), place in zip(rows, ranks.above, strict=True):
        assert above <= place <= above + tied
    assert ranks.tied.tolist() == [row[3] for row in rows]


@settings(max_examples=50)
@given(
    world=integer_worlds(max_users=8),
    rule=st.sampled_from([*RULES, "sampled(3)"]),
    ties=st.sampled_from([*FIXED, "random"]),
    size=st.integers(1, 9),
)
def test_blocks_do_not_matter_for_whole_scores(world: IntegerWorld, rule: str, ties: str, size: int) -> None:
    if refused(world, "unseen" if rule.startswith("sampled") else rule):
        return
    for scorer in (MatrixScorer(world.matrix), factors_of(world.matrix)):
        one, other = (ranked(scorer, world.split(rule), ties=ties, block_size=b) for b in (size, 100))
        assert rows_of(one) == rows_of(other)


@pytest.mark.parametrize("ties", [*FIXED, "random"])
@pytest.mark.parametrize("rule", ["unseen", "sampled(20)"])
def test_threads_do_not_matter_bit_for_bit(rule: str, ties: str) -> None:
    """With real-valued float32 factors, whose products are not exact."""
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, 300, 3000), rng.integers(0, 90, 3000)
    train = Interactions.from_arrays(users[:2000], items[:2000], n_users=300, n_items=90)
    test = Interactions.from_arrays(users[2000:], items[2000:], n_users=300, n_items=90)
    scorer = FactorScorer(rng.normal(size=(300, 7)).astype("f4"), rng.normal(size=(90, 7)).astype("f4"))
    split = Split(train, test, candidates=rule)
    one, *others = (rows_of(ranked(scorer, split, ties=ties, block_size=16, engine=Threads(n))) for n in (1, 2, 4))
    assert all(other == one for other in others)


def test_the_seed_decides_random_ties() -> None:
    world = IntegerWorld(1, 30, frozenset(), frozenset(), frozenset((0, i) for i in range(30)), ((0,) * 30,))
    first, again, other = (
        ranked(MatrixScorer(world.matrix), world.split("all"), ties="random", seed=s).above.tolist() for s in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert sorted(first) == list(range(30))


def test_random_ties_are_uniform() -> None:
    """The place of one item among 5 tied, over 2,000 users: chi-square, error rate 0.001 (4 degrees, 18.47)."""
    n = 2000
    test = Interactions.from_arrays(np.arange(n), np.full(n, 2), n_users=n, n_items=5)
    train = Interactions.from_arrays([], [], n_users=n, n_items=5)
    ranks = ranked(MatrixScorer(np.zeros((n, 5))), Split(train, test), ties="random")
    counts = np.bincount(ranks.above, minlength=5)
    assert np.sum((counts - n / 5) ** 2 / (n / 5)) < 18.47


def test_users_without_test_rows_have_no_rank() -> None:
    test = Interactions.from_arrays([3], [1], n_users=5, n_items=3)
    train = Interactions.from_arrays([0, 4], [0, 2], n_users=5, n_items=3)
    ranks = ranked(MatrixScorer(np.arange(15.0).reshape(5, 3)), Split(train, test))
    assert rows_of(ranks) == [(3, 1, 1, 0, 3)]


def test_values_travel_with_their_rows() -> None:
    test = Interactions.from_arrays([1, 0], [0, 1], values=[4, 5], n_users=2, n_items=3)
    ranks = ranked(MatrixScorer(np.eye(2, 3)), Split(test.take(np.array([], dtype=int)), test))
    assert ranks.values is not None
    assert ranks.values.tolist() == [5, 4]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["matrix", "callable"])
def test_scores_that_are_not_finite_name_the_user_and_the_item(bad: float, kind: str) -> None:
    matrix = np.zeros((2, 3))
    matrix[1, 2] = bad
    scorer: Scorer = MatrixScorer(matrix, user_ids=["u", "v"], item_ids=["x", "y", "z"])
    if kind == "callable":
        scorer = CallableScorer(lambda users: matrix[users], user_ids=["u", "v"], item_ids=["x", "y", "z"])
    train, test = Interactions.from_arrays(["u", "v"], ["x", "x"]), Interactions.from_arrays(["v", "u"], ["y", "y"])
    with pytest.raises(DataError, match=rf"model 'model' gives user v, item z the score {bad}; scores must be finite"):
        ranked(scorer, Split(train, test))


def test_products_that_overflow_name_the_user_and_the_item() -> None:
    huge = np.full((2, 2), 1e25, dtype=np.float32)
    parts = [Interactions.from_arrays([0], [k], n_users=2, n_items=2) for k in (0, 1)]
    with pytest.raises(DataError, match="gives user 0, item 0 the score inf"):
        ranked(FactorScorer(huge, huge), Split(*parts))


@pytest.mark.parametrize("rule", RULES)
def test_a_callable_needs_no_shape_under_any_rule(rule: str) -> None:
    """Its last items need not be candidates."""
    world = IntegerWorld(
        2, 4, frozenset({(0, 0), (1, 1)}), frozenset(), frozenset({(0, 1), (1, 0)}), ((3, 1, 2, 4), (1, 1, 2, 0))
    )
    matrix = world.matrix
    assert rows_of(ranked(CallableScorer(lambda users: matrix[users]), world.split(rule))) == slow_rows(
        world, rule, "expected"
    )


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2, 4)])
def test_scores_of_the_wrong_shape_are_refused(shape: tuple[int, int]) -> None:
    parts = [Interactions.from_arrays([0, 1], [k, k], n_users=2, n_items=3) for k in (0, 1)]
    with pytest.raises(DataError, match="one row per user and one column per item"):
        ranked(CallableScorer(lambda users: np.zeros(shape)), Split(*parts))


def test_an_unknown_tie_policy_is_refused_with_a_hint() -> None:
    parts = [Interactions.from_arrays([0], [k], n_users=1, n_items=2) for k in (0, 1)]
    with pytest.raises(ConfigError, match="did you mean 'optimistic'"):
        ranked(MatrixScorer(np.zeros((1, 2))), Split(*parts), ties="optimist")


def test_progress_counts_the_blocks() -> None:
    told: list[tuple[int, int]] = []
    parts = [Interactions.from_arrays(np.arange(5), np.full(5, k), n_users=5, n_items=2) for k in (0, 1)]
    ranked(MatrixScorer(np.zeros((5, 2))), Split(*parts), block_size=2, progress=lambda *step: told.append(step))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_blocks_are_of_128_to_256_users_unless_their_scores_would_not_fit() -> None:
    assert default_block_size(1) == 256
    assert default_block_size(20_000) == 128
    assert default_block_size(10**7) == 3
    assert default_block_size(10**9) == 1


def test_threads_give_results_in_order_and_pass_errors_on() -> None:
    assert list(Threads(3).map(lambda k: k * k, range(20))) == [k * k for k in range(20)]
    with pytest.raises(ZeroDivisionError):
        list(Threads(2).map(lambda k: 1 // k, [1, 0, 1]))
    with pytest.raises(ConfigError, match="at least 1"):
        Threads(0)


def test_one_model_alone_is_found_under_any_name_and_several_need_theirs():
    split = Split(Interactions.from_arrays([0], [0], n_items=4), Interactions.from_arrays([0], [2], n_items=4))
    scorer = MatrixScorer(np.arange(4.0)[None])
    assert rank(scorer, prepare_contest({"mine": scorer}, split)).above.tolist() == [1]
    with pytest.raises(ConfigError, match="the contest has no model 'model'"):
        rank(scorer, prepare_contest({"mine": scorer, "other": scorer}, split))
