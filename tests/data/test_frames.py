"""Frames of any library give the same rows, only the needed columns are collected, and refusals are ours."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from scipy import sparse

from unskew import Interactions, Predictions, Split, evaluate
from unskew.data import exposed_from_frame, exposed_split, read_catalogue, with_items, write_parts
from unskew.data.frames import columns_of, eager, is_frame
from unskew.errors import DataError
from unskew.evaluation.collecting.relevant_counts import counts_frame
from unskew.propensities.observed.naive_bayes import NaiveBayes
from unskew.ranking import ListScorer, scores_from_frame

ROWS = {"user": ["a", "b", "b", "c"], "item": [10, 20, 10, 30], "rating": [5.0, 1.5, 3.0, 4.0], "text": list("wxyz")}
MISSING = "is not installed; CONTRIBUTING says how to run these tests with all libraries"
OTHERS_WARN = pytest.mark.filterwarnings("default")  # libraries warn of one another's versions


def from_duckdb(data: dict[str, list[Any]], folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb", reason=f"duckdb {MISSING}")
    return duckdb.connect().from_arrow(pa.table(data))


def from_ibis(data: dict[str, list[Any]], folder: Path) -> Any:
    ibis = pytest.importorskip("ibis", reason=f"ibis {MISSING}")
    return ibis.memtable(pa.table(data))


def from_dask(data: dict[str, list[Any]], folder: Path) -> Any:
    dask = pytest.importorskip("dask.dataframe", reason=f"dask {MISSING}")
    return dask.from_pandas(pd.DataFrame(data), npartitions=2)


def from_datasets(data: dict[str, list[Any]], folder: Path) -> Any:
    datasets = pytest.importorskip("datasets", reason=f"Hugging Face datasets {MISSING}")
    return datasets.Dataset.from_dict(data)


def from_spark(data: dict[str, list[Any]], folder: Path) -> Any:
    sql = pytest.importorskip("pyspark.sql", reason=f"pyspark {MISSING}")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return session.createDataFrame(list(zip(*data.values(), strict=True)), list(data))


def from_files(data: dict[str, list[Any]], folder: Path) -> Any:
    pl.DataFrame(data)[:2].write_parquet(folder / "1.parquet")
    pl.DataFrame(data)[2:].write_parquet(folder / "2.parquet")
    return pyarrow.dataset.dataset(folder, format="parquet")


LIBRARIES: dict[str, Callable[[dict[str, list[Any]], Path], Any]] = {
    "pandas": lambda data, _: pd.DataFrame(data),
    "pandas, pyarrow types": lambda data, _: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda data, _: pl.DataFrame(data),
    "polars, lazy": lambda data, _: pl.LazyFrame(data),
    "arrow table": lambda data, _: pa.table(data),
    "arrow batch": lambda data, _: pa.record_batch(data),
    "arrow stream": lambda data, _: pa.table(data).to_reader(),
    "arrow data set": from_files,
    "duckdb": from_duckdb,
    "ibis": from_ibis,
    "dask": from_dask,
    "datasets": from_datasets,
    "datasets, streamed": lambda data, folder: from_datasets(data, folder).to_iterable_dataset(),
    "spark": from_spark,
}


@pytest.fixture(params=LIBRARIES)
def frame_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[dict[str, list[Any]]], Any]:
    """Makes a frame of one of the libraries."""
    return lambda data: LIBRARIES[request.param](data, tmp_path)


def ordered(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(frame.rows())


@OTHERS_WARN
def test_every_frame_gives_the_same_columns(frame_of) -> None:
    frame = frame_of(ROWS)
    assert is_frame(frame)
    assert columns_of(frame) == list(ROWS)
    collected = eager(frame, ["item", "user"])
    assert collected.columns == ["item", "user"]
    assert ordered(collected) == [(10, "a"), (10, "b"), (20, "b"), (30, "c")]


@OTHERS_WARN
def test_every_frame_gives_the_same_interactions(frame_of) -> None:
    rows = Interactions.from_frame(frame_of(ROWS)).to_polars()
    assert ordered(rows.cast(pl.String)) == ordered(
        Interactions.from_frame(pl.DataFrame(ROWS)).to_polars().cast(pl.String)
    )


@OTHERS_WARN
def test_a_missing_column_is_refused_with_the_nearest_one(frame_of) -> None:
    with pytest.raises(
        DataError, match=r"^log: no column 'usr' \(it has user, item, rating, text\); did you mean 'user'"
    ):
        Interactions.from_frame(frame_of(ROWS), user="usr", name="log")


@OTHERS_WARN
def test_missing_values_are_missing_in_every_frame(frame_of) -> None:
    data = {**ROWS, "user": ["a", None, "b", "c"]}
    with pytest.raises(DataError, match="row 2"):
        Interactions.from_frame(frame_of(data))


def broken(series: pl.Series) -> pl.Series:
    raise AssertionError("this column is not needed")


def test_a_lazy_frame_computes_only_the_columns_that_are_needed() -> None:
    lazy = pl.LazyFrame(ROWS).with_columns(pl.col("text").map_batches(broken, return_dtype=pl.String))
    assert len(Interactions.from_frame(lazy)) == 4
    with pytest.raises(DataError, match="not needed"):
        eager(lazy)


class Recorded:
    """A data set that records which columns are asked for."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.asked = table, []
        self.schema = table.schema

    def to_table(self, columns: list[str]) -> pa.Table:
        self.asked.append(columns)
        return self.table.select(columns)


