"""An independent, slow reading of a delimited text, with Python's own csv module."""

import codecs
import csv
import io
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Unclear(Exception):  # noqa: N818
    """A text that does not say one thing."""


def read_rows(raw: bytes, separator: str, encoding: str = "") -> list[list[str]]:
    """The rows of a text, blank lines left out."""
    mark, known = next(((mark, name) for mark, name in _MARKS if raw.startswith(mark)), (b"", encoding or "utf-8"))
    try:
        text = raw[len(mark) :].decode(known)
    except UnicodeError as error:
        raise Unclear(str(error)) from error
    if "\0" in text:
        raise Unclear("binary")
    if separator == " ":
        lines = (re.findall("[^ \t\v\f]+", line) for line in re.split("\r\n|\r|\n", text))
        rows = [line for line in lines if line]
        if len({len(row) for row in rows}) > 1:
            raise Unclear("rows of different lengths")
        return rows
    quoting, written = csv.QUOTE_MINIMAL, separator
    if len(separator) > 1:
        text, separator = text.replace(separator, "\x1f"), "\x1f"
    if re.search(rf'(^|[\r\n{re.escape(separator)}])"', text) is None:
        quoting = csv.QUOTE_NONE
    csv.field_size_limit(1 << 24)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, strict=True)
        rows = [row for row in reader if row and not (len(row) == 1 and row[0] and not row[0].strip(" \t"))]
    except csv.Error as error:
        raise Unclear(str(error)) from error
    if len({len(row) for row in rows}) > 1:
        raise Unclear("rows of different lengths")
    return rows if written == separator else [[field.replace(separator, written) for field in row] for row in rows]


def number_of(text: str) -> float:
    """The number that a text is."""
    if _NUMBER.fullmatch(text.strip()) is None:
        raise Unclear(f"{text!r} is not a number")
    return float(text)
