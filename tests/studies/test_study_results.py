"""Cells, claims, tables and studies, and what they come to."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from made_study import ABSENT, BAD_CELL, BAD_CLAIM, GOOD, OURS, cell, result, study

from unskew.errors import ConfigError
from unskew.studies import STUDIES, Claim, Context, Findings, ReproducedCell, Series, Study, Table, get_study

CELL_KEYS = [
    "row",
    "column",
    "data",
    "paper",
    "reference",
    "ours",
    "spread",
    "comparable",
    "tolerance",
    "agrees",
    "note",
]


@pytest.mark.parametrize(
    "made, agrees",
    [
        (cell(1.05), True),
        (cell(1.1), True),  # a difference of exactly the tolerance
        (cell(0.9), True),
        (cell(1.1001), False),
        (cell(None), None),
        (cell(5.0, comparable=False), None),
        (cell(np.float64(1.0)), True),
        (cell(math.nan), False),
    ],
)
def test_a_cell_agrees_when_it_is_comparable_and_within_its_tolerance(made, agrees):
    assert made.agrees is agrees


@pytest.mark.parametrize("lacking", [{"paper": None}, {"tolerance": None}, {"reason": ""}])
def test_a_comparable_cell_needs_a_number_of_the_paper_and_a_reasoned_tolerance(lacking):
    with pytest.raises(TypeError, match="a, x: a comparable cell needs"):
        cell(**lacking)


def test_a_cell_has_a_printed_number_or_a_reference():
    assert cell(1.2, paper=None, reference=1.25).agrees is True
    with pytest.raises(TypeError, match="a printed number needs no reference"):
        cell(reference=1.0)


def test_the_claims_of_a_study_of_our_own_decide_its_status():
    found = result(OURS)
    assert (found.status, replace(found, of_paper=False).status) == (0, 1)
    assert replace(found, of_paper=False).verdict == "The one reference number does not agree, and 1 of 2 claims hold."


def test_a_series_needs_columns_of_one_length():
    with pytest.raises(TypeError, match="s: x, mean, low and high"):
        Series("s", (1.0,), (1.0,), (1.0,), (1.0, 2.0))


def test_a_band_has_1_96_standard_errors_to_both_sides():
    line = Series.of("s", [1], [10], [0.5])
    assert (line.low, line.high) == (pytest.approx((9.02,)), pytest.approx((10.98,)))
    assert Series.of("empty", [], [], []).mean == ()


@pytest.mark.parametrize(
    "findings, status",
    [
        ((GOOD,), 0),
        ((GOOD, ABSENT), 0),
        ((BAD_CELL,), 1),
        ((GOOD, BAD_CLAIM), 1),
        ((ABSENT, BAD_CELL), 1),
        ((ABSENT,), 2),
        ((Findings(),), 2),
        ((Findings((cell(2.0, comparable=False),)),), 0),
        ((GOOD, OURS), 0),
    ],
)
def test_the_status_is_1_when_something_fails_and_2_when_nothing_could_run(findings, status):
    assert result(*findings).status == status


@pytest.mark.parametrize(
    "findings, verdict",
    [
        ((GOOD,), "The one comparable printed number agrees, and the one claim of the paper holds."),
        ((GOOD, BAD_CELL, BAD_CLAIM), "2 of 3 comparable printed numbers agree, and 1 of 2 claims of the paper hold."),
        ((BAD_CELL,), "The one comparable printed number does not agree."),
        ((BAD_CELL, ABSENT), "The one comparable printed number does not agree; 1 number needs data that is not here."),
        (
            (GOOD, OURS),
            (
                "The one comparable printed number agrees, and the one claim of the paper holds. Ours: the one "
                "reference number does not agree, and 1 of 2 claims hold."
            ),
        ),
        (
            (OURS,),
            "Nothing of the paper was judged. Ours: the one reference number does not agree, and 1 of 2 claims hold.",
        ),
        ((ABSENT,), "Nothing could be computed: the data is not here."),
        ((Findings((cell(2.0, comparable=False),)),), "There was nothing to compare."),
    ],
)
def test_the_verdict_counts_what_could_be_judged(findings, verdict):
    assert result(*findings).verdict == verdict


def test_the_json_of_a_table_has_the_agreed_keys():
    table = json.loads(result(GOOD).tables[0].to_json())
    assert list(table)[:8] == ["study", "table", "fast", "seed", "seconds", "data", "cells", "claims"]
    assert list(table["cells"][0]) == CELL_KEYS
    assert table["cells"][0]["note"] == "tolerance: rounding"
    assert table["claims"] == [{"claim": "It holds", "holds": True, "evidence": "seen", "source": "paper, Sec. 2"}]
    panel = table["figures"][0]["panels"][0]
    assert panel["series"][0]["x"] == [1.0, 2.0, 4.0]


def test_the_json_of_a_study_holds_that_of_its_tables():
    found = result(GOOD, BAD_CELL)
    whole = json.loads(found.to_json())
    assert list(whole) == ["study", "fast", "seed", "seconds", "counts", "tables"]
    assert whole["counts"]["printed numbers"] == {"judged": 2, "good": 1}
    assert whole["counts"]["claims of ours"] == {"judged": 0, "good": 0}
    assert whole["tables"] == [table.to_dict() for table in found.tables]


def test_numbers_of_numpy_and_undefined_ones_are_written_as_json_has_them():
    odd = Findings((cell(np.float64("nan"), spread=math.inf),), (Claim("c", np.bool_(True), ""),))  # type: ignore[arg-type]
    table = json.loads(result(odd).tables[0].to_json())
    assert (table["cells"][0]["ours"], table["cells"][0]["spread"]) == (None, None)
    assert table["claims"][0]["holds"] is True


def test_footnotes_are_told_once_and_cells_point_to_them():
    cells = (cell(note="first"), cell(note="second"), cell(note="first"))
    table = result(Findings(cells)).tables[0]
    assert table.footnotes == ("first", "tolerance: rounding", "second")
    assert [table.marks(each) for each in cells] == [(1, 2), (3, 2), (1, 2)]


def test_only_the_tables_asked_for_are_run():
    ran = []
    tables = tuple(Table(name, name, lambda _, name=name: ran.append(name) or Findings()) for name in "abc")
    made = Study("s", "t", "r", tables)
    made.run(Context(), ["b"])
    assert ran == ["b"]
    made.run(Context())
    assert ran == ["b", "a", "b", "c"]
    with pytest.raises(ConfigError, match="s has no 'd'"):
        made.table("d")


def test_a_study_that_is_not_there_is_refused_with_the_nearest_name():
    assert get_study("schnabel2016") is STUDIES["schnabel2016"]
    with pytest.raises(ConfigError, match="unknown study 'schnabel2015'; did you mean 'schnabel2016'"):
        get_study("schnabel2015")


def test_what_tables_share_is_made_once_even_when_progress_is_told():
    made, told = [], []

    def run(context):
        context.report("work", 1, 2)
        context.once("shared", lambda: made.append(1))
        return Findings()

    Study("s", "t", "r", (Table("a", "", run), Table("b", "", run))).run(Context(progress=lambda *x: told.append(x)))
    assert made == [1]
    assert told == [("a: work", 1, 2), ("b: work", 1, 2)]


def test_draws_depend_on_seed_and_purpose_alone():
    one = Context(seed=1).rng("a", 2).random()
    assert one == Context(seed=1, fast=True).rng("a", 2).random()
    assert one not in {Context(seed=2).rng("a", 2).random(), Context(seed=1).rng("a", 3).random()}


@pytest.mark.parametrize("bad, says", [({"seed": -1}, "seed -1"), ({"trials": 1}, "trials 1")])
def test_a_context_refuses_what_makes_no_sense(bad, says):
    with pytest.raises(ConfigError, match=says):
        Context(**bad)


def test_an_absent_data_set_is_named_with_where_to_get_and_put_it(tmp_path):
    context = Context(folder=tmp_path)
    assert context.find("ml-100k") is None
    assert context.fingerprint("ml-100k") is None
    note = context.absence("ml-100k")
    assert "unskew datasets get ml-100k" in note
    assert str(tmp_path / "ml-100k") in note
    assert "datasets get" not in context.absence("yahoo-r3")  # its owner hands it out by hand


def test_a_fingerprint_is_that_of_the_content_whatever_its_line_ends(tmp_path):
    found = []
    for name, end in (("unix", b"\n"), ("dos", b"\r\n")):
        folder = tmp_path / name / "ml-100k"
        folder.mkdir(parents=True)
        (folder / "u.data").write_bytes(b"1\t2\t3\t4" + end)
        found.append(Context(folder=tmp_path / name).fingerprint("ml-100k"))
    assert found[0] == found[1] is not None
    assert len(found[0].sha256) == 64
    table = Table("t", "", lambda _: Findings(), needs=("ml-100k", "coat"))
    made = Study("s", "t", "r", (table,)).run(Context(folder=tmp_path / "unix")).tables[0]
    assert made.to_dict()["data"] == [{"name": "ml-100k", "sha256": found[0].sha256}]


def test_a_fingerprint_of_several_files_changes_with_each(tmp_path):
    folder = tmp_path / "coat"
    folder.mkdir()
    seen = set()
    for train, test in (("1", "1"), ("2", "1"), ("1", "2")):
        (folder / "train.ascii").write_text(train)
        (folder / "test.ascii").write_text(test)
        seen.add(Context(folder=tmp_path).fingerprint("coat"))
    assert len(seen) == 3


def test_a_data_set_in_its_second_form_has_a_fingerprint_too(tmp_path):
    folder = tmp_path / "kuairec"
    folder.mkdir()
    for name in ("small_matrix_users.txt", "small_matrix_items.txt", "truth_positives.csv"):
        assert Context(folder=tmp_path).fingerprint("kuairec") is None  # a part of a form is not one
        (folder / name).write_text("1\n")
    lists = Context(folder=tmp_path).fingerprint("kuairec")
    assert lists is not None
    (folder / "small_matrix.csv").write_text("1\n")
    assert Context(folder=tmp_path).fingerprint("kuairec") not in {lists, None}  # the first form comes first


@pytest.mark.parametrize("name", list(STUDIES))
def test_every_study_names_its_tables_apart_and_says_what_they_show(name):
    tables = STUDIES[name].tables
    assert len({table.name for table in tables}) == len(tables)
    assert all(table.title and "/" not in table.name for table in tables)


def test_a_cell_without_a_paper_is_no_failure():
    assert ReproducedCell("a", "b", "c", None, 1.0).agrees is None
    assert study(GOOD).name == "made"
