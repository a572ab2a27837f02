"""Lists, frames, matrices and functions are judged as they are, and all give the same numbers."""

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from scipy import sparse

from unskew import Interactions, Report, Split, audit, evaluate
from unskew.errors import DataError
from unskew.integrations import with_ids
from unskew.integrations.recommendation_frames import ALIASES, find_roles
from unskew.ranking import MatrixScorer

USERS, ITEMS = [f"u{k}" for k in range(6)], [f"i{k}" for k in range(5)]
SCORES = np.random.default_rng(3).normal(size=(6, 5))
ROWS = [(user, item, SCORES[u, i]) for u, user in enumerate(USERS) for i, item in enumerate(ITEMS)]
Prediction = namedtuple("Prediction", "uid iid r_ui est details")  # noqa: PYI024


def split() -> Split:
    train = Interactions.from_arrays([*USERS, "u0", "u1"], ["i0", "i1", "i2", "i3", "i4", "i0", "i1", "i2"])
    test = Interactions.from_arrays(USERS, ["i2", "i3", "i4", "i0", "i1", "i4"])
    return Split(train, test)


def judge(model: Any) -> Report:
    return evaluate({"mine": model}, split(), metrics=["recall@2", "auc"], estimators=["aoa"])


def values(model: Any) -> list[float | None]:
    return [each.value for each in judge(model).estimates]


def frame(*names: str) -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=list(names), orient="row")


def best_first(user: str) -> list[str]:
    return [item for who, item, _ in sorted(ROWS, key=lambda row: -row[2]) if who == user]


def nested(entries: Any) -> pl.DataFrame:
    return pl.DataFrame({"user_id": USERS, "items": [entries(user) for user in USERS]})


def records(user: str) -> list[dict[str, Any]]:
    return [{"item_id": item, "score": score} for who, item, score in ROWS if who == user]


