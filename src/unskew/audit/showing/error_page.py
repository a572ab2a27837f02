"""The section of an audit's page about how wrong an evaluation can be."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unskew.audit.error.result import ErrorAudit, PairRow
from unskew.audit.showing.error_charts import STYLES, errors_chart, wrong_chart
from unskew.audit.showing.error_words import assumed, depth_used, lead, refusals
from unskew.display.page import Captioned, as_markup
from unskew.display.phrases import sentence
from unskew.simulators.likeness import STATISTICS

TRUE_P = "snips, true P"


@dataclass(frozen=True)
class PairSection:
    """Two recommenders: charts of each metric, and the rows of the table."""

    a: str
    b: str
    reference: bool
    figures: tuple[Captioned, ...]
    rows: tuple[PairRow, ...]


def error_context(error: ErrorAudit | None) -> dict[str, Any]:
    """What the template needs."""
    if error is None:
        return {"error": None}
    return {
        "error": error,
        "error_lead": list(lead(error)),
        "error_assumed": assumed(error),
        "error_depth": depth_used(error, clock=False),
        "error_missing": sentence(error.missing) if error.missing else "",
        "error_pairs": list(_sections(error)),
        "error_styles": list(STYLES.values()),
        "error_refusals": list(refusals(error)),
        "error_statistics": STATISTICS,
        "error_estimators": [label for label in STYLES if label != TRUE_P],
    }


def _sections(error: ErrorAudit) -> Iterator[PairSection]:
    pairs = dict.fromkeys((row.a, row.b, row.reference) for row in [*error.own, *error.reference])
    for k, (a, b, reference) in enumerate(pairs):
        rows = [row for row in error.pairs if (row.a, row.b, row.reference) == (a, b, reference)]
        bars, curves = [], []
        for m, metric in enumerate(error.metrics):
            mine = [row for row in rows if row.metric == metric]
            errors = {row.label: error.errors[a, b, metric, row.label] for row in mine}
            made = errors_chart(errors, metric, (a, b), f"error-{k}-{m}")
            bars.append(Captioned(f"{metric}: errors of the difference", as_markup(made)))
            curve = wrong_chart(mine, errors, f"wrong-{k}-{m}")
            curves.append(Captioned(f"{metric}: chance of a wrong winner", as_markup(curve)))
        yield PairSection(a, b, reference, (*bars, *curves), tuple(rows))
