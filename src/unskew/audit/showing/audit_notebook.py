"""Audits as notebooks show them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.audit.popularity import STRATA
from unskew.audit.showing import charts
from unskew.audit.showing.words import headline, lead, summary
from unskew.audit.strata import ALL
from unskew.display.notebook import fragment, html_table
from unskew.display.numbers import number
from unskew.display.page import Figure

if TYPE_CHECKING:
    from unskew.audit.result import Audit


def audit_html(audit: "Audit") -> str:
    """The headline, the chart of interactions by rank, tables of the log, the lists and the metrics, the warnings."""
    picture = Figure("Interactions by rank of the item", charts.rank_chart(audit.log, "rank")).chart()
    error = [] if audit.error is None else list(lead(audit.error))
    return fragment(headline(audit), [*summary(audit), *error], picture, _tables(audit), audit.warnings)


def _tables(audit: "Audit") -> Iterator[str]:
    log = audit.log
    columns = ("users", "items", "rows", "density", "Gini", "median n*", "max n*")
    facts = f"{log.users:,}", f"{log.items:,}", f"{log.rows:,}", f"{log.density:.2%}", f"{log.gini:.3f}"
    yield html_table(columns, [[*facts, f"{log.median:g}", f"{log.largest:,}"]])
    if audit.models:
        rows = [
            [row.model, "-" if row.gamma is None else f"{row.gamma.gamma:.3f}", *(f"{s:.1%}" for s in row.shares)]
            for row in audit.models
        ]
        yield html_table(["model", "gamma", *(f"places to {name}" for name in STRATA)], rows)
    if audit.by_stratum:
        parts = {(p.estimate.metric, p.estimate.model, p.stratum): p.estimate.value for p in audit.by_stratum}
        keys = dict.fromkeys((metric, model) for metric, model, _ in parts)
        rows = [[*key, *(number(parts.get((*key, name)), none="-") for name in (ALL, *STRATA))] for key in keys]
        yield html_table(["metric", "model", ALL, *STRATA], rows)
