"""Printed tables keep their words and their edge."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from unskew.display.text_table import Column, digits, plain_text, print_lines, print_table, table, words

ROWS = [
    ("recall@10", "autodebias(backbone=lightgcn, epochs=3)", "relevant items, mean over users with one in the sample")
]


def drawn(width: int) -> str:
    columns = [*words("metric", "model", "target"), *digits("value")]
    made = table(None, columns, [[*row, "0.1234"] for row in ROWS])
    return plain_text(lambda console: print_table(made, console), width)


@pytest.mark.parametrize("width", range(70, 130, 4))
def test_words_are_neither_cut_nor_broken_where_there_is_room_for_them(width):
    text = drawn(width)
    assert max(map(len, text.splitlines())) <= width
    for word in (*" ".join(ROWS[0]).split(), "0.1234"):
        assert word in text


def lines(made) -> list[str]:
    text = plain_text(lambda console: console.print(made), 80)
    return [line.strip() for line in text.rstrip().splitlines()]


def test_groups_are_sections():
    rows = [["a", "x", "1"], ["a", "y", "22"], ["b", "x", "3"]]
    columns = [*words("one", "two"), *digits("n")]
    apart = lines(table("Title", columns, rows, group=1))
    assert apart[0] == "Title"
    assert apart[-4:] == ["a     x      1", "a     y     22", "", "b     x      3"]
    once = lines(table("Title", columns, rows, group=1, repeat=False))
    assert once[-4:] == ["a     x      1", "y     22", "", "b     x      3"]
    assert "" not in lines(table("Title", columns, rows))[-3:]


def test_what_comes_from_the_data_is_text():
    assert "[red]:smile:" in " ".join(lines(table(None, words("name"), [["[red]:smile:"]])))


def test_what_is_too_long_is_cut_or_folded():
    for wrap in (None, "ellipsis"):
        assert lines(table(None, [Column("name", wrap=wrap)], [["a" * 100]]))[-1].endswith("…")
    assert "…" not in "".join(lines(table(None, [Column("name")], [["a" * 100]])))


def test_titles_and_headers_are_text():
    made = table("[red]of [/] a", words("[bold]", "b"), [["1", "2" * 20]])
    assert lines(made)[0] == "[red]of [/] a"
    assert lines(made)[2].split() == ["[bold]", "b"]


def test_cells_may_have_colours():
    made = table(None, words("a"), [[Text("one", style="red")]])
    assert lines(made)[-1] == "one"


def test_columns_without_titles_have_no_header():
    assert [line for line in lines(table(None, [*words(""), *digits("")], [["users", "60"]])) if line] == ["users   60"]


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_are_wrapped_between_words_on_a_terminal_and_stay_whole_in_a_file(terminal):
    stream, line = io.StringIO(), "targets: " + "recall at ten over relevant items, " * 8
    print_lines([line], Console(file=stream, width=80, color_system=None, force_terminal=terminal))
    printed = stream.getvalue().splitlines()
    assert " ".join(" ".join(printed).split()) == line.strip()
    assert len(printed) == 1 if not terminal else max(map(len, printed)) <= 80
