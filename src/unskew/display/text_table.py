"""Printed tables that keep their digits on a narrow screen."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

NAME_ROOM = 12
"""Characters that are left to a column of names on a narrow screen."""


def plain_text(draw: "Callable[[Console], None]", width: int) -> str:
    """What is drawn on a console of that width, as text without colours."""
    from rich.console import Console

    stream = io.StringIO()
    draw(Console(file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False))
    return stream.getvalue().rstrip("\n")


def fits(table: "Table", console: "Console") -> bool:
    """Whether all columns of a table have the room they want."""
    return _wanted(table, console) <= console.width


def print_whole(table: "Table", console: "Console") -> None:
    """Print a table with all its digits, over the edge of a narrow screen if need be: half a number is worse.

    Columns that may wrap give way first, down to `NAME_ROOM` characters.
    """
    wanted = _wanted(table, console)
    table.width = max(min(wanted, console.width), wanted - _slack(table))
    console.print(table, crop=False)


def print_words(table: "Table", console: "Console") -> None:
    """Print a table with its words whole where there is room for them: columns may wrap between, not within them."""
    wrapping = [column for column in table.columns if not column.no_wrap]
    pieces = [[piece for cell in _cells(column) for piece in cell.split()] for column in wrapping]
    widths = [max(map(_length, words), default=0) for words in pieces]
    longest = [_longest(column) for column in wrapping]
    room = console.width - _wanted(table, console) + sum(longest)
    if sum(widths) <= room < sum(longest):
        # told exactly: a table squeezed to least widths is taken beyond the edge, and cut there
        for column, width in zip(wrapping, _squeezed(longest, widths, room), strict=True):
            column.width = width
    console.print(table)


def _squeezed(wanted: "list[int]", least: "list[int]", room: int) -> "list[int]":
    """Widths that fill the room, where the widest column gives way first, and none below its least width."""
    widths = list(wanted)
    for _ in range(sum(wanted) - room):
        free = [place for place, width in enumerate(widths) if width > least[place]]
        widths[max(free, key=widths.__getitem__)] -= 1
    return widths


def _wanted(table: "Table", console: "Console") -> int:
    return console.measure(table, options=console.options.update(width=10_000)).maximum


def _slack(table: "Table") -> int:
    """How many characters the columns that may wrap can do without."""
    return sum(max(0, _longest(column) - NAME_ROOM) for column in table.columns if not column.no_wrap)


def _longest(column: "Column") -> int:
    return max(map(_length, _cells(column)), default=0)


def _cells(column: "Column") -> "list[str]":
    return [str(cell) for cell in (column.header, *column.cells)]


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
