"""Audits as text tables."""

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.audit.popularity import STRATA
from unskew.audit.showing.error_text import print_error
from unskew.audit.showing.words import headline
from unskew.audit.strata import ALL, StratumEstimate
from unskew.display.text_table import fits, plain_text, print_whole

if TYPE_CHECKING:
    from unskew.audit.result import Audit


def as_text(audit: "Audit", width: int = 110) -> str:
    """The audit as plain text: tables, then warnings."""

    def draw(console: Console) -> None:
        print_audit(audit, console)
        print_audit_warnings(audit, console)

    return plain_text(draw, width)


def print_audit(audit: "Audit", console: Console) -> None:
    """Print the headline, the log, the strata, the lists, the metrics, and how wrong they can be."""
    console.print(Text(headline(audit)), soft_wrap=True)
    _print_log(audit, console)
    print_whole(_strata(audit), console)
    if audit.models:
        print_whole(_models(audit), console)
    if audit.by_stratum:
        print_whole(_metrics(audit), console)
    if audit.error is not None:
        print_error(audit.error, console)


def print_audit_warnings(audit: "Audit", console: Console) -> None:
    """Print what should be read with care."""
    for text in audit.warnings:
        console.print(Text(f"warning: {text}"), soft_wrap=True)


def _table(title: str, left: tuple[str, ...], right: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in left:
        table.add_column(column, overflow="fold")
    for column in right:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _print_log(audit: "Audit", console: Console) -> None:
    """All in one line, or in two tables where that is too wide."""
    cells = _log_cells(audit)
    line = _log("Log: interactions an item (n*), and the share that the top items have", cells)
    if fits(line, console):
        print_whole(line, console)
        return
    whole = len(cells) - len(audit.log.top)
    print_whole(_log("Log: interactions an item (n*)", cells[:whole]), console)
    print_whole(_log("Share that the top items have", cells[whole:]), console)


def _log(title: str, cells: list[tuple[str, str]]) -> Table:
    table = _table(title, (), tuple(column for column, _ in cells))
    table.add_row(*(cell for _, cell in cells))
    return table


def _log_cells(audit: "Audit") -> list[tuple[str, str]]:
    log = audit.log
    tops = (f"top {part.share:.0%}" for part in log.top)
    columns = ("users", "items", "rows", "density", "Gini", "median n*", "max n*", "once", *tops)
    cells = (
        f"{log.users:,}",
        f"{log.items:,}",
        f"{log.rows:,}",
        f"{log.density:.2%}",
        f"{log.gini:.3f}",
        f"{log.median:g}",
        f"{log.largest:,}",
        f"{log.once:,}",
        *(f"{part.rows:.1%}" for part in log.top),
    )
    return list(zip(columns, cells, strict=True))


def _strata(audit: "Audit") -> Table:
    strata = audit.strata
    title = f"Strata: thirds of the {audit.counted_on}"
    if strata.levels < 2:
        title = "Strata: one, for all items are equally popular"
    table = _table(title, ("stratum",), ("items", "of items", "rows", "of rows", "n* from", "to"))
    items, rows = strata.items, strata.rows
    for k, name in enumerate(STRATA):
        bounds = strata.bounds(k)
        low, high = ("-", "-") if bounds is None else (f"{bounds[0]:,}", f"{bounds[1]:,}")
        shares = f"{items[k] / max(items.sum(), 1):.1%}", f"{rows[k] / max(rows.sum(), 1):.1%}"
        table.add_row(name, f"{items[k]:,}", shares[0], f"{rows[k]:,}", shares[1], low, high)
    return table


def _models(audit: "Audit") -> Table:
    columns = ("gamma", "error", "coverage", "Gini", "mean n*", "of history", *(f"to {name}" for name in STRATA))
    table = _table(f"Top-{audit.k} lists: what is recommended", ("model",), columns)
    for row in audit.models:
        gamma = ("-", "-") if row.gamma is None else (f"{row.gamma.gamma:.3f}", f"{row.gamma.std_error:.3f}")
        lift = "-" if row.lift is None else f"x {row.lift:.2f}"
        shares = [f"{share:.1%}" for share in row.shares]
        mean = f"{row.popularity:,.1f}"
        table.add_row(Text(row.model), *gamma, f"{row.coverage:.1%}", f"{row.gini:.3f}", mean, lift, *shares)
    return table


def _metrics(audit: "Audit") -> Table:
    parts = {(p.estimate.metric, p.estimate.model, p.stratum): p for p in audit.by_stratum}
    rows = {p.stratum: p for p in audit.by_stratum}
    table = _table("Metrics over held-out rows, by the popularity of the item", ("metric", "model"), (ALL, *STRATA))
    last = ""
    for metric, model in dict.fromkeys((metric, model) for metric, model, _ in parts):
        if last and metric != last:
            table.add_section()
        last = metric
        cells = [_cell(parts.get((metric, model, stratum))) for stratum in (ALL, *STRATA)]
        table.add_row(Text(metric), Text(model), *cells)
    table.add_section()
    counts = [f"{rows[s].rows:,} / {rows[s].estimate.users:,}" if s in rows else "0 / 0" for s in (ALL, *STRATA)]
    table.add_row("rows / users", "", *counts)
    return table


def _cell(part: StratumEstimate | None) -> str:
    if part is None:
        return "-"
    return f"{_number(part.estimate.value)} ± {_number(part.estimate.std_error)}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
