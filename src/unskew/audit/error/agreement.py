"""`Span`: the range of a number over worlds, and whether the worlds agree on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

from unskew.estimators import normal_quantile

WIDEST = 0.25
"""Largest difference between the shares of worlds that agree."""
FACTOR = 2.0
"""Largest ratio between the sizes of worlds that agree."""


Verdict: TypeAlias = Literal["agree", "disagree", "unclear"]


@dataclass(frozen=True)
class Span:
    """The smallest and the largest value of a number over worlds, and whether the worlds agree on it.

    `verdict` is ``unclear`` if there are too few runs to decide, and None for a single world.
    """

    low: float
    high: float
    verdict: Verdict | None


def span_of_shares(shares: Sequence[float], runs: Sequence[int] | None = None, level: float = 0.95) -> Span | None:
    """The span of shares of runs, or of probabilities, over worlds; None for no world.

    Worlds agree when each by itself is clearly on one side of a half, on the same side for all, and no two shares are
    more than 25 points apart. A share of n runs is clearly on one side when Wilson's interval for it is; so 7 of 9 runs
    are not clear, and 8 of 9 are. Worlds disagree when the intervals of two do not overlap, and otherwise it is
    unclear. A probability (without `runs`) has no error of counting, so it is never unclear.

    Examples
    --------
    >>> span_of_shares([1.0, 8 / 9], [9, 9])
    Span(low=0.8888888888888888, high=1.0, verdict='agree')
    >>> span_of_shares([1.0, 7 / 9], [9, 9]).verdict, span_of_shares([1.0, 0.0], [9, 9]).verdict
    ('unclear', 'disagree')
    """
    if not shares:
        return None
    low, high = min(shares), max(shares)
    if len(shares) == 1:
        return Span(low, high, None)
    if runs is None:
        ends = [(share, share) for share in shares]
    else:
        ends = [wilson(share, n, level) for share, n in zip(shares, runs, strict=True)]
    one_side = all(end[0] > 0.5 for end in ends) or all(end[1] < 0.5 for end in ends)
    if one_side and high - low <= WIDEST:
        return Span(low, high, "agree")
    apart = runs is None or max(end[0] for end in ends) > min(end[1] for end in ends)
    return Span(low, high, "disagree" if apart else "unclear")


def span_of_sizes(sizes: Sequence[float]) -> Span | None:
    """The span of positive numbers; worlds agree if the largest is at most twice the smallest.

    Examples
    --------
    >>> span_of_sizes([0.1, 0.19]).verdict, span_of_sizes([0.1, 0.3]).verdict
    ('agree', 'disagree')
    """
    if not sizes:
        return None
    low, high = min(sizes), max(sizes)
    if len(sizes) == 1:
        return Span(low, high, None)
    return Span(low, high, "agree" if high <= FACTOR * low else "disagree")


def wilson(share: float, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share of runs; [0, 1] without runs.

    Examples
    --------
    >>> low, high = wilson(1.0, 10)
    >>> round(low, 3), high
    (0.722, 1.0)
    """
    if not runs:
        return 0.0, 1.0
    z = normal_quantile(level)
    middle = (share + z * z / (2 * runs)) / (1 + z * z / runs)
    reach = z / (1 + z * z / runs) * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    # exactly 0 and 1 at the ends, despite rounding
    return middle - reach if share > 0 else 0.0, middle + reach if share < 1 else 1.0
