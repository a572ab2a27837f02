"""The status of a data set: which files are present, and whether their checksums are right."""

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from unskew.data.reading import open_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import find
from unskew.errors import DataError

Presence: TypeAlias = Literal["present", "partly", "absent"]
Checksum: TypeAlias = Literal["holds", "differs", "pinned", "not pinned"]

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Status:
    """Which files of a data set are present.

    Parameters
    ----------
    folder : Path
        Where the files were looked for.
    presence : str
        ``present``: all files of a complete form; ``partly``: some files, or an incomplete form; ``absent``.
    checksum : str
        ``holds`` or ``differs``, for the files present; ``pinned`` if no file is present but a checksum is known; ``not
        pinned`` if none is known.
    files : tuple of str
        The files that are present.
    differing : tuple of str
        Those of them whose checksum differs.
    note : str
        What is special about the form that is present.
    """

    folder: Path
    presence: Presence
    checksum: Checksum
    files: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    note: str = ""


def status_of(source: Source, folder: str | Path | None = None) -> Status:
    """Look for the files of a data set and check those whose checksum is known.

    Parameters
    ----------
    source : Source
    folder : path, optional
        The folder of this data set; by default its place in the data folder.
    """
    place = source.place(folder)
    paths = {name: path for name in source.files if (path := find(place, name)) is not None}
    complete = [form for form in source.forms if all(name in paths for name in form.files)]
    needed = [name for form in source.forms for name in form.files if name in paths]
    differing = tuple(name for name, path in paths.items() if not _holds(path, source.files[name]))
    return Status(
        folder=place,
        presence=_presence(complete, needed),
        checksum=_checksum(source, needed, differing),
        files=tuple(paths),
        differing=differing,
        note="; ".join(form.note for form in complete if form.note),
    )


def content_sha256(path: Path) -> str:
    """The sha256 of a file's content, unzipped and with LF line ends; for a zip archive, of its bytes.

    So copies of the same text with another packing or other line ends have the same checksum.
    """
    digest = hashlib.sha256()
    held_back = b""
    try:
        with open_content(path) as file:
            while chunk := file.read(_CHUNK):
                if path.suffix == ".zip":
                    digest.update(chunk)
                    continue
                text = held_back + chunk
                # A line end may fall on the border between two chunks.
                held_back = b"\r" if text.endswith(b"\r") else b""
                digest.update(text.removesuffix(b"\r").replace(b"\r\n", b"\n"))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a complete gzip file; download it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    digest.update(held_back)
    return digest.hexdigest()


def _holds(path: Path, pinned: str | None) -> bool:
    if pinned is None:
        return True
    try:
        return content_sha256(path) == pinned
    except DataError:
        return False


def _presence(complete: list[Form], needed: list[str]) -> Presence:
    if any(form.whole for form in complete):
        return "present"
    return "partly" if needed else "absent"


def _checksum(source: Source, needed: list[str], differing: tuple[str, ...]) -> Checksum:
    """The state of the checksums: of the files that are read, unless another file is wrong."""
    if differing:
        return "differs"
    if needed:
        return "holds" if any(source.files[name] for name in needed) else "not pinned"
    return "pinned" if any(source.forms[0].files.values()) else "not pinned"
