"""The counts that the owners publish, on the real files, where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.data.sources.movielens_1m import read_ratings


@pytest.fixture
def read():
    """Read a data set, or skip when it is not at hand."""

    def read_one(name: str) -> Interactions:
        return get_source(name).read(place(name))

    return read_one


def place(name: str) -> Path:
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / name
    if status_of(get_source(name), folder).presence == "absent":
        pytest.skip(f"real data: {name} is not in the folder UNSKEW_DATA")
    return folder


@pytest.mark.parametrize(
    "name, n_rows, n_users, n_items, duplicates",
    [
        ("ml-100k", 100_000, 943, 1_682, 0),
        ("ml-1m", 1_000_209, 6_040, 3_706, 0),
        ("ml-1m-rel", 1_000_209, 6_040, 3_706, 0),
        ("coat", 6_960, 290, 300, 0),
        ("jester", 1_810_455, 24_983, 100, 0),
        ("citeulike-a", 204_986, 5_551, 16_980, 0),
        ("lastfm-hetrec2011", 92_834, 1_892, 17_632, 0),
        ("steam-200k", 129_511 - 707, 12_393, 5_155, 707),
        ("amazon-video-games", 287_107, 31_013, 23_715, 0),
        ("kuairec", 4_676_570, 1_411, 3_327, 0),
        ("kuairec-truth", 1_411 * 3_327, 1_411, 3_327, 0),
        ("yahoo-r3", 311_704, 15_400, 1_000, 0),
    ],
)
def test_the_published_counts_are_found(read, name, n_rows, n_users, n_items, duplicates):
    log = read(name)
    assert (len(log), log.n_users, log.n_items, log.duplicates) == (n_rows, n_users, n_items, duplicates)


@pytest.mark.parametrize(
    "name",
    [
        "ml-100k",
        "ml-1m-rel",
        "coat",
        "citeulike-a",
        "lastfm-hetrec2011",
        "steam-200k",
        "amazon-video-games",
        "kuairec-truth",
    ],
)
def test_the_pinned_checksums_hold(name):
    folder = place(name)
    status = status_of(get_source(name), folder)
    assert (status.presence, status.checksum) == ("present", "holds")


def test_movielens_100k_ratings_are_as_published(read):
    values = read("ml-100k").values
    assert np.bincount(values.astype(int), minlength=6).tolist() == [0, 6110, 11370, 27145, 34174, 21201]


def test_the_rated_part_of_movielens_1m_holds_whole_users():
    folder = place("ml-1m")
    ratings = read_ratings(folder)
    if status_of(get_source("ml-1m"), folder).presence == "present":
        assert len(ratings) == 1_000_209
    else:
        assert len(ratings) == 487_650
        assert ratings.n_users == 2_999


def test_the_relevance_of_movielens_1m_is_as_published_and_that_of_its_ratings(read):
    log = read("ml-1m-rel")
    assert np.bincount(log.values.astype(int)).tolist() == [56_174 + 107_557 + 261_197, 348_971, 226_310]
    ratings = read_ratings(place("ml-1m"))
    first = log.take(np.arange(len(ratings)))
    assert np.array_equal(first.values, np.maximum(ratings.values - 3, 0))
    for axis in ("user", "item"):
        ids = [getattr(each, f"{axis}_vocabulary").ids[getattr(each, f"{axis}s")] for each in (first, ratings)]
        assert np.array_equal(*ids)


def test_coat_split_is_as_published():
    split = get_source("coat").read_split(place("coat"))
    assert set(split.train.user_counts.tolist()) == {24}
    assert set(split.test.user_counts.tolist()) == {16}
    pairs = [set(zip(part.users.tolist(), part.items.tolist(), strict=True)) for part in (split.train, split.test)]
    assert len(pairs[0] & pairs[1]) == 366
    assert split.train.values.mean() == pytest.approx(2.611, abs=5e-4)
    assert split.test.values.mean() == pytest.approx(2.229, abs=5e-4)
    assert (1 / split.train.propensity).sum() == pytest.approx(90485.57, abs=0.01)


def test_jester_ratings_are_as_published_and_7200_users_rated_all_jokes(read):
    log = read("jester")
    assert (log.values.min(), log.values.max(), log.user_counts.min()) == (-9.95, 10, 36)
    assert log.values.mean() == pytest.approx(0.880, abs=5e-4)
    assert (log.user_counts == 100).sum() == 7_200


def test_kuairec_truth_has_the_counted_positives_and_items_without_any(read):
    log = read("kuairec-truth")
    positives = np.bincount(log.items, weights=log.values, minlength=log.n_items)
    assert (positives.sum(), (positives == 0).sum()) == (217_175, 51)
    of_user = np.bincount(log.users, weights=log.values, minlength=log.n_users)
    assert (of_user.min(), np.median(of_user), of_user.max()) == (6, 95, 993)


def test_digital_music_is_the_core_or_the_smaller_set(read):
    log = read("amazon-digital-music")
    whole = status_of(get_source("amazon-digital-music"), place("amazon-digital-music")).presence == "present"
    expected = (64_706, 5_541, 3_568) if whole else (49_875, 3_472, 2_498)
    assert (len(log), log.n_users, log.n_items) == expected


def test_yahoo_r3_test_is_as_published():
    split = get_source("yahoo-r3").read_split(place("yahoo-r3"))
    assert (len(split.test), int((split.test.user_counts > 0).sum())) == (54_000, 5_400)
