"""Ranks of factor models: exact scores, exact counts, and bits that depend on nothing but the factors."""

import os
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.ranking import FactorScorer, MatrixScorer, Threads, prepare_contest, rank
from unskew.ranking.factors import PackedFactors, packing, score_vectors

KINDS = ("whole", "normal", "huge", "subnormal", "constant", "far", "tailed")
SIZES = [1, 2, 31, 32, 33, 64, 65, 127, 300, 1100, 2500]


def make_factors(rng: np.random.Generator, kind: str, rows: int, d: int) -> np.ndarray:
    if kind == "whole":
        made = rng.integers(-2, 3, (rows, d))
    elif kind == "huge":
        made = rng.standard_normal((rows, d)) * 10.0 ** rng.integers(-17, 17, (rows, d))
    elif kind == "subnormal":
        made = rng.standard_normal((rows, d)) * 1e-20
    elif kind == "constant":
        made = np.ones((rows, d))
    elif kind == "far":  # large numbers that differ little
        made = 1000 + rng.standard_normal((rows, d)) / 100
    elif kind == "tailed":
        made = rng.standard_cauchy((rows, d))
    else:
        made = rng.standard_normal((rows, d))
    made = made.astype(np.float32)
    if rows > 2:
        made[rows // 2] = made[0]  # items of equal factors
    return made


def make_lists(rng: np.random.Generator, users: int, n_items: int, held: int, seen: int, *, ordered: bool) -> tuple:
    """Held-out and seen items of users, as offsets and items."""
    lists: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for _ in range(users):
        order = rng.permutation(n_items).astype(np.int32)
        n = min(int(rng.integers(0, held + 1)), n_items)
        lists[0].append(order[:n])
        rest = order[n : n + int(rng.integers(0, seen + 1))]
        lists[1].append(np.sort(rest) if ordered else rest)
    flat = [np.concatenate([np.empty(0, np.int32), *parts]) for parts in lists]
    offsets = [np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64) for parts in lists]
    return offsets[0], flat[0], offsets[1], flat[1]


def slow_counts(scores: np.ndarray, offsets: np.ndarray, items: np.ndarray, seen_offsets: np.ndarray, seen: np.ndarray):
    above, tied = [], []
    for u, row in enumerate(scores):
        candidate = np.ones(len(row), bool)
        candidate[seen[seen_offsets[u] : seen_offsets[u + 1]]] = False
        for item in items[offsets[u] : offsets[u + 1]]:
            above.append(int(np.sum(row[candidate] > row[item])))
            tied.append(int(np.sum(row[candidate] == row[item])) - 1)
    return above, tied


def nearest(number: Fraction) -> np.float32:
    """The float32 nearest to a fraction, the even one of two."""
    guess = np.float32(float(number))
    around = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - number), int(x.view(np.uint32)) & 1))


def slow_score(user: np.ndarray, item: np.ndarray, constant: np.float32) -> np.float32:
    total = np.float32(constant)
    for a, b in zip(user, item, strict=True):
        total = nearest(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(total)))
    return total


def pack(users: np.ndarray, items: np.ndarray, columns: np.ndarray | None = None, **options: object) -> PackedFactors:
    columns = np.arange(len(items)) if columns is None else columns
    given = {"constants": np.zeros(0, np.float32), "doubled": False, "finite": True, **options}
    return PackedFactors(users, items, columns, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["whole", "normal", "huge", "subnormal"])
@pytest.mark.parametrize("biased", [False, True])
def test_a_score_is_one_chain_of_fused_steps(kind: str, *, biased: bool) -> None:
    rng = np.random.default_rng(0)
    users, items = make_factors(rng, kind, 3, 9), make_factors(rng, kind, 70, 9)
    constants = rng.standard_normal(70).astype(np.float32) if biased else np.zeros(0, np.float32)
    scores = pack(users, items, constants=constants).score(np.arange(3))
    expected = [
        [slow_score(u, item, constants[k] if biased else np.float32(0)) for k, item in enumerate(items)] for u in users
    ]
    np.testing.assert_array_equal(scores, np.array(expected))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    n_items=st.sampled_from(SIZES),
    d=st.sampled_from([1, 2, 3, 8, 33, 64, 130]),
    users=st.integers(1, 26),
    held=st.sampled_from([0, 1, 2, 3, 4, 5, 9, 20, 40, 300]),
    seen=st.sampled_from([0, 3, 60]),
    ordered=st.booleans(),
    unknown=st.booleans(),
    biased=st.booleans(),
)
def test_counts_are_those_of_the_definition(
    seed: int,
    kind: str,
    n_items: int,
    d: int,
    users: int,
    held: int,
    seen: int,
    *,
    ordered: bool,
    unknown: bool,
    biased: bool,
) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.permutation(n_items)
    if unknown:
        columns[rng.random(n_items) < 0.2] = -1
    constants = make_factors(rng, kind, n_items, 1)[:, 0] if biased else np.zeros(0, np.float32)
    factors = pack(make_factors(rng, kind, users, d), make_factors(rng, kind, n_items, d), columns, constants=constants)
    lists = make_lists(rng, users, n_items, held, seen, ordered=ordered)
    scores = factors.score(np.arange(users))
    assert np.array_equal(scores == -np.inf, np.tile(columns < 0, (users, 1)))
    above, tied = factors.count(np.arange(users), *lists)
    assert (above.tolist(), tied.tolist()) == slow_counts(scores, *lists)


