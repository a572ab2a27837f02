"""What notebooks show of a result: a headline, a chart, tables and notes, without a style sheet."""

import html
from collections.abc import Iterable, Sequence

from unskew.display.chart import Chart
from unskew.display.names import clean


def fragment(
    headline: str,
    sentences: Iterable[str] = (),
    chart: Chart | None = None,
    tables: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> str:
    """HTML of a result; all texts are escaped, tables are HTML already.

    Parameters
    ----------
    headline : str
        The first sentence, in bold.
    sentences : iterable of str
        What follows it.
    chart : Chart, optional
    tables : iterable of str
        As `html_table` makes them.
    notes : iterable of str
        A list at the end.
    """
    rest = " ".join(map(_escaped, sentences))
    picture = "" if chart is None else f"<p>{chart._repr_html_()}</p>"  # as a notebook would
    items = "".join(f"<li>{_escaped(note)}</li>" for note in notes)
    below = f"<ul>{items}</ul>" if items else ""
    return f"<p><strong>{_escaped(headline)}</strong> {rest}</p>{picture}{''.join(tables)}{below}"


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of texts.

    Examples
    --------
    >>> html_table(["model"], [["<b>"]])
    '<table><thead><tr><th>model</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    title = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{_escaped(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escaped(text: str) -> str:
    return html.escape(clean(text))
