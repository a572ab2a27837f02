"""Covariate tables: what is read from them, and every way in which they can be bad."""

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unskew import Interactions
from unskew.data import Vocabulary
from unskew.errors import DataError
from unskew.propensities import Logistic
from unskew.propensities.observed.covariates import read_covariates
from unskew.propensities.observed.design import row_products
from unskew.propensities.observed.tables import Held
from unskew.testing.worlds.observed_worlds import covariate_world, pairs

IDS = Vocabulary(np.array([3, 5, 8]))


def test_rows_are_aligned_with_the_vocabulary_and_kinds_are_kept() -> None:
    frame = pl.DataFrame({"user": [8, 3, 5], "age": [60, 20, 40], "town": ["x", "y", "x"], "new": [True, False, False]})
    found = read_covariates(Held(frame), "user", IDS)
    assert found.table.tolist() == [[20, 1, 0], [40, 0, 0], [60, 0, 1]]
    design = found.design().toarray()
    spread = np.sqrt(1.5)
    assert design == pytest.approx(np.array([[1, -spread, 0, 1, 0], [1, 0, 1, 0, 0], [1, spread, 1, 0, 1]]))


def test_equal_rows_share_a_profile() -> None:
    frame = pl.DataFrame({"user": [3, 5, 8], "town": ["x", "y", "x"]})
    first, profile = read_covariates(Held(frame), "user", IDS).profiles
    assert profile[0] == profile[2] != profile[1]
    assert len(first) == 2


def test_columns_that_do_not_vary_are_left_out() -> None:
    frame = pl.DataFrame({"user": [3, 5, 8], "town": ["x", "y", "x"], "planet": ["earth"] * 3})
    assert [column.name for column in read_covariates(Held(frame), "user", IDS).columns] == ["town"]


def test_products_of_rows_are_those_of_kronecker() -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    left, right = (rng.integers(0, 3, (20, n)).astype(float) for n in (3, 4))
    found = row_products(sparse.csr_array(left), sparse.csr_array(right)).toarray()
    assert np.array_equal(found, [np.kron(a, b) for a, b in zip(left, right, strict=True)])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "pandas"])
def test_files_and_frames_give_the_same(tmp_path: Path, suffix: str) -> None:
    world = covariate_world(0, 30, 20)
    expected = Logistic(world.users, world.items, penalty=1).observe(world.log)(*pairs(world.log))
    given = []
    for name, frame in (("users", world.users), ("items", world.items)):
        path = tmp_path / f"{name}.{suffix}"
        if suffix == "parquet":
            frame.write_parquet(path)
        elif suffix != "pandas":
            frame.write_csv(path, separator="\t" if suffix == "tsv" else ",")
        given.append(frame.to_pandas() if suffix == "pandas" else path)
    found = Logistic(given[0], given[1], penalty=1).observe(world.log)(*pairs(world.log))
    assert found == pytest.approx(expected, rel=1e-12)


def test_unknown_users_are_ignored_with_a_note() -> None:
    world = covariate_world(0, 30, 20)
    strangers = pl.DataFrame({"user": [100, 200], "age": [1.0, 2.0], "member": [0, 1]})
    more = pl.concat([strangers, world.users])
    plain = Logistic(world.users, world.items, penalty=1).observe(world.log)
    fitted = Logistic(more, world.items, penalty=1).observe(world.log)
    assert fitted.diagnostics.notes == (
        "the frame given for users names 2 users that the log does not have; they are ignored",
    )
    assert np.array_equal(fitted(*pairs(world.log)), plain(*pairs(world.log)))


def test_numbers_in_a_text_column_of_a_frame_are_texts() -> None:
    found = read_covariates(Held(pl.DataFrame({"user": [3, 5, 8], "code": ["1", "2", "10"]})), "user", IDS)
    assert found.columns[0].levels == ("1", "10", "2")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"user": [3, 5], "age": [1, 2]}, "1 of 3 users of the log are missing, the first one is 8; add a row"),
        ({"user": [9, 10], "age": [1, 2]}, "3 of 3 users of the log are missing, the first one is 3"),
        ({"user": [3, 5, 8, 5], "age": [1, 2, 3, 4]}, "user 5 occurs more than once"),
        ({"user": [3, 5, 8], "age": [1, None, 3]}, "row 2 has no value in column 'age'"),
        ({"user": [3, 5, 8], "age": [1.0, 2.0, float("nan")]}, "row 3 has no value in column 'age'"),
        ({"user": [3, 5, 8], "age": [1.0, 2.0, float("inf")]}, "row 3 has no value in column 'age'"),
        ({"user": [3, 5, 8], "town": ["a", "", "b"]}, "row 2 has no value in column 'town'"),
        ({"user": [3, 5, 8], "town": [None, "a", "b"]}, "row 1 has no value in column 'town'"),
        ({"user": [3, 5, 8]}, "only the column 'user'"),
        ({"user": [3, 5, 8], "age": [4, 4, 4]}, "no column differs between the users"),
        ({"usr": [3, 5, 8], "age": [1, 2, 3]}, "no column 'user'.*did you mean 'usr'"),
        ({"user": [3, None, 8], "age": [1, 2, 3]}, "row 2 has no id"),
        ({"user": [3, 5, 8], "born": [date(2000, 1, 1)] * 3}, "column 'born' has the type Date"),
    ],
)
def test_bad_tables_are_refused(columns: dict[str, list[object]], says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_covariates(Held(pl.DataFrame(columns)), "user", IDS)


def test_a_column_of_names_is_refused() -> None:
    frame = pl.DataFrame({"item": range(300), "title": [f"film {code}" for code in range(300)]})
    with pytest.raises(DataError, match="column 'title' has 300 different texts, but at most 255"):
        read_covariates(Held(frame), "item", Vocabulary.of_range(300))


def test_a_missing_value_in_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "users.csv"
    path.write_text("user,age,town\n3,1,a\n5,,b\n8,3,a\n")
    with pytest.raises(DataError, match=r"users\.csv: row 2 has no value in column 'age'"):
        read_covariates(str(path), "user", IDS)
    path.write_text("user,age\n3,1\n5,nan\n8,3\n")
    with pytest.raises(DataError, match=r"users\.csv: row 2 has no value in column 'age'"):
        read_covariates(str(path), "user", IDS)


def test_a_file_that_is_not_there_is_named() -> None:
    log = Interactions.from_arrays([0], [0], n_users=1, n_items=2)
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file; check the path"):
        Logistic("nowhere.csv").observe(log)
    with pytest.raises(DataError, match="int is not a table"):
        Logistic(5).observe(log)
