"""A report over windows as Markdown, LaTeX and CSV, and as notebooks show it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unskew.display.markup import csv_text, latex, latex_table, markdown, markdown_table
from unskew.display.notebook import fragment, html_table
from unskew.evaluation.windows.page import first_chart
from unskew.evaluation.windows.showing import spans_in_words, tables_of

if TYPE_CHECKING:
    from unskew.evaluation.windows.result import WindowsReport


def as_markdown(report: "WindowsReport") -> str:
    """The sentences, the first in bold, the tables of the terminal, and the warnings."""
    headline, *others = _verdict(report)
    parts = [f"**{markdown(headline)}**\n", *_markdown_list(others)]
    for each in tables_of(report):
        rows = [[*map(markdown, row)] for row in each.rows]
        columns = [*map(markdown, (*each.labels, *each.columns))]
        parts += [f"{markdown(each.title)}\n", markdown_table(columns, rows, labels=len(each.labels))]
    return "\n".join([*parts, *_markdown_list([*spans_in_words(report)]), *_markdown_list(report.warnings)])


def as_latex(report: "WindowsReport") -> str:
    """A ``tabular`` for each of the tables of the terminal, with its title in a comment."""
    return "\n".join(
        f"% {latex(each.title)}\n"
        + latex_table(
            [*map(latex, (*each.labels, *each.columns))],
            [[[*map(latex, row)] for row in each.rows]],
            labels=len(each.labels),
        )
        for each in tables_of(report)
    )


def as_csv(report: "WindowsReport") -> str:
    """A line per estimate, with the value and the users of each window."""
    rows = []
    for row in report.estimates:
        whole = {name: value for name, value in row.to_dict().items() if name not in {"values", "users"}}
        values = {f"value {name}": value for name, value in zip(report.reports, row.values, strict=True)}
        users = {f"users {name}": number for name, number in zip(report.reports, row.users, strict=True)}
        rows.append({**whole, **values, **users})
    return csv_text(rows)


def notebook_html(report: "WindowsReport") -> str:
    """The sentences, the chart over the windows of the first metric, the tables and the warnings."""
    headline, *others = _verdict(report)
    tables = [html_table((*each.labels, *each.columns), each.rows, each.title) for each in tables_of(report)]
    return fragment(headline, others, first_chart(report), tables, report.warnings)


def _verdict(report: "WindowsReport") -> list[str]:
    return report.sentences or [f"One model over {len(report.reports)} windows"]


def _markdown_list(lines: Sequence[str]) -> list[str]:
    return ["".join(f"- {markdown(text)}\n" for text in lines)] if lines else []
