"""Names that come from the data, made fit to be shown."""

import unicodedata
from collections.abc import Iterable

# Direction marks could reverse the text around a name, and XML does not allow the last two characters.
_UNPRINTABLE = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE, 0xFFFF}


def clean(text: str) -> str:
    """Replace characters that are not printable: control and direction characters, half surrogate pairs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_shown(c) else "\N{REPLACEMENT CHARACTER}" for c in text)


def escaped(text: str, most: int) -> str:
    r"""The text in one line of at most `most` characters, with codes such as ``\x1b`` for what is not printable.

    Examples
    --------
    >>> from unskew.display.names import escaped
    >>> print(escaped("checkpoint\n of \x1b[31mred", 80))
    checkpoint of \x1b[31mred
    """
    line = " ".join(text.split())
    shown = "".join(c if _is_shown(c) else c.encode("unicode_escape").decode() for c in line[: 4 * most])
    shown = shown if len(line) <= 4 * most else f"{shown}{line[-most:].encode('unicode_escape').decode()}"
    return shortened(shown, most)


def shortened(text: str, most: int) -> str:
    """The text, cut in the middle if it has more than `most` characters; a blank text is named as such."""
    if not text.strip():
        return "(no name)"
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}"


def short_labels(names: Iterable[str], most: int) -> dict[str, str]:
    """A short label for each name; no two are the same."""
    labels: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        short = shortened(" ".join(clean(name).split()), most)
        label, n = short, 1
        while label in used:
            n += 1
            label = f"{short} ({n})"
        used.add(label)
        labels[name] = label
    return labels


def _is_shown(character: str) -> bool:
    if ord(character) in _UNPRINTABLE:
        return False
    return character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"}
