"""MovieLens 10M on made lines; no row is from the real data."""

import gzip
import zipfile
from pathlib import Path

import pytest

from unskew.data.sources import get_source, status_of
from unskew.data.sources.unpack import unpack
from unskew.errors import DataError

LINES = "1::122::5::838985046\n1::185::4.5::838983525\n2::122::0.5::838983392\n"


@pytest.mark.parametrize("name", ["ratings.dat", "ratings.dat.gz"])
def test_half_stars_are_read_as_they_stand(tmp_path: Path, name: str) -> None:
    raw = LINES.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    log = get_source("ml-10m").read(tmp_path)
    assert log.to_polars().select("user", "item", "rating").rows() == [(1, 122, 5), (1, 185, 4.5), (2, 122, 0.5)]
    assert log.times is not None
    assert log.times.tolist() == [838985046, 838983525, 838983392]
    assert len(log.where("rating>=4")) == 2


def test_the_files_are_found_in_the_folder_of_the_archive(tmp_path: Path) -> None:
    source = get_source("ml-10m")
    with zipfile.ZipFile(tmp_path / "ml-10m.zip", "w") as archive:
        archive.writestr("ml-10M100K/ratings.dat", LINES)
        archive.writestr("ml-10M100K/tags.dat", "1::122::fun::838985046\n")
        archive.writestr("ml-10M100K/allbut.pl", "print")
    unpack(tmp_path / "ml-10m.zip", tmp_path / "out", wanted=tuple(source.files))
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["ratings.dat"]
    assert len(source.read(tmp_path / "out" / "ml-10M100K")) == 3


def test_the_file_makes_it_present(tmp_path: Path) -> None:
    (tmp_path / "ratings.dat").write_text(LINES)
    assert status_of(get_source("ml-10m"), tmp_path).presence == "present"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("3::x::5::1\n", r"\(line 4 has 'x' for item\)"),
        ("3::5::five::1\n", r"\(line 4 has 'five' for rating\)"),
        ("3::5::4::1::9\n", r"\(line 4 has 5 fields\)"),
        ("3::5::4\n", "line 4 has no timestamp"),
        ("3::5::::1\n", "line 4 has no rating"),
        ("\n1::2::3::4\n", "line 4 has no user"),
    ],
)
def test_a_bad_line_is_named_with_its_file(tmp_path: Path, bad: str, said: str) -> None:
    (tmp_path / "ratings.dat").write_text(LINES + bad + "4::5::x::1\n" * bad.startswith("3::x"))
    with pytest.raises(DataError, match=rf"ratings\.dat: .*{said}; (is it the original|was the file cut)"):
        get_source("ml-10m").read(tmp_path)
