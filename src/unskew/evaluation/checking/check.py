"""What a check is: a warning with its reason and its remedy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Look: TypeAlias = "Callable[[Report], Iterator[str]]"


@dataclass(frozen=True)
class Check:
    """A reason to doubt a number; the documentation's page of warnings is made from these."""

    name: str  # stable, for links
    what: str  # what the check found, when it warns
    why: str  # why it matters
    do: str  # what to do about it
    look: Look  # gives the warnings, one line each; nothing when all is well


def check(name: str, *, what: str, why: str, do: str) -> Callable[[Look], Check]:
    """Make a check of a function; the parameters are those of `Check`."""
    return lambda look: Check(name, what, why, do, look)
