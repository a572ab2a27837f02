"""The HTML page of an audit: one file without scripts, fonts or requests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.audit.error.result import ErrorAudit, PairRow
from unskew.audit.popularity import RULE, STRATA
from unskew.audit.showing import charts
from unskew.audit.showing.words import assumed, depth_used, headline, lead, refusals, summary
from unskew.audit.strata import ALL
from unskew.display.chart import Charts
from unskew.display.numbers import level
from unskew.display.page import Figure, MetricTable, gallery, render_page
from unskew.display.phrases import sentence
from unskew.display.styles import Style, series_styles
from unskew.simulators.likeness import STATISTICS

if TYPE_CHECKING:
    from unskew.audit.result import Audit

TRUE_P = "snips, true P"
_LIST_COLUMNS = ("gamma", "std. error", "coverage", "Gini", "mean n*", "times the history's")


@dataclass(frozen=True)
class PairSection:
    """A section on two recommenders: charts of each metric, and the rows of the table."""

    a: str
    b: str
    reference: bool
    figures: tuple[Figure, ...]
    rows: tuple[PairRow, ...]


def render_audit(audit: "Audit") -> str:
    """Return the page; the same audit gives the same bytes, and everything that comes from it is escaped."""
    context = {**_context(audit), **_error_context(audit.error)}
    return render_page("audit.html.j2", "unskew.audit.showing", context)


def audit_charts(audit: "Audit") -> Charts:
    """The charts of the page by name."""
    names = [row.model for row in audit.models]
    styles = series_styles(["", *names], {"": charts.THE_LOG})
    figures: dict[str, tuple[Figure, str, str]] = {}
    for name, figure in zip(("rank", "levels", "lorenz"), _log_figures(audit, styles), strict=True):
        figures[name] = figure, figure.title, " ".join(figure.notes)
    for figure in _bias_figures(audit, styles):
        figures[f"gamma {figure.title}"] = figure, f"How often items are recommended: {figure.title}", ""
    if names:
        figures["places"] = _place_figure(audit), "Who gets the places", ""
    for figure in _metric_figures(audit, names):
        figures[f"strata {figure.title}"] = figure, f"{figure.title} by popularity of the item", ""
    for section in () if audit.error is None else _sections(audit.error):
        for figure in section.figures:
            metric, _, what = figure.title.partition(": ")
            kind = "wrong winner" if "wrong" in what else "errors"
            title = f"{figure.title}, {section.a} - {section.b}"
            figures[f"{kind} {metric}, {section.a} - {section.b}"] = figure, title, ""
    return gallery(figures)


def _place_figure(audit: "Audit") -> Figure:
    places = charts.shares_chart(audit.strata, audit.models, "places", rows=audit.counted_on) if audit.models else None
    return Figure("Who gets the places", places)


def _context(audit: "Audit") -> dict[str, Any]:
    names = [row.model for row in audit.models]
    styles = series_styles(["", *names], {"": charts.THE_LOG})
    outside = [charts.OUTSIDE] if any(row.outside > 0 for row in audit.models) else []
    percents = level(audit.settings.level)
    return {
        "audit": audit,
        "headline": _unbroken(headline(audit)),
        "summary": list(map(_unbroken, summary(audit))),
        "rule": sentence(RULE),
        "strata": audit.strata.to_dict()["parts"],
        "level": percents,
        "log_figures": list(_log_figures(audit, styles)),
        "bias_figures": list(_bias_figures(audit, styles)),
        "place_figures": [_place_figure(audit)],
        "metric_figures": list(_metric_figures(audit, names)),
        "metric_tables": list(_metric_tables(audit)),
        "list_columns": ["model", *_LIST_COLUMNS, *(f"places to {name}" for name in STRATA), "users"],
        "stratum_columns": ["model", *(title for name in (ALL, *STRATA) for title in (name, f"{percents} interval"))],
        "counts": _counts(audit),
        "model_styles": [style for name, style in styles.items() if name],
        "stratum_styles": [charts.STRATUM_STYLES[name] for name in (ALL, *STRATA)],
        "place_styles": [charts.STRATUM_STYLES[name] for name in (*STRATA, *outside)],
        "run": audit.run,
    }


def _error_context(error: ErrorAudit | None) -> dict[str, Any]:
    """The context of the section on how wrong an evaluation can be."""
    if error is None:
        return {"error": None}
    estimators = [label for label in charts.ESTIMATOR_STYLES if label != TRUE_P]
    return {
        "error": error,
        "error_lead": list(lead(error)),
        "error_assumed": assumed(error),
        "error_depth": depth_used(error, clock=False),
        "error_missing": sentence(error.missing) if error.missing else "",
        "error_pairs": list(_sections(error)),
        "error_styles": list(charts.ESTIMATOR_STYLES.values()),
        "error_refusals": list(refusals(error)),
        "error_statistics": STATISTICS,
        "error_estimators": estimators,
        "world_columns": [
            *("world", "", "loss", *(f"{name} (floor)" for name in STATISTICS), "AUC of the oracle", "runs"),
            *(f"wrong winner by {label}" for label in estimators),
        ],
        "choice_columns": ["metric", "smallest worst error", *estimators, "beats the naive average in"],
    }


def _log_figures(audit: "Audit", styles: dict[str, Style]) -> Iterator[Figure]:
    log = audit.log
    yield Figure("Interactions by rank of the item", charts.rank_chart(log, "rank"))
    once = (f"{log.once:,} of {log.items:,} items occur once.",) if log.once else ()
    yield Figure("Items by number of interactions", charts.levels_chart(log, "levels"), once)
    amounts = {"": log.popularity.astype(float), **{row.model: row.recommended for row in audit.models}}
    gini = f"Gini of the log {log.gini:.3f}."
    yield Figure("Lorenz curves", charts.lorenz_chart(amounts, styles, "lorenz"), (gini,))


def _bias_figures(audit: "Audit", styles: dict[str, Style]) -> Iterator[Figure]:
    for k, row in enumerate(audit.models):
        if row.gamma is None:
            note = f"Gamma is not identified: {row.why}."
        else:
            cut = f", without the {row.gamma.cut_items:,} most popular items" if row.gamma.cut_items else ""
            gamma = f"Gamma {row.gamma.gamma:.3f}, standard error {row.gamma.std_error:.3f}"
            note = f"{gamma}, from {row.gamma.levels:,} levels{cut}."
        never = int(np.sum(row.bias.f == 0))
        if never:
            note += f" {never:,} of {len(row.bias.levels):,} levels are never recommended and not drawn."
        yield Figure(row.model, charts.presentation_chart(row, styles[row.model], f"bias-{k}"), (note,))


def _metric_figures(audit: "Audit", names: list[str]) -> Iterator[Figure]:
    for k, metric in enumerate(dict.fromkeys(part.estimate.metric for part in audit.by_stratum)):
        parts = [part for part in audit.by_stratum if part.estimate.metric == metric]
        yield Figure(metric, charts.metric_chart(parts, names, f"metric-{k}"))


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
    counts = {part.stratum: (part.rows, part.estimate.users) for part in audit.by_stratum}
    return [counts.get(stratum, (0, 0)) for stratum in (ALL, *STRATA)]


def _sections(error: ErrorAudit) -> Iterator[PairSection]:
    pairs = dict.fromkeys((row.a, row.b, row.reference) for row in [*error.model_pairs, *error.reference])
    for k, (a, b, reference) in enumerate(pairs):
        rows = [row for row in error.pairs if (row.a, row.b, row.reference) == (a, b, reference)]
        bars, curves = [], []
        for m, metric in enumerate(error.metrics):
            shown = [row for row in rows if row.metric == metric]
            errors = {row.label: error.errors[a, b, metric, row.label] for row in shown}
            bar = charts.errors_chart(errors, metric, (a, b), f"error-{k}-{m}")
            bars.append(Figure(f"{metric}: errors of the difference", bar))
            curve = charts.wrong_chart(shown, errors, f"wrong-{k}-{m}")
            curves.append(Figure(f"{metric}: chance of a wrong winner", curve))
        yield PairSection(a, b, reference, (*bars, *curves), tuple(rows))


def _unbroken(text: str) -> str:
    """The text with percent signs kept on the line of their numbers."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
