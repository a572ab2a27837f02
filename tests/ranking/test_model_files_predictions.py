"""Files of predicted ratings."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unskew import Interactions, Split
from unskew.errors import DataError
from unskew.ranking import FactorScorer, ListScorer, look_up, read_predictions, read_scores

TABLE = pl.DataFrame({"user": ["u1", "u1", "u2"], "item": ["i1", "i2", "i1"], "prediction": [1.5, 4.0, 3.25]})


def predicted(table: ListScorer | FactorScorer) -> list[float]:
    assert isinstance(table, ListScorer)
    log = Interactions.from_arrays(["u1", "u1", "u2"], ["i1", "i2", "i1"])
    split = Split(log, log)
    return look_up(table, split, log.users, log.items).tolist()


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.parquet", "p.csv.gz"])
def test_tables_of_every_kind_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        TABLE.write_parquet(path)
    else:
        text = TABLE.write_csv(separator="\t" if name.endswith("tsv") else ",").encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    table = read_predictions(path)
    assert predicted(table) == [1.5, 4, 3.25]
    assert table.ratings
    assert table.name == str(path)


def test_more_columns_do_no_harm_and_ids_may_have_other_names(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    TABLE.rename({"user": "who", "item": "what"}).with_columns(note=pl.lit("x")).write_csv(path)
    assert predicted(read_predictions(path, user="who", item="what")) == [1.5, 4, 3.25]
    TABLE.write_csv(path)
    assert predicted(read_predictions(path, user="who", item="what")) == [1.5, 4, 3.25]


def test_factors_whose_scores_are_ratings_are_predictions_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "mf.npz", user_factors=np.eye(2), item_factors=np.ones((3, 2)))
    scorer = read_predictions(tmp_path / "mf.npz")
    assert isinstance(scorer, FactorScorer)
    assert scorer.ratings


def test_a_table_of_scores_is_no_prediction_of_ratings(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    TABLE.rename({"prediction": "score"}).write_csv(path)
    assert not read_scores(path).ratings
    with pytest.raises(DataError, match="no column 'prediction'") as caught:
        read_predictions(path)
    assert "s.csv" in str(caught.value)


BAD = {
    "no column": ("user,item,guess\nu1,i1,3\n", ("no column 'prediction'", "expected user, item and prediction")),
    "near miss": ("user,item,predictions\nu1,i1,3\n", ("did you mean 'predictions'",)),
    "no user": ("usr,item,prediction\nu1,i1,3\n", ("no column 'user'", "did you mean 'usr'")),
    "text": ("user,item,prediction\nu1,i1,3\nu1,i2,good\n", ("row 2 has prediction 'good'", "expected a number")),
    "empty": ("user,item,prediction\nu1,i1,\n", ("row 1 has no prediction",)),
    "no row": ("user,item,prediction\n", ("header but no row",)),
    "infinite": ("user,item,prediction\nu1,i1,inf\n", ("user u1, item i1", "must be finite")),
    "nan": ("user,item,prediction\nu1,i1,nan\n", ("user u1, item i1", "must be finite")),
    "twice": ("user,item,prediction\nu1,i1,3\nu1,i1,4\n", ("user u1, item i1 has more than one",)),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused_in_one_line_that_names_it(tmp_path: Path, case: str) -> None:
    content, says = BAD[case]
    path = tmp_path / "p.csv"
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read_predictions(path)
    for words in ("p.csv", *says):
        assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("nope.csv", "nope.npz"):
        with pytest.raises(DataError, match=f"{name}: no such file"):
            read_predictions(tmp_path / name)
