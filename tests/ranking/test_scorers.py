"""Ready-made scorers, against loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from unskew import Interactions, Split, evaluate
from unskew.errors import DataError
from unskew.ranking import (
    CallableScorer,
    FactorScorer,
    ItemItemScorer,
    ListScorer,
    MatrixScorer,
    Scorer,
    prepare_contest,
    rank,
)
from unskew.testing import check_scorer

USERS, ITEMS, D = 4, 6, 3


@st.composite
def factors(draw: st.DrawFn, dtype: type = np.float64) -> dict[str, object]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    made: dict[str, object] = {
        "user_factors": rng.integers(-3, 4, (USERS, D)).astype(dtype),
        "item_factors": rng.integers(-3, 4, (ITEMS, D)).astype(dtype),
        "similarity": draw(st.sampled_from(["dot", "distance"])),
    }
    if draw(st.booleans()):
        made["user_bias"] = rng.integers(-5, 6, USERS).astype(dtype)
    if draw(st.booleans()):
        made["item_bias"] = rng.integers(-5, 6, ITEMS).astype(dtype)
    return made


def slow_scores(made: dict[str, object]) -> list[list[float]]:
    p, q = np.asarray(made["user_factors"]).tolist(), np.asarray(made["item_factors"]).tolist()
    b_u = np.asarray(made.get("user_bias", np.zeros(USERS))).tolist()
    b_i = np.asarray(made.get("item_bias", np.zeros(ITEMS))).tolist()
    table = []
    for u in range(USERS):
        row = []
        for i in range(ITEMS):
            score = b_u[u] + b_i[i]
            for k in range(D):
                score += p[u][k] * q[i][k] if made["similarity"] == "dot" else -((p[u][k] - q[i][k]) ** 2)
            row.append(score)
        table.append(row)
    return table


def world() -> Split:
    train = Interactions.from_arrays([0, 1, 2], [0, 1, 5], n_users=USERS, n_items=ITEMS)
    test = Interactions.from_arrays([0, 0, 1, 3], [1, 2, 3, 4], n_users=USERS, n_items=ITEMS)
    return Split(train, test)


def standing(scorer: Scorer) -> list[tuple[int, int]]:
    ranks = rank(scorer, prepare_contest({"model": scorer}, world()))
    return list(zip(ranks.above.tolist(), ranks.tied.tolist(), strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=60)
@given(data=st.data())
def test_factor_scores_agree_with_loops(data: st.DataObject, dtype: type) -> None:
    made = data.draw(factors(dtype))
    scorer = FactorScorer(**made)  # type: ignore[arg-type]
    expected = np.array(slow_scores(made))
    rows = np.array([2, 0, 3])
    assert scorer.score(rows).tolist() == expected[rows].tolist()
    assert standing(scorer) == standing(MatrixScorer(expected))


@settings(max_examples=30)
@given(made=factors(), seed=st.integers(0, 100))
def test_a_user_bias_changes_no_rank(made: dict[str, object], seed: int) -> None:
    bias = np.random.default_rng(seed).integers(-9, 10, USERS).astype(float)
    with_bias = FactorScorer(**{**made, "user_bias": bias})  # type: ignore[arg-type]
    without = FactorScorer(**{**made, "user_bias": None})  # type: ignore[arg-type]
    assert standing(with_bias) == standing(without)


@settings(max_examples=30)
@given(made=factors(), seed=st.integers(0, 100))
def test_item_ids_in_any_order_change_no_rank(made: dict[str, object], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(ITEMS)
    bias = made.get("item_bias")
    mixed = {
        **made,
        "item_factors": np.asarray(made["item_factors"])[order],
        "item_bias": None if bias is None else np.asarray(bias)[order],
        "item_ids": order,
    }
    assert standing(FactorScorer(**mixed)) == standing(FactorScorer(**made))  # type: ignore[arg-type]


@pytest.mark.parametrize(("users", "items", "width"), [(128, 5000, 64), (2, 70_000, 64), (1, 200_000, 64), (64, 40, 3)])
def test_the_layout_of_double_factors_changes_no_bit_of_a_block(users: int, items: int, width: int) -> None:
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal((n, width)) for n in (users, items)]
    block = np.empty((users, items))
    FactorScorer(*factors).align(np.arange(items)).score_into(np.arange(users), block)
    np.testing.assert_array_equal(block, np.matmul(factors[0], factors[1].T))


def test_float32_factors_stay_float32_and_others_follow_the_larger() -> None:
    half, single, double = (np.ones((2, 2), dtype) for dtype in (np.float16, np.float32, np.float64))
    assert FactorScorer(single, half).score(np.array([0])).dtype == np.float32
    assert FactorScorer(single, double).score(np.array([0])).dtype == np.float64
    assert FactorScorer(np.ones((2, 2), int), single).score(np.array([0])).dtype == np.float32


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"item_factors": np.ones((ITEMS, D + 1))}, "same number of columns"),
        ({"user_factors": np.ones(D)}, "must be two matrices"),
        ({"item_bias": np.ones(ITEMS + 1)}, r"item_bias has shape \(7,\), expected \(6,\)"),
        ({"user_bias": np.ones((USERS, 1))}, r"user_bias has shape \(4, 1\), expected \(4,\)"),
        ({"similarity": "cosine"}, "must be 'dot' or 'distance'"),
        ({"user_ids": [1, 2]}, "2 user_ids for 4 rows"),
        ({"item_ids": list(range(7))}, "7 item_ids for 6 rows"),
        ({"user_factors": np.array([[1.0, 1, np.nan]] * USERS)}, "user_factors has nan in row 0"),
        ({"item_factors": np.array([[1.0, 1, 1]] * 5 + [[1, np.inf, 1]])}, "item_factors has inf in row 5"),
        ({"item_bias": np.array([1.0, 1, 1, -np.inf, 1, 1])}, "item_bias has -inf in row 3"),
    ],
)
def test_factors_that_do_not_fit_are_refused(changed: dict[str, object], says: str) -> None:
    plain = {"user_factors": np.ones((USERS, D)), "item_factors": np.ones((ITEMS, D)), "name": "mf"}
    with pytest.raises(DataError, match=f"mf: .*{says}"):
        FactorScorer(**{**plain, **changed})  # type: ignore[arg-type]


def test_a_matrix_must_be_one() -> None:
    with pytest.raises(DataError, match="expected users by items"):
        MatrixScorer(np.zeros(3))
    with pytest.raises(DataError, match="3 user_ids for 2 rows"):
        MatrixScorer(np.zeros((2, 2)), user_ids=[1, 2, 3])


def test_a_memory_map_is_read_like_a_matrix(tmp_path: object) -> None:
    matrix = np.arange(USERS * ITEMS, dtype=np.float32).reshape(USERS, ITEMS)[:, ::-1]
    path = f"{tmp_path}/scores.npy"
    np.save(path, matrix)
    assert standing(MatrixScorer(np.load(path, mmap_mode="r"))) == standing(MatrixScorer(matrix))


@pytest.mark.parametrize("dense", [True, False])
def test_an_item_item_model_multiplies_history_and_weights(*, dense: bool) -> None:
    rng = np.random.default_rng(0)
    history, weights = rng.integers(0, 2, (USERS, ITEMS)), rng.integers(0, 3, (ITEMS, ITEMS))
    scorer = ItemItemScorer(sparse.csr_array(history), weights if dense else sparse.csr_array(weights))
    assert scorer.score(np.array([1, 3])).tolist() == (history @ weights)[[1, 3]].tolist()
    assert standing(scorer) == standing(MatrixScorer(history @ weights))
    with pytest.raises(DataError, match="expected"):
        ItemItemScorer(sparse.csr_array(history), weights[:3])


def test_every_scorer_keeps_the_contract() -> None:
    rng = np.random.default_rng(0)
    matrix, history = rng.normal(size=(USERS, ITEMS)), sparse.csr_array(rng.integers(0, 2, (USERS, ITEMS)))
    factors = FactorScorer(rng.normal(size=(USERS, D)), rng.normal(size=(ITEMS, D)), item_bias=rng.normal(size=ITEMS))
    scorers = [
        MatrixScorer(matrix),
        MatrixScorer(matrix.astype("f4"), user_ids=["a", "b", "c", "d"]),
        factors,
        ItemItemScorer(history, rng.normal(size=(ITEMS, ITEMS))),
        CallableScorer(lambda users: matrix[users]),
        ListScorer.from_arrays(rng.permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)[:, :3], n_items=ITEMS),
    ]
    for scorer in scorers:
        check_scorer(scorer, n_users=USERS, n_items=ITEMS)


def test_anything_with_a_score_is_a_scorer() -> None:
    class Mine:
        def score(self, users: np.ndarray, /) -> np.ndarray:
            return np.tile(np.arange(ITEMS), (len(users), 1))

    assert isinstance(Mine(), Scorer)
    matrix = np.tile(np.arange(ITEMS), (USERS, 1))
    expected = standing(MatrixScorer(matrix))
    assert standing(Mine()) == standing(CallableScorer(lambda users: matrix[users])) == expected
    assert all(isinstance(s, Scorer) for s in (MatrixScorer(matrix), ListScorer.from_arrays(matrix)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_items_of_equal_factors_tie_wherever_they_stand(dtype: type) -> None:
    """A matrix product may differ in the last bit between columns; luck must not break the tie."""
    rng = np.random.default_rng(0)
    users, items = 200, 101
    rows = rng.normal(size=(users, 50)).astype(dtype)
    same = np.tile(rng.normal(size=50).astype(dtype), (items, 1))
    same[3] = same[3] * np.array([-1.0, 1.0] * 25, dtype=dtype)  # one that differs
    train = Interactions.from_arrays(np.arange(users), np.zeros(users, int), n_users=users, n_items=items)
    test = Interactions.from_arrays(np.arange(users), np.full(users, items - 1), n_users=users, n_items=items)
    scorer = FactorScorer(rows, same)
    ranks = rank(scorer, prepare_contest({"m": scorer}, Split(train, test)), name="m")
    assert set(ranks.tied.tolist()) == {items - 3}  # all candidates but itself and the one that differs


def test_whole_number_scores_of_lists_are_no_less_listed() -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=6)
    test = Interactions.from_arrays([0, 1], [2, 1], n_users=2, n_items=6)
    for dtype in (float, int, np.uint8):
        lists = ListScorer.from_arrays(
            np.array([[3], [3]], dtype=np.uint16), np.array([[5], [9]], dtype=dtype), n_items=6
        )
        for options in ({}, {"ties": "ordinal"}, {"candidates": "sampled(3)"}):
            report = evaluate({"l": lists}, Split(train, test), metrics=["recall@3"], estimators=["aoa"], **options)  # type: ignore[arg-type]
            assert report.estimates[0].value == 0


def test_a_user_bias_that_swamps_the_scores_is_refused() -> None:
    rng = np.random.default_rng(0)
    users, items = rng.random((3, 2), dtype=np.float32), rng.random((4, 2), dtype=np.float32)
    assert FactorScorer(users, items, user_bias=np.full(3, 1e5)).score(np.arange(3)).shape == (3, 4)
    with pytest.raises(
        DataError, match=r"user_bias has 1e\+38, next to which scores of at most .* are lost in float32"
    ):
        FactorScorer(users, items, user_bias=np.array([0, 1e38, 0]))
    FactorScorer(np.zeros((3, 2)), np.zeros((4, 2)), user_bias=np.full(3, 1e38))  # nothing is lost
