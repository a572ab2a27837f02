"""Each format on a small made file; no row is from the real data."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from source_files import rows, write

from unskew.data.sources import SOURCES, get_source
from unskew.data.sources.movielens_1m import read_pairs, read_ratings
from unskew.errors import ConfigError, DataError, PropensityError


@pytest.mark.parametrize("name", ["u.data", "u.data.gz"])
def test_movielens_100k_is_read_plain_or_gzipped(tmp_path, name):
    write(tmp_path, name, "7\t30\t4\t880000001\n9\t20\t1\t880000002\n7\t20\t5\t880000003\n")
    log = get_source("ml-100k").read(tmp_path)
    assert rows(log) == [(7, 30), (9, 20), (7, 20)]
    assert log.values.tolist() == [4, 1, 5]
    assert log.times.tolist() == [880000001, 880000002, 880000003]


def test_windows_line_ends_do_not_matter(tmp_path):
    write(tmp_path, "u.data", "7\t30\t4\t1\r\n9\t20\t1\t2\r\n")
    assert get_source("ml-100k").read(tmp_path).times.tolist() == [1, 2]


def test_a_changed_copy_with_a_header_is_refused(tmp_path):
    write(tmp_path, "u.data", "user\titem\trating\ttimestamp\n7\t30\t4\t880000001\n")
    with pytest.raises(DataError, match=r"u\.data: cannot be read as user, item.*original"):
        get_source("ml-100k").read(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "7\t30\t4\n", "7\t30\t\t5\n", "\t30\t1\t5\n", "7\t1\t1\t1\t1\n8\t1\t1\t1\t1\t9\n"]
)
def test_damaged_movielens_is_an_error(tmp_path, text):
    write(tmp_path, "u.data", text)
    with pytest.raises(DataError):
        get_source("ml-100k").read(tmp_path)


def test_a_cut_gzip_file_is_an_error(tmp_path):
    path = write(tmp_path, "u.data.gz", "7\t30\t4\t880000001\n" * 100)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match="cut short"):
        get_source("ml-100k").read(tmp_path)


def test_movielens_1m_is_read_from_the_original_first(tmp_path):
    write(tmp_path, "ratings.dat", "1::10::5::900\n2::10::3::901\n")
    write(tmp_path, "user_movie_pairs.dat.gz", "1::10\n")
    log = get_source("ml-1m").read(tmp_path)
    assert rows(log) == [(1, 10), (2, 10)]
    assert log.values.tolist() == [5, 3]


def test_movielens_1m_falls_back_on_all_pairs_then_on_the_first_ratings(tmp_path):
    write(tmp_path, "ratings_first_487650_rows.dat.gz", "1::10::5::900\n")
    assert rows(get_source("ml-1m").read(tmp_path)) == [(1, 10)]
    write(tmp_path, "user_movie_pairs.dat.gz", "1::10\n4::12\n")
    pairs = get_source("ml-1m").read(tmp_path)
    assert rows(pairs) == rows(read_pairs(tmp_path)) == [(1, 10), (4, 12)]
    assert pairs.values is None
    assert read_ratings(tmp_path).values.tolist() == [5]


@pytest.mark.parametrize("name", ["relevance012.dat", "relevance012.dat.gz"])
def test_the_relevance_of_movielens_1m_gives_the_pairs_rated_four_and_above(tmp_path, name):
    write(tmp_path, name, "1::10::2\n1::12::0\n2::10::1\n")
    write(tmp_path, "ratings.dat", "1::10::5::900\n1::12::3::901\n2::10::4::902\n")
    log = get_source("ml-1m-rel").read(tmp_path)
    assert rows(log) == [(1, 10), (1, 12), (2, 10)]
    assert log.values.tolist() == [2, 0, 1]
    assert rows(log.where("rating>=1")) == rows(get_source("ml-1m").read(tmp_path).where("rating>=4"))


@pytest.mark.parametrize(
    "bad, problem",
    [
        ("1::11::3", r"line 2 has relevance 3, not 0, 1 or 2; were ratings left"),
        ("1::11::-1", r"line 2 has relevance -1, not 0, 1 or 2"),
        ("1::11", "line 2 has no relevance"),
        ("1::11::1::900", r"read as user, item, relevance separated by '::' \(line 2 has 4 fields\)"),
        ("1::11::1.5", r"line 2 has '1.5' for relevance"),
    ],
)
def test_damaged_relevance_of_movielens_1m_is_an_error(tmp_path, bad, problem):
    write(tmp_path, "relevance012.dat", f"1::10::2\n{bad}\n1::12::0\n")
    with pytest.raises(DataError, match=rf"relevance012\.dat: .*{problem}"):
        get_source("ml-1m-rel").read(tmp_path)


def coat(folder: Path) -> None:
    write(folder, "train.ascii", "0 5 0 \n1 0 0 \n")
    write(folder, "test.ascii", "0 2 3\n0 0 4\n")


def test_coat_gives_a_split_in_which_all_items_are_candidates(tmp_path):
    coat(tmp_path)
    split = get_source("coat").read_split(tmp_path)
    assert str(split.rule) == "all"
    assert rows(split.train) == [(0, 1), (1, 0)]
    assert split.train.values.tolist() == [5, 1]
    assert rows(split.test) == [(0, 1), (0, 2), (1, 2)]
    assert (split.train.n_users, split.train.n_items) == (2, 3)
    assert split.train.propensity is None


def test_coat_brings_its_published_propensities_for_train(tmp_path):
    coat(tmp_path)
    write(tmp_path, "propensities.ascii.gz", "1e-1 2e-1 3e-1\n4e-1 5e-1 6e-1\n")
    split = get_source("coat").read_split(tmp_path)
    np.testing.assert_allclose(split.train.propensity, [0.2, 0.4])
    assert split.test.propensity is None
    np.testing.assert_allclose(get_source("coat").read(tmp_path).propensity, [0.2, 0.4])


def test_coat_matrices_must_fit_together(tmp_path):
    coat(tmp_path)
    write(tmp_path, "test.ascii", "0 2\n0 1\n")
    with pytest.raises(DataError, match=r"test\.ascii: shape"):
        get_source("coat").read_split(tmp_path)
    write(tmp_path, "propensities.ascii", "0.1 0.2\n")
    with pytest.raises(DataError, match=r"propensities\.ascii: shape"):
        get_source("coat").read(tmp_path)


def test_coat_propensities_outside_their_range_are_refused(tmp_path):
    coat(tmp_path)
    write(tmp_path, "propensities.ascii", "1 0 1\n1 1 1\n")
    with pytest.raises(PropensityError):
        get_source("coat").read(tmp_path)


@pytest.mark.parametrize("text", ["", "\n\n", "0 1\n0\n", "0 x\n", "\x00\x01"])
def test_damaged_coat_is_an_error(tmp_path, text):
    write(tmp_path, "train.ascii", text)
    with pytest.raises(DataError, match=r"train\.ascii"):
        get_source("coat").read(tmp_path)


def test_citeulike_lines_are_users(tmp_path):
    write(tmp_path, "users.dat.gz", "2 5 1\n1 0\n")
    assert rows(get_source("citeulike-a").read(tmp_path)) == [(0, 5), (0, 1), (1, 0)]


@pytest.mark.parametrize("text", ["", "2 5 1\n3 0\n", "1 x\n", "1 5\n\n1 2\n", "1 2.5\n"])
def test_damaged_citeulike_is_an_error(tmp_path, text):
    write(tmp_path, "users.dat", text)
    with pytest.raises(DataError, match=r"users\.dat"):
        get_source("citeulike-a").read(tmp_path)


def test_lastfm_counts_plays(tmp_path):
    write(tmp_path, "user_artists.dat", "userID\tartistID\tweight\r\n2\t51\t100\r\n3\t51\t7\r\n")
    log = get_source("lastfm-hetrec2011").read(tmp_path)
    assert rows(log) == [(2, 51), (3, 51)]
    assert log.values.tolist() == [100, 7]


def test_lastfm_with_nothing_but_its_header_is_refused(tmp_path):
    write(tmp_path, "user_artists.dat", "userID\tartistID\tweight\n")
    with pytest.raises(DataError, match="no row"):
        get_source("lastfm-hetrec2011").read(tmp_path)


def test_lastfm_without_its_header_is_refused(tmp_path):
    write(tmp_path, "user_artists.dat", "2\t51\t100\n3\t51\t7\n")
    with pytest.raises(DataError, match="original"):
        get_source("lastfm-hetrec2011").read(tmp_path)


PURCHASES = "User_ID\tGame_ID\tPurchase\n1\t4\t1.0\n1\t4\t1.0\n2\t5\t1.0\n"


def test_steam_is_read_from_the_table_or_the_archive_once_a_pair(tmp_path):
    with zipfile.ZipFile(tmp_path / "steam.zip", "w") as archive:
        archive.writestr("steam/item_info.dat", "Game_ID\tName\n4\tChess\n")
        archive.writestr("steam/game_purchase.dat", PURCHASES)
    zipped = get_source("steam-200k").read(tmp_path)
    write(tmp_path, "game_purchase.dat", PURCHASES)
    plain = get_source("steam-200k").read(tmp_path)
    for log in (zipped, plain):
        assert rows(log) == [(1, 4), (2, 5)]
        assert log.duplicates == 1


def test_steam_original_log_keeps_the_purchases(tmp_path):
    text = '7,"Chess, the Game",purchase,1.0,0\n7,"Chess, the Game",play,12.5,0\n8,Go,purchase,1.0,0\n'
    write(tmp_path, "steam-200k.csv", text)
    assert rows(get_source("steam-200k").read(tmp_path)) == [(7, "Chess, the Game"), (8, "Go")]


def test_a_steam_archive_without_the_table_or_damaged_is_an_error(tmp_path):
    with zipfile.ZipFile(tmp_path / "steam.zip", "w") as archive:
        archive.writestr("steam/README", "text")
    with pytest.raises(DataError, match=r"does not contain game_purchase\.dat"):
        get_source("steam-200k").read(tmp_path)
    (tmp_path / "steam.zip").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match="not a complete zip"):
        get_source("steam-200k").read(tmp_path)


def test_amazon_video_games_keeps_the_order_within_a_user(tmp_path):
    write(tmp_path, "Video.txt.gz", "1 30\n1 20\n2 30\n1 10\n")
    log = get_source("amazon-video-games").read(tmp_path)
    assert rows(log) == [(1, 30), (1, 20), (2, 30), (1, 10)]
    assert log.times.tolist() == [0, 1, 0, 2]
    assert log.values is None


def test_amazon_digital_music_puts_the_three_parts_together(tmp_path):
    for part, text in {"train": "0 1 1.00\n", "valid": "0 2 5.00\n", "test": "1 1 4.00\n"}.items():
        write(tmp_path, f"sigformer_{part}.txt.gz", text)
    log = get_source("amazon-digital-music").read(tmp_path)
    assert rows(log) == [(0, 1), (0, 2), (1, 1)]
    assert log.values.tolist() == [1, 5, 4]


def test_amazon_digital_music_names_the_part_that_is_missing(tmp_path):
    write(tmp_path, "sigformer_train.txt", "0 1 1.00\n")
    with pytest.raises(DataError, match=r"sigformer_valid\.txt"):
        get_source("amazon-digital-music").read(tmp_path)


def test_amazon_digital_music_reads_reviews(tmp_path):
    reviews = [
        {"reviewerID": "A1", "asin": "B2", "overall": 5.0, "unixReviewTime": 100, "helpful": [0, 1]},
        {"reviewerID": "A3", "asin": "B2", "overall": 2.0, "unixReviewTime": 200, "summary": "so, so"},
    ]
    write(tmp_path, "reviews_Digital_Music_5.json.gz", "\n".join(map(json.dumps, reviews)) + "\n")
    log = get_source("amazon-digital-music").read(tmp_path)
    assert rows(log) == [("A1", "B2"), ("A3", "B2")]
    assert log.values.tolist() == [5, 2]
    assert log.times.tolist() == [100, 200]


def test_amazon_digital_music_keeps_the_latest_of_repeated_reviews(tmp_path):
    made = [("B2", 5.0, 200), ("B2", 1.0, 100), ("B3", 4.0, 50)]
    reviews = [
        {"reviewerID": "A1", "asin": item, "overall": stars, "unixReviewTime": time} for item, stars, time in made
    ]
    write(tmp_path, "reviews_Digital_Music_5.json", "\n".join(map(json.dumps, reviews)) + "\n")
    log = get_source("amazon-digital-music").read(tmp_path)
    assert dict(zip(rows(log), log.values.tolist(), strict=True)) == {("A1", "B2"): 5, ("A1", "B3"): 4}
    assert log.duplicates == 1


def test_damaged_reviews_are_an_error(tmp_path):
    write(tmp_path, "reviews_Digital_Music_5.json", "{'reviewerID': ")
    with pytest.raises(DataError, match="JSON"):
        get_source("amazon-digital-music").read(tmp_path)


def jester_line(ratings: dict[int, float], count: int | None = None) -> str:
    line = [len(ratings) if count is None else count, *(ratings.get(joke, 99) for joke in range(1, 101))]
    return ",".join(map(str, line)) + "\n"


@pytest.mark.parametrize("name", ["jester-data-1.csv", "jester-data-1.csv.gz"])
def test_jester_numbers_users_and_jokes_from_1_and_leaves_99_out(tmp_path, name):
    write(tmp_path, name, jester_line({1: -7.82, 100: 10}) + jester_line({2: 0}))
    log = get_source("jester").read(tmp_path)
    assert rows(log) == [(1, 1), (1, 100), (2, 2)]
    assert log.values.tolist() == [-7.82, 10, 0]
    assert (log.n_users, log.n_items) == (2, 100)


@pytest.mark.parametrize(
    "bad, problem",
    [
        (jester_line({7: 11}), "line 2 has 11 for joke 7"),
        (jester_line({7: float("nan")}), "line 2 has nan for joke 7"),
        (jester_line({7: 1}, count=2), "line 2 has 1 ratings, but its first column says 2"),
        ("1,2,3\n", "line 2 has no joke 3"),
    ],
)
def test_damaged_jester_is_an_error(tmp_path, bad, problem):
    write(tmp_path, "jester-data-1.csv", jester_line({3: 1}) + bad)
    with pytest.raises(DataError, match=problem):
        get_source("jester").read(tmp_path)


def test_yahoo_r3_gives_a_split_over_unseen_songs(tmp_path):
    write(tmp_path, "ydata-ymusic-rating-study-v1_0-train.txt", "1\t14\t5\n2\t35\t1\n")
    write(tmp_path, "ydata-ymusic-rating-study-v1_0-test.txt", "1\t49\t1\n")
    split = get_source("yahoo-r3").read_split(tmp_path)
    assert str(split.rule) == "unseen"
    assert rows(split.train) == rows(get_source("yahoo-r3").read(tmp_path)) == [(1, 14), (2, 35)]
    assert rows(split.test) == [(1, 49)]


@pytest.mark.parametrize("name", SOURCES)
def test_an_absent_set_says_which_file_is_missing_and_how_to_get_it(tmp_path, name):
    with pytest.raises(DataError, match=rf"no file .* of the data set {name}; see 'unskew datasets show {name}'"):
        get_source(name).read(tmp_path)


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in {"coat", "yahoo-r3"}])
def test_a_set_without_its_own_test_says_so(tmp_path, name):
    with pytest.raises(ConfigError, match="no test set of its own"):
        get_source(name).read_split(tmp_path)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'ml-100k'"):
        get_source("ml100k")


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_every_source_says_all_that_a_user_must_know(source):
    assert all((source.title, source.licence, source.citation, source.how_to_get, source.forms))
    assert source.home.startswith("https://")
    assert source.download is None or source.download.startswith("https://")
    assert all(len(digest) == 64 for digest in source.files.values() if digest)
    assert not any("\n" in text for text in (source.licence, source.citation, source.how_to_get))
