"""Words that a shell completes for options: metrics, estimators and other names, from their registries."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

Completer: TypeAlias = Callable[[str], list[tuple[str, str]]]
USUAL_CUTOFF = 10


def completes(family: str) -> Completer:
    """A function from the beginning of a word to the words of a family, each with a description.

    Parameters
    ----------
    family : str
        As in ``unskew list``.
    """

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return starting(incomplete, words_of(family))

    return complete


def complete_model(incomplete: str) -> list[tuple[str, str]]:
    """Words of models, also after ``NAME=``."""
    name, equals, word = incomplete.rpartition("=")
    return [(f"{name}{equals}{whole}", text) for whole, text in starting(word, words_of("models"))]


def complete_one_of(*words: str) -> Completer:
    """A function that completes one of these words."""
    return lambda incomplete: starting(incomplete, [(word, "") for word in words])


def starting(incomplete: str, words: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The words that begin in this way."""
    return [(word, text) for word, text in words if word.startswith(incomplete)]


def words_of(family: str) -> list[tuple[str, str]]:
    """The words of a family with descriptions; a metric with a cut-off has one, as in ``recall@10``."""
    from unskew.cli.listing import entries

    words = []
    for row in entries(family):
        word, *_ = row.values()
        text = str(row.get("description") or row.get("definition") or row.get("title") or "")
        forms = [word]
        if family == "metrics":
            whole = word.replace("[@K]", "")
            forms = [*([] if "@" in whole else [whole]), *([word.replace("[@K]", "@K")] if "@K" in word else [])]
        words += [(form.replace("@K", f"@{USUAL_CUTOFF}"), text) for form in forms]
    return words