@pytest.mark.parametrize("held", range(42))
def test_every_number_of_thresholds_is_counted_right(held: int) -> None:
    rng = np.random.default_rng(held)
    factors = pack(make_factors(rng, "normal", 5, 4), make_factors(rng, "normal", 900, 4))
    chosen = np.concatenate([rng.choice(900, held, replace=False) for _ in range(5)]).astype(np.int32)
    lists = np.arange(6) * held, chosen, np.zeros(6, np.int64), np.empty(0, np.int32)
    above, tied = factors.count(np.arange(5), *lists)
    assert (above.tolist(), tied.tolist()) == slow_counts(factors.score(np.arange(5)), *lists)


def test_scores_of_few_values_are_compared_themselves() -> None:
    """Most codes are then those of a threshold, and the counts change their way within a row of tiles."""
    rng = np.random.default_rng(0)
    items = make_factors(rng, "normal", 6000, 1)
    items[2500:] = rng.integers(0, 3, (3500, 1))
    factors = pack(np.ones((4, 1), np.float32), items)
    lists = make_lists(rng, 4, 6000, 12, 20, ordered=True)
    above, tied = factors.count(np.arange(4), *lists)
    assert (above.tolist(), tied.tolist()) == slow_counts(factors.score(np.arange(4)), *lists)


@pytest.mark.parametrize("scale", [1e-38, 1e-30, 1.0, 1e30])
def test_neighbouring_floats_are_not_tied(scale: float) -> None:
    low = np.float32(scale)
    values = [low, np.nextafter(low, np.float32(np.inf)), low, np.float32(0), -low]
    factors = pack(np.ones((1, 1), np.float32), np.array(values, np.float32)[:, None])
    lists = np.array([0, 5]), np.arange(5, dtype=np.int32), np.zeros(2, np.int64), np.empty(0, np.int32)
    above, tied = factors.count(np.array([0]), *lists)
    assert above.tolist() == [1, 0, 1, 3, 4]
    assert tied.tolist() == [1, 0, 1, 0, 0]


def test_bits_depend_on_neither_blocks_nor_layout() -> None:
    rng = np.random.default_rng(0)
    users, items = make_factors(rng, "normal", 300, 50), make_factors(rng, "normal", 777, 50)
    factors = pack(users, items)
    lists = make_lists(rng, 300, 777, 12, 30, ordered=True)
    whole, counts = factors.score(np.arange(300)).copy(), factors.count(np.arange(300), *lists)
    for size in (1, 7, 256):
        for first in range(0, 300, size):
            rows = np.arange(first, min(first + size, 300))
            np.testing.assert_array_equal(factors.score(rows), whole[rows])
            cut = slice(first, rows[-1] + 2)
            part = factors.count(rows, lists[0][cut], lists[1], lists[2][cut], lists[3])
            here = slice(lists[0][first], lists[0][rows[-1] + 1])
            assert [column.tolist() for column in part] == [column[here].tolist() for column in counts]
    order = rng.permutation(777)
    np.testing.assert_array_equal(pack(users, items[order]).score(np.arange(300)), whole[:, order])


def world(seed: int = 0) -> tuple[Split, FactorScorer]:
    rng = np.random.default_rng(seed)
    users, items = rng.integers(0, 700, 6000), rng.integers(0, 90, 6000)
    train = Interactions.from_arrays(users[:4000], items[:4000], n_users=700, n_items=90)
    test = Interactions.from_arrays(users[4000:], items[4000:], n_users=700, n_items=90)
    factors = [make_factors(rng, "normal", n, 7) for n in (700, 90)]
    return Split(train, test), FactorScorer(*factors, item_bias=rng.standard_normal(90))


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "ordinal", "random"])
def test_block_sizes_and_threads_change_no_rank(ties: str) -> None:
    split, scorer = world()
    contest = prepare_contest({"model": scorer}, split)
    made = [
        rank(scorer, contest, ties=ties, block_size=size, engine=Threads(n))  # type: ignore[arg-type]
        for size, n in ((1, 1), (7, 2), (256, 1), (256, 2))
    ]
    for other in made[1:]:
        assert (other.above.tolist(), other.tied.tolist()) == (made[0].above.tolist(), made[0].tied.tolist())


def test_all_roads_see_the_same_scores() -> None:
    """Counting in tiles, and from a block of scores as a matrix has them."""
    split, scorer = world()
    binding = prepare_contest({"model": scorer}, split).bindings["model"]
    aligned = scorer.align(binding.columns)
    assert isinstance(aligned, PackedFactors)
    matrix = MatrixScorer(aligned.score(np.arange(700)).copy())
    for ties in ("expected", "ordinal", "random"):
        first, second = (rank(each, prepare_contest({"m": each}, split), ties=ties) for each in (scorer, matrix))  # type: ignore[arg-type]
        assert (first.above.tolist(), first.tied.tolist()) == (second.above.tolist(), second.tied.tolist())


