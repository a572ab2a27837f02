"""The page's section on a slice: the weights of slice, imputation and the log's rows, and the estimates of each."""

from functools import cache

import pytest
from selected_logs import SelectedLog

from unskew import Report, evaluate
from unskew.evaluation.showing.imputation_section import describe_slice


@cache
def report(rows: int) -> Report:
    world = SelectedLog.of()
    options = {"metrics": ["adg", "recall@5"], "estimators": ["blend"], "positive": "rating>=1"}
    return evaluate(world.models, world.split(slice_rows=rows), **options)  # type: ignore[arg-type]


def test_the_facts_have_the_weights_of_all_three_parts() -> None:
    panel = describe_slice(report(200))
    assert panel is not None
    facts = dict(panel.facts)
    estimates = report(200).to_dict()["slice"]["estimates"]
    for part, key in (("level", "level_weights"), ("differences", "difference_weights")):
        for place, name in enumerate(("imputation", "the log's rows", "slice")):
            weights = [row[key][place] for row in estimates]
            shown = [float(text.rstrip(" %")) / 100 for text in facts[f"Weight in the {part}, {name}"].split(" to ")]
            assert shown[0] == pytest.approx(min(weights), abs=0.006)
            assert shown[-1] == pytest.approx(max(weights), abs=0.006)


def test_the_table_has_log_slice_and_both() -> None:
    panel = describe_slice(report(200))
    assert panel is not None
    estimates = {row["metric"]: row for row in report(200).to_dict()["slice"]["estimates"]}
    assert len(panel.rows) == 6
    for metric, model, imputed, logged, slice_alone, estimate in panel.rows:
        row, place = estimates[metric], list(report(200).models).index(model)
        alone = [*(source[place] for source in row["log_alone"]), row["slice_alone"][place]]
        assert [imputed, logged, slice_alone] == alone
        assert estimate == report(200).value(model, metric, "blend")


def test_the_page_names_them() -> None:
    page = report(200).to_html()
    for text in (
        "Weight in the level, slice",
        "Weight in the differences, imputation",
        "rows of the log",
        "slice alone",
    ):
        assert text in page
    assert "Moved" not in page


def test_without_a_slice_there_is_no_section() -> None:
    world = SelectedLog.of()
    plain = evaluate(world.models, world.split(), metrics=["adg"], estimators=["dm"], positive="rating>=1")
    assert describe_slice(plain) is None
