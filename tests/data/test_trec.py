"""TREC files: qrels and runs are read as other programs read them, and what is written is read back."""

from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Split, evaluate, write_qrels, write_run
from unskew.data.formats.trec import read_trec
from unskew.data.reading import read_table
from unskew.errors import ConfigError, DataError
from unskew.ranking import ListScorer, MatrixScorer, read_scores

QRELS = "u1 0 tea 1\nu1 0 jam 0\nu2 0 tea 2\n"
RUN = "u1 Q0 tea 1 0.9 mine\nu1 Q0 jam 2 0.4 mine\nu2 Q0 jam 1 7 mine\n"


def lists() -> ListScorer:
    return ListScorer.from_table(["u1", "u1", "u2"], ["jam", "tea", "jam"], [0.4, 0.9, 7.0])


def test_qrels_are_rows_with_relevance_as_rating(tmp_path: Path) -> None:
    (tmp_path / "test.qrels").write_text(QRELS)
    rows = Interactions.read(tmp_path / "test.qrels").to_polars()
    assert rows.rows() == [("u1", "tea", 1), ("u1", "jam", 0), ("u2", "tea", 2)]
    theirs = ir_measures.read_trec_qrels(str(tmp_path / "test.qrels"))
    assert rows.rows() == [(each.query_id, each.doc_id, each.relevance) for each in theirs]


def test_a_run_is_a_table_of_scores(tmp_path: Path) -> None:
    (tmp_path / "mine.run").write_text(RUN)
    table = read_scores(tmp_path / "mine.run")
    assert (table.columns.tolist(), table.scores.tolist()) == ([0, 1, 0], [0.4, 0.9, 7.0])


@pytest.mark.parametrize("name", ["x.qrels", "x.trec", "x.qrels.gz", "x.txt:format=qrels", "x.txt:format=trec"])
def test_the_format_follows_from_the_name_or_a_word(name: str, tmp_path: Path) -> None:
    import gzip

    file = tmp_path / name.split(":", maxsplit=1)[0]
    file.write_bytes(gzip.compress(QRELS.encode()) if file.suffix == ".gz" else QRELS.encode())
    assert len(Interactions.read(f"{tmp_path}/{name}")) == 3


@pytest.mark.parametrize("name", ["x.run", "x.trec", "x.txt:format=run"])
def test_a_run_is_known_by_its_name_or_a_word(name: str, tmp_path: Path) -> None:
    (tmp_path / name.split(":", maxsplit=1)[0]).write_text(RUN)
    assert len(read_scores(f"{tmp_path}/{name}").scores) == 3


def test_blanks_of_any_kind_separate_fields() -> None:
    frame = read_trec(b"\n  u1\t0  tea\t1 \r\n\nu2 0 'jam 2\r\n\n", "x", "qrels")
    assert frame.rows() == [("u1", "tea", "1"), ("u2", "'jam", "2")]


