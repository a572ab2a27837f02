"""Reports as Markdown, LaTeX and CSV."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from unskew.display.markup import csv_text, latex, latex_table, markdown, markdown_table
from unskew.display.numbers import number
from unskew.evaluation.showing.changes_view import KEY, change_rows, number_columns, size_lines
from unskew.evaluation.showing.estimate_grid import COUNTS, Grid
from unskew.evaluation.showing.slices_view import LABELS, slice_lines, slice_tables

if TYPE_CHECKING:
    from unskew.evaluation.report import Report
    from unskew.evaluation.slicing.slices import GroupEstimate


def as_markdown(report: "Report") -> str:
    """The verdict, a table per metric with the best values in bold, groups, changes and the warnings."""
    grid, verdict = Grid.of(report), report.verdict
    parts = [f"**{markdown(verdict.sentence)}** {markdown(' '.join(verdict.summary))}".rstrip() + "\n"]
    for metric in grid.metrics:
        estimators = [word for word in grid.estimators if any(key[:2] == (metric, word) for key in grid.rows)]
        rows = [
            [markdown(model), *(_marked(grid, (metric, word, model), "**{}**", " to ") for word in estimators)]
            for model in grid.models(metric)
        ]
        if grid.same_users:
            rows.append([COUNTS, *(grid.counts_of_metric(metric, word) for word in estimators)])
        parts.append(markdown_table([markdown(word) for word in (metric, *estimators)], rows))
    bold = "Bold: the best value of its column. " if grid.best else ""
    parts.append(f"{bold}In brackets: {grid.level} intervals.\n")
    for each in _further(report):
        rows = [[*map(markdown, row)] for row in each.rows]
        parts.append(f"{markdown(each.title)}\n")
        if rows:
            parts.append(markdown_table([*map(markdown, each.columns)], rows, labels=each.labels))
        parts += _markdown_list(each.lines)
    parts += _markdown_list(report.warnings)
    return "\n".join(parts)


def as_latex(report: "Report") -> str:
    """A ``tabular``: models down, estimators across, a part per metric; one more for each grouping and for changes."""
    grid = Grid.of(report)
    columns = ["", *map(latex, grid.estimators)]
    tables = [latex_table(columns, (_latex_rows(grid, metric) for metric in grid.metrics))]
    for each in _further(report):
        rows = [[*map(latex, row)] for row in each.rows]
        text = latex_table([*map(latex, each.columns)], [rows], labels=each.labels) if rows else ""
        tables.append("".join(f"% {latex(line)}\n" for line in (each.title, *each.lines)) + text)
    return "\n".join(tables)


def as_csv(report: "Report") -> str:
    """A line per estimate, with all its numbers; with groups and changes also those."""
    rows: list[dict[str, Any]] = [row.to_dict() for row in report.estimates]
    if report.against is not None:
        changes = {(row.model, row.metric, row.estimator): row for row in report.against.rows}
        for row in rows:
            change = changes.get((row["model"], row["metric"], row["estimator"]))
            row |= {f"change_{name}": None if change is None else getattr(change, name) for name in _CHANGE}
    if report.sliced:
        # the groups after all others, and every line with every column
        empty = dict.fromkeys(rows[0] if rows else ())
        whole = {(row["model"], row["metric"], row["estimator"]): row for row in rows}
        of_groups = (
            {**_shared(whole, row), "by": each.by, **row.to_dict()} for each in report.sliced for row in each.estimates
        )
        everyone = dict.fromkeys(("by", *_GROUP))
        rows = [{**everyone, **row} for row in rows] + [{**everyone, **empty, **row} for row in of_groups]
    return csv_text(rows)


def _shared(whole: Mapping[tuple[str, str, str], dict[str, Any]], row: "GroupEstimate") -> dict[str, Any]:
    """What an estimate of a group has in common with that over all rows."""
    same = whole.get((row.model, row.metric, row.estimator), {})
    return {name: same[name] for name in ("definition", "target", "level") if name in same}


_CHANGE = ("before", "difference", "expected", "rest", "low", "high", "p_value")
_GROUP = ("group", "shrunk", "shrunk_low", "shrunk_high")


class _Table(NamedTuple):
    """A table behind that of the estimates: its first columns are labels, and the lines are below it."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    labels: int
    lines: Sequence[str] = ()


def _further(report: "Report") -> Iterator[_Table]:
    """Yield what was asked for beyond the estimates: the changes from an earlier run, and the groups."""
    if report.against is not None:
        changes = report.against
        columns = [*KEY, *number_columns(changes)]
        lines = [*size_lines(changes), *changes.notes]
        yield _Table(changes.describe(), columns, change_rows(changes), len(KEY), lines)
    for slices in report.sliced:
        tables = [_Table(*each, LABELS) for each in slice_tables(slices)]
        nothing = _Table(f"by {slices.by}", [], [], 0)
        *first, last = tables or [nothing]
        yield from (*first, last._replace(lines=slice_lines(slices)))


def _markdown_list(lines: Sequence[str]) -> list[str]:
    return ["".join(f"- {markdown(text)}\n" for text in lines)] if lines else []


def _latex_rows(grid: Grid, metric: str) -> Iterator[list[str]]:
    yield [f"\\textit{{{latex(metric)}}}", *("" for _ in grid.estimators)]
    for model in grid.models(metric):
        cells = (_marked(grid, (metric, word, model), "\\textbf{{{}}}", ", ") for word in grid.estimators)
        yield [latex(model), *cells]


def _marked(grid: Grid, key: tuple[str, str, str], best: str, between: str) -> str:
    """The value, marked if it is the best, with its interval in brackets; empty without an estimate."""
    row = grid.rows.get(key)
    if row is None:
        return ""
    value = number(row.value)
    shown = best.format(value) if key in grid.best else value
    if row.low is None or row.high is None:
        return shown
    return f"{shown} ({row.low:.4f}{between}{row.high:.4f})"
