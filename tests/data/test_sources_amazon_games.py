"""Amazon Video Games in its three forms, on made lines; no row is from the real data."""

import gzip
import json
from pathlib import Path

import pytest

from unskew.data.sources import get_source, status_of
from unskew.data.sources.amazon_reviews import read_blocks
from unskew.data.sources.text import read_lines
from unskew.errors import DataError

ROWS = [("A1", "B7", 5.0, 100), ("A2", "B7", 2.0, 200), ("A1", "07", 4.0, 300)]


def ratings(*rows: tuple[str, str, float, int]) -> str:
    return "".join(f"{user},{item},{stars},{time}\n" for user, item, stars, time in rows)


def reviews(*rows: tuple[str, str, float, int]) -> str:
    names = ("reviewerID", "asin", "overall", "unixReviewTime")
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)


def block(user: str = "A1", item: str = "B7", stars: object = 5.0, time: object = 100) -> str:
    return (
        f"product/productId: {item}\nproduct/title: A Game: the Second\nproduct/price: unknown\nreview/userId: {user}\n"
        f"review/profileName: someone\nreview/helpfulness: 1/2\nreview/score: {stars}\nreview/time: {time}\n"
        "review/summary: so\nreview/text: review/score: 1.0 would be too much\n\n"
    )


FORMS = {
    "ratings_Video_Games.csv": ratings(*ROWS),
    "Video_Games.txt": "".join(block(*row) for row in ROWS),
    "reviews_Video_Games_5.json": reviews(*ROWS),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", FORMS)
def test_all_forms_of_the_same_reviews_give_the_same_log(tmp_path: Path, name: str, packed: bool) -> None:
    raw = FORMS[name].encode()
    (tmp_path / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(raw) if packed else raw)
    log = get_source("amazon-games").read(tmp_path)
    assert log.to_polars().rows() == ROWS


def test_all_ratings_come_before_the_blocks_and_these_before_the_5_core(tmp_path: Path) -> None:
    source = get_source("amazon-games")
    for name, text, n, presence in (
        ("reviews_Video_Games_5.json", reviews(ROWS[0]), 1, "partly"),
        ("Video_Games.txt", block(*ROWS[0]) + block(*ROWS[1]), 2, "partly"),
        ("ratings_Video_Games.csv", ratings(*ROWS), 3, "present"),
    ):
        (tmp_path / name).write_text(text)
        assert len(source.read(tmp_path)) == n
        assert status_of(source, tmp_path).presence == presence


def test_reviews_by_unknown_users_are_left_out_of_the_blocks(tmp_path: Path) -> None:
    (tmp_path / "Video_Games.txt").write_text(block("unknown") + block("A2", "B7") + block("unknown", "B8"))
    log = get_source("amazon-games").read(tmp_path)
    assert log.to_polars().select("user", "item").rows() == [("A2", "B7")]


def test_the_last_block_needs_no_blank_line_and_texts_may_be_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "Video_Games.txt"
    path.write_bytes((block() + block("A2")).replace("someone", "Zoë").encode("latin-1").rstrip(b"\n"))
    assert len(get_source("amazon-games").read(tmp_path)) == 2


def test_blocks_cut_in_reading_are_the_same_as_whole_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "Video_Games.txt"
    path.write_text(FORMS["Video_Games.txt"])
    whole = read_blocks(path, "made")
    monkeypatch.setattr("unskew.data.sources.amazon_reviews.read_lines", lambda path: read_lines(path, size=1))
    assert read_blocks(path, "made").sha256 == whole.sha256


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no review by a known user"),
        (block("unknown"), "has no review by a known user"),
        (block() + "product/productId: B1\nreview/userId: A1\n", "the block of line 12 has no review/score"),
        (block() + block(user=""), "the block of line 12 has no review/userId"),
        (block() + block(stars="five"), "the block of line 12 has 'five' for rating, expected a number"),
        (block() + block(time="today"), "the block of line 12 has 'today' for timestamp, expected a number"),
        ("some,other,file\n", "the block of line 1 has no review/userId"),
    ],
)
def test_damaged_blocks_say_where(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "Video_Games.txt").write_text(text)
    with pytest.raises(DataError, match=rf"Video_Games\.txt: {said}"):
        get_source("amazon-games").read(tmp_path)


def test_a_bad_line_of_the_ratings_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "ratings_Video_Games.csv").write_text(ratings(*ROWS) + "A1,B9,4.0\n")
    with pytest.raises(DataError, match=r"ratings_Video_Games\.csv: line 4 has no timestamp"):
        get_source("amazon-games").read(tmp_path)
