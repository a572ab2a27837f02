"""The loops without a compiler count what the compiled ones count."""

import numpy as np
import pytest

from unskew.arrays import Ints, offsets_of
from unskew.ranking import kernel, plain_loops


def rows(rng: np.random.Generator, counts: Ints, items: int) -> tuple[Ints, Ints]:
    """Different columns of each row."""
    columns = [np.sort(rng.choice(items, count, replace=False)) for count in counts]
    return offsets_of(counts), np.concatenate([np.empty(0, np.int32), *columns]).astype(np.int32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_are_the_same_with_ties_and_excluded_items(dtype: type) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        users, items = int(rng.integers(1, 6)), int(rng.integers(8, 30))
        scores = rng.integers(-2, 3, (users, items)).astype(dtype)
        scores[rng.random(scores.shape) < 0.1] = -np.inf
        held_offsets, held = rows(rng, rng.integers(0, 4, users), items)
        # rows of a block are counted from its first offset
        held, held_offsets = np.append(np.array([3, 3], np.int32), held), held_offsets + 2
        seen = [np.setdiff1d(rng.choice(items, 3), held[held_offsets[k] : held_offsets[k + 1]]) for k in range(users)]
        excluded = offsets_of([len(row) for row in seen]), np.concatenate(seen).astype(np.int32)
        among = [np.union1d(rng.choice(items, 3), held[held_offsets[k] : held_offsets[k + 1]]) for k in range(users)]
        listed = offsets_of([len(row) for row in among]), np.concatenate(among).astype(np.int32)
        for name, others in (("count_ranks", excluded), ("count_ranks_among", listed)):
            ours = getattr(plain_loops, name)(scores, held_offsets, held, *others)
            theirs = getattr(kernel, name)(scores, held_offsets, held, *others)
            for mine, other in zip(ours, theirs, strict=True):
                assert mine.dtype == other.dtype
                np.testing.assert_array_equal(mine, other)


def test_hashes_and_the_first_bad_score_are_the_same() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(20, 7)).astype(np.float32)
    np.testing.assert_array_equal(
        plain_loops.hash_rows(matrix.view(np.uint32)), kernel.hash_rows(matrix.view(np.uint32))
    )
    assert plain_loops.first_not_finite(matrix) == kernel.first_not_finite(matrix) == (-1, -1)
    for bad in (np.nan, np.inf, -np.inf):
        matrix[3, 4] = matrix[5, 0] = bad
        assert plain_loops.first_not_finite(matrix) == kernel.first_not_finite(matrix) == (3, 4)