class Streamed:
    """A data set like those of Hugging Face, which records what is selected; its columns may be unknown at first."""

    def __init__(self, table: pa.Table, names: list[str] | None) -> None:
        self.table, self.column_names = table, names
        self.asked: list[list[str]] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.table.to_pylist())

    def select_columns(self, names: list[str]) -> "Streamed":
        self.asked.append(names)
        return Streamed(self.table.select(names), names)

    def with_format(self, kind: str) -> "Streamed":
        assert kind == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        yield self.table[:1]
        yield self.table[1:]


def test_data_sets_are_asked_for_the_needed_columns_once() -> None:
    files = Recorded(pa.table(ROWS))
    assert len(Interactions.from_frame(files)) == 4
    assert files.asked == [["user", "item", "rating"]]
    for names in (list(ROWS), None):
        streamed = Streamed(pa.table(ROWS), names)
        assert len(scores_from_frame(streamed.table.rename_columns(["user", "item", "score", "x"])).scores) == 4
        assert len(Interactions.from_frame(streamed)) == 4
        assert streamed.asked == [["user", "item", "rating"]]


def test_a_relation_of_duckdb_computes_only_the_columns_that_are_needed() -> None:
    duckdb = pytest.importorskip("duckdb", reason=f"duckdb {MISSING}")
    relation = duckdb.connect().sql("select 'a' as user, 7 as item, error('not needed') as text from range(2)")
    assert len(Interactions.from_frame(relation, once=False)) == 2
    with pytest.raises(DataError, match="not needed"):
        eager(relation)


def test_text_in_a_dictionary_is_text() -> None:
    table = pa.table({"user": pa.array(["a", "b", "a"]).dictionary_encode(), "item": [1, 2, 3]})
    assert eager(table)["user"].dtype == pl.String
    assert Interactions.from_frame(table).user_vocabulary.ids.tolist() == ["a", "b"]


def test_decimals_and_dates_of_a_data_base_are_numbers() -> None:
    from datetime import UTC, datetime
    from decimal import Decimal

    table = pa.table(
        {
            "user": ["a"],
            "item": [1],
            "rating": [Decimal("2.50")],
            "timestamp": [datetime(1970, 1, 2, tzinfo=UTC)],
        }
    )
    rows = Interactions.from_frame(table)
    assert (rows.values, rows.times) == (np.array([2.5]), np.array([86400.0]))


NOT_FRAMES = {
    "an array": (np.zeros((2, 2)), "numpy.ndarray is not a table; .*Interactions.from_arrays"),
    "a sparse matrix": (sparse.csr_array((2, 2)), "is not a table; .*Interactions.from_sparse"),
    "a dict": ({"user": [1]}, r"dict is not a table; .*polars.DataFrame\(data\)"),
    "a list": ([("a", 1)], "list is not a table"),
    "nothing": (None, "NoneType is not a table; give a pandas, Polars"),
    "a path": ("log.csv", r"str is not a table; .*Interactions.read\(path\)"),
    "a column": (pd.Series([1]), "pandas.Series is not a table; .*a single column"),
    "a class": (pd.DataFrame, "type is not a table"),
    "splits": ({"train": pl.DataFrame(ROWS)}, r"choose one of its tables, as in data\['train'\]"),
    "numbered columns": (pd.DataFrame([[1, 2]]), r"frame: the columns have no names, only 0 .* frame.columns ="),
    "columns of the same name": (pd.DataFrame([[1, 2]], columns=["user", "user"]), "two columns have the same name"),
}


@pytest.mark.parametrize("case", NOT_FRAMES)
def test_what_is_not_a_frame_is_refused_with_a_hint(case) -> None:
    given, message = NOT_FRAMES[case]
    with pytest.raises(DataError, match=message):
        Interactions.from_frame(given)


def test_a_lazy_frame_whose_source_is_gone_is_refused(tmp_path) -> None:
    file = tmp_path / "log.parquet"
    pl.DataFrame(ROWS).write_parquet(file)
    frames = [pl.scan_parquet(file), pyarrow.dataset.dataset(file)]
    file.unlink()
    for frame in frames:
        with pytest.raises(DataError, match=r"^log: \w+.\w+ cannot be read \(.*log.parquet.*\); are its file"):
            Interactions.from_frame(frame, name="log")


