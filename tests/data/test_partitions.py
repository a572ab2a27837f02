"""Data sets in parts: the part of a user, copies in any layout, URLs, and files that do not fit."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.data import Columns, open_parts, open_split, write_parts
from unskew.data.partitions import find_files, mix, part_name, read_batches, user_keys, write
from unskew.data.partitions.locations import as_location, is_url, list_files
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError


def make_rows(n: int = 500, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"user": rng.integers(0, 90, n), "item": np.arange(n), "rating": rng.uniform(1, 5, n)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_parts([make_rows()], tmp_path / "log", 4)
    return tmp_path / "log"


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1))
def test_a_number_and_its_text_have_the_same_key(numbers: list[int]) -> None:
    texts = pl.Series([*map(str, numbers), "a word"])  # the word keeps the column text
    assert list(user_keys(pl.Series(numbers))) == list(user_keys(canonical(texts, "users"))[:-1])


def test_mixing_is_splitmix64() -> None:
    # the first outputs of the reference generator (Steele, Lea and Flood 2014) for the seed 1234567
    state = (1234567 + np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    assert list(mix(state)) == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_parts_hold_all_rows_and_each_user_once(folder: Path) -> None:
    parts = open_parts(str(folder), Columns())
    read = [parts.read(part).to_polars() for part in range(len(parts))]
    assert pl.concat(read).sort("item").equals(make_rows().sort("item"))
    assert sum(frame["user"].n_unique() for frame in read) == make_rows()["user"].n_unique()


def test_batches_do_not_change_a_byte(tmp_path: Path, folder: Path) -> None:
    rows = make_rows()
    write_parts([rows[:100], rows[100:130], rows[130:]], tmp_path / "again", 4)
    for part in range(4):
        assert (folder / part_name(part)).read_bytes() == (tmp_path / "again" / part_name(part)).read_bytes()


def test_a_data_set_is_whole_or_absent(tmp_path: Path) -> None:
    def broken() -> Iterator[pl.DataFrame]:
        yield make_rows()
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left"):
        write_parts(broken(), tmp_path / "log", 4)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(DataError, match="exists and is not a data set"):
        write_parts([make_rows()], tmp_path, 4)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_an_earlier_data_set_is_replaced(folder: Path) -> None:
    write_parts([make_rows(100)], folder, 2)
    assert len(open_parts(str(folder), Columns())) == 2
    assert len(list(folder.glob("part-*"))) == 2


def test_a_part_with_another_column_is_named(folder: Path) -> None:
    part = pl.read_parquet(folder / part_name(2))
    part.rename({"rating": "stars"}).write_parquet(folder / part_name(2))
    with pytest.raises(DataError, match=r"part-00002.parquet: column 'rating' is missing, but is Float64 in .*00000"):
        open_parts(str(folder), Columns())


def test_a_part_with_another_type_is_named(folder: Path) -> None:
    part = pl.read_parquet(folder / part_name(3))
    part.with_columns(pl.col("user").cast(pl.String)).write_parquet(folder / part_name(3))
    with pytest.raises(DataError, match=r"part-00003.parquet: column 'user' is String, but is Int64 in"):
        open_parts(str(folder), Columns())


def test_a_user_in_two_parts_is_named(folder: Path) -> None:
    stranger = pl.read_parquet(folder / part_name(0))[:1]
    pl.concat([pl.read_parquet(folder / part_name(1)), stranger]).write_parquet(folder / part_name(1))
    parts = open_parts(str(folder), Columns())
    parts.read(0)
    user = stranger["user"][0]
    with pytest.raises(DataError, match=rf"part-00001.parquet: user {user} belongs to part-00000.parquet"):
        parts.read(1)


def test_a_file_that_is_not_a_part_is_named(folder: Path) -> None:
    make_rows(10).write_parquet(folder / "2026-11-18.parquet")
    with pytest.raises(DataError, match=r"2026-11-18.parquet: not one of the 4 parts of its data set"):
        open_parts(str(folder), Columns())


def test_ctrl_c_leaves_no_copy(tmp_path: Path) -> None:
    def interrupted() -> Iterator[pl.DataFrame]:
        yield make_rows()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parts(interrupted(), tmp_path / "log", 4)
    assert list(tmp_path.iterdir()) == []


def test_a_corrupt_part_is_named(folder: Path) -> None:
    path = folder / part_name(1)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"part-00001.parquet: not a readable Parquet file"):
        open_parts(str(folder), Columns())
    path.unlink()
    with pytest.raises(DataError, match=r"part-00001.parquet: no such file; is the data set complete"):
        open_parts(str(folder), Columns())


def test_a_corrupt_file_among_good_ones_leaves_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    for k in range(3):
        make_rows(50, k).write_parquet(log / f"{k}.parquet")
    whole = (log / "1.parquet").read_bytes()
    (log / "1.parquet").write_bytes(whole[:40] + bytes(len(whole) - 60) + whole[-20:])  # its end is right
    with pytest.raises(DataError, match=r"1.parquet: not a readable Parquet file"):
        write_parts(read_batches(find_files(str(log)), Columns()), tmp_path / "out", 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log"]


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 9, "partitions": 4}', '{"version": 1, "partitions": -1}'])
def test_a_layout_file_that_is_not_ours_is_refused(folder: Path, text: str) -> None:
    (folder / "_unskew.json").write_text(text)
    with pytest.raises(DataError, match=r"cannot read its _unskew\.json"):
        open_parts(str(folder), Columns())


def test_another_number_of_parts_is_refused_or_copied(tmp_path: Path, folder: Path) -> None:
    write_parts([make_rows(seed=1)], tmp_path / "test", 3)
    with pytest.raises(DataError, match=r"test: its files are not by user in 4 parts; .* 'unskew partition'"):
        open_split(folder, tmp_path / "test")
    with pytest.raises(ConfigError, match="must be at least 1"):
        open_split(folder, tmp_path / "test", parts=0)
    split = open_split(folder, tmp_path / "test", work=tmp_path / "work")
    assert len(split.test) == len(split.train) == 4
    assert json.loads((tmp_path / "work" / "test" / "_unskew.json").read_text())["partitions"] == 4


def test_missing_and_empty_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        find_files(str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="no Parquet file in it"):
        find_files(str(tmp_path))
    with pytest.raises(DataError, match="there is no row to write"):
        write_parts([], tmp_path / "out", 2)


@pytest.mark.parametrize("url", ["s3://bucket/a", "memory://a/b", "file:///a/b", "gs://x"])
def test_a_url_survives_a_path(url: str) -> None:
    assert is_url(url)
    assert as_location(Path(url)) == as_location(url) == url


def test_urls_are_read_like_folders(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    write_parts([make_rows()], tmp_path / "log", 3)
    memory = fsspec.filesystem("memory")
    for file in (tmp_path / "log").iterdir():
        memory.pipe_file(f"/unskew-test/log/{file.name}", file.read_bytes())
    plain = open_parts(str(tmp_path / "log"), Columns())
    for location in ("memory://unskew-test/log", (tmp_path / "log").as_uri()):
        parts = open_parts(location, Columns())
        assert [parts.read(k).sha256 for k in range(3)] == [plain.read(k).sha256 for k in range(3)]
        assert sum(map(len, read_batches(find_files(location), Columns()))) == 500
    memory.rm("/unskew-test", recursive=True)
    with pytest.raises(DataError, match="nosuch"):
        list_files("nosuch://x/y")


def test_a_data_set_is_replaced_as_a_whole(tmp_path, monkeypatch):
    write_parts([make_rows(seed=1)], tmp_path / "log", 3)
    before = {path.name: path.read_bytes() for path in (tmp_path / "log").iterdir()}
    seen = []
    remove = write._remove

    def look(folder):
        kept = sorted(path for path in folder.rglob("*") if path.is_file())
        seen.append(({path.name: path.read_bytes() for path in kept}, (tmp_path / "log").exists()))
        remove(folder)

    monkeypatch.setattr(write, "_remove", look)
    write_parts([make_rows(seed=2)], tmp_path / "log", 3)
    assert seen[0] == (before, False)  # moved aside with all its files before the new one gets its name
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "log").iterdir()} != before
