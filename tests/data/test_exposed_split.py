"""Splits of randomly exposed tests from rows, frames and files."""

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from unskew.data import Columns, Interactions, exposed_split
from unskew.errors import ConfigError, DataError

TRAIN = pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "z"], "rating": [5, 2, 4]})
SHOWN = pl.DataFrame({"user": ["a", "a", "b"], "item": ["x", "z", "y"], "label": [1, 0, 1]})
RATED = SHOWN.select("user", "item", pl.Series("rating", [5, 1, 4]))


def as_rows(split) -> list[tuple]:
    return split.test.to_polars().rows()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    TRAIN.write_csv(tmp_path / "train.csv")
    SHOWN.write_csv(tmp_path / "shown.csv")
    return tmp_path


def test_rows_frames_and_files_make_the_same_split(files):
    rows = exposed_split(Interactions.from_frame(TRAIN), Interactions.from_frame(SHOWN.rename({"label": "rating"})))
    frames = exposed_split(pd.DataFrame(TRAIN.to_dict(as_series=False)), pd.DataFrame(SHOWN.to_dict(as_series=False)))
    read = exposed_split(files / "train.csv", str(files / "shown.csv"))
    assert as_rows(rows) == as_rows(frames) == as_rows(read) == [("a", "x", 1), ("a", "z", 0), ("b", "y", 1)]
    assert all(split.exposed and str(split.rule) == "unseen" for split in (rows, frames, read))
    assert {split.population_by for split in (rows, frames, read)} == {
        "1 exposed rows are also in train and were removed"
    }
    assert read.test.name == str(files / "shown.csv")


def test_a_population_that_is_given_is_recorded_as_such():
    for population in ("all", "unseen"):
        split = exposed_split(TRAIN, SHOWN, population=population)
        assert (str(split.rule), split.population_by) == (population, "given")
    with pytest.raises(ConfigError, match=r'^population="some": choose all, unseen or auto$'):
        exposed_split(TRAIN, SHOWN, population="some")


def test_ratings_become_labels_by_a_condition():
    assert as_rows(exposed_split(TRAIN, RATED, positive="rating>=4")) == as_rows(exposed_split(TRAIN, SHOWN))
    with pytest.raises(ConfigError, match=r'^exposed: has ratings .*, as in positive="rating>=4"$'):
        exposed_split(TRAIN, RATED)


def test_labels_that_are_called_ratings_are_refused():
    with pytest.raises(DataError, match=r"^exposed: no row satisfies rating>=4, and all values are 0 or 1; .*label$"):
        exposed_split(TRAIN, SHOWN.rename({"label": "rating"}), positive="rating>=4")


def test_labels_of_train_are_read_where_there_are_no_ratings():
    split = exposed_split(SHOWN.head(2), SHOWN, SHOWN.tail(1))
    assert split.train.values.tolist() == [1, 0]
    assert split.validation.values.tolist() == [1]
    with pytest.raises(
        ConfigError, match=r'^train: has labels but no ratings, so positive="rating>=4" cannot be applied'
    ):
        exposed_split(SHOWN, RATED, positive="rating>=4")
    with pytest.raises(DataError, match="train: label 3 in row 1"):
        exposed_split(SHOWN.with_columns(label=3), SHOWN)


def test_a_catalogue_adds_items_and_says_what_it_lacks(tmp_path):
    split = exposed_split(TRAIN, SHOWN, catalogue=["x", "z", "new"])
    assert len(split.catalogue) == 4
    (note,) = split.notes
    assert note.startswith("catalogue: lacks 1 of 3 items of train, which are candidates all the same")
    (tmp_path / "items.csv").write_text("item\nx\ny\nz\n")
    assert exposed_split(TRAIN, SHOWN, catalogue=tmp_path / "items.csv").notes == ()


def test_columns_may_have_other_names():
    names = {"user": "who", "item": "what", "rating": "stars", "label": "liked"}
    train, shown = (frame.rename({name: names[name] for name in frame.columns}) for frame in (TRAIN, SHOWN))
    split = exposed_split(train, shown, columns=Columns("who", "what", "stars", label="liked"))
    assert as_rows(split) == as_rows(exposed_split(TRAIN, SHOWN))
    assert split.train.values.tolist() == [5, 2, 4]


def test_every_part_with_ratings_is_checked():
    seen = []
    exposed_split(TRAIN, RATED, TRAIN.head(1), positive="rating>=4", check=lambda rows: seen.append(rows.name))
    assert seen == ["train", "validation", "exposed"]
    seen.clear()
    exposed_split(TRAIN, SHOWN, check=lambda rows: seen.append(rows.name))
    assert seen == ["train"]