FORMS: dict[str, Any] = {
    "array": SCORES,
    "array with ids": with_ids(SCORES[::-1, ::-1], user_ids=USERS[::-1], item_ids=ITEMS[::-1]),
    "scorer with ids": with_ids(MatrixScorer(SCORES[::-1]), user_ids=USERS[::-1], item_ids=ITEMS),
    "sparse": sparse.csr_array(SCORES),
    "sparse with ids": with_ids(sparse.coo_matrix(SCORES[:, ::-1]), user_ids=USERS, item_ids=ITEMS[::-1]),
    "function": lambda rows: SCORES[rows],
    "function of pairs": lambda rows, columns: SCORES[rows, columns],
    "lists": {user: best_first(user) for user in USERS},
    "scores": {user: {item: score for who, item, score in ROWS if who == user} for user in USERS},
    "pairs": {user: [(item, score) for who, item, score in ROWS if who == user] for user in USERS},
    "lists by row": [best_first(user) for user in USERS],
    "lists of row numbers with ids": with_ids(
        {str(u): np.argsort(-SCORES[u]) for u in range(6)}, user_ids=USERS, item_ids=ITEMS
    ),
    "lists by row, of row numbers with ids": with_ids(
        [*np.argsort(-SCORES[::-1])], user_ids=USERS[::-1], item_ids=ITEMS
    ),
    "frame of row numbers with ids": with_ids(
        pl.DataFrame({"user": np.repeat(range(6), 5), "item": [*range(5)] * 6, "score": SCORES.ravel()}),
        user_ids=USERS,
        item_ids=ITEMS,
    ),
    "polars": frame("user", "item", "score"),
    "lazy": frame("uid", "iid", "Score").lazy(),
    "pandas": frame("userId", "movieId", "score").to_pandas(),
    "arrow": frame("customer id", "SKU", "item_score").to_arrow(),
    "columns named": with_ids(frame("foo", "bar", "baz"), columns={"user": "foo", "item": "bar", "score": "baz"}),
    "columns named, against their names": with_ids(
        frame("item", "user", "rating").with_columns(rank=pl.lit(1)),
        columns={"user": "item", "item": "user", "score": "rating"},
    ),
    "some columns named, lazily": with_ids(frame("foo", "item_id", "score").lazy(), columns={"user": "foo"}),
    "column of lists, named": with_ids(
        nested(best_first).rename({"items": "recommended", "user_id": "foo"}),
        columns={"user": "foo", "item": "recommended"},
    ),
    "column of records, fields named": with_ids(
        nested(lambda user: [{"a": each["item_id"], "b": each["score"]} for each in records(user)]),
        columns={"item": "a", "score": "b"},
    ),
    "column of records": nested(records).to_arrow(),
    "column of lists": nested(best_first),
    "factors": type("Model", (), {"user_factors": SCORES, "item_factors": np.eye(5)})(),
    "factors on a GPU": type(
        "Model",
        (),
        {name: type("Matrix", (), {"to_numpy": lambda self, part=part: part})() for name, part in [
            ("user_factors", SCORES), ("item_factors", np.eye(5))
        ]},
    )(),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_the_same_scores_give_the_same_numbers(form: str) -> None:
    assert values(FORMS[form]) == pytest.approx(values(MatrixScorer(SCORES, USERS, ITEMS)))


def test_a_tensor_and_modules_give_the_same_numbers() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")

    class Rows(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Parameter(torch.tensor(SCORES))
            self.drop = torch.nn.Dropout(0.9)

        def forward(self, users: Any) -> Any:
            return self.drop(self.table[users])

    class Pairs(Rows):
        def forward(self, users: Any, items: Any) -> Any:
            return self.drop(self.table[users, items])

    expected = values(SCORES)
    for model in (torch.tensor(SCORES), Rows(), Pairs()):
        assert values(model) == pytest.approx(expected)


def test_predictions_of_surprise_are_ratings() -> None:
    train = Interactions.from_arrays(["a", "b"], ["x", "y"], [4.0, 2.0])
    test = Interactions.from_arrays(["a", "b"], ["y", "x"], [5.0, 1.0])
    rows = [Prediction("a", "y", 5.0, 4.0, {}), Prediction("b", "x", 1.0, 3.0, {})]
    report = evaluate({"svd": rows}, Split(train, test), estimators=["aoa"])
    assert report.value("svd", "mae", "aoa") == 1.5


def test_a_list_that_is_empty_counts_as_zero_and_a_user_without_a_list_is_not_judged() -> None:
    lists = {user: best_first(user) if user != "u0" else [] for user in USERS}
    without = {user: best_first(user) for user in USERS if user != "u0"}
    recall, other = (judge(each).value("mine", "recall@2", "aoa") for each in (lists, without))
    assert other == 0.4
    assert recall == pytest.approx(0.4 * 5 / 6)


def test_the_report_records_the_class_of_the_model() -> None:
    models = judge(SCORES).to_dict()["run"]["models"], judge(sparse.csr_array(SCORES)).to_dict()["run"]["models"]
    assert models == ({"mine": "numpy.ndarray"}, {"mine": "scipy.csr_array"})


def test_an_audit_takes_the_same_models() -> None:
    parts = split()
    for form in ("array", "lists", "pandas"):
        result = audit(parts.train, {"mine": FORMS[form]}, test=parts.test, k=2)
        expected = audit(parts.train, {"mine": MatrixScorer(SCORES, USERS, ITEMS)}, test=parts.test, k=2)
        assert result.models[0].recommended.tolist() == expected.models[0].recommended.tolist()


@pytest.mark.parametrize("role", ALIASES)
def test_every_alias_is_found_and_belongs_to_one_role(role: str) -> None:
    others = {alias for each, names in ALIASES.items() if each != role for alias in names}
    for alias in ALIASES[role]:
        assert alias not in others
        columns = {"user": "user", "item": "item", "score": "score"} | {role: alias}
        if role in {"rank", "prediction"}:
            del columns["score"]
        assert (
            find_roles([name.upper() if name == alias else name for name in columns.values()], "f")[role].lower()
            == alias
        )


class Half:
    user_factors = SCORES


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (None, "is NoneType, which is not recognised; give an object with a method score"),
    "an empty list of lists": ([], "is list, which is not recognised; it is empty, so no user has a list"),
    "a list of records": (records("u0"), r"; make a frame of its rows, as in polars.DataFrame\(model\)"),
    "a list of items": (ITEMS, "it must have a list of items for each user"),
    "a column": (pd.Series([1.0], name="score"), "it is a single column: give a frame with columns for users"),
    "a path": (
        Path("lists.csv"),
        r"it is a path: read it first, with unskew.ranking.read_scores\(path\), or as a frame",
    ),
    "a path of factors": (Path("mf.npz"), r"it is a path: read its factors with unskew.ranking.read_factors\(path\)"),
    "the name of a file": ("data/lists.csv", "is 'data/lists.csv', which ends like a file: read it first, with unskew"),
    "the name of a matrix": ("scores.npy", r"ends like a file: read its matrix with numpy.load\(path\)"),
    "the name of a file with columns": ("lists.tsv.gz:user=foo", "ends like a file: read it first"),
    "a generator": (
        (row for row in [["i1"]]),
        r"its values only once: make a list of lists of it, as in list\(model\)",
    ),
    "an object that predicts": (
        type("Regressor", (), {"predict": lambda self, X: X})(),
        "predict alone does not say what it takes: a model of Surprise also has estimate, test and a trainset",
    ),
    "a number": (3, "is int, which is not recognised"),
    "a class": (Half, "is the class Half; give a fitted object"),
    "half a model": (Half(), "the nearest is implicit .* but it has no item_factors: is it fitted"),
    "an estimator": (
        type("E", (), {"score": lambda self, X, y: 0})(),
        "is .*E, which is not recognised; its method score needs 2 arguments, not the users alone",
    ),
    "no list": ({}, r"\(dict\) has no item in any list"),
    "an empty list": ({"u0": []}, "has no item in any list"),
    "an item twice": ({"u0": ["i1", "i2", "i1"]}, "lists item i1 twice for user u0; keep it once"),
    "a set": ({"u0": {"i1"}}, "has set as the list of user u0, which has no order"),
    "text": ({"u0": "i1"}, "has str as the list of user u0"),
    "some scores": ({"u0": ["i1", ("i2", 1.0)]}, "with and without scores in the list of user u0"),
    "a word as score": ({"u0": {"i1": "high"}}, "the score 'high' in the list of user u0; expected a number"),
    "NaN in a list": ({"u0": {"i1": float("nan")}}, "user u0, item i1 the score nan"),
    "ids instead of row numbers": (
        with_ids({"u0": ["i1"]}, item_ids=ITEMS),
        "has item i1, and item_ids has 5 ids; with item_ids, items are row numbers from 0 to 4; leave item_ids out",
    ),
    "a row number too many": (with_ids({0: ["i1"], 6: ["i2"]}, user_ids=USERS), "has user 6, and user_ids has 6 ids"),
    "other users": ({"z": ["i1"]}, r"other ids: none of its 1 user \(z\) is in train or test \(u0, u1, u2, \.\.\.\)"),
    "other items": ({"u0": ["z"]}, r"none of its 1 item \(z\)"),
    "too few users": (SCORES[:2], "has 2 user rows but train and test have 6 distinct users; .*with_ids"),
    "too few items": (SCORES[:, :2], "has 2 item rows but .* 5 distinct items"),
    "lists of numbers": (np.argsort(SCORES)[:, :2], "if they are lists of items, give .*ListScorer.from_arrays"),
    "a vector": (SCORES[0], r"has shape \(5,\) and type float64; give a matrix"),
    "NaN in an array": (np.where(SCORES > 1, np.nan, SCORES), "the score nan; scores must be finite"),
    "an empty sparse matrix": (sparse.csr_array((6, 5)), "has no stored score"),
    "NaN in a sparse matrix": (sparse.csr_array(np.full((6, 5), np.nan)), "the score nan in row 0, column 0"),
    "three arguments": (lambda a, b, c: 0, "needs 3 arguments"),
    "no user column": (frame("usr", "item", "score"), "no column 'user' .*did you mean 'usr'. rename it to 'user'"),
    "no item column": (frame("user", "zzz", "score"), "no column 'item' .* known names are item, item_id"),
    "no score column": (frame("user", "item", "zzz"), "no column 'score', 'rank' or 'prediction'"),
    "a rating": (frame("user", "item", "rating"), "is 'rating' rated or predicted"),
    "two users": (
        frame("user_id", "item", "score").with_columns(customer=pl.lit("a")),
        "the columns 'user_id' and 'customer' may both be the user; rename one of them to 'user'",
    ),
    "foreign columns": (
        frame("foo", "bar", "baz"),
        r'no column \'user\' .*with_ids\(frame, columns={"user": "foo", "item": "bar", "score": "baz"}\), or rename',
    ),
    "foreign columns, too few": (frame("foo", "user", "rank")[["foo", "rank"]], r'columns={"user": "foo", "item": '),
    "a nearly known column": (frame("usr", "item", "score"), r'or give .*with_ids\(frame, columns={"user": "usr"}\)'),
    "users and items alone": (
        frame("user", "item", "score").drop("score"),
        r"no column 'score', .*order of the lists, add a column rank, 1 for the best, or give {user: \[items\]}",
    ),
    "users, items and an unknown column": (
        frame("user", "item", "zzz"),
        "or a column rank if its rows are in the order",
    ),
    "an unknown role": (
        with_ids(frame("foo", "item", "score"), columns={"usr": "foo"}),
        "columns has the unknown key 'usr'; did you mean 'user'",
    ),
    "an unknown column of a role": (
        with_ids(frame("foo", "item", "score"), columns={"user": "fo"}),
        r"no column 'fo', which columns names as the user; did you mean 'foo'",
    ),
    "a column of two roles": (
        with_ids(frame("foo", "bar", "baz"), columns={"user": "foo", "item": "foo"}),
        "columns has 'foo' for two roles",
    ),
    "columns that are not a mapping": (
        with_ids(frame("foo", "bar", "baz"), columns=["foo", "bar", "baz"]),  # type: ignore[arg-type]
        "columns must be a mapping, as in",
    ),
    "columns of a matrix": (
        with_ids(SCORES, columns={"user": "foo"}),
        "is numpy.ndarray, which has no columns to name; leave out columns",
    ),
    "an empty frame": (frame("user", "item", "score").head(0), "no rows"),
    "a frame with an item twice": (pl.concat([frame("user", "item", "score")] * 2), "more than one score; keep one"),
    "NaN in a frame": (
        pd.DataFrame({"user": ["u0"], "item": ["i1"], "score": [np.nan]}),
        "row 1 has no score|has score nan",
    ),
    "two columns of lists": (nested(best_first).with_columns(more=pl.col("items")), "items, more all hold lists"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_judged_is_refused_in_one_line(case: str) -> None:
    model, message = REFUSED[case]
    with pytest.raises(DataError, match=message) as refusal:
        judge(model)
    assert "\n" not in str(refusal.value)
    assert "'mine'" in str(refusal.value)


class Failing:
    def score(self, users: Any, /) -> Any:
        raise KeyError("u0")


FAILING: dict[str, tuple[Any, type[Exception] | None, str]] = {
    "a function": (
        lambda rows: 1 // 0,
        ZeroDivisionError,
        r"\(function <lambda>\) failed when .*\(ZeroDivisionError: integer division or modulo by zero\)",
    ),
    "a function of pairs": (
        lambda rows, columns: list(columns)[len(columns)],
        IndexError,
        r"failed when .*\(IndexError: list index out of range\)",
    ),
    "a scorer": (Failing(), KeyError, r"Failing\) failed when .*\(KeyError: 'u0'\)"),
    "a scalar per user": (lambda rows: np.zeros(len(rows)), None, r"gave \(\d,\) scores for \d users and 5 items"),
    "a score too few": (lambda rows, columns: np.zeros(len(rows) - 1), None, "one score per pair"),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_model_that_fails_is_named_with_its_error(case: str) -> None:
    model, kind, message = FAILING[case]
    with pytest.raises(DataError, match=f"^model 'mine' .*{message}") as refusal:
        judge(model)
    assert "\n" not in str(refusal.value)
    assert type(refusal.value.__cause__) is (kind or type(None))


def test_a_module_that_fails_is_named_with_its_error() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")

    class Short(torch.nn.Module):
        def forward(self, users: Any) -> Any:
            return torch.zeros(2, 3) @ torch.zeros(2, 3)

    with pytest.raises(DataError, match=r"^model 'mine' \(.*Short\) failed .*\(RuntimeError: mat1 and mat2") as refusal:
        judge(Short())
    assert isinstance(refusal.value.__cause__, RuntimeError)


class Unreachable:
    """A stream of a service that is gone: whatever is asked of it fails."""

    column_names = ("user", "item", "score")

    def select_columns(self, names: list[str]) -> Any:
        raise RuntimeError("the session is closed")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the session is closed")


def closed_relations() -> list[Any]:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed; CONTRIBUTING says how to run these tests")
    relations = []
    for end in ("close", "drop"):
        connection = duckdb.connect()
        connection.execute("create table lists as select 'u0' as user, 'i2' as item, 1.0 as score")
        relations.append(connection.table("lists"))
        if end == "close":
            connection.close()
        else:
            connection.execute("drop table lists")
    return relations


def frames_without_files(folder: Path) -> list[Any]:
    file = folder / "lists.parquet"
    frame("user", "item", "score").write_parquet(file)
    scans = [pl.scan_parquet(file), pyarrow.dataset.dataset(file)]
    file.unlink()
    return scans


@pytest.mark.parametrize("source", ["duckdb", "files", "a service"])
def test_a_lazy_frame_whose_source_is_gone_is_refused_as_a_model(source: str, tmp_path: Path) -> None:
    makers = {
        "duckdb": closed_relations,
        "files": lambda: frames_without_files(tmp_path),
        "a service": lambda: [Unreachable()],
    }
    for gone in makers[source]():
        for model in (gone, with_ids(gone), (gone, gone)):
            with pytest.raises(DataError, match=r"^model 'mine': .* cannot be read \(.*\); are its file") as refusal:
                judge(model)
            assert "\n" not in str(refusal.value)
