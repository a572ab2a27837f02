"""Reports as notebooks show them."""

from typing import TYPE_CHECKING

from unskew.display.notebook import fragment, html_table
from unskew.estimators import Estimate
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


def _cell(row: Estimate, name: str) -> str:
    value = getattr(row, name)
    if value is None:
        return "–" if name.startswith("assumed") else "undefined"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
