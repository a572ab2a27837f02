"""`scan`: the lines of a delimited text, counted and checked in one pass over its bytes."""

from functools import cache
from typing import Any

import numpy as np

Problem = tuple[int, int, int, int, int, int]

RAGGED, LONE_RETURN, TEXT_AFTER_QUOTE, BAD_QUOTE, OPEN_QUOTE = 1, 2, 3, 4, 5
"""What may be wrong with a line."""
_NEWLINE, _RETURN, _QUOTE, _SPACE, _TAB = 10, 13, 34, 32, 9
_SMALL = 1 << 16
"""Up to this number of bytes, a plain loop takes less time than to load the compiled one."""


def scan(raw: bytes, separator: int, width: int, *, quoting: bool) -> Problem:
    """Check the lines of a text; see `scan_lines`."""
    if len(raw) <= _SMALL:
        return scan_lines(raw, separator, width, quoting)
    problem: Problem = _compiled()(np.frombuffer(raw, dtype=np.uint8), separator, width, quoting)
    return problem


@cache
def _compiled() -> Any:
    from unskew.compiling import njit

    return njit(nogil=True, cache=True)(scan_lines)


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
