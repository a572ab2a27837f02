"""Files of arrays (.npz): read without trusting them, and files of our own with a version and checksums.

A header can claim any size, a damaged file can have any content. So sizes are checked against the bytes that are there
before memory is taken, nothing is unpickled, and what this program wrote is compared with the checksums it wrote.
"""

import ast
import hashlib
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from unskew.data.writing import written
from unskew.errors import DataError

Arrays = dict[str, npt.NDArray[Any]]
ABOUT = "about"
"""The array of our own files with their description, a text in JSON."""
DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    MemoryError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What zipfile and numpy raise when a file is damaged or encrypted, cut short or of another kind."""
_RATIO = 1032
"""More than this no byte of a deflated member becomes."""
_LONGEST_HEADER, _DIMENSIONS = 10_000, 32


def read_npz(source: Path | bytes) -> Arrays:
    """The arrays of a .npz file, of plain types.

    Raises
    ------
    one of `DAMAGE`
        If it is not one, if a size does not fit, or if it has pickled objects.
    """
    with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as file:
        members = file.infolist()
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names):
            raise ValueError(f"array {max(names, key=names.count)!r} is there twice")
        others = [member.filename for member in members if not member.filename.endswith(".npy")]
        if others:
            raise ValueError(f"{others[0]!r:.60} is not an array")
        arrays = {}
        for name, member in zip(names, members, strict=True):
            if member.file_size > _RATIO * max(member.compress_size, 1):
                raise ValueError(f"array {name!r} claims {member.file_size:,} bytes, more than can be in the file")
            with file.open(member) as stream:
                arrays[name] = _read_array(stream, member.file_size, name)
        return arrays


def _read_array(stream: IO[bytes], size: int, name: str) -> npt.NDArray[Any]:
    """One array, whose type and shape must fit the number of bytes."""
    magic: Any = np.lib.format.read_magic
    version = magic(stream)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"array {name!r} has a header of an unknown version")
    length, width = ("<H", 2) if version == (1, 0) else ("<I", 4)
    (header,) = struct.unpack(length, stream.read(width))
    if header > _LONGEST_HEADER:
        raise ValueError(f"array {name!r} has a header of {header:,} bytes")
    text = stream.read(header)
    if len(text) < header:
        raise EOFError(f"array {name!r} is cut short")
    shape, fortran, dtype = _parsed(text.decode("utf-8" if version == (3, 0) else "latin-1"), name)
    if dtype.hasobject:
        raise ValueError(f"array {name!r} has pickled objects, which are not loaded")
    if any(extent < 0 for extent in shape):
        raise ValueError(f"array {name!r} has a negative size")
    expected = math.prod(shape) * dtype.itemsize
    if 6 + 2 + width + header + expected != size:
        raise ValueError(f"array {name!r} has {size:,} bytes, which do not fit its shape {shape}")
    content = stream.read(expected)
    if len(content) < expected:
        raise EOFError(f"array {name!r} is cut short")
    order: Any = "F" if fortran else "C"
    array = np.frombuffer(bytearray(content), dtype=dtype) if expected else np.zeros(math.prod(shape), dtype)
    return array.reshape(shape, order=order)


def _parsed(text: str, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of a header, a dictionary as Python writes it."""
    given = ast.literal_eval(text.strip())
    if not isinstance(given, dict) or set(given) != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"array {name!r} has another header")
    shape = given["shape"]
    if not isinstance(shape, tuple) or not all(type(extent) is int for extent in shape) or len(shape) > _DIMENSIONS:
        raise ValueError(f"array {name!r} has no shape")
    describe: Any = np.lib.format.descr_to_dtype
    return shape, bool(given["fortran_order"]), describe(given["descr"])


def write_checked(
    path: Path, kind: str, version: int, about: Mapping[str, Any], arrays: Mapping[str, Any], *, packed: bool = True
) -> None:
    """Write arrays with a description, a version and a checksum of each array; after an error no file is left."""
    whole = {name: np.asarray(array) for name, array in arrays.items()}
    checked = {name: _checksum(array) for name, array in whole.items()}
    text = json.dumps({**about, "kind": kind, "format": version, "sha256": checked})
    digest = hashlib.sha256(text.encode()).hexdigest()
    with written(path, "wb") as stream:
        savez: Any = np.savez_compressed if packed else np.savez  # whose types take no dictionary of arrays
        savez(stream, **{ABOUT: np.array(f"{digest} {text}")}, **whole)


def read_checked(path: Path, kind: str, version: int, what: str) -> tuple[dict[str, Any], Arrays]:
    """The description and the arrays of a file of `write_checked`; `what` says what to do with another one.

    Raises
    ------
    DataError
        If it is another file, one of another version, or not as it was written.
    """
    try:
        arrays = read_npz(path)
        digest, _, text = str(arrays.pop(ABOUT)[()]).partition(" ")
        about = json.loads(text)
        if not isinstance(about, dict) or about.get("kind") != kind:
            raise ValueError("of another kind")
    except DAMAGE as error:
        raise DataError(f"{path}: not {kind} ({first_line(error)}); {what}") from error
    if about.get("format") != version:
        raise DataError(f"{path}: {kind} of another version ({about.get('format')!r:.20}, not {version}); {what}")
    if hashlib.sha256(text.encode()).hexdigest() != digest or about["sha256"] != {
        name: _checksum(array) for name, array in arrays.items()
    }:
        raise DataError(f"{path}: {kind} that was changed or damaged after it was written; {what}")
    return about, arrays


def first_line(error: BaseException) -> str:
    """What an error says, in one short line."""
    text = str(error).strip()
    return f"{text.splitlines()[0]:.120}" if text else type(error).__name__


def _checksum(array: npt.NDArray[Any]) -> str:
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
