"""The inner loops against plain loops: above and tied counts, for any number of held-out items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.ranking import kernel
from unskew.testing.oracles import slow_rank

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@st.composite
def blocks(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]], list[list[int]], int]:
    """Scores, held-out columns and seen columns of each row, and how many rows come before the block."""
    n_items = draw(st.integers(1, 14))
    scores, held, seen = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        scores.append(draw(st.lists(st.integers(-2, 2), min_size=n_items, max_size=n_items)))
        order = draw(st.permutations(range(n_items)))
        cut, stop = sorted(draw(st.tuples(st.integers(0, n_items), st.integers(0, n_items))))
        held.append(sorted(order[:cut]))
        seen.append(sorted(order[cut:stop]))
    return scores, held, seen, draw(st.integers(0, 2))


def flat(lists: list[list[int]], skipped: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and items of a block that stands behind other rows."""
    items = [0] * skipped + [item for part in lists for item in part]
    offsets = skipped + np.concatenate([[0], np.cumsum([len(part) for part in lists])])
    return offsets.astype(np.int64), np.array(items, dtype=np.int32)


def expected(scores: list[list[int]], held: list[list[int]], candidates: list[list[int]]) -> list[tuple[int, int]]:
    return [
        slow_rank(row, item, among, "expected")
        for row, items, among in zip(scores, held, candidates, strict=True)
        for item in items
    ]


@dtypes
@given(block=blocks())
def test_counts_agree_with_loops_when_seen_items_are_left_out(block: tuple, dtype: type) -> None:
    scores, held, seen, skipped = block
    candidates = [[i for i in range(len(scores[0])) if i not in own] for own in seen]
    above, tied = kernel.count_ranks(np.array(scores, dtype), *flat(held, skipped), *flat(seen, skipped))
    assert list(zip(above, tied, strict=True)) == expected(scores, held, candidates)


@dtypes
@given(block=blocks())
def test_counts_agree_with_loops_among_listed_candidates(block: tuple, dtype: type) -> None:
    scores, held, others, skipped = block
    among = [sorted(a + b) for a, b in zip(held, others, strict=True)]
    above, tied = kernel.count_ranks_among(np.array(scores, dtype), *flat(held, skipped), *flat(among, skipped))
    assert list(zip(above, tied, strict=True)) == expected(scores, held, among)


@given(block=blocks(), columns=st.sampled_from(["same", "moved", "repeated"]))
def test_counts_inside_lists_agree_with_loops(block: tuple, columns: str) -> None:
    """What is not listed has a score below all that is; a column may stand for another place, or be repeated."""
    scores, held, seen, skipped = block
    n_items = len(scores[0])
    lists = [[i for i in range(n_items) if row[i] > 0][::-1] for row in scores]
    listed = np.array([i for part in lists for i in part], dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in lists])])
    given_scores = np.array([row[i] for row, part in zip(scores, lists, strict=True) for i in part], dtype=float)
    dense = [[max(s, 0) for s in row] for row in scores]
    candidates = [[i for i in range(n_items) if i not in own] for own in seen]
    sizes = np.array([len(own) for own in candidates], dtype=np.int32)
    places = np.empty(0, np.int32)
    if columns == "moved":  # the last column of the model is no candidate
        places = np.append(np.arange(n_items)[::-1], -1).astype(np.int32)
        listed = np.insert(n_items - 1 - listed, offsets[:-1], n_items).astype(np.int32)
        given_scores = np.insert(given_scores, offsets[:-1], 9.0)
        offsets = offsets + np.arange(len(offsets))
    elif columns == "repeated":
        lists = [[*part, *part] for part in lists]
        listed = np.array([i for part in lists for i in part], dtype=np.int32)
        given_scores = np.array([row[i] for row, part in zip(scores, lists, strict=True) for i in part], dtype=float)
        offsets, lists = 2 * offsets, [part[: len(part) // 2] for part in lists]
    above, tied, length = kernel.count_list_ranks(
        offsets, listed, given_scores, places, *flat(held, skipped), *flat(seen, skipped), sizes, n_items
    )
    assert list(zip(above, tied, strict=True)) == expected(dense, held, candidates)
    inside = [sum(i in own for i in part) for part, own in zip(lists, candidates, strict=True)]
    assert length.tolist() == [n for n, items in zip(inside, held, strict=True) for _ in items]


@given(block=blocks(), seed=st.integers(0, 100))
def test_tied_candidates_with_a_smaller_key_are_counted(block: tuple, seed: int) -> None:
    scores, held, seen, skipped = block
    n_items = len(scores[0])
    keys = np.random.default_rng(seed).permuted(np.tile(np.arange(n_items, dtype=np.uint64), (len(scores), 1)), axis=1)
    mask = np.array([[i not in own for i in range(n_items)] for own in seen])
    before = kernel.count_before(np.array(scores, float), mask, *flat(held, skipped), keys)
    expect = [
        sum(bool(mask[r, j]) and scores[r][j] == scores[r][i] and keys[r, j] < keys[r, i] for j in range(n_items))
        for r, items in enumerate(held)
        for i in items
    ]
    assert before.tolist() == expect


@dtypes
@pytest.mark.parametrize("held", range(10))
def test_every_number_of_held_out_items_is_counted_right(held: int, dtype: type) -> None:
    """The loop takes four thresholds at a time, then two, so each remainder is its own path."""
    rng = np.random.default_rng(held)
    scores = rng.integers(0, 6, (1, 37)).astype(dtype)
    items = np.sort(rng.choice(37, held, replace=False)).astype(np.int32)
    none = np.zeros(2, np.int64), np.empty(0, np.int32)
    above, tied = kernel.count_ranks(scores, np.array([0, held]), items, *none)
    assert above.tolist() == [int((scores > scores[0, i]).sum()) for i in items]
    assert tied.tolist() == [int((scores == scores[0, i]).sum()) - 1 for i in items]


@dtypes
def test_neighbouring_floats_are_not_tied(dtype: type) -> None:
    low = dtype(1)
    scores = np.array([[low, np.nextafter(low, dtype(2)), low]])
    none = np.zeros(2, np.int64), np.empty(0, np.int32)
    above, tied = kernel.count_ranks(scores, np.array([0, 3]), np.arange(3, dtype=np.int32), *none)
    assert above.tolist() == [1, 0, 1]
    assert tied.tolist() == [1, 0, 1]


def test_items_at_minus_infinity_are_tied_below_all() -> None:
    scores = np.array([[-np.inf, 0.0, -np.inf, 5.0]])
    none = np.zeros(2, np.int64), np.empty(0, np.int32)
    above, tied = kernel.count_ranks(scores, np.array([0, 2]), np.array([0, 1], dtype=np.int32), *none)
    assert above.tolist() == [2, 1]
    assert tied.tolist() == [1, 0]


@dtypes
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (1, 4), (2, 2)])
def test_the_first_score_that_is_not_finite_is_found(place: tuple[int, int], bad: float, dtype: type) -> None:
    scores = np.ones((3, 5), dtype)
    assert kernel.first_not_finite(scores) == (-1, -1)
    scores[2, 4] = np.nan
    scores[place] = bad
    assert kernel.first_not_finite(scores) == place


@dtypes
def test_the_largest_numbers_are_finite(dtype: type) -> None:
    scores = np.full((1, 3), np.finfo(dtype).max, dtype)
    assert kernel.first_not_finite(scores) == (-1, -1)
