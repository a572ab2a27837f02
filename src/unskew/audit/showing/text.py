"""Audits as plain text: sentences, tables and warnings."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.audit.error.agreement import Span
from unskew.audit.error.own_models import ESTIMATORS
from unskew.audit.error.result import ORACLE, POPULAR, ErrorAudit, PairRow, WorldResult
from unskew.audit.popularity import STRATA
from unskew.audit.showing.words import assumed, depth_used, headline, lead, refusals
from unskew.audit.strata import ALL, StratumEstimate
from unskew.display.names import shortened
from unskew.display.numbers import number, one_or_both, short_percent
from unskew.display.phrases import sentence
from unskew.display.text_table import Column, digits, fits, plain_text, print_lines, print_table, table, words
from unskew.simulators.likeness import STATISTICS

if TYPE_CHECKING:
    from unskew.audit.result import Audit

NAME = 30  # characters of a name in a title
WorldCells: TypeAlias = dict[str, Callable[[WorldResult], str]]  # title of a column, and its cell for a world


def as_text(audit: "Audit", width: int = 110) -> str:
    """The audit as plain text: tables, then warnings."""

    def draw(console: Console) -> None:
        print_audit(audit, console)
        print_audit_warnings(audit, console)

    return plain_text(draw, width)


def print_audit(audit: "Audit", console: Console) -> None:
    """Print the headline, the log, the strata, the lists, the metrics, and how wrong they can be."""
    print_lines([headline(audit)], console)
    _print_log(audit, console)
    print_table(_strata(audit), console)
    if audit.models:
        print_table(_models(audit), console)
    if audit.by_stratum:
        print_table(_metrics(audit), console)
    if audit.error is not None:
        print_error(audit.error, console)


def print_audit_warnings(audit: "Audit", console: Console) -> None:
    """Print the warnings."""
    print_lines((f"warning: {text}" for text in audit.warnings), console)


def _print_log(audit: "Audit", console: Console) -> None:
    """Print the log in one line, or in two tables where that is too wide."""
    log = audit.log
    cells = {
        "users": f"{log.users:,}",
        "items": f"{log.items:,}",
        "rows": f"{log.rows:,}",
        "density": f"{log.density:.2%}",
        "Gini": f"{log.gini:.3f}",
        "median n*": f"{log.median:g}",
        "max n*": f"{log.largest:,}",
        "once": f"{log.once:,}",
    }
    tops = {f"top {part.share:.0%}": f"{part.rows:.1%}" for part in log.top}
    line = _log("Log: interactions per item (n*), and the share of the top items", cells | tops)
    halves = (("Log: interactions per item (n*)", cells), ("Share of the top items", tops))
    for part in [line] if fits(line, console) else [_log(title, half) for title, half in halves]:
        print_table(part, console)


def _log(title: str, cells: dict[str, str]) -> Table:
    return table(title, digits(*cells), [list(cells.values())])


def _strata(audit: "Audit") -> Table:
    strata = audit.strata
    title = f"Strata: thirds of the {audit.counted_on}"
    if strata.levels < 2:
        title = "Strata: only one, because all items are equally popular"
    items, rows = strata.items, strata.rows
    shown = []
    for k, name in enumerate(STRATA):
        ends = strata.bounds(k)
        share_of_items, share_of_rows = items[k] / max(items.sum(), 1), rows[k] / max(rows.sum(), 1)
        counts = [f"{items[k]:,}", f"{share_of_items:.1%}", f"{rows[k]:,}", f"{share_of_rows:.1%}"]
        shown.append([name, *counts, *(("-", "-") if ends is None else (f"{end:,}" for end in ends))])
    columns = digits("items", "of items", "rows", "of rows", "n* from", "to")
    return table(title, [*words("stratum"), *columns], shown)


def _models(audit: "Audit") -> Table:
    columns = ("gamma", "error", "coverage", "Gini", "mean n*", "of history", *(f"to {name}" for name in STRATA))
    rows = [
        [
            row.model,
            *(("-", "-") if row.gamma is None else (f"{row.gamma.gamma:.3f}", f"{row.gamma.std_error:.3f}")),
            *(f"{row.coverage:.1%}", f"{row.gini:.3f}", f"{row.popularity:,.1f}"),
            "-" if row.lift is None else f"x {row.lift:.2f}",
            *(f"{share:.1%}" for share in row.shares),
        ]
        for row in audit.models
    ]
    return table(f"Top-{audit.k} lists: what is recommended", [*words("model"), *digits(*columns)], rows)


def _metrics(audit: "Audit") -> Table:
    parts = {(p.estimate.metric, p.estimate.model, p.stratum): p for p in audit.by_stratum}
    strata = {p.stratum: p for p in audit.by_stratum}
    rows = [
        [metric, model, *(_cell(parts.get((metric, model, stratum))) for stratum in (ALL, *STRATA))]
        for metric, model in dict.fromkeys((metric, model) for metric, model, _ in parts)
    ]
    counts = [f"{strata[s].rows:,} / {strata[s].estimate.users:,}" if s in strata else "0 / 0" for s in (ALL, *STRATA)]
    title = "Metrics over held-out rows, by the popularity of the item"
    columns = [*words("metric", "model"), *digits(ALL, *STRATA)]
    return table(title, columns, [*rows, ["rows / users", "", *counts]], group=1)


def _cell(part: StratumEstimate | None) -> str:
    return "-" if part is None else f"{number(part.estimate.value)} ± {number(part.estimate.std_error)}"


def print_error(error: ErrorAudit, console: Console) -> None:
    """Print the main sentences, the worlds, the reference pair, the user's pairs, and the assumptions."""
    console.print(Text("How wrong can an evaluation on a log like this be?", style="bold"))
    print_lines(lead(error), console)
    if len(error.worlds) > 1:
        _print_worlds(error, console)
    if error.accepted:
        _print_values(error, console)
        _print_pairs("Oracle against popular list: errors of the difference", error, error.reference, console)
    for a, b in dict.fromkeys((row.a, row.b) for row in error.model_pairs):
        title = f"Your {shortened(a, NAME)} against {shortened(b, NAME)}: errors of the difference"
        _print_pairs(title, error, [row for row in error.model_pairs if (row.a, row.b) == (a, b)], console)
    missing = [sentence(error.missing)] if error.missing else []
    print_lines([assumed(error), depth_used(error), *missing], console)


