"""The differences from an earlier run: for the terminal, for notebooks, and as rows of text."""

from typing import TYPE_CHECKING

from unskew.display.notebook import fragment, html_table
from unskew.display.numbers import interval, level, move, number, p
from unskew.display.text_table import digits, print_lines, print_table, table, words

if TYPE_CHECKING:
    from rich.console import Console

    from unskew.evaluation.comparing.changes import Changes

KEY = ("metric", "estimator", "model")
_NUMBERS = ("before", "now", "difference", "by size", "rest")


def print_changes(changes: "Changes", console: "Console") -> None:
    """Print the differences from an earlier run, and notes on how to interpret them."""
    columns = [*words(*KEY), *digits(*number_columns(changes, "%"))]
    print_table(table("Against the earlier run", columns, change_rows(changes)), console)
    file = [] if changes.file is None else [f"earlier run: {changes.file}"]
    print_lines([*file, *size_lines(changes), *(f"note: {text}" for text in changes.notes)], console)


def changes_html(changes: "Changes") -> str:
    """How many estimates changed, the differences and the notes."""
    shown = html_table([*KEY, *number_columns(changes)], change_rows(changes))
    return fragment(changes.describe(), (), None, [shown], [*size_lines(changes), *changes.notes])


def number_columns(changes: "Changes", unit: str = " %") -> list[str]:
    """The names of the columns of numbers."""
    return [*_NUMBERS, f"{level(changes.level, unit)} interval", "p"]


def change_rows(changes: "Changes") -> list[list[str]]:
    """A row per estimate that both runs have: metric, estimator, model, then the numbers."""
    return [
        [
            *(row.metric, row.estimator, row.model, number(row.before), number(row.after)),
            *map(move, (row.difference, row.expected, row.rest)),
            *(interval(row.low, row.high, "+.4f", "-"), p(row.p_value)),
        ]
        for row in changes.rows
    ]


def size_lines(changes: "Changes") -> list[str]:
    """The sizes of both test sets, a line each."""
    return [f"test before: {changes.before.describe()}", f"test now: {changes.after.describe()}"]
