import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from unskew.data.sources.unpack import is_archive, unpack
from unskew.errors import DataError


def make_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # Given as information, a name is taken as it is.
            archive.writestr(zipfile.ZipInfo(name), content)
    return path


def make_tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def assert_refused(archive: Path, match: str) -> None:
    before = everything(archive.parent.parent)
    with pytest.raises(DataError, match=match):
        unpack(archive, archive.parent / "out")
    assert not (archive.parent / "out").exists()
    assert everything(archive.parent.parent) == before


@pytest.fixture
def inner(tmp_path):
    """A folder in another one, so that what climbs out would be seen."""
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    return folder


def test_a_zip_archive_is_unpacked(inner):
    archive = make_zip(inner / "x.zip", {"set/": b"", "set/a.dat": b"1", "set/deep/b.dat": b"22"})
    unpack(archive, inner / "out")
    assert everything(inner / "out") == ["set/a.dat", "set/deep/b.dat"]
    assert (inner / "out/set/deep/b.dat").read_bytes() == b"22"


@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.tgz"])
def test_a_tar_archive_is_unpacked(inner, name):
    archive = make_tar(inner / name, (special("set", tarfile.DIRTYPE), b""), (tarfile.TarInfo("./set/a.dat"), b"1"))
    unpack(archive, inner / "out")
    assert is_archive(archive)
    assert (inner / "out/set/a.dat").read_bytes() == b"1"


def test_only_what_is_wanted_is_written(inner):
    members = {"set/a.dat": b"1", "set/aa.dat": b"2", "a.dat/x": b"3", "set/deep/b.dat": b"4", "deep/c": b"5"}
    unpack(make_zip(inner / "x.zip", members), inner / "out", wanted=("a.dat", "deep/b.dat"))
    assert everything(inner / "out") == ["set/a.dat", "set/deep/b.dat"]


@pytest.mark.parametrize(
    "name",
    ["../evil", "a/../../evil", "/evil", "\\evil", "..\\evil", "C:\\evil", "C:evil", "//host/share/evil"],
)
@pytest.mark.parametrize("suffix", [".zip", ".tar.gz"])
def test_no_path_leaves_the_folder(inner, name, suffix):
    if suffix == ".zip":
        archive = make_zip(inner / "x.zip", {"good": b"1", name: b"2"})
    else:
        archive = make_tar(inner / "x.tar.gz", (tarfile.TarInfo("good"), b"1"), (tarfile.TarInfo(name), b"2"))
    assert_refused(archive, "would leave the folder")


@pytest.mark.parametrize(
    "member",
    [
        special("link", tarfile.SYMTYPE, "../../evil"),
        special("link", tarfile.SYMTYPE, "harmless"),
        special("hard", tarfile.LNKTYPE, "/etc/hostname"),
        special("device", tarfile.CHRTYPE),
        special("block", tarfile.BLKTYPE),
        special("pipe", tarfile.FIFOTYPE),
    ],
    ids=["symlink out", "symlink in", "hard link", "character device", "block device", "pipe"],
)
def test_links_and_devices_in_a_tar_archive_are_refused(inner, member):
    assert_refused(make_tar(inner / "x.tar.gz", (tarfile.TarInfo("good"), b"1"), (member, b"")), "link or device")


def test_a_link_in_a_zip_archive_is_refused(inner):
    with zipfile.ZipFile(inner / "x.zip", "w") as archive:
        link = zipfile.ZipInfo("link")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "../../evil")
    assert_refused(inner / "x.zip", "link or device")


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz"])
def test_a_bomb_is_refused(inner, suffix):
    content = bytes(5_000_000)
    if suffix == ".zip":
        archive = make_zip(inner / "x.zip", {"bomb": content})
    else:
        archive = make_tar(inner / "x.tar.gz", (tarfile.TarInfo("bomb"), content))
    with pytest.raises(DataError, match="more than 1,000,000 bytes"):
        unpack(archive, inner / "out", largest=1_000_000)
    assert not (inner / "out").exists()


def test_too_many_members_are_refused(inner, monkeypatch):
    monkeypatch.setattr("unskew.data.sources.unpack._MOST_MEMBERS", 2)
    assert_refused(make_zip(inner / "x.zip", {"a": b"", "b": b"", "c": b""}), "more than 2 members")


def test_a_name_that_stands_twice_is_refused(inner):
    archive = make_tar(inner / "x.tar", (tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2"))
    assert_refused(archive, "cannot be unpacked")


def test_a_file_in_the_place_of_a_folder_is_refused(inner):
    assert_refused(make_zip(inner / "x.zip", {"a": b"1", "a/b": b"2"}), "cannot be unpacked")


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.tar"])
@pytest.mark.parametrize("content", [b"", b"nonsense" * 200])
def test_what_is_no_archive_is_refused(inner, name, content):
    (inner / name).write_bytes(content)
    assert_refused(inner / name, "cannot be unpacked")


def test_a_cut_archive_is_refused(inner):
    archive = make_tar(inner / "x.tar.gz", (tarfile.TarInfo("a"), bytes(range(256)) * 4000))
    archive.write_bytes(archive.read_bytes()[:-40])
    assert_refused(archive, "cut short")


def test_a_damaged_member_is_refused(inner):
    archive = make_zip(inner / "x.zip", {"a": b"content that is stored"})
    raw = archive.read_bytes()
    archive.write_bytes(raw.replace(b"content that", b"content this", 1))
    assert_refused(archive, "cannot be unpacked")
