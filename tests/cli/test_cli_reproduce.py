"""``unskew reproduce``."""

import json

import pytest

from unskew.studies import Claim, Findings, ReproducedCell, Study, Table, registry


def _cell(ours):
    return ReproducedCell(
        "a", "x", "made", 1.0, ours, comparable=True, tolerance=0.1, reason="rounding", note="get it somewhere"
    )


OUTCOMES = {
    "good": (Findings((_cell(1.05),), (Claim("It holds", True, "seen", section="Sec. 1"),)), 0),
    "cell": (Findings((_cell(2.0),)), 1),
    "claim": (Findings((_cell(1.0),), (Claim("It holds", False, "not seen", section="Sec. 1"),)), 1),
    "absent": (Findings((_cell(None),)), 2),
}


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """A study with a table for every way it can come out, beside the real ones."""
    tables = tuple(Table(name, f"Table {name}", lambda _, f=found: f) for name, (found, _) in OUTCOMES.items())
    study = Study("made", "A made paper", "N. N. (2000). A made paper", tables)
    monkeypatch.setattr(registry, "STUDIES", {**registry.STUDIES, "made": study})


@pytest.mark.parametrize("table", OUTCOMES)
def test_the_exit_code_says_how_it_came_out(unskew, table):
    outcome = unskew("reproduce", f"made/{table}")
    assert outcome.code == OUTCOMES[table][1]
    assert f"made/{table}: Table {table}" in outcome.out
    assert (outcome.err == "") == (outcome.code != 2)


def test_when_nothing_could_run_one_line_says_why(unskew):
    outcome = unskew("reproduce", "made/absent", "--quiet")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "unskew: nothing of made/absent could run: get it somewhere\n"


def test_a_whole_study_fails_when_one_of_its_tables_does(unskew, tmp_path):
    path = tmp_path / "out.json"
    outcome = unskew("reproduce", "made", "--json", path)
    assert outcome.code == 1
    assert [table["table"] for table in json.loads(path.read_text())["tables"]] == list(OUTCOMES)
    assert "FAILS: It holds" in outcome.out
    verdict = (
        "2 of 3 comparable printed numbers agree, and 1 of 2 claims of the paper hold; 1 number needs data that is"
    )
    assert verdict in " ".join(outcome.out.split())


def test_one_table_is_one_json_object(unskew, tmp_path):
    path = tmp_path / "out.json"
    assert unskew("reproduce", "made/good", "--json", path, "--seed", "3", "--fast").code == 0
    table = json.loads(path.read_text())
    assert (table["study"], table["table"], table["seed"], table["fast"]) == ("made", "good", 3, True)
    shown = unskew("reproduce", "made/good", "--json", "-")
    assert json.loads(shown.out)["cells"] == table["cells"]


def test_the_page_is_written_even_when_numbers_disagree(unskew, tmp_path):
    path = tmp_path / "out.html"
    assert unskew("reproduce", "made/cell", "--html", path, "-q").code == 1
    assert "does not agree" in path.read_text()


@pytest.mark.parametrize(
    "words, says",
    [
        (("nothing",), "unknown study 'nothing'"),
        (("made/goood",), "did you mean 'good'?"),
        (("made/",), "made has no ''"),
        (("made", "--seed", "-1"), "seed -1"),
        (("made", "--trials", "1"), "trials 1"),
        (("made", "--html", "-"), "only --json can go to stdout"),
        (("made", "--json", "missing/out.json"), "does not exist"),
        (("made", "--json", "same", "--html", "same"), "already written by --json"),
        (("--json", "out.json"), "name a study"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(unskew, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    outcome = unskew("reproduce", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_without_a_name_the_studies_are_listed_with_the_data_they_lack(unskew, tmp_path):
    outcome = unskew("reproduce", "--folder", tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert "schnabel2016/table1" in outcome.out
    assert "ml-100k (not here)" in outcome.out


def test_without_the_data_the_note_says_where_to_put_it(unskew, tmp_path):
    outcome = unskew("reproduce", "schnabel2016/fig4", "--folder", tmp_path)
    assert outcome.code == 2
    assert "unskew datasets get ml-100k" in outcome.err
    assert str(tmp_path / "ml-100k") in outcome.err
