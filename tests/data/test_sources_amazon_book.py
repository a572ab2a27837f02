"""Amazon Books on made lines; no row is from the real data."""

import gzip
import json
from pathlib import Path

import pytest

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.data.sources.amazon_reviews import read_reviews
from unskew.data.sources.text import read_lines
from unskew.errors import DataError

RATINGS = "A1,0001,5.0,100\nA2,B00X,1.0,200\nA1,B00X,3.0,300\nA1,B00X,4.0,250\n"
REVIEWS = [
    {"reviewerID": "A1", "asin": "0001", "overall": 5.0, "unixReviewTime": 100, "helpful": [0, 1]},
    {"reviewerID": "A2", "asin": "B00X", "overall": 1.0, "unixReviewTime": 200, "reviewText": "so, {so}"},
]


def pairs(log: Interactions) -> list[tuple[object, object]]:
    return [(user, item) for user, item, *_ in log.to_polars().iter_rows()]


def lines_of(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("name", ["ratings_Books.csv", "ratings_Books.csv.gz"])
def test_every_rating_is_a_row_whatever_its_stars(tmp_path: Path, name: str) -> None:
    """The pair that is there twice has the later time's stars."""
    raw = RATINGS.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    log = get_source("amazon-book").read(tmp_path)
    assert pairs(log) == [("A1", "0001"), ("A2", "B00X"), ("A1", "B00X")]
    assert log.values is not None
    assert log.times is not None
    assert log.values.tolist() == [5, 1, 3]
    assert log.times.tolist() == [100, 200, 300]
    assert log.duplicates == 1


def test_reviews_are_read_when_the_ratings_are_not_there_and_said_to_be_a_part(tmp_path: Path) -> None:
    source = get_source("amazon-book")
    (tmp_path / "reviews_Books_5.json.gz").write_bytes(gzip.compress(lines_of(*REVIEWS).encode()))
    log = source.read(tmp_path)
    assert pairs(log) == [("A1", "0001"), ("A2", "B00X")]
    assert log.values is not None
    assert log.values.tolist() == [5, 1]
    status = status_of(source, tmp_path)
    assert status.presence == "partly"
    assert "5-core" in status.note
    (tmp_path / "ratings_Books.csv").write_text(RATINGS)
    assert len(source.read(tmp_path)) == 3
    assert status_of(source, tmp_path).presence == "present"


@pytest.mark.parametrize("text", ["", "A1,0001,5.0\n", "A1,0001,five,100\n", "user,item,rating,timestamp\nA1,B,5,1\n"])
def test_damaged_ratings_are_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "ratings_Books.csv").write_text(text)
    with pytest.raises(DataError, match=r"ratings_Books\.csv|amazon-book"):
        get_source("amazon-book").read(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        (lines_of(REVIEWS[0]) + "{'reviewerID': \n", "line 2 is not one JSON object"),
        (lines_of(REVIEWS[0], {**REVIEWS[1], "overall": {"stars": 5}}), "lines 1 to 2"),
    ],
)
def test_damaged_reviews_say_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "reviews_Books_5.json"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"reviews_Books_5\.json: .*{said}"):
        get_source("amazon-book").read(tmp_path)


def test_blocks_hold_whole_lines_and_count_them(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"one\ntwo\nthree\nfour")
    assert list(read_lines(path, size=6)) == [(1, [b"one\n", b"two\n"]), (3, [b"three\n", b"four"])]
    assert list(read_lines(path)) == [(1, [b"one\n", b"two\n", b"three\n", b"four"])]


def test_reviews_in_many_blocks_are_the_same_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "reviews.json"
    path.write_text(lines_of(*REVIEWS))
    whole = read_reviews(path, "made")
    monkeypatch.setattr("unskew.data.sources.amazon_reviews.read_lines", lambda path: read_lines(path, size=1))
    assert read_reviews(path, "made").sha256 == whole.sha256