BAD = {
    "empty": ("x.qrels", b"", "the file is empty; expected lines of topic, iteration, document and relevance"),
    "blank": ("x.run", b" \n\n", "the file is empty; expected lines of topic, Q0"),
    "a run": ("x.qrels", RUN.encode(), "line 1 has 6 fields, .*if it is a run file, say so: FILE:format=run"),
    "qrels": ("x.run", QRELS.encode(), "line 1 has 4 fields, .*if it is a qrels file, say so: FILE:format=qrels"),
    "a short line": ("x.qrels", b"u1 0 tea 1\n\nu1 0 jam\n", "line 3 has 3 fields"),
    "a long line": ("x.qrels", b"u1 0 green tea 1\n", "line 1 has 5 fields, .*an id cannot contain a blank"),
    "commas": ("x.qrels", b"user,item\nu1,tea\n", "line 1 has 1 field, .*FILE:format=csv"),
    "relevance in words": ("x.qrels", b"u1 0 tea yes\n", "column 'rating' of .*row 1 has 'yes', expected a number"),
    "binary": ("x.qrels", b"\0\1\2", "binary data"),
    "latin-1": ("x.qrels", b"u1 0 caf\xe9 1\n", "save the file as UTF-8"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(case: str, tmp_path: Path) -> None:
    name, content, message = BAD[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        Interactions.read(tmp_path / name)


def test_scores_of_a_run_in_words_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("u1 Q0 tea 1 good mine\n")
    with pytest.raises(DataError, match="row 1 has score 'good'; expected a number"):
        read_scores(tmp_path / "x.run")


# what is written


def test_written_qrels_are_read_by_ir_measures_and_by_us(tmp_path: Path) -> None:
    rows = Interactions.from_arrays(["b", "a", "a"], ["x", "y", "z"], [5, 1, -2])
    write_qrels(rows, tmp_path / "test.qrels")
    theirs = [(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(str(tmp_path / "test.qrels"))]
    assert theirs == [("b", "x", 5), ("a", "y", 1), ("a", "z", -2)]
    assert Interactions.read(tmp_path / "test.qrels").to_polars().rows() == theirs


def test_a_condition_makes_labels_and_rows_without_values_are_relevant(tmp_path: Path) -> None:
    rows = Interactions.from_arrays(["a", "b"], ["x", "y"], [4.5, 2])
    write_qrels(rows, tmp_path / "x.qrels", positive="rating>=4")
    assert (tmp_path / "x.qrels").read_text() == "a 0 x 1\nb 0 y 0\n"
    write_qrels(Interactions.from_arrays(["a"], ["x"]), tmp_path / "x.qrels")
    assert (tmp_path / "x.qrels").read_text() == "a 0 x 1\n"
    with pytest.raises(DataError, match=r"value 4\.5 in row 1 is not a whole number.*positive=\"rating>=4\""):
        write_qrels(rows, tmp_path / "y.qrels")
    assert not (tmp_path / "y.qrels").exists()


def test_written_runs_are_read_by_ir_measures_and_by_us(tmp_path: Path) -> None:
    write_run(lists(), tmp_path / "mine.run", tag="mine")
    assert (tmp_path / "mine.run").read_text() == ("u1 Q0 tea 1 0.9 mine\nu1 Q0 jam 2 0.4 mine\nu2 Q0 jam 1 7.0 mine\n")
    theirs = {(r.query_id, r.doc_id): r.score for r in ir_measures.read_trec_run(str(tmp_path / "mine.run"))}
    assert theirs == {("u1", "tea"): 0.9, ("u1", "jam"): 0.4, ("u2", "jam"): 7.0}
    ours = read_scores(tmp_path / "mine.run")
    assert (ours.columns.tolist(), ours.scores.tolist()) == (lists().columns.tolist(), lists().scores.tolist())


def test_an_item_that_is_listed_twice_is_written_once(tmp_path: Path) -> None:
    places = np.array([[1, 0, 1], [0, -1, -1]])
    twice = ListScorer.from_arrays(places, user_ids=["a", "b"], item_ids=["x", "y"])
    write_run(twice, tmp_path / "a.run")
    assert (tmp_path / "a.run").read_text() == ("a Q0 y 1 3.0 unskew\na Q0 x 2 2.0 unskew\nb Q0 x 1 3.0 unskew\n")


def test_frames_are_written_as_runs(tmp_path: Path) -> None:
    write_run(pl.LazyFrame({"user": ["a", "a"], "item": ["x", "y"], "rank": [2, 1]}), tmp_path / "a.run")
    assert (tmp_path / "a.run").read_text() == "a Q0 y 1 -1.0 unskew\na Q0 x 2 -2.0 unskew\n"


def test_the_lists_of_a_model_are_made_without_training_items(tmp_path: Path) -> None:
    model = MatrixScorer(np.array([[3.0, 1, 2], [1, 2, 3]]), user_ids=["a", "b"], item_ids=["x", "y", "z"])
    train = Interactions.from_arrays(["a", "b", "b"], ["x", "y", "z"])
    write_run(model, tmp_path / "m.run", train=train, k=2)
    assert (tmp_path / "m.run").read_text() == "a Q0 z 1 2 unskew\na Q0 y 2 1 unskew\nb Q0 x 1 2 unskew\n"


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    spaced = ListScorer.from_table(["u 1"], ["tea"], [1.0])
    model = MatrixScorer(np.ones((1, 1)))
    no_ids = ListScorer.from_arrays(np.array([[0]]))
    for model_given, words, message in (
        (spaced, {}, "the id 'u 1' has a blank in it"),
        (lists(), {"tag": "my run"}, "tag 'my run': give a name without blanks"),
        (model, {}, "MatrixScorer is not a table of scores; give train="),
        (no_ids, {}, "has no user_ids or no item_ids"),
        ("popular", {}, "str is not a model that ranks"),
    ):
        with pytest.raises((ConfigError, DataError), match=message):
            write_run(model_given, path, **words)
        assert not path.exists()
    with pytest.raises(DataError, match="the id 'green tea' has a blank"):
        write_qrels(Interactions.from_arrays(["a"], ["green tea"]), path)
    with pytest.raises(DataError, match=r"the folder .* does not exist"):
        write_run(lists(), tmp_path / "none" / "x.run")


ID = st.text(
    st.characters(min_codepoint=33, max_codepoint=382, exclude_characters="\x7f\x85\xa0"), min_size=1, max_size=5
)


@given(st.dictionaries(st.tuples(ID, ID), st.floats(-1e9, 1e9), min_size=1, max_size=12))
def test_any_table_is_read_back(tmp_path_factory: pytest.TempPathFactory, scores: dict[tuple[str, str], float]) -> None:
    path: Callable[[str], Path] = (tmp_path_factory.getbasetemp() / "property").with_suffix
    users, items = zip(*scores, strict=True)
    table = ListScorer.from_table(users, items, list(scores.values()))
    write_run(table, path(".run"))
    ours = read_scores(path(".run"))
    assert np.array_equal(ours.scores, table.scores)
    assert np.array_equal(ours.user_ids, table.user_ids)
    rows = Interactions.from_arrays(users, items, np.floor(list(scores.values())) + 0.0)
    write_qrels(rows, path(".qrels"))
    assert Interactions.read(path(".qrels")).sha256 == rows.sha256


def test_numbers_are_those_of_ir_measures_on_the_same_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scores = rng.permutation(40 * 25).reshape(40, 25).astype(float)
    held = rng.random((40, 25)) < 0.15
    users, items = np.nonzero(held)
    names = [f"u{k}" for k in range(40)], [f"i{k}" for k in range(25)]
    test = Interactions.from_arrays(
        np.array(names[0])[users], np.array(names[1])[items], rng.integers(0, 3, len(users))
    )
    rows = [(u, i, scores[a, b]) for a, u in enumerate(names[0]) for b, i in enumerate(names[1])]
    write_run(pl.DataFrame(rows, schema=["user", "item", "score"], orient="row"), tmp_path / "m.run")
    write_qrels(test, tmp_path / "t.qrels")
    train = Interactions.from_arrays(["nobody"], ["i0"])
    split = Split(train, Interactions.read(tmp_path / "t.qrels"), candidates="all")
    words = {
        "recall@5": ir_measures.R @ 5,
        "ndcg@5": ir_measures.nDCG(gains={2: 1}) @ 5,
        "map": ir_measures.AP,
        "mrr": ir_measures.RR,
    }
    report = evaluate(
        {"m": read_scores(tmp_path / "m.run")}, split, metrics=list(words), estimators=["aoa"], positive="rating>=1"
    )
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "t.qrels")))
    run = list(ir_measures.read_trec_run(str(tmp_path / "m.run")))
    relevant = {each.query_id for each in qrels if each.relevance >= 1}
    for ours, measure in words.items():
        values = [v.value for v in ir_measures.iter_calc([measure], qrels, run) if v.query_id in relevant]
        assert report.value("m", ours, "aoa") == pytest.approx(np.mean(values), abs=1e-4), ours


def test_all_columns_stay_text(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("007 Q0 1e3 1 2 t\n")
    assert read_table(tmp_path / "x.run").rows() == [("007", "1e3", "1", "2")]
