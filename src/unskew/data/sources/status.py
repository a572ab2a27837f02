"""Whether a data set is at hand, and whether its files are what their owner published."""

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
    """What was found of a data set.

    Parameters
    ----------
    folder : Path
        Where it was looked for.
    presence : str
        ``present``: all files of a whole form; ``partly``: some files, or a form not whole; ``absent``.
    checksum : str
        ``holds`` or ``differs``, for what is there; ``pinned`` when nothing is there but a checksum is known;
        ``not pinned`` when none is.
    found : tuple of str
        The files that are there.
    differing : tuple of str
        Those of them whose checksum differs.
    note : str
        What is special about the form that is there.
    """

    folder: Path
    presence: Presence
    checksum: Checksum
    found: tuple[str, ...] = ()
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
        found=tuple(paths),
        differing=differing,
        note="; ".join(form.note for form in complete if form.note),
    )


def content_sha256(path: Path) -> str:
    """The sha256 of a file's content, unzipped if gzipped, with LF line ends; of a zip archive, of its bytes.

    Copies of the same text differ in packing and line ends from one place to another; this does not.
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
        raise DataError(f"{path}: not a whole gzip file; was it cut short? Get it again") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
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
    """Only the files that are read decide, unless another one is wrong."""
    if differing:
        return "differs"
    if needed:
        return "holds" if any(source.files[name] for name in needed) else "not pinned"
    return "pinned" if any(source.forms[0].files.values()) else "not pinned"
