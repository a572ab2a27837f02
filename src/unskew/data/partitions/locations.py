"""Places of files: paths, and URLs that fsspec opens."""

import re
from pathlib import Path
from typing import Any

from unskew.errors import DataError

_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]+):/")
_LOCAL = ("file", "local")  # a path follows, without a host


def is_url(location: str) -> bool:
    """Whether a location is a URL, as in ``s3://bucket/train``.

    Examples
    --------
    >>> is_url("s3://bucket/train"), is_url("data/train")
    (True, False)
    """
    return "://" in location


def as_location(path: str | Path) -> str:
    """The location as text; a URL that went through `Path` lost a slash and gets it back.

    Examples
    --------
    >>> as_location(Path("s3://bucket/train"))
    's3://bucket/train'
    """
    text = str(path)
    match = _URL.match(text)
    if match is None or is_url(text) or is_folder(Path(text).parent):
        return text
    return f"{match[1]}://{'/' if match[1] in _LOCAL else ''}{text[match.end() :]}"


def is_folder(path: str | Path) -> bool:
    """Whether a path is a folder; False for a name that the disk cannot have."""
    try:
        return Path(path).is_dir()
    except OSError:  # a name too long, a folder without permission
        return False


def list_files(location: str) -> list[str]:
    """All files below a folder or URL, in order; the file itself if it is one."""
    if is_url(location):
        system, path = _filesystem(location)
        try:
            names = [path] if system.isfile(path) else system.find(path)
        except (OSError, ValueError) as error:
            raise DataError(f"{location}: cannot be listed ({error}); check the URL") from None
        return sorted(system.unstrip_protocol(name) for name in names)
    folder = Path(location)
    if not folder.exists():
        raise DataError(f"{location}: no such file or folder; check the path")
    return [str(folder)] if folder.is_file() else sorted(str(file) for file in folder.rglob("*") if file.is_file())


def read_bytes(location: str) -> bytes:
    """The content of a file."""
    if not is_url(location):
        return Path(location).read_bytes()
    system, path = _filesystem(location)
    content: bytes = system.cat_file(path)
    return content


def version_of(location: str) -> str:
    """What changes when a file is written again: its size, and its time or tag."""
    if not is_url(location):
        status = Path(location).stat()
        return f"{status.st_size} {status.st_mtime_ns}"
    system, path = _filesystem(location)
    about = system.info(path)
    return f"{about.get('size')} {about.get('ETag') or about.get('mtime') or about.get('created') or ''}"


def _filesystem(location: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ModuleNotFoundError:
        raise DataError(f"{location}: URLs need fsspec, which is not installed; pip install fsspec") from None
    try:
        system, path = fsspec.core.url_to_fs(location)
    except (ValueError, ImportError, OSError) as error:
        raise DataError(f"{location}: cannot be opened ({str(error).splitlines()[0]}); check the URL") from None
    return system, path
