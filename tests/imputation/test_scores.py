"""Chances of relevance from a file: what it must have, and what a pair without a chance is."""

from pathlib import Path

import numpy as np
import pytest

from unskew import Interactions
from unskew.errors import DataError
from unskew.imputation import Imputation, LabelledRows, Scores, TableOfChances

LOG = Interactions.from_arrays([0, 1, 2], [0, 1, 3], n_users=3, n_items=4)


def table(tmp_path: Path, text: str) -> TableOfChances:
    file = tmp_path / "chances.csv"
    file.write_text(text)
    return Scores(str(file)).read(LOG.user_vocabulary, LOG.item_vocabulary)


def test_listed_pairs_have_their_chance_and_all_others_0(tmp_path: Path) -> None:
    chances = table(tmp_path, "user,item,score\n0,1,0.5\n2,3,1\n1,0,0.25\n")
    want = np.zeros((3, 4))
    want[0, 1], want[2, 3], want[1, 0] = 0.5, 1, 0.25
    users, items = np.indices((3, 4)).reshape(2, -1)
    np.testing.assert_array_equal(chances.rows(users, items).reshape(3, 4), want)
    np.testing.assert_array_equal(chances.block(np.array([2, 0]), np.array([3, 1])), want[[2, 0]][:, [3, 1]])


def test_an_item_that_the_log_does_not_have_has_chance_0(tmp_path: Path) -> None:
    chances = table(tmp_path, "user,item,score\n0,3,0.5\n1,0,0.7\n2,3,1\n")
    np.testing.assert_array_equal(chances.block(np.arange(3), np.array([-1, 0])), [[0, 0], [0, 0.7], [0, 0]])


def test_pairs_of_other_users_and_items_are_left_out(tmp_path: Path) -> None:
    chances = table(tmp_path, "user,item,score\n0,1,0.5\n9,1,0.6\n1,77,0.7\n")
    assert chances.chance.tolist() == [0.5]


def test_a_file_of_other_ids_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pair of this log's users and items; are the ids the same"):
        table(tmp_path, "user,item,score\n7,8,0.5\n9,8,0.6\n")


@pytest.mark.parametrize("score", ["1.5", "-0.1", "nan", ""])
def test_a_chance_outside_the_unit_interval_is_refused_with_its_row(tmp_path: Path, score: str) -> None:
    with pytest.raises(DataError, match=r"chances\.csv: score .* in row 2 is outside \[0, 1\]"):
        table(tmp_path, f"user,item,score\n0,1,0.5\n0,2,{score}\n")


def test_a_score_that_is_text_is_refused_with_its_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"chances\.csv: score 'high' in row 2 is not a number; expected a chance"):
        table(tmp_path, "user,item,score\n0,1,0.5\n0,2,high\n")


def test_a_pair_has_one_score(tmp_path: Path) -> None:
    same = table(tmp_path, "user,item,score\n0,1,0.5\n9,9,0.1\n1,1,0.2\n0,1,0.5\n")
    assert same.chance.tolist() == [0.5, 0.2]
    with pytest.raises(
        DataError, match=r"chances\.csv: the pair in row 4 has another score in an earlier row; keep one"
    ):
        table(tmp_path, "user,item,score\n0,1,0.5\n9,9,0.1\n1,1,0.2\n0,1,0.4\n")


def test_the_chances_of_candidates_are_those_of_judged_users_without_excluded_pairs(tmp_path: Path) -> None:
    chances = table(tmp_path, "user,item,score\n0,1,0.5\n0,2,0.6\n1,0,0.25\n2,3,1\n")
    assert chances.of_candidates(np.array([0, 2]), np.array([2])).tolist() == [0.5, 1]


def test_chances_that_are_all_the_same_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"{user},{item},0.3\n" for user in range(3) for item in range(4))
    with pytest.raises(DataError, match=r"every chance is 0\.3, which says nothing about the pairs; use labels"):
        table(tmp_path, f"user,item,score\n{rows}")


@pytest.mark.parametrize("columns", ["user,item,chance", "user,score,rating", "item,score,x"])
def test_a_file_without_a_column_is_refused(tmp_path: Path, columns: str) -> None:
    with pytest.raises(DataError, match=r"has no column '.*'; a table of chances has user, item and score"):
        table(tmp_path, f"{columns}\n0,1,0.5\n")


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        Scores("nowhere.csv").read(LOG.user_vocabulary, LOG.item_vocabulary)


def test_it_reads_and_prints_its_file() -> None:
    scores = Imputation.from_word("scores(my.csv)")
    assert scores == Scores("my.csv")
    assert Imputation.from_word(str(scores)) == scores


def test_it_is_read_and_not_fitted() -> None:
    empty = np.empty(0, int)
    with pytest.raises(DataError, match="is read, not fitted"):
        Scores("a.csv").fit(LabelledRows(empty, empty, np.empty(0), 1, 1))
