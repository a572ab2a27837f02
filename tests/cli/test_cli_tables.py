"""How commands read tables: without a header, from stdin, with column names of their own, and TREC files."""

import io
import json
import sys
from pathlib import Path

import polars as pl
import pytest

from unskew import Interactions, write_qrels, write_run

NAMES = "user,item,rating,timestamp"
ROUGH = ["-m", "recall@3", "-e", "aoa", "--json", "-"]


@pytest.fixture
def value(unskew):
    """Runs an evaluation and returns its first value."""

    def run(*words: str) -> float:
        outcome = unskew(*words, *ROUGH)
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)["estimates"][0]["value"]

    return run


@pytest.fixture
def usual(world, value) -> float:
    return value(*world.evaluate())


def bare(world, name: str, sep: str = "\t") -> str:
    """The rows of a file without its header, and without propensities."""
    frame = pl.read_csv(world / name).select(NAMES.split(","))
    text = "".join(f"{sep.join(map(str, row))}\n" for row in frame.rows())
    return world.write(f"{Path(name).stem}.data", text)


def pipe(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize(("word", "sep"), [("tab", "\t"), ("::", "::"), ("space", " ")])
def test_logs_without_a_header_give_the_same_numbers(word, sep, world, value, usual):
    bare(world, "train.csv", sep)
    bare(world, "test.csv", sep)
    words = world.evaluate("--columns", NAMES, "--sep", word, train="train.data", test="test.data")
    assert value(*words) == usual


def test_each_file_may_have_names_of_its_own(world, value, usual):
    bare(world, "train.csv", ",")
    pl.read_csv(world / "test.csv").rename({"user": "uid", "item": "iid"}).write_csv(world / "test.csv")
    pl.read_csv(world / "dense.csv").rename({"user": "who", "score": "points"}).write_csv(world / "dense.csv")
    train, test = f"train.data:columns={NAMES}", "test.csv:user=uid,item=iid"
    assert value(*world.evaluate(train=train, test=test)) == usual
    scores = f"mine={world / 'dense.csv'}:user=who,score=points"
    assert value(*world.evaluate("--scores", scores, train=train, test=test, model=False)) == usual


def test_one_file_may_come_from_stdin(world, value, usual, monkeypatch):
    pipe(monkeypatch, (world.folder / "test.csv").read_bytes())
    words = ["evaluate", "--train", world / "train.csv", "--test", "-", "--factors", world / "mf.npz"]
    assert value(*words) == usual
    pipe(monkeypatch, (world.folder / "dense.csv").read_bytes())
    assert value(*world.evaluate("--scores", "-", model=False)) == usual


def test_a_second_stdin_is_refused(world, refuse):
    words = ["evaluate", "--train", "-", "--test", "-", "--model", "popular"]
    refuse(*words, says=("two inputs are -", "stdin can be read once"))
    refuse(*world.evaluate("--scores", "m=-:user=uid", train="train.csv", test="test.csv", model=False), "--test", "-")
    refuse("audit", "-", "--test", "-:user=uid", says=("two inputs are -",))


def test_a_split_an_audit_and_a_partition_read_the_same_tables(world, unskew, monkeypatch):
    train = bare(world, "train.csv")
    own = f"{train}:columns={NAMES},sep=tab"
    assert unskew("split", world / "train.csv", world / "one").code == 0
    for log, words in ((own, []), (train, ["--columns", NAMES, "--sep", "tab"]), ("-", [])):
        pipe(monkeypatch, (world.folder / "train.csv").read_bytes())
        assert unskew("split", log, world / "two", *words).code == 0
        for part in ("train.csv", "test.csv"):
            assert (world.folder / "one" / part).read_bytes() == (world.folder / "two" / part).read_bytes()
    tables = [unskew("audit", log, "--depth", "none").out for log in (world / "train.csv", own)]
    assert tables[0] == tables[1]
    assert unskew("partition", own, world / "parts", "--partitions", "2").code == 0
    assert sorted(pl.read_parquet(world / "parts/*.parquet").columns) == sorted(NAMES.split(","))


def test_trec_files_give_the_same_numbers(world, value, usual):
    write_qrels(Interactions.read(world / "test.csv"), world / "test.qrels")
    write_run(pl.scan_csv(world / "dense.csv"), world / "mine.run", tag="mine")
    words = ["--scores", world / "mine.run"]
    assert value(*world.evaluate(*words, test="test.qrels", model=False)) == usual
    (world.folder / "test.qrels").rename(world / "judged.txt")
    assert value(*world.evaluate(*words, test="judged.txt:format=qrels", model=False)) == usual


def test_judgements_that_say_no_are_not_positives(world, value, refuse):
    rows = Interactions.read(world / "test.csv")
    write_qrels(rows, world / "judged.qrels", positive="rating>=3")
    refuse(*world.evaluate(test="judged.qrels"), says=("has rows of relevance 0", "--positive 'rating>=1'"))
    judged = value(*world.evaluate("--positive", "rating>=1", test="judged.qrels"))
    write_qrels(rows.where("rating>=3"), world / "liked.qrels")
    assert judged == value(*world.evaluate(test="liked.qrels"))


def test_a_config_file_has_the_same_options(world, value, usual):
    bare(world, "train.csv")
    bare(world, "test.csv")
    world.write("dense.csv", (world.folder / "dense.csv").read_text().replace("score", "points"))
    scores = 'scores = ["m=dense.csv:score=points"]'
    one = [f'train = "train.data:columns={NAMES},sep=tab"', 'test = "test.csv"', scores]
    assert value("evaluate", "--config", world.write("one.toml", "\n".join(one))) == usual
    all_files = ['train = "train.data"', 'test = "test.data"', 'sep = "tab"', f'columns = "{NAMES}"', scores]
    assert value("evaluate", "--config", world.write("all.toml", "\n".join(all_files))) == usual


REFUSED = {
    "names that are not there": ("x.csv:user=uid", "user,item\nu1,i1\n", ("no column 'uid'",)),
    "an unknown key": ("x.csv:usr=uid", "user,item\nu1,i1\n", ("unknown key 'usr'", "did you mean 'user'?")),
    "too few names": ("x.csv:columns=user", "u1,i1\n", ("line 1 has 2 fields", "names 1")),
    "a header": (f"x.csv:columns={NAMES}", f"{NAMES}\n", ("line 1 is a header", "leave out --columns")),
    "no header": ("x.csv", "1,2\n3,4\n", ("looks like data", "--columns user,item")),
    "an unknown format": ("x.csv:format=xls", "user,item\n", ("format 'xls' is unknown", "did you mean 'qrels'?")),
    "a run": ("x.qrels", "u1 Q0 i1 1 2 m\n", ("line 1 has 6 fields", "FILE:format=run")),
    "an empty run": ("x.run", "", ("the file is empty",)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_in_one_line(case, world, refuse):
    name, text, says = REFUSED[case]
    world.write(name.partition(":")[0], text)
    refuse(*world.evaluate(train=name), says=("x.", *says))


def test_bad_options_are_refused_in_one_line(world, refuse):
    for words, says in (
        (["--columns", "user,user"], ("--columns user,user", "occurs twice")),
        (["--columns", "user,item"], ("line 1 has 4 fields", "--columns user,item names 2")),
        (["--sep", ""], ("--sep: the separator is empty",)),
        (["--sep", ";"], ("no column 'user'",)),
    ):
        refuse(*world.evaluate(*words), says=says)
    (world.folder / "parts").mkdir()
    refuse(*world.evaluate(train="parts:user=uid"), says=("only a single file can have names of its own",))