def test_a_relation_whose_connection_is_closed_is_refused() -> None:
    duckdb = pytest.importorskip("duckdb", reason=f"duckdb {MISSING}")
    connection = duckdb.connect()
    connection.execute("create table log as select 'a' as user, 7 as item")
    relation = connection.table("log")
    connection.execute("drop table log")
    with pytest.raises(DataError, match=r"DuckDBPyRelation cannot be read \(.*log.*\); are its file, table"):
        Interactions.from_frame(relation)
    connection.close()
    with pytest.raises(DataError, match=r"cannot be read \(.*closed\)"):
        Interactions.from_frame(relation)


def test_a_package_that_a_frame_needs_and_lacks_is_named() -> None:
    class Lacking(Recorded):
        def to_table(self, columns: list[str]) -> pa.Table:
            raise ModuleNotFoundError("No module named 'lance'", name="lance")

    with pytest.raises(DataError, match=r"is not installed .*'pip install lance'"):
        eager(Lacking(pa.table(ROWS)))


# every place that takes a frame


def lazy(**columns: list[Any]) -> pl.LazyFrame:
    return pl.LazyFrame(columns)


def test_exposed_rows_come_from_any_frame() -> None:
    shown = lazy(user=["a", "b"], item=["x", "y"], label=[1, 0])
    assert exposed_from_frame(shown).values.tolist() == [1, 0]
    train = lazy(user=["a", "b"], item=["y", "x"]).with_columns(
        pl.col("item").map_batches(broken, return_dtype=pl.String).alias("text")
    )
    split = exposed_split(train, shown, catalogue=pd.DataFrame({"item": ["x", "y", "z"]}))
    assert len(split.test) == 2
    assert split.item_vocabulary.ids.tolist() == ["x", "y", "z"]


def test_a_catalogue_comes_from_any_frame() -> None:
    assert read_catalogue(lazy(item=["x", "y", "x"])).to_list() == ["x", "y"]
    rows = with_items(Interactions.from_arrays(["a"], ["x"]), pa.table({"item": ["z"]}))
    assert rows.item_vocabulary.ids.tolist() == ["x", "z"]
    with pytest.raises(DataError, match="catalogue: no column 'item'"):
        read_catalogue(pa.table({"items": ["z"]}))


def split() -> Split:
    return Split(
        Interactions.from_arrays(["a", "b"], ["x", "y"], [4, 2]),
        Interactions.from_arrays(["a", "b"], ["y", "x"], [1, 5], propensity=[0.5, 0.8]),
    )


def test_models_counts_and_predictions_come_from_any_frame() -> None:
    scores = {"user": ["a", "a", "b", "b"], "item": ["x", "y", "x", "y"], "score": [1.0, 2.0, 3.0, 4.0]}
    reports = [
        evaluate({"m": model}, split(), metrics=["recall@1"], estimators=["ips"], relevant=counts)
        for model, counts in (
            (pl.DataFrame(scores), {"a": 1, "b": 2}),
            (pl.LazyFrame(scores), lazy(user=["a", "b"], relevant=[1, 2])),
            (pa.table(scores), pa.table({"user": ["a", "b"], "relevant": [1, 2]})),
        )
    ]
    assert len({report.value("m", "recall@1", "ips") for report in reports}) == 1
    predicted = lazy(user=["a", "b"], item=["y", "x"], prediction=[2.0, 4.0])
    assert Predictions.from_frame(predicted, split()).predicted.tolist() == [2.0, 4.0]
    assert ListScorer.from_frame(pa.table(scores)).scores.tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(DataError, match=r"relevant counts: no column 'relevant'.*did you mean 'relevants'"):
        counts_frame(lazy(user=["a"], relevants=[1]))


def test_side_tables_come_from_any_frame() -> None:
    sample = [1, 2, 3, 4, 5] * 4
    log = Interactions.from_arrays(range(20), [0, 1] * 10, sample)
    fitted = [NaiveBayes(mcar=table) for table in (lazy(rating=sample), pa.table({"rating": sample}))]
    codes = np.arange(20, dtype=np.int32)
    first, second = (model.fit(log, log)(codes, codes % 2, log.values) for model in fitted)
    assert first.tolist() == second.tolist()


def test_parts_are_written_from_any_frame(tmp_path) -> None:
    assert write_parts([lazy(user=["a", "b"], item=["x", "y"])], tmp_path / "log", 2) == 2
    with pytest.raises(DataError, match="rows: no column 'user'"):
        write_parts([pa.table({"usr": ["a"], "item": ["x"]})], tmp_path / "other", 2)
