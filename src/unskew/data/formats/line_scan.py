"""`scan`: the lines of a delimited text, counted and checked in one pass over its bytes."""

from functools import cache
from typing import Any

import numpy as np

Problem = tuple[int, int, int, int, int, int]

RAGGED, LONE_RETURN, TEXT_AFTER_QUOTE, BAD_QUOTE, OPEN_QUOTE = 1, 2, 3, 4, 5
"""What may be wrong with a line."""
_NEWLINE, _RETURN, _QUOTE, _SPACE, _TAB, _MINUS = 10, 13, 34, 32, 9, 45
_LONGEST = 18  # digits that always fit into 64 bits
_SMALL = 1 << 16
"""Up to this number of bytes, a plain loop takes less time than to load the compiled one."""


def scan(raw: bytes, separator: int, width: int, *, quoting: bool) -> Problem:
    """Check the lines of a text; see `scan_lines`."""
    if len(raw) <= _SMALL:
        return scan_lines(raw, separator, width, quoting)
    problem: Problem = _compiled()(np.frombuffer(raw, dtype=np.uint8), separator, width, quoting)
    return problem


def scan_plain(raw: bytes, separator: int, width: int, *, header: bool) -> tuple[int, list[bool]] | None:
    """Check the lines of a longer text without quotes, and see which columns are of whole numbers.

    Parameters
    ----------
    raw : bytes
        The text, with LF line ends.
    separator : int
        The byte between fields.
    width : int
    header : bool
        Whether the first line has the names of the columns.

    Returns
    -------
    tuple or None
        How many lines there are, and whether each column has integers only, each as it is printed and of at most 18
        digits, so that it can be parsed as one. None if a line is not plain; `scan` then says which, and whether it is
        an error. None also for short texts, which take less time to parse than the loop to load.
    """
    if len(raw) <= _SMALL or width < 2:
        return None
    whole = np.ones(width, dtype=np.bool_)
    lines = int(_compiled_plain()(np.frombuffer(raw, dtype=np.uint8), separator, width, header, whole))
    return None if lines < 0 else (lines, whole.tolist())


@cache
def _compiled() -> Any:
    from unskew.compiling import njit

    return njit(nogil=True, cache=True)(scan_lines)


@cache
def _compiled_plain() -> Any:
    from unskew.compiling import njit

    return njit(nogil=True, cache=True)(plain_lines)


def plain_lines(data: Any, separator: int, width: int, header: bool, whole: Any) -> int:
    """The number of lines if each has `width` fields and no carriage return, else -1; `whole` is written to."""
    n = len(data)
    lines, field, start, digits = 0, 0, 0, True
    for k in range(n + 1):
        byte = data[k] if k < n else _NEWLINE
        if byte not in (separator, _NEWLINE):
            if byte < 48 or byte > 57:
                if byte == _RETURN:
                    return -1
                digits = digits and byte == _MINUS and k == start
            continue
        if k == n and start == n and field == 0:
            break  # the last line has ended
        if field >= width:
            return -1
        if whole[field] and not (header and lines == 0):
            first = start + 1 if start < k and data[start] == _MINUS else start
            size = k - first
            # the printed number has no zero at its front, and no sign if it is zero
            if not digits or size < 1 or size > _LONGEST or (data[first] == 48 and (size > 1 or first > start)):
                whole[field] = False
        start, digits = k + 1, True
        if byte == separator:
            field += 1
            continue
        if field != width - 1:
            return -1
        lines += 1
        field = 0
    return lines


def scan_lines(data: Any, separator: int, width: int, quoting: bool) -> Problem:
    """Check that every line has `width` fields, and that quotes begin and end fields.

    Parameters
    ----------
    data : bytes or array of uint8
        The text, with LF line ends.
    separator : int
        The byte between fields.
    width : int
    quoting : bool
        Whether quotes have a meaning.

    Returns
    -------
    tuple
        What is wrong with the first bad line, 0 if nothing is; the place of the byte that shows it, the number of its
        line from 1, and its number of fields; then how many rows and how many blank lines there are.
    """
    line, fields, rows, blank = 1, 1, 0, 0
    first_line, opened, opened_line = 1, 0, 1
    at_start, empty, in_quotes, closed = True, True, False, False
    for k in range(len(data)):
        byte = data[k]
        if in_quotes:
            if byte == _QUOTE:
                in_quotes, closed = False, True
            elif byte == _NEWLINE:
                line += 1
            continue
        if byte == _NEWLINE:
            if fields == 1 and empty and width >= 1:
                blank += 1
            elif fields != width:
                return RAGGED, k, first_line, fields, rows, blank
            else:
                rows += 1
            line += 1
            first_line, fields, at_start, empty, closed = line, 1, True, True, False
            continue
        if byte == separator:
            fields += 1
            at_start, closed = True, False
            continue
        if byte == _RETURN:
            return LONE_RETURN, k, line, fields, rows, blank
        if quoting and byte == _QUOTE:
            if closed:  # a doubled quote
                in_quotes, closed = True, False
            elif at_start:
                in_quotes, opened, opened_line = True, k, line
            else:
                return BAD_QUOTE, k, line, fields, rows, blank
            at_start, empty = False, False
            continue
        if closed:
            return TEXT_AFTER_QUOTE, k, line, fields, rows, blank
        at_start = False
        if byte not in (_SPACE, _TAB):
            empty = False
    if in_quotes:
        return OPEN_QUOTE, opened, opened_line, fields, rows, blank
    if not (fields == 1 and empty):
        if fields != width:
            return RAGGED, len(data), first_line, fields, rows, blank
        rows += 1
    return 0, 0, 0, 0, rows, blank
