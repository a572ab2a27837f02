"""Test users and the biased test of Table 3 (Yang et al. 2018), on made logs and, where available, real ones."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import evaluate
from unskew.data import Interactions, Split
from unskew.data.sources import get_source, status_of
from unskew.errors import ConfigError, DataError
from unskew.ranking import MatrixScorer
from unskew.studies.yang2018.yahoo import ATTEMPTS, BiasedSplit, biased_split, eligible_users

TRAIN, RANDOM = "ydata-ymusic-rating-study-v1_0-train.txt", "ydata-ymusic-rating-study-v1_0-test.txt"


def log(rows: list[tuple[int, int, int]], n_users: int = 5, n_items: int = 6) -> Interactions:
    users, items, values = (list(column) for column in zip(*rows, strict=True))
    return Interactions.from_arrays(users, items, values, n_users=n_users, n_items=n_items)


def liked(n_users: int, n_items: int, share: float, seed: int) -> Interactions:
    """Users with at least two positives each."""
    chosen = np.random.default_rng(seed).random((n_users, n_items)) < share
    chosen[:, :2] |= chosen.sum(axis=1, keepdims=True) < 2
    users, items = np.nonzero(chosen)
    return Interactions.from_arrays(users, items, n_users=n_users, n_items=n_items)


def pairs(part: Interactions) -> set[tuple[int, int]]:
    return set(zip(part.users.tolist(), part.items.tolist(), strict=True))


def parts(split: BiasedSplit) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    return pairs(split.train), pairs(split.test)


def test_a_test_user_has_both_kinds_in_the_random_test_and_two_relevant_in_training() -> None:
    """User 0 is one; 1 likes one item only, 2 all that was drawn, 3 nothing of it, and 4 was drawn nothing."""
    train = log([(0, 0, 5), (0, 1, 4), (1, 0, 5), (1, 1, 3), (2, 0, 4), (2, 1, 4), (3, 0, 4), (3, 1, 4), (4, 0, 5)])
    random = log([(0, 2, 4), (0, 3, 3), (1, 2, 4), (1, 3, 1), (2, 2, 4), (2, 3, 5), (3, 2, 3), (3, 3, 1)])
    assert eligible_users(train, random).tolist() == [0]
    assert eligible_users(train, random, least=1).tolist() == [0, 1]
    assert eligible_users(train, random, least=0, relevant=5).tolist() == [2]


def test_test_users_are_found_in_files_of_yahoo_r3(tmp_path: Path) -> None:
    (tmp_path / TRAIN).write_text("7\t1\t5\n7\t2\t4\n9\t1\t5\n9\t2\t1\n")
    (tmp_path / RANDOM).write_text("7\t3\t5\n7\t4\t1\n9\t3\t5\n9\t4\t1\n")
    split = get_source("yahoo-r3").read_split(tmp_path)
    codes = eligible_users(split.train, split.test)
    assert split.user_vocabulary.decode(codes).tolist() == [7]


def test_logs_that_do_not_fit_together_or_have_no_ratings_are_refused() -> None:
    rated = log([(0, 0, 5)])
    with pytest.raises(DataError, match="coded differently"):
        eligible_users(rated, log([(0, 0, 5)], n_users=4))
    with pytest.raises(DataError, match="no column 'rating'"):
        eligible_users(liked(5, 6, 0.5, 0), rated)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 12), st.data())
def test_both_parts_have_a_positive_of_every_test_user_and_together_they_are_all(
    n_items: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, n_items - 1))
    positives = liked(6, n_items, data.draw(st.floats(0, 1)), data.draw(st.integers(0, 99)))
    users = np.array(sorted(data.draw(st.sets(st.integers(0, 5), min_size=1))), dtype=np.int32)
    split = biased_split(positives, users, size, np.random.default_rng(0))
    left, held = parts(split)
    assert left | held == pairs(positives)
    assert not left & held
    assert {user for user, _ in held} == set(users.tolist())
    assert {user for user, _ in left} == set(range(6))
    assert split.listed.user_counts[users].tolist() == [size] * len(users)
    assert len(split.listed) == size * len(users)
    assert split.listed.duplicates == 0
    assert pairs(split.listed.where("rating>=1")) == held
    assert not pairs(split.listed) & left
    assert 0 <= split.moved <= split.redrawn <= len(users)


def test_an_item_is_held_out_with_the_chance_of_its_draw() -> None:
    """40 positives of 100, 30 drawn: the share held out is 0.3 within 5 standard errors over 400 users."""
    positives = liked(400, 100, 0.4, 1)
    split = biased_split(positives, np.arange(400, dtype=np.int32), 30, np.random.default_rng(2))
    share = split.test.user_counts / positives.user_counts
    assert abs(share.mean() - 0.3) < 5 * share.std(ddof=1) / np.sqrt(400)
    assert (split.redrawn, split.moved) == (0, 0)


def test_a_positive_is_moved_when_no_draw_will_do() -> None:
    """Two positives of 500 and 1 drawn: it is hardly ever one of them; then 499 drawn: both hardly ever part."""
    positives = Interactions.from_arrays([0, 0], [3, 400], n_users=1, n_items=500)
    user = np.array([0], dtype=np.int32)
    for size in (1, 499):
        split = biased_split(positives, user, size, np.random.default_rng(0))
        assert (split.redrawn, split.moved) == (1, 1)
        assert len(split.test) == len(split.train) == 1
        assert len(split.listed) == size
    moved = {int(biased_split(positives, user, 1, np.random.default_rng(seed)).test.items[0]) for seed in range(20)}
    assert moved == {3, 400}


def test_the_draw_is_repeated_before_a_positive_is_moved() -> None:
    """Two positives of four, two drawn: parted with chance 2/3, so of 300 users hardly one needs more than 20 draws."""
    positives = liked(300, 4, 0.0, 0)
    split = biased_split(positives, np.arange(300, dtype=np.int32), 2, np.random.default_rng(3))
    assert ATTEMPTS == 20
    assert split.moved == 0
    assert abs(split.redrawn / 300 - 1 / 3) < 5 * np.sqrt(2 / 9 / 300)


def test_the_same_seed_gives_the_same_split() -> None:
    positives, users = liked(50, 40, 0.3, 0), np.arange(50, dtype=np.int32)
    first, again, other = (biased_split(positives, users, 12, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.listed.sha256 == again.listed.sha256 != other.listed.sha256


def test_the_lists_serve_as_a_test_whose_rows_are_the_candidates() -> None:
    positives, users = liked(8, 20, 0.5, 0), np.arange(8, dtype=np.int32)
    biased = biased_split(positives, users, 6, np.random.default_rng(0))
    split = Split(biased.train, biased.listed, candidates="listed")
    perfect = np.zeros((8, 20))
    perfect[biased.test.users, biased.test.items] = 1
    report = evaluate(
        {"perfect": MatrixScorer(perfect)},
        split,
        metrics=["auc(of=negatives)"],
        estimators=["aoa"],
        positive="rating>=1",
        threads=1,
    )
    assert report.value("perfect", "auc(of=negatives)", "aoa") == 1


@pytest.mark.parametrize(
    ("size", "users", "error", "message"),
    [
        (6, [0], ConfigError, "6 of 6"),
        (0, [0], ConfigError, "0 of 6"),
        (2, [0, 1], DataError, "user 1 .1 such. has fewer than 2 positives"),
    ],
)
def test_what_cannot_be_split_is_refused(size: int, users: list[int], error: type[Exception], message: str) -> None:
    positives = log([(0, 0, 5), (0, 3, 5), (1, 1, 5)])
    with pytest.raises(error, match=message):
        biased_split(positives, np.array(users, dtype=np.int32), size, np.random.default_rng(0))


def real(name: str) -> Split:
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / name
    if status_of(get_source(name), folder).presence != "present":
        pytest.skip(f"real data: {name} is not in the folder UNSKEW_DATA")
    return get_source(name).read_split(folder)


def test_coat_has_users_enough_for_table_3() -> None:
    split = real("coat")
    users = eligible_users(split.train, split.test)
    positives = split.train.where("rating>=4")
    biased = biased_split(positives, users, 90, np.random.default_rng(0))
    assert len(users) > 200
    assert len(biased.listed) == 90 * len(users)
    assert parts(biased)[0] | parts(biased)[1] == pairs(positives)


def test_yahoo_r3_is_as_the_paper_counts_it() -> None:
    """2,296 test users, and other numbers of the files that a reader can get wrong."""
    split = real("yahoo-r3")
    train, random = split.train, split.test
    assert train.values is not None
    assert random.values is not None
    for part, marginals in (
        (train, [0.31390, 0.12721, 0.15762, 0.15553, 0.24574]),
        (random, [0.52624, 0.24193, 0.14389, 0.06243, 0.02552]),
    ):
        assert part.values is not None
        shares = np.bincount(part.values.astype(int), minlength=6)[1:] / len(part)
        assert shares.tolist() == pytest.approx(marginals, abs=5.1e-6)
    good, positives = random.where("rating>=4"), train.where("rating>=4")
    assert (len(positives), len(good)) == (125_077, 4_749)
    assert int(((random.user_counts > 0) & (good.user_counts == 0)).sum()) == 2_964
    assert not split.test_in_train.any()
    assert (random.item_counts.min(), random.item_counts.max()) == (28, 76)
    counts = positives.item_counts
    assert (counts.min(), np.median(counts), counts.max()) == (3, 53, 2_544)
    assert [len(eligible_users(train, random, least=least)) for least in (0, 1, 2)] == [2_427, 2_374, 2_296]
