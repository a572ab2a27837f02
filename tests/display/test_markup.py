"""Markdown, LaTeX and CSV show what they are given."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.display.markup import csv_text, latex, latex_table, markdown, markdown_table


def test_markdown_by_hand():
    assert markdown("a|b *c*\n<d> `e`") == r"a\|b \*c\* \<d\> \`e\`"
    assert markdown_table(["model", "auc"], [["a", "0.5"]]) == "| model | auc |\n| --- | ---: |\n| a | 0.5 |\n"


def test_latex_by_hand():
    assert latex(r"50% & #1 {x}_y^z~ \ a") == (
        r"50\% \& \#1 \{x\}\_y\textasciicircum{}z\textasciitilde{} \textbackslash{} a"
    )
    lines = latex_table(["", "auc"], [[["a", "0.5"]], [["b", "0.6"]]]).splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines.count(r"\midrule") == 2
    assert r"a & 0.5 \\" in lines


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "=HYPERLINK(1)"])
def test_a_text_that_a_spreadsheet_would_compute_is_marked_as_text(text):
    (row,) = list(csv.DictReader(io.StringIO(csv_text([{"model": text, "value": -0.5}]))))
    assert row == {"model": f"'{text}", "value": "-0.5"}


@pytest.mark.parametrize("text", ["als", "-1", "+0.5", "-1e-3", "a=b", "1-2", "'quoted'"])
def test_other_texts_and_numbers_stay_as_they_are(text):
    (row,) = list(csv.DictReader(io.StringIO(csv_text([{"model": text}]))))
    assert row == {"model": text}


@given(st.lists(st.tuples(st.text(alphabet='ab,"\n;é '), st.floats(allow_nan=False)), min_size=1))
def test_every_cell_comes_back_from_csv(cells):
    rows = [{"model": name, "value": value} for name, value in cells]
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert read[0] == ["model", "value"]
    given = [name if not name.startswith("\n") else f"'{name}" for name, _ in cells]
    assert [row[0] for row in read[1:]] == given
    assert [float(row[1]) for row in read[1:]] == [value for _, value in cells]


def test_none_is_an_empty_cell_and_no_row_an_empty_line():
    assert csv_text([{"a": None, "b": 1}]) == "a,b\n,1\n"
    assert csv_text([]).strip() == ""