@pytest.mark.parametrize("similarity", ["dot", "distance"])
def test_unknown_users_and_items_are_tied_below_all(similarity: str) -> None:
    rng = np.random.default_rng(3)
    split, _ = world()
    known_users, known_items = rng.permutation(700)[:500], rng.permutation(90)[:70]
    factors = [rng.integers(-2, 3, (n, 3)).astype(np.float32) for n in (500, 70)]
    scorer = FactorScorer(*factors, user_ids=known_users, item_ids=known_items, similarity=similarity)  # type: ignore[arg-type]
    other = MatrixScorer(scorer.score(np.arange(500)), user_ids=known_users, item_ids=known_items)
    also = MatrixScorer(np.zeros((700, 90)))  # knows all users, so that all are judged
    ranks = [rank(each, prepare_contest({"m": each, "all": also}, split), name="m") for each in (scorer, other)]
    assert (ranks[0].above.tolist(), ranks[0].tied.tolist()) == (ranks[1].above.tolist(), ranks[1].tied.tolist())
    assert ranks[0].known is not None


def test_packed_factors_travel_without_panels() -> None:
    factors = pack(*(make_factors(np.random.default_rng(0), "normal", n, 5) for n in (4, 40)))
    scores = factors.score(np.arange(4)).copy()
    data = pickle.dumps(factors)
    assert len(data) < 4000
    np.testing.assert_array_equal(pickle.loads(data).score(np.arange(4)), scores)


def test_a_memory_map_of_users_is_not_copied(tmp_path: object) -> None:
    path = f"{tmp_path}/users.npy"
    np.save(path, np.ones((50, 3), np.float32))
    users = np.load(path, mmap_mode="r")
    scorer = FactorScorer(users, np.ones((4, 3), np.float32), item_bias=np.ones(4))
    aligned = scorer.align(np.arange(4))
    assert np.shares_memory(aligned.users, users)  # type: ignore[union-attr]
    assert aligned.score(np.array([49])).tolist() == [[4.0] * 4]  # type: ignore[union-attr]


PROBE = """
import hashlib
import numpy as np
from unskew.ranking.factors import PackedFactors, score_vectors

rng = np.random.default_rng(0)
users, items = (rng.standard_normal((n, 37)).astype("f4") for n in (40, 1500))
factors = PackedFactors(users, items, np.arange(1500), np.zeros(0, "f4"), doubled=False, finite=True)
held = np.sort(rng.integers(0, 1500, (40, 9)), axis=1).astype("i4").ravel()
none = np.zeros(41, "i8"), np.zeros(0, "i4")
above, tied = factors.count(np.arange(40), np.arange(41) * 9, held, *none)
digest = hashlib.sha256(factors.score(np.arange(40)).tobytes() + above.tobytes() + tied.tobytes()).hexdigest()
print(score_vectors.LANES, digest)
"""


@pytest.mark.skipif(score_vectors.LANES != 16, reason="needs a processor with vectors of 16")
def test_shorter_vectors_give_the_same_bits(tmp_path: object) -> None:
    features = score_vectors.FEATURES.split(",")
    fewer = ",".join(part for part in features if part.startswith("+") and "avx512" not in part and "evex" not in part)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    haswell = {**environment, "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": fewer}
    said = [
        subprocess.run(
            [sys.executable, "-c", PROBE], check=True, capture_output=True, text=True, env=each
        ).stdout.split()
        for each in (environment, haswell)
    ]
    assert [lanes for lanes, _ in said] == ["16", "8"]
    assert said[0][1] == said[1][1]


def test_panels_end_with_scores_that_are_never_counted() -> None:
    panels = packing.pack_panels(
        np.ones((2, 3), np.float32), np.array([1, -1, 0]), np.array([5, 7], np.float32), -np.inf
    )
    first = panels.reshape(-1, 4, score_vectors.PANEL)[0]
    assert first[0, :3].tolist() == [7.0, -np.inf, 5.0]
    assert set(first[0, 3:].tolist()) == {-np.inf}
    assert first[1:, :3].tolist() == [[1.0, 0.0, 1.0]] * 3


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([1e-30, 1e-3, 1.0, 1e15]), st.booleans())
def test_numpy_has_the_bits_of_the_kernel(seed: int, d: int, scale: float, biased: bool) -> None:
    rng = np.random.default_rng(seed)
    users = (scale * rng.standard_normal((5, d))).astype(np.float32)
    items = rng.choice(np.float32([0, 1, -1, 1 / 3, 1e-4, 7]), (23, d)) * rng.standard_normal((23, d)).astype(
        np.float32
    )
    constants = rng.standard_normal(23).astype(np.float32) if biased else np.zeros(0, np.float32)
    columns = rng.permutation(np.append(np.arange(23), -1))
    packed = [PackedFactors(users, items, columns, constants, False, True, plain) for plain in (False, True)]
    ours, theirs = (each.score(np.arange(5)) for each in packed)
    assert ours.tobytes() == theirs.tobytes()
