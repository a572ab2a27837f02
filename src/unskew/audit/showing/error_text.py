"""An error audit as text tables."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.audit.error.agreement import Span
from unskew.audit.error.result import ORACLE, POPULAR, ErrorAudit, PairRow, ValueRow, WorldResult
from unskew.audit.showing.error_words import assumed, depth_used, lead, refusals
from unskew.display.names import shortened
from unskew.display.phrases import sentence
from unskew.display.text_table import fits, print_whole
from unskew.simulators.likeness import STATISTICS

NAME = 30
ESTIMATORS = ("aoa", "snips", "snips(per=balanced)", "snips(per=user)")


def print_error(error: ErrorAudit, console: Console) -> None:
    """Print what to read first, the worlds, the reference pair, the user's pairs, and what it rests on."""
    console.print(Text("How wrong can an evaluation on a log like this be?", style="bold"))
    for words in lead(error):
        console.print(Text(words), soft_wrap=True)
    if len(error.worlds) > 1:
        _print_worlds(error, console)
    if error.accepted:
        _print_values(error, console)
        _print_pairs("Oracle against popular list: errors of the difference", error, error.reference, console)
    for a, b in dict.fromkeys((row.a, row.b) for row in error.own):
        title = f"Your {shortened(a, NAME)} against {shortened(b, NAME)}: errors of the difference"
        _print_pairs(title, error, [row for row in error.own if (row.a, row.b) == (a, b)], console)
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


def _print_worlds(error: ErrorAudit, console: Console) -> None:
    """How well each world fits and what it says, in one table or in two; then why some are refused."""
    metric = error.metrics[0]
    table = _worlds("Worlds", error, [*_fit_columns(), *_share_columns(metric)])
    if fits(table, console):
        print_whole(table, console)
    else:
        print_whole(_worlds("Worlds", error, _fit_columns()), console)
        print_whole(_worlds("Worlds: wrong winner", error, _share_columns(metric)), console)
    for line in refusals(error):
        console.print(Text(line), soft_wrap=True)


Column: TypeAlias = tuple[str, Callable[[WorldResult], str]]


def _fit_columns() -> list[Column]:
    """Loss, divergences and the AUC of the oracle."""
    loss: Column = ("loss", lambda world: "-" if world.likened.loss is None else f"{100 * world.likened.loss:.0f}%")
    fit: list[Column] = [(name.replace("-", "\n"), _divergence(name)) for name in STATISTICS]
    auc: Column = ("oracle\nAUC", lambda world: "-" if world.auc is None else f"{world.auc:.2f}")
    return [loss, *fit, auc, ("runs", lambda world: str(world.runs))]


def _divergence(name: str) -> Callable[[WorldResult], str]:
    return lambda world: "-" if world.likened.divergences is None else f"{world.likened.divergences[name]:.2f}"


def _share_columns(metric: str) -> list[Column]:
    """How often each estimator has the wrong winner."""
    return [(f"wrong by\n{label}", _wrong(metric, label)) for label in ESTIMATORS]


def _wrong(metric: str, label: str) -> Callable[[WorldResult], str]:
    def cell(world: WorldResult) -> str:
        rows = [row for row in world.pairs if row.reference and (row.metric, row.label) == (metric, label)]
        return _percent(rows[0].wrong_winner) if rows else "-"

    return cell


def _worlds(title: str, error: ErrorAudit, columns: Sequence[Column]) -> Table:
    table = _table(title, ("world", ""))
    for name, _ in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for world in error.worlds:
        state = "accepted" if world.accepted else "refused"
        table.add_row(Text(world.likened.name), state, *(cell(world) for _, cell in columns))
    return table


def _print_pairs(title: str, error: ErrorAudit, rows: Sequence[PairRow], console: Console) -> None:
    """With a column for the metric, or a line where that is too wide."""
    table = _pairs(title, error, rows)
    if fits(table, console):
        print_whole(table, console)
        return
    print_whole(_pairs(title, error, rows, narrow=True), console)
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


def _pairs(title: str, error: ErrorAudit, rows: Sequence[PairRow], *, narrow: bool = False) -> Table:
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
        table.add_row(
            *([] if narrow else [Text(row.metric if new else "")]),
            Text(row.label),
            _number(row.observed if seen else row.true_gap, sign=True),
            _number(row.bias, sign=True),
            _number(row.error),
            _percent(row.coverage),
            _span(error.wrong_span(row)),
            _number(row.smallest),
            _span(error.smallest_span(row)),
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


def _span(span: Span | None) -> str:
    """The least and the greatest over worlds, or the one that there is."""
    if span is None:
        return "-"
    low, high = _percent(span.low), _percent(span.high)
    return low if low == high else f"{low}..{high}"


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    if 0 < value < 0.0005:
        return "<0.1%"
    return f"{100 * value:.0f}%" if value >= 0.0995 or value == 0 else f"{100 * value:.1f}%"
