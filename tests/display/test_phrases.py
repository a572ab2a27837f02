"""Small words of the sentences."""

import pytest

from unskew.display.phrases import capital, chain, counted, few, listed, lowered, quoted, sentence
from unskew.errors import first_of


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


def test_the_rest():
    assert few(["a", "b", "c", "d", "e"], last="or") == "a, b, c or 2 more"
    assert sentence("so it is") == "So it is."
    assert [capital("so it is"), lowered("So it is"), lowered("")] == ["So it is", "so it is", ""]
    assert [counted(1, "world"), counted(1200, "world")] == ["1 world", "1,200 worlds"]


@pytest.mark.parametrize(
    ("words", "told"),
    [("", "none"), ("a", "a"), ("ab", "a, b"), ("abc", "a, b and 1 more"), ("abcd", "a, b and 2 more")],
)
def test_the_first_words_and_how_many_more(words: str, told: str) -> None:
    assert first_of(words, 2) == told
    assert first_of(words, 2, "; ") == told.replace(", ", "; ")
