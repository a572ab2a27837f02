"""The table of estimates on the terminal: models down, estimators across, the best value of each column marked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.display.numbers import interval, level, number, one_or_both, short
from unskew.display.text_table import Cell, Column, fits, print_table, table, words
from unskew.display.wrapping import cells
from unskew.estimators import Estimate
from unskew.evaluation.estimating.baselines import marked_estimates
from unskew.evaluation.estimating.order import first_of, is_content, lower_is_better, ranked

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

BEST = "*"
TITLE = "Estimates"
MARKED = f"Estimates ({BEST} the best value of its column)"
COUNTS = "users (ESS)"
NAME_ROOM = 24  # characters of a model's name that are allowed for when columns are counted


@dataclass(frozen=True)
class Grid:
    """The estimates of a report by metric, estimator and label of the model, and how they are written.

    Parameters
    ----------
    rows : mapping
        Metric, estimator and model to the estimate.
    best : frozenset
        The keys of the best values of each metric and estimator, if there are several models.
    level : str
        Of the intervals, as in ``95%``.
    assumed : str
        What the range of an estimate is over; empty if no estimate has one.
    """

    rows: Mapping[tuple[str, str, str], Estimate]
    best: frozenset[tuple[str, str, str]]
    level: str
    assumed: str

    @classmethod
    def of(cls, report: "Report") -> "Grid":
        """The grid of a report, the baselines below its models."""
        label = report.judged.label
        rows = (*report.judged.estimates, *marked_estimates(report.baselines))
        return cls(
            {(row.metric, row.estimator, label(row.model)): row for row in rows},
            frozenset((metric, estimator, label(model)) for metric, estimator, model in best_values(report)),
            level(report.settings.level, "%"),
            assumed_over(report),
        )

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics, in order."""
        return list(dict.fromkeys(metric for metric, _, _ in self.rows))

    @cached_property
    def estimators(self) -> list[str]:
        """The estimators, in order."""
        return list(dict.fromkeys(estimator for _, estimator, _ in self.rows))

    def models(self, metric: str) -> list[str]:
        """The models that a metric judges, in order."""
        return list(dict.fromkeys(model for name, _, model in self.rows if name == metric))

    @cached_property
    def same_users(self) -> bool:
        """Whether all models of a metric and estimator are judged on the same users."""
        counts: dict[tuple[str, str], set[tuple[int, float | None]]] = {}
        for (metric, estimator, _), row in self.rows.items():
            counts.setdefault((metric, estimator), set()).add((row.users, row.effective_sample_size))
        return all(len(each) == 1 for each in counts.values())

    def value(self, key: tuple[str, str, str]) -> Text:
        """The value, with its mark if it is the best."""
        if key not in self.rows:
            return Text("")
        mark = f" {BEST}" if key in self.best else ""
        return Text(f"{number(self.rows[key].value)}{mark}", style="bold" if mark else "")

    def interval(self, key: tuple[str, str, str]) -> str:
        """The interval."""
        return interval(self.rows[key].low, self.rows[key].high) if key in self.rows else ""

    def range(self, key: tuple[str, str, str]) -> str:
        """The range over what may be assumed; empty without one."""
        return interval(self.rows[key].assumed_low, self.rows[key].assumed_high, none="") if key in self.rows else ""

    def counts(self, key: tuple[str, str, str]) -> str:
        """Number of users, and the effective number."""
        row = self.rows.get(key)
        if row is None:
            return ""
        return f"{row.users:,} ({number(row.effective_sample_size, ',.0f', '-')})"

    def counts_of_metric(self, metric: str, estimator: str) -> str:
        """Numbers of users, the same for all models."""
        return next((self.counts(key) for key in self.rows if key[:2] == (metric, estimator)), "")


def print_estimates(report: "Report", console: Console) -> None:
    """Print the estimates: a line per model where there is room, else a few lines, and estimators in several tables."""
    grid = Grid.of(report)
    wide = _wide(grid) if grid.same_users else None
    if wide is not None and fits(wide, console):
        print_table(wide, console)
        return
    for part in _parts(grid, console.width):
        print_table(_stacked(grid, part), console)


def best_values(report: "Report") -> Iterator[tuple[str, str, str]]:
    """Yield metric, estimator and model of the best values, equal ones included, where there are several models.

    Metrics that describe the lists have no best value.
    """
    for metric, estimator in dict.fromkeys((row.metric, row.estimator) for row in report.judged.estimates):
        order = ranked(report.judged.estimates, metric, estimator, lower=lower_is_better(report.settings, metric))
        if len(order) > 1 and not is_content(report.settings, metric):
            yield from ((metric, estimator, model) for model in first_of(order))


def assumed_over(report: "Report") -> str:
    """What the range of an estimate is over, as a title: gammas, methods or both; empty without a range."""
    band, methods = report.band, report.estimated.methods
    if methods is not None:
        return "over methods" if band is None else "gammas or methods"
    return "" if band is None else f"gamma {one_or_both(short(band.range.low), short(band.range.high))}"


