"""Small words of the sentences."""

import pytest

from unskew.display.phrases import chain, factor, few, first_of, listed, quoted, rounded, sentence, signed


def test_lists_read_as_in_a_sentence():
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_names_are_quoted_and_cut():
    assert quoted("als") == "“als”"
    assert len(quoted("x" * 500)) == 42


def test_a_long_chain_is_cut():
    assert chain(["a", "b"]) == "“a” > “b”"
    assert chain("abcdefg") == "“a” > “b” > “c” > “d” > “e” > 2 more"


@pytest.mark.parametrize(
    ("value", "text"), [(0.25, "0.250"), (0.0, "0.000"), (0.00123, "0.0012"), (-0.5, "−0.500"), (12.3456, "12.346")]
)
def test_numbers_keep_three_decimals_or_two_digits(value, text):
    assert rounded(value) == text


def test_the_rest():
    assert signed(-0.25) == "−0.25"
    assert signed(3.0) == "3"
    assert [factor(1.00096), factor(12.34)] == ["1.00", "12.3"]
    assert few(["a", "b", "c", "d", "e"], last="or") == "a, b, c or 2 more"
    assert sentence("so it is") == "So it is."


@pytest.mark.parametrize(
    ("words", "told"),
    [("", "none"), ("a", "a"), ("ab", "a, b"), ("abc", "a, b and 1 more"), ("abcd", "a, b and 2 more")],
)
def test_the_first_words_and_how_many_more(words: str, told: str) -> None:
    assert first_of(words, 2) == told
    assert first_of(words, 2, "; ") == told.replace(", ", "; ")
