"""The triplets of the Million Song Dataset Challenge on made lines; no row is from the real data."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from unskew import Interactions
from unskew.data.sources import get_source, status_of
from unskew.data.sources.text import read_lines
from unskew.errors import DataError

LINES = "ffa0\tSOA\t3\n00b1\tSOC\t1\nffa0\tSOB\t20\n00b1\tSOA\t2\n"


def in_small_blocks(monkeypatch: pytest.MonkeyPatch, size: int = 1) -> None:
    monkeypatch.setattr("unskew.data.sources.million_song.read_lines", lambda path: read_lines(path, size=size))


@pytest.mark.parametrize("name", ["train_triplets.txt", "train_triplets.txt.gz"])
def test_play_counts_are_the_values(tmp_path: Path, name: str) -> None:
    raw = LINES.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    log = get_source("msd-challenge").read(tmp_path)
    assert log.to_polars().rows() == [("ffa0", "SOA", 3), ("00b1", "SOC", 1), ("ffa0", "SOB", 20), ("00b1", "SOA", 2)]
    assert log.times is None
    assert len(log.where("rating>=3")) == 2


def test_blocks_give_what_a_frame_of_the_whole_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that read as numbers in one block and not in another included, and a repeated pair."""
    rng = np.random.default_rng(0)
    users = [f"{user:x}" for user in rng.integers(0, 40, 300)]
    songs = [f"S{song}" for song in rng.integers(0, 25, 300)]
    plays = rng.integers(1, 9, 300)
    text = "".join(f"{user}\t{song}\t{n}\n" for user, song, n in zip(users, songs, plays, strict=True))
    (tmp_path / "train_triplets.txt").write_text(text)
    in_small_blocks(monkeypatch, size=40)
    log = get_source("msd-challenge").read(tmp_path)
    whole = Interactions.from_arrays(users, songs, values=plays)
    assert log.duplicates == whole.duplicates > 0
    assert log.sha256 == whole.sha256
    assert log.user_vocabulary == whole.user_vocabulary


def test_ids_that_are_all_numbers_are_ordered_as_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train_triplets.txt").write_text("10\t1\t1\n9\t1\t1\n100\t2\t1\n")
    in_small_blocks(monkeypatch)
    assert get_source("msd-challenge").read(tmp_path).user_vocabulary.ids.tolist() == [9, 10, 100]


def test_the_visible_part_is_read_when_train_is_not_there_and_said_to_be_a_part(tmp_path: Path) -> None:
    source = get_source("msd-challenge")
    (tmp_path / "kaggle_visible_evaluation_triplets.txt").write_text("aa\tSOZ\t7\n")
    assert source.read(tmp_path).to_polars().rows() == [("aa", "SOZ", 7)]
    status = status_of(source, tmp_path)
    assert status.presence == "partly"
    assert "110,000" in status.note
    (tmp_path / "train_triplets.txt").write_text(LINES)
    assert len(source.read(tmp_path)) == 4
    assert status_of(source, tmp_path).presence == "present"


@pytest.mark.parametrize("size", [1, 1 << 20], ids=["many blocks", "one block"])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("aa\tSOA\tmany\n", r"\(line 5 has 'many' for plays\)"),
        ("aa\tSOA\n", r"(line 5 has no plays|\(line 5 has 2 fields\))"),
        ("aa\t\t3\n", "line 5 has no item"),
        ("aa\tSOA\t3\t4\n", r"\(line 5 has 4 fields\)"),
    ],
)
def test_a_bad_line_is_named_with_its_file_whichever_block_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str, said: str, size: int
) -> None:
    (tmp_path / "train_triplets.txt").write_text(LINES + bad + LINES)
    in_small_blocks(monkeypatch, size)
    with pytest.raises(DataError, match=rf"train_triplets\.txt: .*{said}"):
        get_source("msd-challenge").read(tmp_path)


def test_an_empty_file_and_a_cut_one_are_errors(tmp_path: Path) -> None:
    (tmp_path / "train_triplets.txt").write_text("")
    with pytest.raises(DataError, match=r"train_triplets\.txt: the file is empty"):
        get_source("msd-challenge").read(tmp_path)
    (tmp_path / "train_triplets.txt").unlink()
    (tmp_path / "train_triplets.txt.gz").write_bytes(gzip.compress(LINES.encode() * 50)[:-12])
    with pytest.raises(DataError, match=r"train_triplets\.txt\.gz: not a complete gzip file"):
        get_source("msd-challenge").read(tmp_path)