def _wide(grid: Grid) -> Table:
    """A line per model; a cell has the value, its interval, and its range if the column has one."""
    columns = [_column(grid, estimator) for estimator in grid.estimators]
    rows: list[list[Cell]] = []
    for metric in grid.metrics:
        models = grid.models(metric)
        rows += [[metric, model, *(column[1][metric, model] for column in columns)] for model in models]
        counts = (grid.counts_of_metric(metric, estimator) for estimator in grid.estimators)
        rows.append([metric, Text(COUNTS, style="dim"), *(Text(each, style="dim") for each in counts)])
    title = MARKED if grid.best else TITLE
    titles = [*words("metric", "model"), *(Column(column[0], wrap=None) for column in columns)]
    return table(title, titles, rows, group=1, repeat=False)


def _column(grid: Grid, estimator: str) -> tuple[str, dict[tuple[str, str], Text]]:
    """The title and the cells of an estimator; values, intervals and ranges are below one another."""
    keys = [(metric, estimator, model) for metric in grid.metrics for model in grid.models(metric)]
    marks = any(key in grid.best for key in keys)
    parts = [
        (("value  " if marks else "value"), [_unmarked(grid, key, room=marks) for key in keys]),
        (f"{grid.level} interval", [Text(grid.interval(key)) for key in keys]),
        (grid.assumed, [Text(grid.range(key)) for key in keys]),
    ]
    shown = [(title, texts) for title, texts in parts if any(text.plain.strip() for text in texts)]
    widths = [max(cells(title), *(cells(text.plain) for text in texts)) for title, texts in shown]
    head = "  ".join(title.rjust(width) for (title, _), width in zip(shown, widths, strict=True))
    lines = {}
    for place, (metric, _, model) in enumerate(keys):
        line = Text("")
        for k, ((_, texts), width) in enumerate(zip(shown, widths, strict=True)):
            line.append("  " if k else "")
            line.append(" " * (width - cells(texts[place].plain)))
            line.append_text(texts[place])
        line.rstrip()
        lines[metric, model] = line
    return f"{estimator}\n{head}", lines


def _unmarked(grid: Grid, key: tuple[str, str, str], *, room: bool) -> Text:
    """The value with room for a mark, so that values without one keep their place."""
    text = grid.value(key)
    if room and text.plain and key not in grid.best:
        text.append("  ")
    return text


def _stacked(grid: Grid, estimators: Sequence[str]) -> Table:
    """Some lines per model: value, interval, and range where an estimate has one."""
    rows: list[tuple[str, list[Cell]]] = []
    dim = "dim"
    for metric in grid.metrics:
        shown = [estimator for estimator in estimators if any(key[:2] == (metric, estimator) for key in grid.rows)]
        if not shown:
            continue
        rows.append((metric, [Text(metric, style="bold"), *("" for _ in estimators)]))
        for model in grid.models(metric):
            keys = [(metric, estimator, model) for estimator in estimators]
            rows.append((metric, [f" {model}", *map(grid.value, keys)]))
            lines = {f"{grid.level} interval": map(grid.interval, keys)}
            if any(map(grid.range, keys)):
                lines[grid.assumed] = map(grid.range, keys)
            if not grid.same_users:
                lines[COUNTS] = map(grid.counts, keys)
            for title, texts in lines.items():
                rows.append((metric, [Text(f"   {title}", style=dim), *(Text(text, style=dim) for text in texts)]))
        if grid.same_users:
            counts = (grid.counts_of_metric(metric, estimator) for estimator in estimators)
            rows.append((metric, [Text(f" {COUNTS}", style=dim), *(Text(text, style=dim) for text in counts)]))
    title = MARKED if grid.best else TITLE
    drawn = table(title, words("model", *estimators), ())
    for place, (metric, row) in enumerate(rows):
        last = place + 1 == len(rows) or rows[place + 1][0] != metric
        drawn.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row), end_section=last)
    return drawn


def _parts(grid: Grid, width: int) -> list[list[str]]:
    """The estimators in groups whose columns fit next to one another; a long word takes two lines."""
    titles = [f"   {grid.level} interval", f"   {grid.assumed}", COUNTS]
    names = [cells(model) for _, _, model in grid.rows]
    room = width - 2 - max(*map(cells, titles), min(max(names), NAME_ROOM))
    parts: list[list[str]] = [[]]
    used = 0
    for estimator in grid.estimators:
        keys = [key for key in grid.rows if key[1] == estimator]
        widest = max(cells(text) for key in keys for text in (grid.interval(key), grid.range(key), grid.counts(key)))
        column = max(widest, *(cells(piece) for piece in estimator.replace("(", " (").split())) + 3
        if parts[-1] and used + column > room:
            parts.append([])
            used = 0
        parts[-1].append(estimator)
        used += column
    return parts
