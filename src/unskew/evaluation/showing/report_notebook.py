"""Reports and their differences as notebooks show them."""

from typing import TYPE_CHECKING

from unskew.display.notebook import fragment, html_table
from unskew.display.numbers import interval, level, move, number, p
from unskew.estimators import Estimate
from unskew.evaluation.comparing.changes import Changes
from unskew.evaluation.estimating.baselines import marked_estimates
from unskew.evaluation.showing.report_charts import first_chart

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

COLUMNS = (
    *("model", "metric", "estimator", "value", "low", "high", "assumed_low", "assumed_high", "users"),
    *("effective_sample_size", "target"),
)


def notebook_html(report: "Report") -> str:
    """The verdict, the chart of the first metric, the estimates and the warnings."""
    verdict, rows = report.verdict, (*report.judged.estimates, *marked_estimates(report.baselines))
    table = html_table(COLUMNS, [[_cell(row, name) for name in COLUMNS] for row in rows])
    return fragment(verdict.sentence, verdict.summary, first_chart(report), [table], report.warnings)


def changes_html(changes: Changes) -> str:
    """How many estimates changed, the differences and the notes."""
    words = ("model", "metric", "estimator", "before", "now", "difference", "by size", "rest")
    rows = [
        [
            *(row.model, row.metric, row.estimator, number(row.before), number(row.after)),
            *map(move, (row.difference, row.expected, row.rest)),
            *(interval(row.low, row.high, "+.4f", "-"), p(row.p_value)),
        ]
        for row in changes.rows
    ]
    table = html_table([*words, f"{level(changes.level)} interval", "p"], rows)
    tests = [f"test before: {changes.before.describe()}", f"test now: {changes.after.describe()}"]
    return fragment(changes.describe(), (), None, [table], [*tests, *changes.notes])


def _cell(row: Estimate, name: str) -> str:
    value = getattr(row, name)
    if value is None:
        return "–" if name.startswith("assumed") else "undefined"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
