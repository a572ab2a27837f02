"""Names from the data are shown as they are, as far as that is safe."""

import pytest

from unskew.display.names import clean, short_labels, shortened


@pytest.mark.parametrize("text", ["als", "漢字 🙂", "<b>&amp;\"'", "two\nlines", "מודל", ""])
def test_text_is_left_alone(text):
    assert clean(text) == text


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\r", "\ud800", "\u202e", "\u2066", "\uffff"])
def test_what_is_no_text_is_replaced(character):
    assert clean(f"a{character}b") == "a\ufffdb"


def test_long_names_keep_both_ends():
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 7) == "abc…ijk"
    assert len(shortened("x" * 1000, 40)) == 40
    assert shortened(" ", 10) == "(no name)"


def test_labels_are_distinct():
    names = ["a" * 100, "a" * 101, "b", "", " ", "b\x00", "b\x01"]
    labels = short_labels(names, 9)
    assert list(labels) == names
    assert len(set(labels.values())) == len(names)
    assert labels["a" * 101] == "aaaa…aaaa (2)"
