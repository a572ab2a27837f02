"""Downloads of data sets from their owners, complete and checked."""

import errno
import http.client
import os
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from unskew.data.sources.source import Source
from unskew.data.sources.status import content_sha256
from unskew.data.sources.unpack import is_archive, unpack
from unskew.data.writing import FULL, not_written
from unskew.errors import DataError, Option

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes downloaded and the bytes in all, which is None if the server does not state it."""

_CHUNK = 1 << 16
_LARGEST = 4 << 30
_TIMEOUT = 60.0
_OF_DISKS = FULL | {errno.ENOENT, errno.EACCES, errno.EROFS, errno.ENOTDIR}


def fetch(source: Source, folder: str | Path | None = None, *, progress: Progress | None = None) -> Path:
    """Get a data set from its official home into a folder, and return the folder.

    All files are downloaded, unpacked and checked in a temporary folder, and moved into the folder at the end; after an
    error nothing is left behind.

    Parameters
    ----------
    source : Source
    folder : path, optional
        The folder of this data set; by default its place in the data folder.
    progress : callable, optional
        See `Progress`.
    """
    place = source.place(folder)
    if source.download is None:
        raise DataError(
            f"{source.name} has no direct download. {source.how_to_get}. Folder: {place}. See {source.home}"
        )
    with _workspace(place) as workspace:
        address = urllib.parse.urlsplit(source.download)
        target = workspace / "download" / (Path(urllib.parse.unquote(address.path)).name or "file")
        target.parent.mkdir()
        download(source.download, target, progress=progress)
        content = target.parent
        if is_archive(target):
            content = workspace / "unpacked"
            unpack(target, content, wanted=tuple(source.files))
        _keep(_choose(source, content), place, last=set(source.forms[0].files))
    return place


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    largest: int = _LARGEST,
) -> None:
    """Download a file; it gets its name only when it is complete.

    Parameters
    ----------
    url : str
        An http or https address.
    target : Path
        The file to write; its folder must exist.
    sha256 : str, optional
        Expected checksum, as in `content_sha256`.
    progress : callable, optional
        See `Progress`.
    largest : int
        Largest number of bytes.
    """
    if urllib.parse.urlsplit(url).scheme not in {"http", "https"}:
        raise DataError(f"{url}: not an http or https address")
    partial = target.with_name(f".{target.name}.part{target.suffix}")
    try:
        _stream(url, partial, progress, largest)
        if sha256 is not None and (actual := content_sha256(partial)) != sha256:
            raise DataError(f"{url}: the sha256 is {actual}, expected {sha256}; nothing was kept, try again later")
        partial.replace(target)
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(f"{url}: the server answers {error.code} ({error.reason}); has the file moved?") from error
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, OSError) and error.errno in _OF_DISKS:  # errors of the connection have other numbers
            raise not_written(target, error) from error
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise DataError(f"{url}: cannot be downloaded ({reason}); check the connection and try again") from error
    finally:
        partial.unlink(missing_ok=True)


class _StaySecure(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but from https to https alone: plain http could be changed on the way."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Refuse a redirect that gives up encryption."""
        if req.full_url.startswith("https:") and urllib.parse.urlsplit(newurl).scheme != "https":
            raise DataError(f"{req.full_url}: redirects to {newurl}, which is not https; refused")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _stream(url: str, partial: Path, progress: Progress | None, largest: int) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "unskew"})  # noqa: S310  # scheme checked by the caller
    opener = urllib.request.build_opener(_StaySecure)
    with opener.open(request, timeout=_TIMEOUT) as response, partial.open("wb") as file:
        stated = response.headers.get("Content-Length", "")
        total = int(stated) if stated.isdigit() else None
        done = 0
        while chunk := response.read(_CHUNK):
            done += len(chunk)
            if done > largest:
                raise DataError(f"{url}: more than {largest:,} bytes; is the address right?")
            file.write(chunk)
            if progress is not None:
                progress(done, total)
    # A connection that closes early looks like the end of the file; only the stated length shows it.
    if total is not None and done != total:
        raise DataError(f"{url}: cut short after {done:,} of {total:,} bytes; try again")


@contextmanager
def _workspace(place: Path) -> Iterator[Path]:
    """A temporary folder within the target folder, which is created, and removed again if it stays empty."""
    missing = [folder for folder in (place, *place.parents) if not folder.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
        workspace = Path(tempfile.mkdtemp(prefix=".download-", dir=place))
    except OSError as error:
        raise DataError(
            f"{place}: cannot be written to ({error.strerror}); name another with {Option('folder')} or UNSKEW_DATA"
        ) from error
    try:
        yield workspace
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
        for folder in missing:
            if not any(folder.iterdir()):
                folder.rmdir()


def _choose(source: Source, content: Path) -> dict[str, Path]:
    """The checked files of the data set, gzipped or not, anywhere in the archive."""
    everything = sorted((path for path in content.rglob("*") if path.is_file()), key=lambda path: len(path.parts))
    chosen: dict[str, Path] = {}
    for name, pinned in source.files.items():
        ends = (f"/{name}", f"/{name}.gz")
        match = next((path for path in everything if path.as_posix().endswith(ends)), None)
        if match is None:
            continue
        if pinned is not None and content_sha256(match) != pinned:
            raise DataError(
                f"{source.download}: the checksum of {name} differs from the known one; nothing was kept. "
                f"Has a new version come out? See {source.home}"
            )
        chosen[name if match.name == Path(name).name else f"{name}.gz"] = match
    missing = [name for name in source.forms[0].files if name not in chosen and f"{name}.gz" not in chosen]
    if missing:
        raise DataError(f"{source.download}: has no {missing[0]}; has a new version come out? See {source.home}")
    return chosen


def _keep(chosen: dict[str, Path], place: Path, last: AbstractSet[str]) -> None:
    """Move the files. Those that make the data set present come last: if this is stopped, it is downloaded again."""
    try:
        for name, path in sorted(chosen.items(), key=lambda one: one[0].removesuffix(".gz") in last):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, place / name)  # noqa: PTH105  # the atomic move
    except OSError as error:
        raise DataError(f"{place}: cannot be written to ({error.strerror}); is something in the way?") from error
