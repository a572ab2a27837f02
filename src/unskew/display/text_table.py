"""Printed tables that fit the screen and keep their words and digits."""

import io
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from unskew.display.wrapping import LOOSEST, break_lines, cells, least_width, squeeze

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

Cell: TypeAlias = "str | Text"  # a string is plain text; what has colours comes as `rich.text.Text`


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
    """Print plain text, wrapped between words on a terminal; in a file or pipe each line stays whole."""
    from rich.text import Text

    for line in lines:
        console.print(Text(line), soft_wrap=not console.is_terminal)


def fits(table: "Table", console: "Console") -> bool:
    """Whether all columns of a table have the room they want."""
    return _wanted(table, console) <= console.width


def print_table(table: "Table", console: "Console") -> None:
    """Print a table within the width of the console, without cutting a word or a number.

    Columns of words wrap between words first, then all columns do; then words of the notation break at their brackets,
    and then after commas, equals signs and dashes. If that is not enough, each row is printed as a list of its cells.
    """
    wanted = _wanted(table, console)
    if wanted <= console.width:
        console.print(table)
        return
    texts = [[_as_text(cell) for cell in (column.header, *column.cells)] for column in table.columns]
    longest = [_longest(column) for column in texts]
    room = console.width - wanted + sum(longest)
    kept = [bool(column.no_wrap) for column in table.columns]
    for loose, keep in ((0, kept), *((loose, [False] * len(kept)) for loose in range(LOOSEST))):
        least = [
            most if whole else max(least_width(cell.plain, loose) for cell in column)
            for column, most, whole in zip(texts, longest, keep, strict=True)
        ]
        if sum(least) <= room:
            widths = squeeze(longest, least, room)
            console.print(_wrapped(table, texts, widths, loose))
            return
    console.print(_listed(table, texts, console.width))


def _wrapped(table: "Table", texts: "list[list[Text]]", widths: list[int], loose: int) -> "Table":
    """The table with these columns, its cells broken into lines."""
    drawn = copy(table)
    drawn.columns, drawn.rows = [], []
    broken = [[_broken(cell, width, loose) for cell in column] for column, width in zip(texts, widths, strict=True)]
    for old, column, width in zip(table.columns, broken, widths, strict=True):
        drawn.add_column(column[0], justify=old.justify, width=width, no_wrap=True, overflow="fold")
    for place, row in enumerate(table.rows, 1):
        drawn.add_row(*(column[place] for column in broken), end_section=row.end_section)
    return drawn


def _listed(table: "Table", texts: "list[list[Text]]", width: int) -> "Table":
    """The rows one below the other, each as lines of a title and a cell, for a table that is too wide by far."""
    from rich.table import Table
    from rich.text import Text

    titles = [" ".join(column[0].plain.split()) for column in texts]
    left = min(max(map(cells, titles), default=0), width // 3)
    drawn = Table(title=table.title, title_justify="left", pad_edge=False, box=None, show_header=False)
    drawn.add_column(width=left, no_wrap=True, overflow="fold")
    drawn.add_column(width=width - left - 2, no_wrap=True, overflow="fold")
    for place in range(1, len(table.rows) + 1):
        for title, column in zip(titles, texts, strict=True):
            if column[place].plain.strip():
                drawn.add_row(_fitting(Text(title), left), _fitting(column[place], width - left - 2))
        drawn.add_row("", "")
    return drawn


def _fitting(text: "Text", width: int) -> "Text":
    """The text broken where that hurts least."""
    loose = next((loose for loose in range(LOOSEST) if least_width(text.plain, loose) <= width), LOOSEST)
    return _broken(text, width, loose)


def _broken(text: "Text", width: int, loose: int) -> "Text":
    from rich.text import Text

    lines = text.divide(break_lines(text.plain, width, loose))
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def _as_text(cell: object) -> "Text":
    from rich.text import Text

    return cell if isinstance(cell, Text) else Text(str(cell))


def _wanted(table: "Table", console: "Console") -> int:
    return console.measure(table, options=console.options.update(width=10_000)).maximum


def _longest(column: "list[Text]") -> int:
    return max((cells(line) for cell in column for line in cell.plain.split("\n")), default=0)
