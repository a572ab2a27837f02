"""An error audit as text tables."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.evaluation.error.error_result import ORACLE, POPULAR, ErrorAudit, PairRow, ValueRow
from unskew.evaluation.error.error_words import assumed, depth_used, lead
from unskew.evaluation.names import shortened
from unskew.evaluation.rendering import fits, print_whole
from unskew.evaluation.wording import sentence

NAME = 30


def print_error(error: ErrorAudit, console: Console) -> None:
    """Print what to read first, the reference pair, the user's pairs, and what it rests on."""
    console.print(Text("How wrong can an evaluation on a log like this be?", style="bold"))
    for words in lead(error):
        console.print(Text(words), soft_wrap=True)
    _print_values(error, console)
    _print_pairs("Oracle against popular list: errors of the difference", error.reference, console)
    for a, b in dict.fromkeys((row.a, row.b) for row in error.own):
        title = f"Your {shortened(a, NAME)} against {shortened(b, NAME)}: errors of the difference"
        _print_pairs(title, [row for row in error.own if (row.a, row.b) == (a, b)], console)
    console.print(Text(assumed(error)), soft_wrap=True)
    console.print(Text(depth_used(error)), soft_wrap=True)
    if error.missing:
        console.print(Text(sentence(error.missing)), soft_wrap=True)


def _print_values(error: ErrorAudit, console: Console) -> None:
    """Two recommenders side by side, or below one another where that is too wide."""
    shown = ([row.model for row in error.models] or [ORACLE, POPULAR])[:2]
    table = _values(error, shown)
    for part in [table] if fits(table, console) else [_values(error, [name]) for name in shown]:
        print_whole(part, console)


def _print_pairs(title: str, rows: Sequence[PairRow], console: Console) -> None:
    """With a column for the metric, or a line where that is too wide."""
    table = _pairs(title, rows)
    if fits(table, console):
        print_whole(table, console)
        return
    print_whole(_pairs(title, rows, narrow=True), console)
    console.print()


def _values(error: ErrorAudit, shown: Sequence[str]) -> Table:
    """Bias, error and coverage of the values, side by side."""
    role = "reference" if not error.models else None
    rows = {
        (row.metric, row.label, row.recommender): row for row in error.values if (row.role == "reference") == bool(role)
    }
    alone = f" of {shortened(shown[0], NAME)}" if len(shown) == 1 else ""
    table = _table(f"Errors of a value{alone}, estimate minus truth in the world", ("metric", "estimator"))
    for name in shown:
        for column in ("truth", "bias", "error", "covers"):
            table.add_column(column if alone else f"{shortened(name, 10)}\n{column}", justify="right", no_wrap=True)
    last = ""
    for metric, label in dict.fromkeys((metric, label) for metric, label, _ in rows):
        if last and metric != last:
            table.add_section()
        cells: list[str] = []
        for name in shown:
            cells += _value_cells(rows[metric, label, name])
        table.add_row(Text(metric if metric != last else ""), Text(label), *cells)
        last = metric
    return table


def _value_cells(row: ValueRow) -> list[str]:
    return [_number(row.truth), _number(row.bias, sign=True), _number(row.error), _percent(row.coverage)]


def _pairs(title: str, rows: Sequence[PairRow], *, narrow: bool = False) -> Table:
    seen = any(row.observed is not None for row in rows)
    table = _table(title, ("estimator",) if narrow else ("metric", "estimator"))
    first = "observed" if seen else "true"
    for column in (first, "bias", "error", "covers", "wrong winner", "detects", "of value"):
        table.add_column(column.replace(" ", "\n") if narrow else column, justify="right", no_wrap=True)
    if narrow:
        table.padding, table.show_edge = (0, 1, 0, 0), False
    last = ""
    for row in rows:
        new = row.metric != last
        if last and new:
            table.add_section()
        if narrow and new:
            table.add_row(Text(row.metric, style="bold"))
        share = row.smallest / row.level if row.smallest is not None and row.level else None
        table.add_row(
            *([] if narrow else [Text(row.metric if new else "")]),
            Text(row.label),
            _number(row.observed if seen else row.true_gap, sign=True),
            _number(row.bias, sign=True),
            _number(row.error),
            _percent(row.coverage),
            _percent(row.wrong_winner),
            _number(row.smallest),
            _percent(share),
        )
        last = row.metric
    return table


def _table(title: str, left: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in left:
        table.add_column(column, no_wrap=True)
    return table


def _number(value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return "-"
    return f"{value:+.4f}" if sign else f"{value:.4f}"


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    if 0 < value < 0.0005:
        return "<0.1%"
    return f"{100 * value:.0f}%" if value >= 0.0995 or value == 0 else f"{100 * value:.1f}%"
