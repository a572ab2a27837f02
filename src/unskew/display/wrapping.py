"""Where text may be broken: between words, and, if there is no other way, within words of the notation."""

import re
from collections.abc import Sequence
from itertools import pairwise

LOOSEST = 3
_BREAKS = (
    re.compile(r"(?<=\s)(?=\S)"),
    re.compile(r"(?<=\s)(?=\S)|(?<=\w)(?=\()"),
    re.compile(r"(?<=\s)(?=\S)|(?<=\w)(?=\()|(?<=[,=/:|])(?=\w)|(?<=[a-z][-_])(?=[a-z])"),
)
"""By looseness: after blanks; before an opening bracket too; after commas, equals signs and dashes of words too."""


def break_lines(text: str, width: int, loose: int = 0) -> list[int]:
    """Offsets at which new lines begin, so that no line is wider than `width` where that is possible.

    Parameters
    ----------
    text : str
    width : int
        Columns of a line.
    loose : int
        0: only between words; 1: also before brackets; 2: also after commas, equals signs and dashes of a word;
        3: anywhere.

    Examples
    --------
    >>> break_lines("als(factors=16) item-knn", 16), break_lines("als(factors=16)", 12, 1)
    ([16], [3])
    """
    starts, line = [], 0
    for begin, end in _pieces(text, loose):
        if begin > line and ("\n" in text[line:begin] or cells(text[line:end].rstrip()) > width):
            starts.append(begin)
            line = begin
    return starts


def least_width(text: str, loose: int = 0) -> int:
    """Columns of the widest piece that is never broken."""
    return max((cells(text[begin:end].strip()) for begin, end in _pieces(text, loose)), default=0)


def squeeze(wanted: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fill the room, where the widest column gives way first, and none below its least width."""
    widths = list(wanted)
    for _ in range(sum(wanted) - room):
        free = [place for place, width in enumerate(widths) if width > least[place]]
        widths[max(free, key=widths.__getitem__)] -= 1
    return widths


def cells(text: str) -> int:
    """Columns that a text takes on the terminal."""
    from rich.cells import cell_len

    return cell_len(text)


def _pieces(text: str, loose: int) -> list[tuple[int, int]]:
    """Begin and end of the pieces between two places where a line may end."""
    if loose >= LOOSEST:
        inner = list(range(1, len(text)))
    else:
        inner = [match.start() for match in _BREAKS[loose].finditer(text)]
    edges = [0, *inner, len(text)]
    return [(a, b) for a, b in pairwise(edges) if b > a]
