"""Split: joined vocabularies, the catalogue, the rows of models without ids, the candidate rules."""

import numpy as np
import pytest

from unskew import Interactions, Split
from unskew.data.candidates import All, Candidates, Listed, Sampled, Trained, Unseen
from unskew.errors import ConfigError


def ids(users: list[object], items: list[object]) -> Interactions:
    return Interactions.from_arrays(users, items)


def rows(part: Interactions | None) -> list[tuple[object, ...]]:
    assert part is not None
    return part.to_polars().rows()


def test_vocabularies_are_joined_and_rows_keep_their_ids() -> None:
    split = Split(ids([3, 1], [10, 9]), ids(["2", "10"], ["9", "11"]), ids([7], [8]))
    assert split.user_vocabulary.ids.tolist() == [1, 2, 3, 7, 10]
    assert split.item_vocabulary.ids.tolist() == [8, 9, 10, 11]
    assert rows(split.train) == [(3, 10), (1, 9)]
    assert rows(split.test) == [(2, 9), (10, 11)]
    assert rows(split.validation) == [(7, 8)]
    for part in (split.test, split.validation):
        assert part is not None
        assert part.user_vocabulary == split.user_vocabulary
        assert part.item_vocabulary == split.item_vocabulary


def test_numbers_become_text_when_another_part_has_text() -> None:
    split = Split(ids([9, 10], [1, 2]), ids(["x"], [1]))
    assert split.user_vocabulary.ids.tolist() == ["10", "9", "x"]
    assert rows(split.train) == [("9", 1), ("10", 2)]


def test_the_catalogue_is_what_occurs_in_train() -> None:
    split = Split(ids([1, 2], [20, 30]), ids([1, 2], [10, 20]), ids([1], [40]))
    assert split.item_vocabulary.decode(split.catalogue).tolist() == [20, 30]


def test_the_catalogue_is_what_occurs_in_train_even_for_a_part_of_a_larger_log() -> None:
    log = ids([1, 2, 3], [10, 20, 30])
    split = Split(log.take(np.array([0, 1])), log.take(np.array([2])))
    assert split.item_vocabulary.decode(split.catalogue).tolist() == [10, 20]


def test_declared_items_are_in_the_catalogue_without_rows() -> None:
    train = Interactions.from_arrays([0], [1], n_users=2, n_items=4)
    test = Interactions.from_arrays([1], [2], n_users=2, n_items=4)
    assert Split(train, test).catalogue.tolist() == [0, 1, 2, 3]


def test_items_that_only_the_test_declares_are_not_in_the_catalogue() -> None:
    train = Interactions.from_arrays([0], [1], n_users=2, n_items=3)
    test = Interactions.from_arrays([1], [4], n_users=2, n_items=5)
    split = Split(train, test)
    assert split.catalogue.tolist() == [0, 1, 2]
    assert not split.item_vocabulary.declared


@pytest.mark.parametrize("test_items", [3, 5])
@pytest.mark.parametrize("declared", [True, False])
def test_another_candidate_rule_does_not_change_the_catalogue(test_items: int, *, declared: bool) -> None:
    train = Interactions.from_arrays([0], [1], n_users=2, n_items=3) if declared else ids([0], [1])
    test = Interactions.from_arrays([1], [2], n_users=2, n_items=test_items)
    split = Split(train, test)
    other = split.with_candidates("all")
    assert str(other.rule) == "all"
    assert str(split.rule) == "unseen"
    assert other.catalogue.tolist() == split.catalogue.tolist()


def test_a_model_without_ids_has_a_row_for_each_id_of_train_and_test_but_not_of_validation() -> None:
    """Row k belongs to the k-th distinct id in order of train and test together."""
    train, test, validation = ids([1, 5], [10, 50]), ids([3], [30]), ids([2, 4], [20, 30])
    split = Split(train, test, validation)
    assert split.user_vocabulary.decode(split.rows_of("user")).tolist() == [1, 3, 5]
    assert split.item_vocabulary.decode(split.rows_of("item")).tolist() == [10, 30, 50]
    without = Split(train, test)
    assert without.user_vocabulary.decode(without.rows_of("user")).tolist() == [1, 3, 5]


def test_a_model_without_ids_has_a_row_for_each_declared_code() -> None:
    parts = [Interactions.from_arrays([u], [u], n_users=6, n_items=6) for u in (0, 3, 5)]
    split = Split(parts[0], parts[1], parts[2])
    assert split.rows_of("user").tolist() == list(range(6))
    assert split.rows_of("item").tolist() == list(range(6))


def test_the_sorted_test_is_ordered_by_user_and_item_with_its_columns() -> None:
    test = Interactions.from_arrays([2, 1, 2], [5, 9, 3], values=[1, 2, 3])
    split = Split(ids([1], [1]), test)
    assert rows(split.sorted_test) == [(1, 9, 2), (2, 3, 3), (2, 5, 1)]


def test_rows_that_are_also_in_train_are_found() -> None:
    split = Split(ids([1, 2], [5, 6]), ids([2, 1, 1], [6, 6, 5]))
    assert split.test_in_train.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("unseen", Unseen()),
        ("all", All()),
        ("trained", Trained()),
        ("listed", Listed()),
        ("sampled(5)", Sampled(5)),
        ("sampled(5, correction=unbiased)", Sampled(5, "unbiased")),
        ("sampled(200, correction=bias-variance)", Sampled(200, "bias-variance")),
    ],
)
def test_candidate_rules_have_words(word: str, rule: Candidates) -> None:
    split = Split(ids([1], [1]), ids([1], [2]), candidates=word)
    assert split.rule == rule
    assert str(split.rule) == word


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("unsen", "did you mean 'unseen'"),
        ("sampled", "needs n"),
        ("sampled(0)", "at least 1"),
        ("sampled(x)", "whole number"),
        ("sampled(5, correction=unbias)", "did you mean 'unbiased'"),
        ("sampled(5, corect=none)", "has no option 'corect'"),
    ],
)
def test_impossible_candidate_rules_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Split(ids([1], [1]), ids([1], [2]), candidates=word)


def test_a_correction_that_does_not_exist_is_refused_in_python_too() -> None:
    with pytest.raises(ConfigError, match="unknown correction=best in 'sampled'; known: none, unbiased, bias-variance"):
        Sampled(5, "best")  # type: ignore[arg-type]
    assert str(Sampled(5, "none")) == "sampled(5)"
    assert not Sampled(5).corrected


def test_a_split_says_what_it_holds() -> None:
    text = repr(Split(ids([1], [1]), ids([1], [2]), ids([1], [3])))
    assert "train=Interactions(1 rows" in text
    assert "validation=" in text
    assert "slice=" not in text
    assert "candidates=unseen" in text
    drawn = Interactions.from_arrays([1, 1], [4, 5], [1.0, 0.0])
    assert "slice=Interactions(2 rows" in repr(Split(ids([1], [1]), ids([1], [2]), slice=drawn))
