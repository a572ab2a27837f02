"""Files that go in, and what is wrong with them in one line: what, where, a hint."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from unskew import Interactions
from unskew.errors import DataError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return made


ROWS = [("b", 9, 4, 30), ("a", 10, 5, 20)]
CSV = "user,item,rating,timestamp\nb,9,4,30\na,10,5,20\n"


def test_csv_tsv_gz_and_parquet_give_the_same_rows(write: Write, tmp_path: Path) -> None:
    tabs = CSV.replace(",", "\t")
    pl.DataFrame(ROWS, schema=["user", "item", "rating", "timestamp"], orient="row").write_parquet(
        tmp_path / "x.parquet"
    )
    for path in (
        write("x.csv", CSV),
        write("x.tsv", tabs),
        write("x.tab", tabs),
        write("x.csv.gz", gzip.compress(CSV.encode())),
        write("x.tsv.gz", gzip.compress(tabs.encode())),
        tmp_path / "x.parquet",
    ):
        assert Interactions.read(path).to_polars().rows() == ROWS, path.name


@pytest.mark.parametrize(
    "text",
    [
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\r"),
        CSV.replace("\n", "\r\n").removesuffix("\n"),
        CSV.replace("\n", "\n \n\n"),
        f"\n \n{CSV}",
        "\ufeff" + CSV,
        CSV.rstrip("\n"),
        "extra,user,item,rating,timestamp\n,b,9,4,30\n,a,10,5,20",
    ],
)
def test_line_ends_byte_order_marks_and_other_columns_do_not_matter(write: Write, text: str) -> None:
    assert Interactions.read(write("x.csv", text)).to_polars().rows() == ROWS


def test_quoted_fields_may_hold_separators(write: Write) -> None:
    log = Interactions.read(write("x.csv", 'user,item\n1,"a, b"\n'))
    assert log.item_vocabulary.ids.tolist() == ["a, b"]


def test_integers_of_a_text_file_are_numbers(write: Write) -> None:
    log = Interactions.read(write("x.csv", "user,item\n10,a\n9,07\n"))
    assert log.user_vocabulary.ids.tolist() == [9, 10]
    assert log.item_vocabulary.ids.tolist() == ["07", "a"]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("86400", 86400),
        ("8.64e4", 86400),
        ("1970-01-02", 86400),
        ("1970-01-02 00:00:30", 86430),
        ("1970-01-02T00:00:30Z", 86430),
    ],
)
def test_timestamps_are_numbers_or_dates(write: Write, written: str, seconds: int) -> None:
    log = Interactions.read(write("x.csv", f"user,item,timestamp\n1,2,{written}\n"))
    assert log.times is not None
    assert log.times.tolist() == [seconds]


def test_columns_may_have_other_names(write: Write) -> None:
    log = Interactions.read(write("x.csv", "uid,iid,stars\n1,2,3\n"), user="uid", item="iid", rating="stars")
    assert log.to_polars().rows() == [(1, 2, 3)]


BAD = {
    "empty": ("x.csv", "", "the file is empty; expected a header line such as user,item"),
    "blank": ("x.csv", " \n\n", "the file is empty"),
    "header only": ("x.csv", "user,item\n", "has a header but no rows"),
    "headerless": ("x.csv", "1,2\n3,4\n", "the first line looks like data: add a header line"),
    "headerless, equal numbers": ("x.csv", "1,1,5\n3,4,5\n", "the first line looks like data"),
    "headerless, with a date": ("x.csv", "1,2,2020-01-01\n3,4,2020-01-02\n", "the first line looks like data"),
    "headerless, dat": ("x.dat", "1::2::3\n1::4::5\n", "the first line looks like data"),
    "semicolons": ("x.csv", "user;item\n1;2\n", "another separator: commas in .csv, tabs in .tsv"),
    "tabs in csv": ("x.csv", "user\titem\n1\t2\n", "another separator"),
    "unknown column": ("x.csv", "usr,item\n1,2\n", r"no column 'user' \(it has usr, item\); did you mean 'usr'"),
    "nothing near": ("x.csv", "who,what\n1,2\n", "user=..., item=..."),
    "column twice": ("x.csv", "user,user,item\n1,2,3\n", "column 'user' occurs twice"),
    "too many fields": ("x.csv", "user,item\n1,2\n3,4,5\n", "line 3 has 3 fields, the header 2"),
    "too few fields": ("x.csv", "user,item\n1,2\n3\n", "line 3 has 1 field, the header 2"),
    "too few fields, unused column": ("x.csv", "user,item,note\n1,2\n", "line 2 has 2 fields, the header 3"),
    "null id": ("x.csv", "user,item\n1,2\n,4\n", "column 'user' of .*: row 2 has no id"),
    "quoted empty id": ("x.csv", 'user,item\n1,2\n"",4\n', "column 'user' of .*: row 2 has no id"),
    "rating in words": (
        "x.csv",
        "user,item,rating\n1,2,4\n3,4,good\n",
        "column 'rating' of .*: row 2 has 'good', expected a number",
    ),
    "no rating": ("x.csv", "user,item,rating\n1,2,4\n3,4,\n", "column 'rating' of .*: row 2 has no value"),
    "time in words": ("x.csv", "user,item,timestamp\n1,2,soon\n", "row 1 has 'soon', expected a number or a date"),
    "some times in words": ("x.csv", "user,item,timestamp\n1,2,2020-01-01\n3,4,soon\n", "row 2 has 'soon'"),
    "binary": ("x.csv", bytes(range(256)), "binary data; expected CSV or TSV text, or a file named .parquet"),
    "utf-16 without a mark": ("x.csv", CSV.encode("utf-16-le"), "binary data"),
    "utf-16 cut short": ("x.csv", CSV.encode("utf-16")[:-1], "line 3 is not UTF-16-LE text"),
    "latin-1": (
        "x.csv",
        "user,item\n1,caf\xe9\n".encode("latin-1"),
        r"line 2 is not UTF-8 text \(column 6, byte 0xe9\); save the file as UTF-8, or say what it is",
    ),
    "open quote": ("x.csv", 'user,item\n1,"2\n3,4\n', "line 2 opens a quote in column 3 that is never closed"),
    "quote in a field": ("x.csv", 'user,item\n"1",2\n3,a"b\n', "line 3 has a quote inside a field in column 4"),
    "text after a quote": ("x.csv", 'user,item\n1,"a" b\n', "line 2 has text after the closing quote in column 6"),
    "one carriage return": ("x.csv", "user,item\n1,2\r3,4\n", "line 2 has a carriage return in column 4"),
    "short line after a field of two lines": ("x.csv", 'user,item\n1,"a\nb"\n3\n', "line 4 has 1 field"),
    "infinite rating": ("x.csv", "user,item,rating\n1,2,4\n3,4,inf\n", "column 'rating' of .*: row 2 has 'inf'"),
    "infinite id": ("x.csv", "user,item\n1,2\ninf,4\n", "column 'user' of .*: row 2 has 'inf' among numbers"),
    "null among numbers": ("x.csv", "user,item\n1,2\n3,NULL\n", "column 'item' of .*: row 2 has 'NULL' among numbers"),
    "gz cut short": ("x.csv.gz", gzip.compress(CSV.encode())[:-9], "not a complete gzip file"),
    "gz in name only": ("x.csv.gz", CSV, "not a complete gzip file"),
    "parquet in name only": ("x.parquet", CSV, "not a readable Parquet file"),
    "empty parquet": ("x.parquet", "", "not a readable Parquet file"),
    "impossible propensity": (
        "x.csv",
        "user,item,propensity\n1,2,.5\n3,4,0\n",
        r"row 2 \(1 in all\) is outside \(0, 1\]",
    ),
}


@pytest.mark.parametrize(("name", "content", "says"), BAD.values(), ids=BAD)
def test_bad_files_are_refused_in_one_line_that_names_the_file(
    write: Write, name: str, content: str | bytes, says: str
) -> None:
    path = write(name, content)
    with pytest.raises(ValueError, match=says) as caught:
        Interactions.read(path)
    assert isinstance(caught.value, DataError) or "propensity" in says or "outside" in says
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_cut_short_is_refused(write: Write, tmp_path: Path) -> None:
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(tmp_path / "x.parquet")
    path = write("y.parquet", (tmp_path / "x.parquet").read_bytes()[:-20])
    with pytest.raises(DataError, match="was it cut short"):
        Interactions.read(path)


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file; check the path"):
        Interactions.read(tmp_path / "no.csv")
    with pytest.raises(DataError, match="this is a directory; name a file in it"):
        Interactions.read(tmp_path)


def test_repeated_rows_of_a_file_are_counted(write: Write) -> None:
    log = Interactions.read(write("x.csv", "user,item,timestamp\n1,2,5\n1,2,9\n1,2,7\n"))
    assert log.to_polars().rows() == [(1, 2, 9)]
    assert log.duplicates == 2
