"""What a metric needs for sums over all candidates: its gains by place, as plain arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints

DEEPEST = 200
"""The largest cut-off of a list metric; the work per user grows with its square."""


@dataclass(frozen=True, eq=False)
class PlaceGains:
    """A mean or a sum of gains that depend on the place only.

    Parameters
    ----------
    table : array
        The gain of each place from the top, without ties; the gain is zero past its end.
    cut : bool
        Whether the metric has a cut-off: items outside a top-N list then gain nothing.
    divisor : callable
        From the lengths of users' lists to the divisor of their gains.
    """

    table: Floats
    cut: bool
    divisor: Callable[[Ints], Floats | float]


@dataclass(frozen=True, eq=False)
class LinearGains:
    """A mean or a sum of gains that are linear in the place.

    Parameters
    ----------
    at : callable
        From places and numbers of candidates to gains.
    """

    at: Callable[[Floats, Ints], Floats]

    def line(self, candidates: Ints) -> tuple[Floats, Floats]:
        """The gain of the first place, and what each further place adds, by number of candidates."""
        sizes = np.maximum(candidates, 1)  # the sums of a user without candidates are 0 on any line
        last = (sizes - 1).astype(np.float64)
        top = self.at(np.zeros(len(sizes)), sizes)
        return top, (self.at(last, sizes) - top) / np.maximum(last, 1)


@dataclass(frozen=True, eq=False)
class ListGains:
    r"""A value of the whole list, where item i is relevant with chance q and the chances are independent.

    The value is the sum over the relevant items in the list of :math:`gain_i \cdot a(h) \cdot weight(n)`, with h
    relevant items above the item and n relevant items in all.

    Parameters
    ----------
    gains : array
        The gain of each place; their number is the cut-off.
    counts : {"each", "hits", "first"}
        The factor a(h): 1, 1 + h, or 1 if h is 0 and else 0.
    weights : array
        The weight of n; the last one is also that of larger numbers.
    """

    gains: Floats
    counts: Literal["each", "hits", "first"]
    weights: Floats


Recipe: TypeAlias = PlaceGains | LinearGains | ListGains


class CandidateMetric(Protocol):
    """A metric that can be summed over all candidates; its text is its word."""

    def recipe(self, size: int) -> Recipe:
        """What the sums need, for a catalogue of this size."""
        ...
