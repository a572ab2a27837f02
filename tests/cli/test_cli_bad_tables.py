"""Interaction files that cannot be used: one line that says which file, where in it, and what to do."""

import gzip

import pytest

BAD = {
    "empty": ("x.csv", "", ("x.csv", "empty", "header line such as user,item")),
    "only blank lines": ("x.csv", "\n \n\n", ("empty",)),
    "header only": ("x.csv", "user,item\n", ("x.csv", "header but no row")),
    "headerless numbers": ("x.csv", "1,2\n3,4\n", ("looks like data", "add a header line")),
    "headerless words": ("x.csv", "u1,i2\nu3,i4\n", ("no column 'user'", "is the header line missing?")),
    "too many fields": ("x.csv", "user,item\nu1,i1\nu2,i2,5\n", ("line 3 has 3 fields, the header 2", "quote")),
    "too few fields": ("x.csv", "user,item,rating\nu1,i1,5\nu2,i2\n", ("line 3 has 2 fields, the header 3",)),
    "too few after a blank line": ("x.csv", "user,item\nu1,i1\n\nu2\n", ("line 4 has 1 field, the header 2",)),
    "binary": ("x.csv", bytes(range(256)) * 4, ("binary data", "expected CSV or TSV text")),
    "a picture": ("x.csv", b"\x89PNG\r\n\x1a\n" + b"\xfe\xc8" * 200, ("not UTF-8 text",)),
    "UTF-16 cut short": ("x.csv", "user,item\nu1,i1\n".encode("utf-16")[:-1], ("UTF-16", "save the file as UTF-8")),
    "Latin-1": ("x.csv", "user,item\nu1,i1\nu2,\xe9\n".encode("latin-1"), ("line 3 is not UTF-8",)),
    "null user": ("x.csv", "user,item\nu1,i1\n,i2\n", ("column 'user'", "row 2 has no id")),
    "null item": ("x.csv", "user,item\nu1,i1\nu2,\n", ("column 'item'", "row 2 has no id")),
    "all fields empty": ("x.csv", "user,item\nu1,i1\n,\n", ("row 2 has no id",)),
    "unknown column": ("x.csv", "usr,item\nu1,i1\n", ("no column 'user'", "did you mean 'usr'?")),
    "two of one name": ("x.csv", "user,item,item\nu1,i1,i2\n", ("'item' occurs twice", "rename one")),
    "semicolons": ("x.csv", "user;item\nu1;i1\n", ("another separator",)),
    "tabs in .csv": ("x.csv", "user\titem\nu1\ti1\n", ("another separator", "tabs in .tsv")),
    "open quote": ("x.csv", 'user,item\n"u1,i1\nu2,i2\n', ("check that every quote is closed",)),
    "rating in words": ("x.csv", "user,item,rating\nu1,i1,good\n", ("column 'rating'", "row 1 has 'good'", "number")),
    "propensity 0": ("x.csv", "user,item,propensity\nu1,i1,0\n", ("propensity 0 in row 1", "outside (0, 1]")),
    "propensity 1.5": ("x.csv", "user,item,propensity\nu1,i1,1\nu2,i2,1.5\n", ("1.5 in row 2", "outside (0, 1]")),
    "propensity missing": ("x.csv", "user,item,propensity\nu1,i1,\n", ("'propensity'", "row 1 has no value")),
    "propensity NaN": ("x.csv", "user,item,propensity\nu1,i1,nan\n", ("'propensity'", "row 1 has 'nan'")),
    "gzip cut short": ("x.csv.gz", gzip.compress(b"user,item\nu1,i1\n" * 99)[:40], ("cut short?",)),
    "no gzip at all": ("x.csv.gz", b"user,item\nu1,i1\n", ("gzip",)),
    "no Parquet at all": ("x.parquet", b"user,item\nu1,i1\n", ("not a readable Parquet file",)),
    "Parquet cut short": ("x.parquet", b"PAR1\x15\x04", ("cut short?",)),
}


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused(world, refuse, case, part):
    name, content, says = BAD[case]
    world.write(name, content)
    message = refuse(*world.evaluate(**{part: name}), says=says)
    assert name in message


@pytest.mark.parametrize("option", ["--train", "--test", "--validation", "--relevant-counts", "--scores", "--factors"])
def test_a_missing_file_is_named(world, refuse, option):
    refuse(*world.evaluate(option, world / "nope.csv"), says=("nope.csv: no such file", "check the path"))


@pytest.mark.parametrize("option", ["--validation", "--relevant-counts", "--scores"])
def test_a_directory_is_no_file(world, refuse, option):
    refuse(*world.evaluate(option, str(world.folder)), says=("this is a directory", "name a file in it"))


def test_a_directory_that_may_be_one_needs_what_belongs_to_it(world, refuse):
    refuse(*world.evaluate("--train", str(world.folder)), says=("is a folder", "--test must be a folder"))
    refuse(*world.evaluate("--test", str(world.folder)), says=("is a folder", "--train must be a folder"))
    refuse(*world.evaluate("--factors", str(world.folder)), says=("no array 'user_factors'", "save both factors"))


def test_a_name_too_long_for_the_disk_is_refused_too(world, refuse):
    refuse(*world.evaluate("--test", "x" * 300), says=("cannot be read", "check the path"))
    refuse(*world.evaluate("--factors", "x" * 300), says=("cannot be read", "check the path"))


@pytest.mark.parametrize(
    "option, word, near",
    [
        ("--user-col", "usre", "user"),
        ("--item-col", "itm", "item"),
        ("--rating-col", "ratng", "rating"),
        ("--timestamp-col", "timstamp", "timestamp"),
        ("--propensity-col", "propensty", "propensity"),
    ],
)
def test_a_column_that_is_not_there_brings_the_nearest_to_mind(world, refuse, option, word, near):
    refuse(*world.evaluate(option, word), says=(f"no column {word!r}", f"did you mean {near!r}?"))


def test_blank_lines_are_no_rows(world, unskew):
    plain = unskew(*world.evaluate("--json", "-"))
    text = (world.folder / "test.csv").read_text()
    world.write("gaps.csv", "\n" + text.replace("\n", "\n\n", 3) + "\n  \n\n")
    gaps = unskew(*world.evaluate("--json", "-", test="gaps.csv"))
    assert gaps.code == 0
    assert gaps.out == plain.out


def test_fields_left_empty_at_the_end_of_a_line_are_no_error(world, unskew):
    lines = (world.folder / "test.csv").read_text().splitlines()
    noted = [f"{lines[0]},note"] + [f"{line}," for line in lines[1:]]
    world.write("noted.csv", "\n".join(noted) + "\n")
    outcome = unskew(*world.evaluate("--json", "-", test="noted.csv"))
    assert outcome.out == unskew(*world.evaluate("--json", "-")).out


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(world, unskew):
    plain = unskew(*world.evaluate("--json", "-"))
    text = (world.folder / "test.csv").read_text()
    world.write("windows.csv", "\ufeff" + text.replace("\n", "\r\n"))
    assert unskew(*world.evaluate("--json", "-", test="windows.csv")).out == plain.out
