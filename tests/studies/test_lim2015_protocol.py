"""Lim et al. (2015): what is relevant, what is kept of it, and how each user's items are parted."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.errors import DataError
from unskew.studies import Context
from unskew.studies.lim2015 import protocol
from unskew.studies.lim2015.printed import COUNTS
from unskew.studies.lim2015.protocol import SETS, absence_of, dense_log, hold_out, source_of, split_of


def log_of(sizes):
    """A user with each of these numbers of items, among 40."""
    users = np.repeat(np.arange(len(sizes)), sizes)
    items = np.concatenate([np.arange(size) for size in sizes])
    return Interactions.from_arrays(users, items, n_users=len(sizes), n_items=40)


def test_a_tenth_and_a_fifth_are_held_out_by_largest_remainders():
    split = hold_out(log_of([4, 5, 6, 10, 20, 33]), rng=0)
    assert split.train.user_counts.tolist() == [4, 4, 4, 7, 14, 23]
    assert split.validation.user_counts.tolist() == [0, 0, 1, 1, 2, 3]
    assert split.test.user_counts.tolist() == [0, 1, 1, 2, 4, 7]


def test_without_a_user_of_five_items_there_is_nothing_to_judge_by():
    with pytest.raises(DataError, match="no user has 5 relevant items"):
        hold_out(log_of([4, 3]), rng=0)


def test_without_a_user_of_six_items_there_is_nothing_to_choose_by():
    with pytest.raises(DataError, match=r"validation row.*six are enough"):
        hold_out(log_of([5, 5, 5]), rng=0)


def test_folds_are_drawn_apart_but_hold_out_as_many_of_everybody(made):
    first, second = (split_of(made, "ml-100k", fold) for fold in (0, 1))
    assert np.array_equal(first.test.user_counts, second.test.user_counts)
    assert np.array_equal(first.validation.user_counts, second.validation.user_counts)
    keys = [part.test.users.astype(np.int64) * 10_000 + part.test.items for part in (first, second)]
    assert not np.array_equal(np.sort(keys[0]), np.sort(keys[1]))
    assert split_of(made, "ml-100k", 0) is first


def test_only_rated_four_and_above_is_kept_and_all_of_it_is_the_catalogue(made):
    dense = dense_log(made, "ml-100k")
    assert dense.log.values.min() >= 4
    assert min(dense.log.user_counts.min(), dense.log.item_counts.min()) >= 5
    split = split_of(made, "ml-100k", 0)
    assert len(split.catalogue) == dense.after.items == dense.log.n_items


def write_ml_1m(folder, *, ratings):
    """Six users with ratings of 1 to 5 of twelve films, as original ratings or as relevance."""
    name, file = ("ml-1m", "ratings.dat") if ratings else ("ml-1m-rel", "relevance012.dat")
    (folder / name).mkdir()
    rng = np.random.default_rng(4)
    rows = [(user, item, int(rng.integers(3, 6))) for user in (1, 2, 3, 2999, 3000, 6040) for item in range(1, 13)]
    lines = [f"{u}::{i}::{r}::1" if ratings else f"{u}::{i}::{max(r - 3, 0)}" for u, i, r in rows]
    (folder / name / file).write_text("\n".join(lines) + "\n")


def test_ml_1m_is_the_same_log_from_its_ratings_and_from_their_relevance(tmp_path):
    logs = []
    for ratings in (True, False):
        folder = tmp_path / str(ratings)
        folder.mkdir()
        write_ml_1m(folder, ratings=ratings)
        context = Context(folder=folder)
        assert source_of(context, "ml-1m").reader == ("ml-1m" if ratings else "ml-1m-rel")
        logs.append(dense_log(context, "ml-1m").log.to_polars().select("user", "item"))
    assert logs[0].equals(logs[1])
    assert set(logs[0]["user"]) <= {1, 2, 3, 2999, 3000, 6040}
    assert len(logs[0]) > 20


def test_of_both_forms_of_ml_1m_the_ratings_are_read(tmp_path):
    for ratings in (True, False):
        write_ml_1m(tmp_path, ratings=ratings)
    assert source_of(Context(folder=tmp_path), "ml-1m").reader == "ml-1m"


@pytest.mark.parametrize("name", ["user_movie_pairs.dat", "ratings_first_487650_rows.dat"])
def test_a_part_of_ml_1m_is_not_enough(tmp_path, name):
    (tmp_path / "ml-1m").mkdir()
    (tmp_path / "ml-1m" / name).write_text("1::1\n" if "pairs" in name else "1::1::5::1\n")
    context = Context(folder=tmp_path)
    assert dense_log(context, "ml-1m") is None
    assert "a file of ml-1m is not here" in absence_of(context, "ml-1m")


def test_the_small_version_leaves_the_larger_sets_out(tmp_path):
    (tmp_path / "ml-1m").mkdir()
    (tmp_path / "ml-1m" / "ratings.dat").write_text("1::1::5::1\n")
    context = Context(folder=tmp_path, fast=True)
    assert absence_of(context, "ml-1m") == "left to the full run"
    assert dense_log(context, "ml-1m") is None


def test_the_papers_own_sets_are_cut_to_its_counts():
    for name, (users, items, _) in COUNTS.items():
        assert not SETS[name].stands_in
        assert protocol.kept(name) == {"users": users, "items": items}


@pytest.fixture
def made(tmp_path):
    """A context whose ml-100k is a small made file with ratings of 3 to 5."""
    return Context(folder=made_ratings(tmp_path))


def made_ratings(folder):
    rng = np.random.default_rng(3)
    (folder / "ml-100k").mkdir()
    with (folder / "ml-100k" / "u.data").open("w") as stream:
        for user in range(60):
            for item in rng.choice(80, 30, replace=False):
                stream.write(f"{user}\t{item}\t{rng.integers(3, 6)}\t1\n")
    return folder


def test_the_shares_are_those_of_the_paper():
    assert (protocol.VALIDATION, protocol.TEST, protocol.FOLDS.full, protocol.LEAST) == (0.1, 0.2, 4, 5)
