"""Consoles and progress bars: tables on stdout, progress and warnings on stderr."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment

from unskew.compiling import COMPILING, announced
from unskew.display.names import clean

LEAST, MOST = 80, 200  # columns that tables are laid out for on a terminal
IN_FILES = 120  # columns of a pipe or file, so that what is written there does not depend on the terminal


class CleanConsole(Console):
    """A console that replaces control characters of texts, because a name or an id could move the cursor with them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed; those of the console itself stay as they are."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else clean(text), style, control)


def screen(*, highlight: bool = False) -> Console:
    """A console on stdout that is as wide as the terminal."""
    return CleanConsole(width=columns(), highlight=highlight)


def columns() -> int:
    """Columns of stdout: those of the terminal, from 80 to 200, and 120 for a pipe or file; COLUMNS overrides both."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return min(max(int(given), LEAST), MOST)
    if not sys.stdout.isatty():
        return IN_FILES
    return min(max(shutil.get_terminal_size((LEAST, 24)).columns, LEAST), MOST)


def aside() -> Console:
    """A console on stderr, for warnings and notes."""
    return CleanConsole(stderr=True, soft_wrap=True)


class Bars:
    """One bar per stage: ``bars(stage, done, total)`` moves it, ``bars.say(stage, words)`` puts words next to it."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Move the bar of a stage."""
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, total=total, words="")
        self.bars.update(self.tasks[stage], completed=done, total=total)

    def say(self, stage: str, words: str) -> None:
        """Put words next to the bar of a stage, if it has one."""
        if stage in self.tasks:
            self.bars.update(self.tasks[stage], words=words)


@contextmanager
def stages(*, quiet: bool = False) -> Iterator[Bars | None]:
    """A callback ``(stage, done, total)`` that draws one bar per stage on stderr; None if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Progress(*columns, console=CleanConsole(stderr=True), transient=True) as bars:
        shown = Bars(bars)
        with announced(shown):
            yield shown


@contextmanager
def noted_compilation(*, quiet: bool) -> Iterator[None]:
    """Print a line on stderr when something is compiled while there are no bars, but only once."""
    printed = False

    def note(*_: Any) -> None:
        nonlocal printed
        if not printed:
            print(f"{COMPILING}; this takes some seconds", file=sys.stderr, flush=True)  # noqa: T201
        printed = True

    with announced(None if quiet else note):
        yield
