"""Printed tables that keep their digits on a narrow screen."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import rich.table
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

Cell: TypeAlias = "str | Text"  # a string is plain text; what has colours comes as `rich.text.Text`
NAME_ROOM = 12  # characters left to a column of names on a narrow screen


@dataclass(frozen=True)
class Column:
    """A column of a table: too long a word is folded or cut, and without `wrap` a cell stays on one line."""

    title: str
    align: Literal["left", "right"] = "left"
    wrap: Literal["fold", "ellipsis"] | None = "fold"


def words(*titles: str) -> list[Column]:
    """Columns of names and other words."""
    return [Column(title) for title in titles]


def digits(*titles: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(title, "right", wrap=None) for title in titles]


def table(
    title: str | None, columns: Iterable[Column], rows: Iterable[Sequence[Cell]], *, group: int = 0, repeat: bool = True
) -> "Table":
    """A table with a line below its headers and no other; without one where no column has a title.

    Rows whose first `group` cells are equal make a section, where these cells are shown once unless `repeat`.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    heading = None if title is None else Text(title, style="table.title")
    drawn = Table(title=heading, title_justify="left", pad_edge=False, box=SIMPLE_HEAD, show_header=False)
    for column in columns:
        overflow, no_wrap = column.wrap or "ellipsis", column.wrap is None
        drawn.add_column(Text(column.title), justify=column.align, no_wrap=no_wrap, overflow=overflow)
        drawn.show_header |= bool(column.title)
    last: Sequence[Cell] | None = None
    for row in rows:
        key = row[:group]
        if key != last:
            drawn.add_section()
        shown = row if repeat or key != last else [*("" for _ in key), *row[group:]]
        drawn.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in shown))
        last = key
    return drawn


def plain_text(draw: "Callable[[Console], None]", width: int) -> str:
    """What is drawn on a console of that width, as text without colours."""
    from rich.console import Console

    stream = io.StringIO()
    draw(Console(file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False))
    return stream.getvalue().rstrip("\n")


def print_lines(lines: Iterable[str], console: "Console") -> None:
    """Print plain text that the terminal may wrap where it likes."""
    from rich.text import Text

    for line in lines:
        console.print(Text(line), soft_wrap=True)


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
    widths = [
        max((_length(word) for cell in _cells(column) for word in cell.split()), default=0) for column in wrapping
    ]
    longest = [_longest(column) for column in wrapping]
    room = console.width - _wanted(table, console) + sum(longest)
    if sum(widths) <= room < sum(longest):
        # exact widths: with least widths only, the table would reach beyond the edge and be cut there
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


def _longest(column: "rich.table.Column") -> int:
    return max(map(_length, _cells(column)), default=0)


def _cells(column: "rich.table.Column") -> "list[str]":
    return [str(cell) for cell in (column.header, *column.cells)]


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
