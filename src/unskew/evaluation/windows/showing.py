"""A report over windows as text: sentences, tables of means and of windows, and warnings."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from unskew.display.numbers import interval, level, number, p
from unskew.display.phrases import listed
from unskew.display.text_table import digits, print_lines, print_table, table, words
from unskew.evaluation.windows.result import WindowComparison, WindowEstimate, WindowOrder, span_of

if TYPE_CHECKING:
    from rich.console import Console

    from unskew.evaluation.windows.result import WindowsReport

_KEY = ("metric", "estimator", "model")
MOST_WINDOWS = 8  # columns of the table of windows; more windows are rows
HOLDS = "{metric} by {estimator}: {first} in all {n} windows"
TURNS = "{metric} by {estimator}: the best model turns over {n} windows: {first}"
SHOWN = "; over all windows {a} is better than {b} by {gap} ({bounds}), beyond chance"
NOT_SHOWN = "; over all windows the difference of {a} and {b}, {gap} ({bounds}), is within chance"
TURN_SHOWN = "; that {pairs} change places is itself beyond chance"


class WindowTable(NamedTuple):
    """A table of texts: its first columns are labels, the others numbers."""

    title: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: list[list[str]]
    repeat: bool = True  # labels in every row of a section


def describe(report: "WindowsReport") -> list[str]:
    """One sentence per metric and estimator."""
    if len(report.model_names) < 2:
        return []
    return [_sentence(report, order) for order in report.orders if len(order.over_all) > 1]


def print_all(report: "WindowsReport", console: "Console") -> None:
    """Print sentences, tables and warnings."""
    print_windows(report, console)
    print_warnings(report, console)


def print_windows(report: "WindowsReport", console: "Console") -> None:
    """Print the sentences, the means over windows, and the values of each window."""
    print_lines([*report.sentences, ""] if report.sentences else [], console)
    for each in tables_of(report):
        columns = [*words(*each.labels), *digits(*each.columns)]
        drawn = table(each.title, columns, each.rows, group=len(each.labels) - 1, repeat=each.repeat)
        print_table(drawn, console)
    print_lines(spans_in_words(report), console)


def print_warnings(report: "WindowsReport", console: "Console") -> None:
    """Print the warnings."""
    print_lines((f"warning: {text}" for text in report.warnings), console)


def _sentence(report: "WindowsReport", order: WindowOrder) -> str:
    n, first = len(report.reports), order.first
    if len(first) == 1:
        start = HOLDS.format(metric=order.metric, estimator=order.estimator, first=f"{next(iter(first))} is first", n=n)
    else:
        counts = listed(f"{name} is first in {count}" for name, count in first.items())
        start = TURNS.format(metric=order.metric, estimator=order.estimator, n=n, first=counts)
    best, following = order.over_all[:2]
    row = next(row for row in _of(report, order) if {row.a, row.b} == {best, following})
    if row.difference is None:
        return f"{start}."
    flipped = row.a != best
    low, high = (row.low, row.high) if not flipped else (_negative(row.high), _negative(row.low))
    beyond = row.p_value_holm is not None and row.p_value_holm < 1 - report.estimates[0].level
    gap = -row.difference if flipped else row.difference
    text = (SHOWN if beyond else NOT_SHOWN).format(
        a=best, b=following, gap=number(gap, "+.4f"), bounds=interval(low, high, "+.4f")
    )
    pairs = [f"{each.a} and {each.b}" for each in _of(report, order) if each.turn_shown]
    return f"{start}{text}{TURN_SHOWN.format(pairs=listed(pairs)) if pairs else ''}."


def _of(report: "WindowsReport", order: WindowOrder) -> list[WindowComparison]:
    return [row for row in report.comparisons if (row.metric, row.estimator) == (order.metric, order.estimator)]


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def tables_of(report: "WindowsReport") -> Iterator[WindowTable]:
    """The means over windows, the differences of models, and the values of each window."""
    yield _means(report)
    if report.comparisons:
        yield _comparisons(report)
    yield _by_window(report)


def _means(report: "WindowsReport") -> WindowTable:
    shown = f"{level(report.estimates[0].level, '%')} interval"
    rows = [
        [
            *(row.metric, row.estimator, _named(row, baseline), number(row.value)),
            interval(row.low, row.high) if not baseline else "-",
            *(number(row.users_error, none="-"), number(row.windows_error, none="-")),
        ]
        for row, baseline in report.rows_with_baselines()
    ]
    columns = ("mean", shown, "error of users", "of windows")
    return WindowTable(f"Means over {len(report.reports)} windows", _KEY, columns, rows)


def _named(row: WindowEstimate, baseline: bool) -> str:
    return f"{row.model} (baseline)" if baseline else row.model


def _comparisons(report: "WindowsReport") -> WindowTable:
    rows = [
        [
            *(row.metric, row.estimator, f"{row.a} - {row.b}", number(row.difference, "+.4f")),
            *(interval(row.low, row.high, "+.4f"), p(row.p_value_holm), f"{row.better} of {len(row.differences)}"),
        ]
        for row in report.comparisons
    ]
    labels, columns = ("metric", "estimator", "models"), ("difference", "interval", "p (Holm)", "better in")
    return WindowTable("Differences, paired by user and window", labels, columns, rows)


def _by_window(report: "WindowsReport") -> WindowTable:
    names = list(report.reports)
    if len(names) <= MOST_WINDOWS:
        rows = [
            [row.metric, row.estimator, _named(row, baseline), *map(number, row.values)]
            for row, baseline in report.rows_with_baselines()
        ]
        return WindowTable("By window", _KEY, tuple(names), rows)
    rows = [
        [row.metric, row.estimator, _named(row, baseline), name, number(value)]
        for row, baseline in report.rows_with_baselines()
        for name, value in zip(names, row.values, strict=True)
    ]
    return WindowTable("By window", (*_KEY, "window"), ("value",), rows, repeat=False)


def spans_in_words(report: "WindowsReport") -> Iterator[str]:
    """Yield the rows and the span of time of each window."""
    for name, each in report.reports.items():
        span = span_of(each)
        when = "" if span["first"] is None else f", from {span['first']} to {span['last']}"
        yield f"{name}: {span['test_rows']:,} test rows after {span['train_rows']:,} training rows{when}"