def _print_values(error: ErrorAudit, console: Console) -> None:
    """Print the values of two recommenders side by side, or one below the other if that is too wide."""
    shown = ([row.model for row in error.models] or [ORACLE, POPULAR])[:2]
    both = _values(error, shown)
    for part in [both] if fits(both, console) else [_values(error, [name]) for name in shown]:
        print_table(part, console)


def _print_worlds(error: ErrorAudit, console: Console) -> None:
    """Print how well each world fits and its wrong winners, in one table or in two; then why some are refused."""
    fit: WorldCells = {
        "loss": lambda world: "-" if world.likened.loss is None else f"{100 * world.likened.loss:.0f}%",
        **{name.replace("-", "\n"): _divergence(name) for name in STATISTICS},
        "oracle\nAUC": lambda world: number(world.auc, ".2f", "-"),
        "runs": lambda world: str(world.runs),
    }
    wrong = {f"wrong by\n{label}": _wrong(error.metrics[0], label) for label in ESTIMATORS}
    whole = _worlds("Worlds", error, fit | wrong)
    halves = (("Worlds", fit), ("Worlds: wrong winner", wrong))
    for part in [whole] if fits(whole, console) else [_worlds(title, error, half) for title, half in halves]:
        print_table(part, console)
    print_lines(refusals(error), console)


def _divergence(name: str) -> Callable[[WorldResult], str]:
    return lambda world: number((world.likened.divergences or {}).get(name), ".2f", "-")


def _wrong(metric: str, label: str) -> Callable[[WorldResult], str]:
    """A function from a world to the share of runs in which an estimator has the wrong winner."""

    def cell(world: WorldResult) -> str:
        rows = [row for row in world.pairs if row.reference and (row.metric, row.label) == (metric, label)]
        return short_percent(rows[0].wrong_winner) if rows else "-"

    return cell


def _worlds(title: str, error: ErrorAudit, columns: WorldCells) -> Table:
    rows = [
        [
            *(world.likened.name, "accepted" if world.accepted else "refused"),
            *(cell(world) for cell in columns.values()),
        ]
        for world in error.worlds
    ]
    return table(title, [*_whole("world", ""), *digits(*columns)], rows)


def _print_pairs(title: str, error: ErrorAudit, rows: Sequence[PairRow], console: Console) -> None:
    """Print the errors with a column for the metric, or with a line for it where that is too wide."""
    seen = any(row.observed is not None for row in rows)
    cells = [
        [
            *(row.metric, row.label, number(row.observed if seen else row.true_gap, "+.4f", "-")),
            *(number(row.bias, "+.4f", "-"), number(row.error, none="-"), short_percent(row.coverage)),
            *(_span(error.wrong_span(row)), number(row.smallest, none="-"), _span(error.smallest_span(row))),
        ]
        for row in rows
    ]
    columns = ("observed" if seen else "true", "bias", "error", "covers", "wrong winner", "detects", "of value")
    drawn = table(title, [*_whole("metric", "estimator"), *digits(*columns)], cells, group=1, repeat=False)
    if fits(drawn, console):
        print_table(drawn, console)
        return
    narrow = table(title, [*_whole("estimator"), *digits(*(column.replace(" ", "\n") for column in columns))], ())
    narrow.padding, narrow.show_edge = (0, 1, 0, 0), False
    for metric, group in groupby(cells, key=lambda row: row[0]):
        narrow.add_section()
        narrow.add_row(Text(metric, style="bold"))
        for _, *row in group:
            narrow.add_row(*map(Text, row))
    print_table(narrow, console)
    console.print()


def _values(error: ErrorAudit, shown: Sequence[str]) -> Table:
    """The table of bias, error and coverage of the values, recommenders side by side."""
    by_key = {
        (row.metric, row.label, row.recommender): row
        for row in error.values
        if (row.role == "reference") == (not error.models)
    }
    alone = f" of {shortened(shown[0], NAME)}" if len(shown) == 1 else ""
    columns = [
        column if alone else f"{shortened(name, 10)}\n{column}"
        for name in shown
        for column in ("truth", "bias", "error", "covers")
    ]
    rows = []
    for metric, label in dict.fromkeys((metric, label) for metric, label, _ in by_key):
        cells = [metric, label]
        for row in (by_key[metric, label, name] for name in shown):
            cells += [number(row.truth, none="-"), number(row.bias, "+.4f", "-"), number(row.error, none="-")]
            cells.append(short_percent(row.coverage))
        rows.append(cells)
    title = f"Errors of a value{alone}, estimate minus truth in the world"
    return table(title, [*_whole("metric", "estimator"), *digits(*columns)], rows, group=1, repeat=False)


def _whole(*titles: str) -> list[Column]:
    return [Column(title, wrap=None) for title in titles]


def _span(span: Span | None) -> str:
    """The smallest and the largest share over worlds, or the only one."""
    return "-" if span is None else one_or_both(short_percent(span.low), short_percent(span.high), "..")
