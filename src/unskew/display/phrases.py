"""Names and lists within sentences."""

from collections.abc import Iterable, Sequence

from unskew.display.names import shortened

NAME = 40  # characters of a name in a sentence
MOST_NAMED = 4  # models or other names in one sentence


def quoted(name: str) -> str:
    """A name within a sentence, short enough for one."""
    return f"“{shortened(name, NAME)}”"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Words as in a sentence: a, b and c."""
    *most, end = list(words)
    return f"{', '.join(most)} {last} {end}" if most else end


def counted(n: int, what: str) -> str:
    """A number of things, in the plural where there is not just one."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def cut(words: Sequence[str], most: int = MOST_NAMED) -> list[str]:
    """The words, at most that many: the last ones are only counted when there are more."""
    return list(words) if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1} more"]


def few(words: Sequence[str], most: int = MOST_NAMED, last: str = "and") -> str:
    """Words as in a sentence, the last ones only counted when there are many."""
    return listed(cut(words, most), last)


def chain(names: Sequence[str], most: int = 6) -> str:
    """Names from best to worst, the last ones only counted when there are many."""
    return " > ".join(cut([quoted(name) for name in names], most))


def capital(text: str) -> str:
    """The same with its first letter large."""
    return f"{text[:1].upper()}{text[1:]}"


def lowered(text: str) -> str:
    """The same with its first letter small."""
    return f"{text[:1].lower()}{text[1:]}"


def sentence(text: str) -> str:
    """A remark with a capital and a full stop."""
    return f"{capital(text)}."
