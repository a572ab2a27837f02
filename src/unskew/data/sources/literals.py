"""Parsers for files with one object per line, written as JSON or as Python literals."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unskew.data.sources.text import read_lines
from unskew.errors import DataError


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not blank."""
    for first, block in read_lines(path):
        for number, line in enumerate(block, start=first):
            if line.strip():
                yield number, line.decode("utf-8", errors="replace").strip()


def parse_object(line: str) -> Any:
    """The object of a line, or None if it is neither JSON nor a Python literal; no code is run."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(line)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def id_text(value: Any, where: str) -> str:
    """An id as text; an error that begins with `where` when it is neither a whole number nor text."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise DataError(f"{where} has the id {value!r}; ids are whole numbers or text")
    return str(value)
