"""`Check`: a warning with its reason and its remedy, and the decorator that makes one from a function."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Look: TypeAlias = "Callable[[Report], Iterator[str]]"


@dataclass(frozen=True)
class Check:
    """A function that yields warnings, with the texts for the documentation's page of warnings."""

    name: str  # stable, for links
    what: str  # what was found, when the check warns
    why: str  # why it matters
    do: str  # what to do about it
    look: Look  # yields the warnings of a report, one line each


def check(name: str, *, what: str, why: str, do: str) -> Callable[[Look], Check]:
    """Return a decorator that makes a `Check` from a function; the parameters are those of `Check`."""
    return lambda look: Check(name, what, why, do, look)
