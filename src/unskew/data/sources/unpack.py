"""Safe unpacking of downloaded archives: nothing is written outside the folder."""

import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path, PureWindowsPath
from typing import IO, Self

from unskew.data.writing import FULL, not_written
from unskew.errors import DataError

_CHUNK = 1 << 20
_LARGEST = 4 << 30
_MOST_MEMBERS = 10_000
_LONGEST_NAME = 1 << 20


def is_archive(path: Path) -> bool:
    """Whether the file is a zip or tar archive, by its name."""
    return path.name.endswith((".zip", ".tar", ".tar.gz", ".tgz"))


def unpack(archive: Path, folder: Path, *, wanted: tuple[str, ...] | None = None, largest: int = _LARGEST) -> None:
    """Unpack a zip or tar archive into a new folder.

    If a member is a link or device, or has a path that is absolute or contains ``..``, the whole archive is refused
    before anything is written. On any error the folder is removed.

    Parameters
    ----------
    archive : Path
    folder : Path
        Must not exist.
    wanted : tuple of str, optional
        Only members with these names, at any depth, are written; all members are checked.
    largest : int
        Largest number of bytes, counted while unpacking, whatever the archive states.
    """
    folder.mkdir()
    try:
        left = largest
        members = _zip_members if archive.name.endswith(".zip") else _tar_members
        for name, file in members(archive, wanted, largest):
            with closing(file):
                left -= _write(file, folder / name, left, archive)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise not_written(folder, error) from error
        if isinstance(error, (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError)):
            reason = str(error).partition("\n")[0]
            raise DataError(f"{archive.name}: cannot be unpacked ({reason}); was it cut short?") from error
        raise


def _zip_members(archive: Path, wanted: tuple[str, ...] | None, largest: int) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as zipped:
        members = zipped.infolist()
        _check_number(len(members), archive)
        for member in members:
            _check_path(member.filename, archive)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
                raise DataError(f"{archive.name}: {member.filename!r} is a link or device; refused")
        chosen = [one for one in members if not one.is_dir() and _is_wanted(one.filename, wanted)]
        _check_size(sum(one.file_size for one in chosen), largest, archive)
        for member in chosen:
            yield member.filename, zipped.open(member)


def _tar_members(archive: Path, wanted: tuple[str, ...] | None, largest: int) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive, tarinfo=_Member) as tarred:
        members: list[tarfile.TarInfo] = []
        size = 0
        # Looking for the next member unpacks this one, so its size is checked first.
        for member in tarred:
            members.append(member)
            size += member.size
            _check_number(len(members), archive)
            _check_size(size, largest, archive)
            _check_path(member.name, archive)
            if not (member.isfile() or member.isdir()):
                raise DataError(f"{archive.name}: {member.name!r} is a link or device; refused")
        for member in members:
            if member.isfile() and _is_wanted(member.name, wanted):
                file = tarred.extractfile(member)
                if file is not None:
                    yield member.name, file


class _Member(tarfile.TarInfo):
    """A member whose long name or attributes are not larger than any are; tarfile reads them at once."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """A member from its header."""
        member = super().frombuf(buf, encoding, errors)
        if not (member.isreg() or member.isdir()) and member.size > _LONGEST_NAME:
            raise tarfile.ReadError("a header claims a name of more than a megabyte")
        return member


def _is_wanted(name: str, wanted: Iterable[str] | None) -> bool:
    return wanted is None or any(f"/{name}".endswith(f"/{one}") for one in wanted)


def _check_path(name: str, archive: Path) -> None:
    # The Windows rules know both kinds of slash and drive letters, so they are the stricter ones.
    path = PureWindowsPath(name)
    if path.drive or path.root or ".." in path.parts or "\0" in name:
        raise DataError(f"{archive.name}: {name!r} would leave the folder; refused, nothing was unpacked")


def _check_number(members: int, archive: Path) -> None:
    if members > _MOST_MEMBERS:
        raise DataError(f"{archive.name}: more than {_MOST_MEMBERS:,} members; refused")


def _check_size(size: int, largest: int, archive: Path) -> None:
    if size > largest:
        raise DataError(f"{archive.name}: unpacks to more than {largest:,} bytes; refused")


def _write(file: IO[bytes], target: Path, left: int, archive: Path) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with target.open("xb") as out:
        while chunk := file.read(_CHUNK):
            written += len(chunk)
            _check_size(written, left, archive)
            out.write(chunk)
    return written
