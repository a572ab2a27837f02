"""Delimited text says one thing or is refused: an oracle over whole families of texts, and the two scanners."""

import csv
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.data.formats.delimited import read_delimited, to_utf8
from unskew.data.formats.file_format import FileFormat
from unskew.data.formats.line_scan import _compiled, _compiled_plain, plain_lines, scan_lines
from unskew.errors import ConfigError, DataError

FIELD = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=6)
PIECES = st.lists(st.sampled_from(['"', ",", "\n", "\r", "\r\n", " ", "a", "7", "é", '""', "\t"]), max_size=25)


def read(text: str, **layout: str) -> pl.DataFrame:
    return read_delimited(to_utf8(text.encode(), "x"), "x", FileFormat.of(**layout))


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_what_a_writer_wrote_is_read(rows: list[tuple[str, str, str]], end: str) -> None:
    """Python's csv, quoting every field, is the writer; what is empty is null."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator=end)
    writer.writerows([("a", "b", "c"), *rows])
    frame = read(text.getvalue())
    assert [tuple(field or "" for field in row) for row in frame.rows()] == rows


@given(PIECES)
def test_any_text_is_refused_or_read_as_its_strict_reader_reads_it(pieces: list[str]) -> None:
    text = "a,b\n" + "".join(pieces)
    try:
        frame = read(text)
    except DataError:
        return
    rule = csv.QUOTE_MINIMAL if any(start in text for start in ('\n"', ',"')) else csv.QUOTE_NONE
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, quoting=rule)
    rows = [row for row in lines if row and (len(row) > 1 or row[0].strip(" \t"))]
    assert [tuple(field or "" for field in row) for row in frame.rows()] == [tuple(row) for row in rows[1:]]


@given(PIECES, st.booleans(), st.integers(1, 3))
def test_the_compiled_scanner_is_the_plain_one(pieces: list[str], quoting: bool, width: int) -> None:
    raw = "".join(pieces).encode()
    array = np.frombuffer(raw, dtype=np.uint8)
    assert tuple(_compiled()(array, ord(","), width, quoting)) == scan_lines(raw, ord(","), width, quoting)


NUMBERS = ["7", "0", "-3", "-0", "07", "", " 7", "+7", "7.0", "1" * 18, "-" + "9" * 18, "1" * 19, "a", "-", "é"]


@given(
    st.lists(st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=3), min_size=1, max_size=5),
    st.sampled_from(["", "\n", "\n\n", " \n", "\r\n", "\n,"]),
    st.booleans(),
)
def test_plain_lines_are_those_that_the_scanner_lets_pass(rows: list[list[str]], end: str, header: bool) -> None:
    text = "\n".join(",".join(row) for row in rows) + end
    array, width = np.frombuffer(text.encode(), dtype=np.uint8), len(rows[0])
    whole, compiled_whole = np.ones(width, dtype=bool), np.ones(width, dtype=bool)
    lines = plain_lines(array, ord(","), width, header, whole)
    assert _compiled_plain()(array, ord(","), width, header, compiled_whole) == lines
    problem, *_, count, blank = scan_lines(array, ord(","), width, False)
    assert lines == (-1 if problem or blank else count)
    if lines >= 0:
        fields = [line.split(",") for line in text.splitlines()][header:]
        printed = [all(_is_printed(line[k]) for line in fields) for k in range(width)]
        assert whole.tolist() == compiled_whole.tolist() == printed


def _is_printed(field: str) -> bool:
    """Whether the field is an integer as Python prints it, of at most 18 digits."""
    try:
        return str(int(field)) == field and len(field.lstrip("-")) <= 18
    except ValueError:
        return False


@pytest.mark.parametrize("odd", ["", "07", "-0", "x1", "1" * 19, "-5"])
def test_a_long_file_of_numbers_says_what_its_texts_say(odd: str, tmp_path: Path) -> None:
    lines = [f"{k % 97},{k * 31 % 1_009},{k % 5 + 1},{1_700_000_000 + k}" for k in range(8_000)]
    lines += [f"{odd},3,4,1700000001"] if odd else []
    path = tmp_path / "log.csv"
    path.write_text("user,item,rating,timestamp\n" + "\n".join(lines) + "\n")
    frame = read(path.read_text())
    assert set(frame.dtypes) == {pl.String}
    numbers = read_delimited(path.read_bytes(), "x", FileFormat(), integers=True)
    assert numbers.dtypes == [pl.Int64 if odd in ("", "-5") else pl.String] + [pl.Int64] * 3
    assert numbers.cast(pl.String).equals(frame)
    log, other = Interactions.read(path), Interactions.from_frame(frame)
    assert log.sha256 == other.sha256
    assert log.duplicates == other.duplicates


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "shift-jis"]
)
def test_encodings_are_known_by_their_mark_or_by_name(encoding: str) -> None:
    text = "user,item\nu,café\n" if encoding != "shift-jis" else "user,item\nu,日本\n"
    raw = text.encode(encoding)
    given_name = "" if encoding in ("utf-8-sig", "utf-16") else encoding
    assert to_utf8(raw, "x", given_name) == text.encode()


@pytest.mark.parametrize("encoding", ["latin-2000", "rot13", "hex", "undefined"])
def test_an_encoding_that_is_not_one_is_refused(encoding: str) -> None:
    with pytest.raises(ConfigError, match="unknown encoding"):
        to_utf8(b"a,b\n", "x", encoding)


def test_a_bad_byte_is_found_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unskew.data.formats.delimited._BLOCK", 7)
    good = "user,item\n1,é€\n2,日本\n".encode()
    assert to_utf8(good, "x") == good
    with pytest.raises(DataError, match=r"line 4 is not UTF-8 text \(column 4, byte 0xff\)"):
        to_utf8(good + "3,é".encode() + b"\xff\n", "x")
    with pytest.raises(DataError, match=r"line 3 is not UTF-8 text \(column 4, byte 0xe6\)"):
        to_utf8(good[:-2], "x")


def test_quotes_of_a_text_without_quoted_fields_are_characters() -> None:
    assert read('user,item\n1,12" disk\n2,5"\n')["item"].to_list() == ['12" disk', '5"']


def test_a_large_text_is_read_by_the_compiled_scanner() -> None:
    lines = "".join(f'{k},"a{k}"\n' for k in range(20_000))
    assert read(f"user,item\n{lines}").height == 20_000
    with pytest.raises(DataError, match="line 20002 has 3 fields"):
        read(f"user,item\n{lines}1,2,3\n")


@pytest.mark.parametrize(
    ("sep", "text"), [("::", "1::2::3\n4::5::6\n"), ("space", "1  2 3\n4 5\t6\n"), ("§", "1§2§3\n4§5§6\n")]
)
def test_other_separators(sep: str, text: str) -> None:
    assert read(text, columns="user,item,_", sep=sep).rows() == [("1", "2"), ("4", "5")]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_ends_in_quotes_stay_as_they_are(end: str) -> None:
    for inside in ("\r", "\n", "\r\n"):
        assert read(f'a,b{end}"x{inside}y",2{end}').rows() == [(f"x{inside}y", "2")]
    assert read(f'a,b{end}12" disk,2{end}3,4{end}').rows() == [('12" disk', "2"), ("3", "4")]


def test_doubled_quotes_in_the_header_are_one() -> None:
    assert read('a,"12"" disk"\n1,2\n').columns == ["a", '12" disk']


def test_a_long_separator_in_quotes_is_text() -> None:
    assert read('a::b\n"x::y"::2\n', sep="::").rows() == [("x::y", "2")]
    assert read('"a::b"::c\n1::2\n', sep="::").columns == ["a::b", "c"]


@pytest.mark.parametrize("sep", ['"', "\n", "\r", 'a"b'])
def test_what_means_something_else_is_no_separator(sep: str) -> None:
    with pytest.raises(ConfigError, match="means something else; give another separator"):
        FileFormat.of(sep=sep)


def test_a_control_character_that_stands_for_a_separator_is_refused() -> None:
    with pytest.raises(DataError, match="control character 0x1f"):
        read("1::2\x1f\n", columns="user,item", sep="::")


def test_an_encoding_is_said_for_all_files_or_for_one(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes("user,item\nu,café\n".encode("latin-1"))
    for log in (Interactions.read(path, encoding="latin-1"), Interactions.read(f"{path}:encoding=latin-1")):
        assert log.item_vocabulary.ids.tolist() == ["café"]
    with pytest.raises(DataError, match="a parquet file has a fixed format; leave out encoding"):
        Interactions.read(f"{tmp_path}/x.parquet:encoding=latin-1")


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbf" * 2 + b"user,item\na,b\n", ("\ufeff" + "user,item\na,b\n").encode("utf-16")]
)
def test_a_second_byte_order_mark_is_refused(raw: bytes) -> None:
    with pytest.raises(DataError, match="x: two byte order marks"):
        to_utf8(raw, "x")
