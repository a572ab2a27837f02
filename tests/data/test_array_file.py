"""Files of arrays are read without trust: sizes are checked before memory is taken, and nothing is unpickled."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from unskew.data.formats.array_file import ABOUT, DAMAGE, read_checked, read_npz, write_checked
from unskew.errors import DataError


def packed(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def member(content: bytes, name: str = "a.npy", times: int = 1) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for _ in range(times):
            file.writestr(name, content)
    return stream.getvalue()


def header(text: str, version: int = 1) -> bytes:
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()


@given(
    arrays_of.arrays(
        st.sampled_from(["<f4", ">f8", "<i8", "?", "<U3", "S2", "u1"]), arrays_of.array_shapes(min_dims=0, min_side=0)
    )
)
def test_plain_arrays_are_read_as_numpy_reads_them(array: np.ndarray) -> None:
    for given_array in (array, np.asfortranarray(array)):
        again = read_npz(packed(a=given_array))["a"]
        assert again.dtype == array.dtype
        assert again.shape == given_array.shape
        assert again.tobytes() == array.tobytes()


HOSTILE = {
    "terabytes": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"),
    "many dimensions": header("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 40 + "), }\n")
    + b"\0" * 8,
    "a negative size": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }\n") + b"\0" * 24,
    "digits": header("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }\n"),
    "objects": header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n") + b"\0" * 8,
    "no dictionary": header("[1, 2"),
    "another type": header("{'descr': 'hello', 'fortran_order': False, 'shape': (1,), }\n"),
    "deep": header("{'descr': " + "(" * 3000),
    "a long header": header(" " * 20_000, version=2),
    "an unknown version": b"\x93NUMPY\x09\x00",
    "not an array": b"hello",
    "too short": header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n") + b"\0" * 8,
    "too long": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n") + b"\0" * 80,
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_hostile_members_are_refused(name: str) -> None:
    with pytest.raises(DAMAGE):
        read_npz(member(HOSTILE[name]))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="there twice"):
        read_npz(member(packed(a=np.zeros(2)), times=2))


def test_a_size_that_no_file_can_have_is_refused() -> None:
    raw = bytearray(packed(a=np.zeros(2)))
    place = raw.rindex(b"PK\x01\x02") + 24  # the size of the member, in the directory at the end
    raw[place : place + 4] = struct.pack("<I", 2**31)
    with pytest.raises(ValueError, match="more than can be in the file"):
        read_npz(bytes(raw))


@settings(max_examples=200)
@given(st.data())
def test_any_changed_byte_is_refused_or_changes_nothing(data: st.DataObject) -> None:
    whole = {"a": np.arange(20, dtype=np.int32), "b": np.linspace(0, 1, 7)}
    raw = bytearray(packed(**whole))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    try:
        again = read_npz(bytes(raw))
    except DAMAGE:
        return
    for array in again.values():  # a name may have changed; what is in an array has a checksum in the archive
        assert any(array.tobytes() == each.tobytes() for each in whole.values())


def test_a_file_of_ours_is_read_as_written_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    write_checked(path, "things", 3, {"n": 2}, {"a": np.arange(4)})
    about, arrays = read_checked(path, "things", 3, "make one")
    assert about["n"] == 2
    assert arrays["a"].tolist() == [0, 1, 2, 3]
    for kind, version, says in (("others", 3, "not others"), ("things", 4, "of another version")):
        with pytest.raises(DataError, match=says):
            read_checked(path, kind, version, "make one")
    stored = dict(np.load(path))
    for changed in ({"a": np.arange(4)[::-1]}, {"more": np.zeros(1)}, {ABOUT: np.array("0 {}")}):
        np.savez(path, **(stored | changed))
        with pytest.raises(DataError, match=r"make one$"):
            read_checked(path, "things", 3, "make one")
