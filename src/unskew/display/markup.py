"""Tables as Markdown, LaTeX and CSV, with everything escaped that these give a meaning to."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~$])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "“": "``",
    "”": "''",
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def markdown(text: str) -> str:
    r"""A text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(markdown("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def latex(text: str) -> str:
    r"""A text that LaTeX shows as it is.

    Examples
    --------
    >>> latex("50% of A_1")
    '50\\% of A\\_1'
    """
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]], labels: int = 1) -> str:
    """A table of cells that are Markdown already; the first columns are left-aligned, the others right."""
    marks = ["---"] * labels + ["---:"] * (len(columns) - labels)
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, marks, *rows)) + "\n"


def latex_table(columns: Sequence[str], parts: Iterable[Iterable[Sequence[str]]], labels: int = 1) -> str:
    """A ``tabular`` of cells that are LaTeX already, with a rule between two parts; it needs the package booktabs."""
    aligned = "l" * labels + "r" * (len(columns) - labels)
    lines = [f"\\begin{{tabular}}{{{aligned}}}", "\\toprule", f"{' & '.join(columns)} \\\\"]
    for part in parts:
        lines += ["\\midrule", *(f"{' & '.join(row)} \\\\" for row in part)]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of the same keys as CSV with a header; None is an empty cell.

    A text that a spreadsheet would compute, because it begins with ``=``, ``+``, ``-`` or ``@`` and is not a number,
    gets an apostrophe in front of it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    writer.writerows([_safe(value) for value in row.values()] for row in rows)
    return stream.getvalue()


def _safe(value: Any) -> Any:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
