"""Reports as Markdown, LaTeX and CSV."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.display.markup import csv_text, latex, latex_table, markdown, markdown_table
from unskew.display.numbers import number
from unskew.evaluation.showing.estimate_grid import COUNTS, Grid

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def as_markdown(report: "Report") -> str:
    """The verdict, a table per metric with the best value of each estimator in bold, and the warnings."""
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
    if report.warnings:
        parts.append("".join(f"- {markdown(text)}\n" for text in report.warnings))
    return "\n".join(parts)


def as_latex(report: "Report") -> str:
    """A ``tabular``: models down, estimators across, a part per metric, the best value of each in bold."""
    grid = Grid.of(report)
    columns = ["", *map(latex, grid.estimators)]
    return latex_table(columns, (_latex_rows(grid, metric) for metric in grid.metrics))


def as_csv(report: "Report") -> str:
    """A line per estimate, with all its numbers."""
    return csv_text([row.to_dict() for row in report.estimates])


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
