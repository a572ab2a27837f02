"""What can go wrong, named; every message says what, where and a hint."""

import difflib
from collections.abc import Iterable

__all__ = [
    "ConfigError",
    "DataError",
    "DivergenceError",
    "PropensityError",
    "UnskewError",
    "UnskewWarning",
    "did_you_mean",
]


class UnskewError(ValueError):
    """Anything the user can put right; the command line prints it in one line and exits with 2."""


class DataError(UnskewError):
    """A file, frame or array that cannot be used as it is."""


class DivergenceError(DataError):
    """Numbers that grew without bound while a model was trained."""


class ConfigError(UnskewError):
    """A word, option or combination that means nothing here."""


class PropensityError(UnskewError):
    """Propensities that are missing, outside (0, 1], or known only up to scale where that is not enough."""


class UnskewWarning(UserWarning):
    """A number that was computed but should be read with care."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known word, or list what there is."""
    names = list(known)
    lowered = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {lowered[near[0]]!r}?"
    return f"; known: {', '.join(names)}" if names else ""
