import gzip
import hashlib
from pathlib import Path

import pytest

from unskew.data.sources import Form, Source, data_folder, status_of
from unskew.data.sources.status import content_sha256
from unskew.errors import DataError

TEXT = b"1\t2\n3\t4\n"
PIN = hashlib.sha256(TEXT).hexdigest()


def source(pin: str | None = PIN) -> Source:
    return Source(
        name="made",
        title="Made",
        licence="none",
        citation="nobody",
        home="https://example.org",
        forms=(
            Form({"a.dat": pin, "b.dat": None}),
            Form({"part.dat": None}, whole=False, note="a part"),
            Form({"other.zip": None}, note="packed"),
        ),
        reader=lambda folder: pytest.fail("not read here"),
        extras={"README": PIN},
    )


def test_nothing_there_is_absent_and_its_checksum_is_pinned_or_not(tmp_path):
    status = status_of(source(), tmp_path)
    assert (status.presence, status.checksum, status.files) == ("absent", "pinned", ())
    assert status_of(source(None), tmp_path / "nowhere").checksum == "not pinned"


def test_some_files_are_partly(tmp_path):
    (tmp_path / "a.dat").write_bytes(TEXT)
    status = status_of(source(), tmp_path)
    assert (status.presence, status.checksum, status.files) == ("partly", "holds", ("a.dat",))


def test_a_form_that_is_not_whole_is_partly_and_says_so(tmp_path):
    (tmp_path / "part.dat").write_bytes(TEXT)
    status = status_of(source(), tmp_path)
    assert (status.presence, status.checksum, status.note) == ("partly", "not pinned", "a part")


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("text", [TEXT, TEXT.replace(b"\n", b"\r\n")])
def test_packing_and_line_ends_do_not_matter(tmp_path, suffix, text):
    (tmp_path / f"a.dat{suffix}").write_bytes(gzip.compress(text) if suffix else text)
    (tmp_path / "b.dat").write_bytes(b"anything")
    status = status_of(source(), tmp_path)
    assert (status.presence, status.checksum) == ("present", "holds")


def test_another_whole_form_is_present(tmp_path):
    (tmp_path / "other.zip").write_bytes(b"x")
    status = status_of(source(), tmp_path)
    assert (status.presence, status.checksum, status.note) == ("present", "not pinned", "packed")


def test_a_changed_file_differs(tmp_path):
    (tmp_path / "a.dat").write_bytes(TEXT + b"5\t6\n")
    (tmp_path / "b.dat").write_bytes(b"")
    status = status_of(source(), tmp_path)
    assert (status.presence, status.checksum, status.differing) == ("present", "differs", ("a.dat",))


def test_a_changed_extra_differs_too(tmp_path):
    (tmp_path / "README").write_bytes(b"changed")
    assert status_of(source(), tmp_path).checksum == "differs"


def test_a_cut_gzip_file_differs_and_does_not_stop_the_listing(tmp_path):
    (tmp_path / "a.dat.gz").write_bytes(gzip.compress(TEXT)[:-9])
    assert status_of(source(), tmp_path).differing == ("a.dat",)
    with pytest.raises(DataError, match="not a complete gzip file"):
        content_sha256(tmp_path / "a.dat.gz")


def test_a_line_end_across_the_border_of_two_chunks_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr("unskew.data.sources.status._CHUNK", 4)
    (tmp_path / "x").write_bytes(b"abc\r\ndefg\r\r\nh\r")
    assert content_sha256(tmp_path / "x") == hashlib.sha256(b"abc\ndefg\r\nh\r").hexdigest()


def test_a_zip_archive_is_hashed_as_it_is(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"a\r\nb")
    assert content_sha256(tmp_path / "x.zip") == hashlib.sha256(b"a\r\nb").hexdigest()


def test_the_data_folder_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("UNSKEW_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert data_folder() == tmp_path / ".local/share/unskew"
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    assert data_folder() == tmp_path / ".local/share/unskew"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg/unskew"
    monkeypatch.setenv("UNSKEW_DATA", "~/mine")
    assert data_folder() == tmp_path / "mine"
    assert source().place() == tmp_path / "mine/made"
    assert source().place("here") == Path("here")
