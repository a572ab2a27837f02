"""An audit as one HTML file that needs nothing else: no script, no font, no request to anywhere."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew import __version__
from unskew.audit.popularity import RULE, STRATA
from unskew.audit.showing import charts as audit_charts
from unskew.audit.showing.error_page import error_context
from unskew.audit.showing.words import headline, percent, summary
from unskew.audit.strata import ALL, StratumEstimate
from unskew.display.names import shortened
from unskew.display.page import Captioned, as_markup, page_environment
from unskew.display.phrases import sentence
from unskew.display.styles import Style

if TYPE_CHECKING:
    from unskew.audit.result import Audit

MOST_NAME = 56  # characters of a name in tables


@dataclass(frozen=True)
class MetricTable:
    """A metric by model and stratum."""

    metric: str
    definition: str
    rows: tuple[tuple[str, tuple[StratumEstimate | None, ...]], ...]


def render_audit(audit: "Audit") -> str:
    """Write the page; the same audit gives the same bytes, and everything that comes from it is escaped."""
    filters = {"percent": percent, "number": _number, "signed": _signed, "plain": _plain, "shortened": shortened}
    return page_environment(filters, "unskew.audit.showing").get_template("audit.html.j2").render(_context(audit))


def _context(audit: "Audit") -> dict[str, Any]:
    names = [row.model for row in audit.models]
    styles = audit_charts.series_styles(names)
    strata = audit.strata
    return {
        "version": __version__,
        "audit": audit,
        "headline": _unbroken(headline(audit)),
        "summary": list(map(_unbroken, summary(audit))),
        "rule": sentence(RULE),
        "strata": strata.to_dict()["parts"],
        "names": STRATA,
        "all": ALL,
        "level": f"{100 * audit.settings.level:.4g} %",
        "log_figures": list(_log_figures(audit, styles)),
        "bias_figures": list(_bias_figures(audit, styles)),
        "place_figures": [
            Captioned(
                "Who gets the places",
                as_markup(audit_charts.shares_chart(strata, audit.models, "places", rows=audit.counted_on)),
            )
        ]
        if audit.models
        else [],
        "metric_figures": list(_metric_figures(audit, names)),
        "metric_tables": list(_metric_tables(audit)),
        "counts": _counts(audit),
        **error_context(audit.error),
        "model_styles": [style for name, style in styles.items() if name],
        "stratum_styles": [audit_charts.STRATUM_STYLES[name] for name in (ALL, *STRATA)],
        "outside_style": audit_charts.STRATUM_STYLES[audit_charts.OUTSIDE],
        "any_outside": any(row.outside > 0 for row in audit.models),
        "most_name": MOST_NAME,
        "run": audit.run,
        "run_json": json.dumps(audit.run, indent=2, ensure_ascii=False),
    }


def _log_figures(audit: "Audit", styles: dict[str, Style]) -> Iterator[Captioned]:
    log = audit.log
    yield Captioned("Interactions by rank of the item", as_markup(audit_charts.rank_chart(log, "rank")))
    note = f"{log.once:,} of {log.items:,} items occur once." if log.once else ""
    yield Captioned("Items by number of interactions", as_markup(audit_charts.levels_chart(log, "levels")), note)
    amounts = {"": log.popularity.astype(float), **{row.model: row.recommended for row in audit.models}}
    looks = {name: styles[name] for name in amounts}
    gini = f"Gini of the log {log.gini:.3f}."
    yield Captioned("Lorenz curves", as_markup(audit_charts.lorenz_chart(amounts, looks, "lorenz")), gini)


def _bias_figures(audit: "Audit", styles: dict[str, Style]) -> Iterator[Captioned]:
    for k, row in enumerate(audit.models):
        svg = audit_charts.presentation_chart(row, styles[row.model], f"bias-{k}")
        if row.gamma is None:
            note = f"Gamma is not identified: {row.why}."
        else:
            cut = f", without the {row.gamma.cut_items:,} most popular items" if row.gamma.cut_items else ""
            gamma = f"Gamma {row.gamma.gamma:.3f}, standard error {row.gamma.std_error:.3f}"
            note = f"{gamma}, from {row.gamma.levels:,} levels{cut}."
        never = int(np.sum(row.bias.f == 0))
        if never:
            note += f" {never:,} of {len(row.bias.levels):,} levels are never recommended and not drawn."
        yield Captioned(row.model, as_markup(svg), note)


def _metric_figures(audit: "Audit", names: list[str]) -> Iterator[Captioned]:
    for k, metric in enumerate(dict.fromkeys(part.estimate.metric for part in audit.by_stratum)):
        mine = [part for part in audit.by_stratum if part.estimate.metric == metric]
        yield Captioned(metric, as_markup(audit_charts.metric_chart(mine, names, f"metric-{k}")))


def _metric_tables(audit: "Audit") -> Iterator[MetricTable]:
    parts = {(p.estimate.metric, p.estimate.model, p.stratum): p for p in audit.by_stratum}
    for metric in dict.fromkeys(metric for metric, _, _ in parts):
        definitions = dict.fromkeys(p.estimate.definition for p in audit.by_stratum if p.estimate.metric == metric)
        rows = [
            (row.model, tuple(parts.get((metric, row.model, stratum)) for stratum in (ALL, *STRATA)))
            for row in audit.models
        ]
        yield MetricTable(metric, " / ".join(definitions), tuple(rows))


def _counts(audit: "Audit") -> list[tuple[int, int]]:
    """Held-out rows and users of all and of each stratum."""
    found = {part.stratum: (part.rows, part.estimate.users) for part in audit.by_stratum}
    return [found.get(stratum, (0, 0)) for stratum in (ALL, *STRATA)]


def _unbroken(text: str) -> str:
    """A sentence that no line break tears a percent sign from its number in."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _number(value: float | None, digits: int = 4) -> str:
    return "undefined" if value is None else f"{value:,.{digits}f}".replace("-", "−")


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")


def _plain(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items()) or "–"
    return "–" if value is None else str(value)
