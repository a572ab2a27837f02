"""Text files without a header, with any separator, and with column names of their own; standard input."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.data import Columns, FileFormat, TableFile, exposed_split, read_catalogue
from unskew.data.columns import split_names
from unskew.errors import ConfigError, DataError
from unskew.ranking import read_predictions, read_scores

Write = Callable[[str, str | bytes], Path]
ROWS = [(1, 10, 5, 100), (2, 20, 3, 200)]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


SEPARATED = {
    "tab": ("tab", "1\t10\t5\t100\n2\t20\t3\t200\n"),
    "tab, as a shell passes it": ("\\t", "1\t10\t5\t100\n2\t20\t3\t200\n"),
    "two characters": ("::", "1::10::5::100\n2::20::3::200\n"),
    "semicolon": (";", "1;10;5;100\n2;20;3;200\n"),
    "pipe": ("pipe", "1|10|5|100\n2|20|3|200\n"),
    "blanks": ("space", " 1 10  5\t100 \n2   20 3 200\n"),
    "CRLF": ("space", "1 10 5 100\r\n2 20 3 200\r\n"),
    "a mark of the byte order": (",", "\ufeff1,10,5,100\n2,20,3,200\n"),
    "no line end": (",", "1,10,5,100\n2,20,3,200"),
    "not ASCII": ("§", "1§10§5§100\n2§20§3§200\n"),
    "a blank line": (",", "1,10,5,100\n\n2,20,3,200\n"),
}


@pytest.mark.parametrize("case", SEPARATED)
def test_a_text_without_a_header_is_read(case, write: Write) -> None:
    sep, text = SEPARATED[case]
    log = Interactions.read(write("u.data", text), columns="user,item,rating,timestamp", sep=sep)
    assert log.to_polars().rows() == ROWS


def test_a_text_with_a_header_has_any_separator(write: Write) -> None:
    log = Interactions.read(write("log.txt", "user;item\n1;2\n"), sep="semicolon")
    assert log.to_polars().rows() == [(1, 2)]
    quoted = Interactions.read(write("log.csv", 'a,"x, y"\n'), columns=["user", "item"])
    assert quoted.item_vocabulary.ids.tolist() == ["x, y"]


def test_columns_that_are_not_needed_are_not_read(write: Write) -> None:
    path = write("u.data", "1,x,10,,100\n2,y,20,,200\n")
    log = Interactions.read(path, columns="user,_,item,_,when", timestamp="when")
    assert log.to_polars().rows() == [(1, 10, 100), (2, 20, 200)]


HEADERLESS = {
    "too few names": ("1,2,3\n", {"columns": "user,item"}, r'line 1 has 3 fields, but columns="user,item" names 2'),
    "another separator": ("1;2\n", {"columns": "user,item"}, r"line 1 has 1 field, .* check sep="),
    "a short line": ("1,2\n3\n", {"columns": "user,item"}, r"line 2 has 1 field, columns=\.\.\. 2"),
    "a long line": ("1,2\n3,4\n5,6,7\n", {"columns": "user,item"}, r"line 3 has 3 fields, columns=\.\.\. 2"),
    "a header": ("User,Item\n1,2\n", {"columns": "user,item"}, "line 1 is a header, .*leave out columns="),
    "no item": ("1,2\n", {"columns": "user,thing"}, "no column 'item'"),
    "empty": ("", {"columns": "user,item"}, "the file is empty"),
    "latin-1": (b"1,2\n3,caf\xe9\n", {"columns": "user,item"}, "line 2 is not UTF-8"),
    "names twice": ("1,2\n", {"columns": "user,user"}, "'user' occurs twice"),
    "an empty name": ("1,2\n", {"columns": "user,"}, "a name is empty; call columns that are not needed _"),
    "an empty separator": ("1,2\n", {"sep": ""}, "the separator is empty"),
    "an unknown format": ("1,2\n", {"format": "qrel"}, "format 'qrel' is unknown; did you mean 'qrels'"),
}


@pytest.mark.parametrize("case", HEADERLESS)
def test_bad_texts_and_words_are_refused(case, write: Write) -> None:
    text, words, message = HEADERLESS[case]
    with pytest.raises((ConfigError, DataError), match=message):
        Interactions.read(write("u.data", text), **words)


def test_formats_that_fix_their_columns_take_no_others(write: Write, tmp_path: Path) -> None:
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(DataError, match="a parquet file has a fixed format; leave out columns"):
        Interactions.read(tmp_path / "log.parquet", columns="user,item")
    with pytest.raises(DataError, match="a qrels file has a fixed format; leave out sep"):
        Interactions.read(f"{write('a.qrels', '1 0 2 1')}:sep=tab")
    with pytest.raises(ConfigError, match="the columns of a TREC file are fixed; leave out user="):
        Interactions.read(f"{write('b.qrels', '1 0 2 1')}:user=uid")
    together = Columns(format=FileFormat.of(columns="user,item"))  # which is for the texts among several files
    assert len(together.read(tmp_path / "log.parquet")) == 1


def test_a_file_may_have_column_names_of_its_own(write: Write) -> None:
    log = write("log.csv", "uid,iid,stars,user\n1,10,5,x\n")
    shared = Columns("who", "what", rating="grade")
    assert shared.read(f"{log}:user=uid,item=iid,rating=stars").to_polars().rows() == [(1, 10, 5)]
    assert Interactions.read(f"{log}:user=uid,item=iid").to_polars().columns == ["user", "item"]
    other = write("other.csv", "who,what\n1,10\n")
    assert len(shared.read(other, strict=False)) == 1
    with pytest.raises(DataError, match="no column 'stars'"):  # it was named for this file
        shared.read(f"{other}:rating=stars", strict=False)


def test_the_notation_is_read_as_documented() -> None:
    file = TableFile.parse("a/u.data:columns=user,item,_,sep=::,format=csv,rating=stars")
    assert (file.path, dict(file.names)) == (Path("a/u.data"), {"rating": "stars"})
    assert file.format == FileFormat("csv", ("user", "item", "_"), "::")
    assert TableFile.parse("-:format=run") == TableFile(Path("-"), {}, FileFormat("run"))


@given(st.text(st.characters(exclude_characters=":\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_a_path_without_a_colon_is_a_path(text: str) -> None:
    assert split_names(text) == (text, "")


@given(
    st.from_regex(r"[a-z/.]{1,12}", fullmatch=True),
    st.dictionaries(
        st.sampled_from(["user", "item", "rating", "timestamp"]), st.from_regex(r"[A-Za-z_ ]{1,8}", fullmatch=True)
    ),
)
def test_names_are_read_back(path: str, names: dict[str, str]) -> None:
    own = ",".join(f"{key}={value}" for key, value in names.items())
    file = TableFile.parse(f"{path}:{own}" if own else path)
    assert (file.path, dict(file.names)) == (Path(path), names)


def test_strange_names_of_files_stay_names(write: Write) -> None:
    path = write("log.csv:user=uid", "user,item\n1,2\n")
    assert len(Interactions.read(path)) == 1
    assert split_names("s3://bucket/dt=1/x.csv")[1] == ""
    assert split_names("x:dt=1") == ("x:dt=1", "")


def test_unknown_and_empty_names_are_refused(write: Write) -> None:
    log = write("log.csv", "user,item\n1,2\n")
    for text, message in (
        (f"{log}:usr=uid", "unknown key 'usr'; did you mean 'user'"),
        (f"{log}:user=uid,itm=iid", "unknown key 'itm'; did you mean 'item'"),
        (f"{log}:score=points", "unknown key 'score'"),  # a log has none
        (f"{log}:user=", "user is empty"),
        (f"{log}:format=xls", "format 'xls' is unknown"),
    ):
        with pytest.raises(ConfigError, match=message):
            Interactions.read(text)


def test_tables_of_models_and_items_have_names_of_their_own(write: Write) -> None:
    table = write("t.csv", "u;i;p\na;x;2\na;y;1\n")
    assert read_scores(f"{table}:user=u,item=i,score=p,sep=;").scores.tolist() == [2, 1]
    assert read_scores(f"{table}:user=u,item=i,rank=p,sep=;").scores.tolist() == [-2, -1]
    assert read_predictions(f"{table}:user=u,item=i,prediction=p,sep=;").ratings
    assert read_catalogue(f"{table}:item=i,sep=;").to_list() == ["x", "y"]
    bare = write("bare.csv", "a,x,2\n")
    assert read_scores(f"{bare}:columns=user,item,score").scores.tolist() == [2]
    with pytest.raises(ConfigError, match="unknown key 'prediction'"):
        read_scores(f"{table}:prediction=p")
    with pytest.raises(DataError, match="no column 'q'"):
        read_scores(f"{table}:user=u,item=i,score=q,sep=;")


def test_exposed_files_have_names_of_their_own(write: Write) -> None:
    train = write("train.csv", "1,10\n2,20\n")
    shown = write("shown.csv", "uid,iid,liked\n1,20,1\n2,10,0\n")
    split = exposed_split(f"{train}:columns=user,item", f"{shown}:user=uid,item=iid,label=liked")
    assert split.test.values.tolist() == [1, 0]


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes, *, keyboard: bool = False) -> None:
    stream = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(stream, "isatty", lambda: keyboard, raising=False)
    monkeypatch.setattr(sys, "stdin", stream)


def test_standard_input_is_a_file_like_others(monkeypatch, tmp_path: Path) -> None:
    text = b"user,item\n1,2\n"
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(tmp_path / "log.parquet")
    for content in (text, gzip.compress(text), (tmp_path / "log.parquet").read_bytes()):
        piped(monkeypatch, content)
        log = Interactions.read("-")
        assert (log.to_polars().rows(), log.name) == ([(1, 2)], "stdin")
    piped(monkeypatch, b"1 0 2 3\n")
    assert Interactions.read("-:format=qrels").values.tolist() == [3]


STDIN = {
    "nothing": (b"", "stdin: the file is empty; .*only one input can be stdin"),
    "a bad line": (b"user,item\n1\n", "stdin: line 2 has 1 field"),
    "gzip cut short": (gzip.compress(b"user,item\n1,2\n" * 99)[:30], "stdin: not a complete gzip file"),
}


@pytest.mark.parametrize("case", STDIN)
def test_bad_standard_input_is_refused(case, monkeypatch) -> None:
    content, message = STDIN[case]
    piped(monkeypatch, content)
    with pytest.raises(DataError, match=message):
        Interactions.read("-")


def test_a_keyboard_is_not_an_input(monkeypatch) -> None:
    piped(monkeypatch, b"", keyboard=True)
    with pytest.raises(DataError, match="stdin: nothing is piped into it"):
        Interactions.read("-")
