"""Reports as Markdown, LaTeX and CSV, in notebooks, and their charts."""

import csv
import io
from dataclasses import replace

import pytest

from unskew import Interactions, Report, Split, compare, evaluate


@pytest.fixture(scope="module")
def report() -> Report:
    train = Interactions.from_arrays([0, 1, 2, 2, 3], [0, 0, 0, 1, 2], n_users=4, n_items=6)
    test = Interactions.from_arrays([0, 1, 2, 3, 3], [1, 2, 3, 0, 1], n_users=4, n_items=6)
    models = {"=a|b_1": "popular", "<b>": "svd(rank=1)"}
    return evaluate(models, Split(train, test), metrics=["recall@2", "auc"], estimators=["aoa(per=pair)", "snips"])


def test_markdown_has_the_verdict_a_table_per_metric_and_the_warnings(report):
    text = report.to_markdown()
    assert text.startswith("**")
    assert text.count("| ---: |") == 2
    assert r"| =a\|b\_1 |" in text
    assert r"\<b\>" in text
    for row in report.estimates:
        assert f"{row.value:.4f}" in text
    assert text.count("\n- ") == len(report.warnings)
    best = max(row.value for row in report.estimates if (row.metric, row.estimator) == ("auc", "snips"))
    assert f"**{best:.4f}**" in text


def test_latex_is_one_table_with_a_part_per_metric(report):
    text = report.to_latex()
    assert text.count(r"\midrule") == 2
    assert r"=a\textbar{}b\_1 &" in text
    assert text.count(r"\textbf{") >= 4
    assert text.count("{") == text.count("}")


def test_csv_has_every_number_and_no_formula(report):
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert len(rows) == len(report.estimates)
    for read, row in zip(rows, report.estimates, strict=True):
        assert read["model"] == (f"'{row.model}" if row.model.startswith("=") else row.model)
        assert float(read["value"]) == row.value
        assert read["assumed_low"] == ("" if row.assumed_low is None else str(row.assumed_low))


@pytest.fixture(scope="module")
def further(report) -> Report:
    """The same report with groups of items, and next to itself."""
    return replace(report, sliced=(report.by("popularity"),), against=compare(report, report))


def test_markdown_has_groups_and_changes_between_the_estimates_and_the_warnings(report, further):
    text = further.to_markdown()
    start = report.to_markdown().index("In brackets")
    assert text[:start] == report.to_markdown()[:start]
    assert text.count("| metric | estimator | model | before | now |") == 1
    tables = {f"{row.metric} by {row.estimator}, by popularity" for row in further.sliced[0].estimates}
    assert tables
    for title in tables:
        assert text.count(f"\n{title}\n") == 1
    assert text.count("| popularity | model |") == len(tables)
    assert text.index("test before: ") < text.index("| popularity | model |")
    assert text.endswith(report.to_markdown()[report.to_markdown().index("\n- ") :])


def test_latex_has_a_table_for_changes_and_one_for_each_metric_by_group(further):
    text = further.to_latex()
    pairs = {(row.metric, row.estimator) for row in further.sliced[0].estimates}
    assert text.count("\\begin{tabular}") == 2 + len(pairs)
    assert text.count("{") == text.count("}")
    assert "\\begin{tabular}{lllrrrrrrr}" in text


def test_csv_has_the_groups_as_lines_and_the_changes_as_columns(report, further):
    rows = list(csv.DictReader(io.StringIO(further.to_csv())))
    assert all(None not in row and None not in row.values() for row in rows)
    everyone, groups = [row for row in rows if not row["by"]], [row for row in rows if row["by"]]
    assert [float(row["value"]) for row in everyone] == [row.value for row in report.estimates]
    assert [float(row["change_before"]) for row in everyone] == [row.value for row in report.estimates]
    estimates = further.sliced[0].estimates
    assert [(row["by"], row["group"]) for row in groups] == [("popularity", row.group) for row in estimates]
    known = {(row.model, row.metric, row.estimator): row.target for row in report.estimates}
    assert [row["target"] for row in groups] == [known[row.model, row.metric, row.estimator] for row in estimates]
    assert [row["shrunk"] for row in groups] == ["" if row.shrunk is None else str(row.shrunk) for row in estimates]


def test_what_cannot_be_estimated_by_group_is_in_every_format(report):
    nothing = replace(report.by("popularity"), estimates=(), comparisons=(), left_out=("recall@2: no users",))
    empty = replace(report, sliced=(nothing,))
    assert "- not by group: recall@2: no users\n" in empty.to_markdown()
    assert "% not by group: recall@2: no users\n" in empty.to_latex()


def test_texts_are_written_to_files_that_are_named(report, tmp_path):
    for name in ("markdown", "latex", "csv"):
        path = tmp_path / name
        text = getattr(report, f"to_{name}")(path)
        assert path.read_text(encoding="utf-8") == text


def test_a_notebook_shows_the_verdict_then_a_chart_then_the_table(report):
    shown = report._repr_html_()
    verdict, chart, table = shown.index("<strong>"), shown.index("<img"), shown.index("<table>")
    assert verdict < chart < table
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_differences_have_a_view_of_their_own(report):
    shown = compare(report, report)._repr_html_()
    assert shown.startswith("<p><strong>4 estimates") or "estimates are in both runs" in shown
    assert shown.count("<tr>") == 1 + len(report.estimates)
    assert "<b>" not in shown


def test_the_charts_have_names_and_the_first_metric_short_ones(report):
    assert report.charts["estimates"] is report.charts["estimates recall@2"]
    assert report.charts["sweep"] is report.charts["sweep recall@2"]
    assert {"estimates auc", "sweep auc", "popularity", "tenths"} <= set(report.charts)
    for chart in report.charts.values():
        assert chart.title
        assert "var(" not in str(chart.spec)
    assert "<b>" in str(report.charts["sweep"].spec["layer"])  # a name in the legend
