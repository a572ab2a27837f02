"""Ids: the same as text or number, ordered by value if all are integers, else by code point."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.data.vocabulary import Vocabulary, canonical, factorise, vocabulary_of
from unskew.errors import DataError

integers = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20)
# numpy drops trailing zero characters of fixed-width text
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5)


def ids_of(values: object) -> list[object]:
    return factorise(canonical(values, "ids"))[1].ids.tolist()  # type: ignore[arg-type]


@given(integers)
def test_an_id_is_the_same_as_text_and_as_number(numbers: list[int]) -> None:
    assert ids_of(numbers) == ids_of([str(n) for n in numbers]) == sorted(set(numbers))


@given(st.lists(texts, min_size=1, max_size=20))
def test_codes_lead_back_to_the_ids_and_order_is_by_code_point(values: list[str]) -> None:
    codes, vocabulary = factorise(canonical(values, "ids"))
    assert [str(v) for v in vocabulary.decode(codes)] == values
    if not vocabulary.is_numeric:
        assert vocabulary.ids.tolist() == sorted(set(values))


def test_integers_are_ordered_by_value_and_text_by_code_point() -> None:
    assert ids_of(["10", "9", "-1"]) == [-1, 9, 10]
    assert ids_of(["10", "9", "x"]) == ["10", "9", "x"]
    assert ids_of(["b", "B", "é", "a"]) == ["B", "a", "b", "é"]


def test_leading_zeros_make_text_because_the_number_would_print_differently() -> None:
    assert ids_of(["07", "7"]) == ["07", "7"]
    assert ids_of(["+7", "7"]) == ["+7", "7"]
    assert ids_of(["7.0", "7"]) == ["7", "7.0"]


def test_integers_beyond_64_bits_are_text_in_whatever_form_they_come() -> None:
    large = 2**63 + 5
    assert ids_of(np.array([large, 1], dtype=np.uint64)) == ["1", str(large)]
    assert ids_of([str(large), "1"]) == ["1", str(large)]


def test_whole_floats_are_integers_and_others_are_refused() -> None:
    assert ids_of(np.array([1.0, 7.0])) == [1, 7]
    for bad in (1.5, np.nan, np.inf, 1e20):
        with pytest.raises(DataError, match="row 2 has"):
            canonical(np.array([1.0, bad]), "ids")


def test_bytes_are_read_as_text() -> None:
    assert ids_of(np.array([b"a", b"7"])) == ["7", "a"]


@pytest.mark.parametrize(
    "values", [[1, None], ["a", None], np.array(["a", None], dtype=object), np.array(["a", np.nan], dtype=object)]
)
def test_null_ids_are_refused_with_their_row(values: list[object]) -> None:
    with pytest.raises(DataError, match=r"users: row 2 has no id"):
        canonical(values, "users")


def test_empty_text_is_no_id() -> None:
    with pytest.raises(DataError, match="row 3 has no id"):
        canonical(["a", "b", ""], "users")


@pytest.mark.parametrize("values", [np.array([True, False]), np.array(["2020-01-01"], dtype="datetime64[D]")])
def test_other_types_cannot_be_ids(values: object) -> None:
    with pytest.raises(DataError, match="ids are integers or text"):
        canonical(values, "users")  # type: ignore[arg-type]


def test_ids_have_one_dimension() -> None:
    with pytest.raises(DataError, match="one dimension"):
        canonical(np.zeros((2, 2), dtype=int), "users")


def test_categories_are_read_as_text() -> None:
    assert ids_of(pl.Series(["b", "a"], dtype=pl.Categorical)) == ["a", "b"]


@given(integers, integers)
def test_encoding_finds_what_is_there_and_gives_minus_one_else(own: list[int], asked: list[int]) -> None:
    vocabulary = Vocabulary(np.unique(own))
    for form in (pl.Series(asked, dtype=pl.Int64), pl.Series([str(n) for n in asked])):
        expected = [sorted(set(own)).index(n) if n in own else -1 for n in asked]
        assert vocabulary.encode(form).tolist() == expected


def test_a_numeric_vocabulary_does_not_mistake_text_for_a_number() -> None:
    vocabulary = Vocabulary(np.array([7, 8]))
    assert vocabulary.encode(pl.Series(["07", "7", "x", str(-(2**63))])).tolist() == [-1, 0, -1, -1]


def test_a_range_encodes_by_itself() -> None:
    vocabulary = Vocabulary.of_range(3)
    assert vocabulary.is_range
    assert vocabulary.declared
    assert vocabulary.encode(pl.Series([-1, 0, 2, 3])).tolist() == [-1, 0, 2, -1]


def test_text_vocabularies_find_numbers_by_their_print() -> None:
    vocabulary = Vocabulary(np.array(["7", "x"]))
    assert vocabulary.encode(pl.Series([7, 8])).tolist() == [0, -1]


@given(integers, st.lists(texts, min_size=1, max_size=8))
def test_the_union_holds_all_ids_once_and_in_order(numbers: list[int], words: list[str]) -> None:
    a, b = Vocabulary(np.unique(numbers)), Vocabulary(np.unique(words))
    joined = a.union(b).ids.tolist()
    assert joined == sorted({str(n) for n in numbers} | set(words))
    assert b.union(a).ids.tolist() == joined
    assert a.union(a).ids.tolist() == sorted(set(numbers))


def test_the_union_of_numbers_stays_numeric() -> None:
    joined = Vocabulary(np.array([2, 10])).union(Vocabulary(np.array([9])))
    assert joined.ids.tolist() == [2, 9, 10]


def test_stated_ids_must_be_distinct() -> None:
    with pytest.raises(DataError, match="item_ids: id 3 occurs more than once"):
        vocabulary_of([3, 1, 3], "item_ids")
    with pytest.raises(DataError, match="occurs more than once"):
        vocabulary_of(["3", "x", "3"], "item_ids")


def test_stated_ids_are_declared_and_keep_their_order_in_the_codes() -> None:
    vocabulary, codes = vocabulary_of([30, 10, 20], "item_ids")
    assert vocabulary.declared
    assert codes.tolist() == [2, 0, 1]


def test_one_long_text_does_not_cost_memory_for_all():
    texts = [f"i{k}" for k in range(200_000)]
    codes, vocabulary = factorise(pl.Series([*texts, "x" * 1_000_000]))
    assert vocabulary.ids.dtype == object
    assert vocabulary.ids.nbytes < 2_000_000  # with a fixed width these would be 800 GB
    assert vocabulary.decode(codes).tolist() == [*texts, "x" * 1_000_000]
    assert vocabulary.encode(pl.Series(["i7", "x" * 1_000_000, "y"])).tolist() == [*codes[[7, 200_000]], -1]
    both = vocabulary.union(factorise(pl.Series(["i7", "new"]))[1])
    assert len(both) == 200_002
    assert both.ids.tolist() == sorted(both.ids.tolist())
    assert factorise(pl.Series(texts))[1].ids.dtype.kind == "U"


def test_the_union_of_numbers_and_texts_is_text_by_code_point():
    numbers, texts = (
        Vocabulary(np.array([7, 10, 100])),
        factorise(pl.Series(["é", "a", "7", "\U0001f600", "\uff5e"]))[1],
    )
    assert numbers.union(texts).ids.tolist() == ["10", "100", "7", "a", "é", "\uff5e", "\U0001f600"]
