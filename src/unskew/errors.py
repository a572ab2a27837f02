"""The exceptions, and how messages name options. A message says what is wrong, where, and what to do."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real

__all__ = [
    "ConfigError",
    "DataError",
    "DivergenceError",
    "Option",
    "PropensityError",
    "UnskewError",
    "UnskewWarning",
    "check_types",
    "did_you_mean",
    "first_of",
    "spelled_as_flags",
]


class UnskewError(ValueError):
    """An error that the user can correct; the command line prints it in one line and exits with 2."""


class DataError(UnskewError):
    """A file, frame or array that cannot be used as it is."""


class DivergenceError(DataError):
    """Numbers that grew without bound while a model was trained."""


class ConfigError(UnskewError):
    """An unknown word or option, or a combination that is not possible."""


class PropensityError(UnskewError):
    """Propensities that are missing, outside (0, 1], or known only up to scale where that is not enough."""


class UnskewWarning(UserWarning):
    """A warning about a number that was computed but may mislead."""


_FLAGS = {"estimator": "-e", "metric": "-m"}
"""Flags that differ from the name of the option; names are those of the command line."""
_LISTS = {"estimator", "metric"}
_QUOTED = {"positive"}  # a condition has characters that a shell interprets
_PYTHON = {
    "estimator": "estimators",
    "metric": "metrics",
    "model": "models",
    "relevant_counts": "relevant",
    "user_col": "user",
    "item_col": "item",
    "rating_col": "rating",
    "timestamp_col": "timestamp",
    "time_unit": "unit",
    "propensity_col": "propensity",
    "weight_col": "weight",
    "positive_share": "share",
    "out": "folder",
}
"""Keywords that differ from the name of the option."""
_CALLS = {
    "factors": "read_factors(...)",
    "scores": "read_scores(...)",
    "predictions": "read_predictions(...)",
    "exposed": "exposed_split(...)",
    "temporal": "split_temporal(...)",
    "rolling": "rolling(...)",
    "per_user": "split_per_user(...)",
    "json": "Report.to_json()",
    "no_cache": "cache=None",
    "positives": "share_of(...)",
}
"""The Python code that replaces an option that is not a keyword."""
_as_flags = False  # not a context variable: worker threads must see it too


@dataclass(frozen=True)
class Option:
    """An option that a message names, spelled for Python or for the command line.

    It prints as ``candidates="unseen"``, and as ``--candidates unseen`` while the command line runs.

    Parameters
    ----------
    name : str
        As on the command line, with underscores.
    value : object, optional
        The value to give: True for a switch, a tuple for an option that is given several times, text in capitals for a
        placeholder, as in ``runs=N``.
    command : str
        The command that has the option, if it is not the one that is running.

    Examples
    --------
    >>> from unskew.errors import Option, spelled_as_flags
    >>> f"use {Option('candidates', 'unseen')}, or leave out {Option('ties')}"
    'use candidates="unseen", or leave out ties=...'
    >>> with spelled_as_flags():
    ...     f"use {Option('candidates', 'unseen')}, or leave out {Option('ties')}"
    'use --candidates unseen, or leave out --ties'
    """

    name: str
    value: object = None
    command: str = ""

    def __str__(self) -> str:
        return self.flag if _as_flags else self.keyword

    @property
    def flag(self) -> str:
        """The spelling of the command line."""
        flag = _FLAGS.get(self.name, f"--{self.name.replace('_', '-')}")
        shown = [repr(value) if self.name in _QUOTED else str(value) for value in _each(self.value)]
        words = [flag] if self.value is None or self.value is True else [f"{flag} {value}" for value in shown]
        return " ".join([*(("unskew", self.command) if self.command else ()), *words])

    @property
    def keyword(self) -> str:
        """The spelling of Python: a keyword, or the call that replaces the option."""
        if self.name in _CALLS:
            return _CALLS[self.name]
        words = ["..." if value is None else _literal(value) for value in _each(self.value)]
        if self.name == "model" and self.value is not None:
            words = [f"{{{', '.join(f'{word}: {word}' for word in words)}}}"]
        shown = f"[{', '.join(words)}]" if self.name in _LISTS else words[0]
        return f"{_PYTHON.get(self.name, self.name)}={shown}"


def _each(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _literal(value: object) -> str:
    """The value as Python code; text in capitals is a placeholder."""
    return f'"{value}"' if isinstance(value, str) and not value.isupper() else str(value)


@contextmanager
def spelled_as_flags() -> Iterator[None]:
    """Spell the options in messages as flags, while the command line runs."""
    global _as_flags  # noqa: PLW0603
    before, _as_flags = _as_flags, True
    try:
        yield
    finally:
        _as_flags = before


_KINDS: dict[str, tuple[type, ...]] = {"text": (str,), "a whole number": (Integral,), "a number": (Real,)}


def check_types(kind: str, given: Mapping[str, object], *also: type, optional: bool = True) -> None:
    """Refuse arguments of another type, by name.

    Parameters
    ----------
    kind : {"text", "a whole number", "a number"}
    given : mapping
        Arguments by name.
    *also : type
        Other types that are possible.
    optional : bool
        Whether None is possible.

    Raises
    ------
    ConfigError
        That names the first such argument.

    Examples
    --------
    >>> check_types("a whole number", {"seed": 3})
    >>> check_types("a whole number", {"seed": "x"})
    Traceback (most recent call last):
        ...
    unskew.errors.ConfigError: seed must be a whole number, not 'x' (str)
    """
    for name, value in given.items():
        fits = isinstance(value, (*_KINDS[kind], *also)) and not (isinstance(value, bool) and kind != "text")
        if not (fits or (value is None and optional)):
            raise ConfigError(f"{name} must be {kind}, not {value!r:.40} ({type(value).__name__})")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known word, or a list of the known words."""
    names = list(known)
    lowered = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {lowered[near[0]]!r}?"
    return f"; known: {', '.join(names)}" if names else ""


def first_of(words: Iterable[str], most: int, between: str = ", ") -> str:
    """The first words, and how many more there are; ``none`` without a word.

    Examples
    --------
    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    given = list(words)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return f"{between.join(given[:most])}{more}" if given else "none"
