"""Text is broken between words, and within words of the notation only where there is no other way."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from unskew.display.text_table import digits, plain_text, print_table, table, words
from unskew.display.wrapping import LOOSEST, break_lines, least_width, squeeze

TEXTS = st.text(alphabet="ab1( )=,-@…\n", max_size=40)


def lines_of(text: str, width: int, loose: int) -> list[str]:
    edges = [0, *break_lines(text, width, loose), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


@given(TEXTS, st.integers(1, 30), st.integers(0, LOOSEST))
def test_nothing_is_lost_and_no_line_is_wider_than_it_must_be(text, width, loose):
    lines = lines_of(text, width, loose)
    assert "".join(lines) == text
    least = max(width, least_width(text, loose))
    assert all(len(part.rstrip()) <= least for line in lines for part in line.split("\n"))


@given(TEXTS, st.integers(1, 30))
def test_words_are_whole_unless_they_may_be_broken(text, width):
    assert [word for line in lines_of(text, width, 0) for word in line.split()] == text.split()


def test_places_to_break_by_hand():
    word = "ure(aggregate=pooled, reduce=control)"
    assert lines_of(word, 25, 0) == ["ure(aggregate=pooled, ", "reduce=control)"]
    assert lines_of(word, 18, 1) == ["ure", "(aggregate=pooled, ", "reduce=control)"]
    assert lines_of(word, 11, 2) == ["ure", "(aggregate=", "pooled, ", "reduce=", "control)"]
    assert lines_of("-0.0016 to +0.0242", 10, 2) == ["-0.0016 to ", "+0.0242"]
    assert lines_of("item-knn", 5, 2) == ["item-", "knn"]
    assert lines_of("abcdef", 4, LOOSEST) == ["abcd", "ef"]


def test_the_widest_column_gives_way_first():
    assert squeeze([10, 4, 8], [2, 2, 2], 16) == [6, 4, 6]
    assert squeeze([10, 4, 8], [9, 2, 2], 16) == [9, 3, 4]


CELLS = st.lists(
    st.tuples(*[st.from_regex(r"[a-z]{1,12}(\([a-z]{1,8}=[0-9]{1,4}\))?", fullmatch=True)] * 6), min_size=1
)


@settings(max_examples=30)
@given(CELLS, st.integers(40, 120))
def test_a_table_fits_and_keeps_every_character(rows, width):
    columns = [*words("metric", "estimator", "model"), *digits("value", "95% interval", "p (Holm)")]
    text = plain_text(lambda console: print_table(table(None, columns, rows), console), width)
    assert max(map(len, text.splitlines())) <= width
    printed = "".join(text.replace("─", "").split())
    for character in "abcdefghijklmnopqrstuvwxyz()=0123456789":
        given = sum(cell.count(character) for row in rows for cell in row)
        assert printed.count(character) >= given


@pytest.mark.parametrize("width", [30, 40])
def test_a_table_that_is_too_wide_by_far_becomes_a_list(width):
    columns = words(*(f"column {k}" for k in range(12)))
    made = table(
        "Title", columns, [[f"cell-{k}" for k in range(12)], [Text(f"other{k}", style="red") for k in range(12)]]
    )
    text = plain_text(lambda console: print_table(made, console), width)
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["Title"]
    assert ["column", "3", "cell-3"] in lines
    assert ["column", "11", "other11"] in lines
    assert max(map(len, text.splitlines())) <= width
