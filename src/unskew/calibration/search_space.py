"""`Space`: the ranges in which the parameters of a world are searched."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from unskew.data import Interactions
from unskew.errors import ConfigError, did_you_mean
from unskew.simulators.ibp import Ibp
from unskew.simulators.lda import Lda
from unskew.simulators.preference_world import PreferenceWorld
from unskew.simulators.uniform_likes import UniformLikes

Observe: TypeAlias = Literal["uniform", "popular"]
Parameters: TypeAlias = dict[str, float]

_OBSERVE: dict[str, Observe] = {"unif": "uniform", "pop": "popular"}
KINDS = tuple(f"{likes}-{observe}" for likes in ("ibp", "lda", "uniform") for observe in _OBSERVE)
"""Kinds of world: how users come to like items, and which of those they consume."""
_DIGITS = 6  # significant digits of a parameter, which keep its word short


@dataclass(frozen=True)
class Range:
    """A parameter and its limits."""

    name: str
    low: float
    high: float
    log: bool = False  # whether equal ratios count the same, rather than equal differences
    whole: bool = False  # whether only whole numbers are allowed

    def at(self, share: float) -> float:
        """The value at this share of the way from the low to the high end."""
        if self.whole:
            return float(min(math.floor(self.low + share * (self.high + 1 - self.low)), int(self.high)))
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)

    def share_of(self, value: float) -> float:
        """The share of the way from the low to the high end; a whole number is in the middle of its part."""
        if self.whole:
            return (value + 0.5 - self.low) / (self.high + 1 - self.low)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Space:
    """All worlds of a kind that a log is compared with.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    users, items : int
        Numbers of users and items of the log.
    ranges : tuple of Range
    """

    kind: str
    users: int
    items: int
    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, kind: str, log: Interactions) -> "Space":
        r"""The space with the ranges of Tian & Ekstrand (2020); some ranges depend on the log.

        ========== ================================= =====
        parameter  from, to                          scale
        ========== ================================= =====
        ibp alpha  10, 1000                          log
        ibp c      0.01, 100                         log
        ibp sigma  0, 0.99
        lda topics 5, 200, whole
        lda likes  5, the least of 2000 and items    log
        lda alpha  0.01, 1
        lda beta   0.01, 1
        scale      see below
        shape      0.1, 20                           log
        upper      see below                         log
        ========== ================================= =====

        The truncated Pareto distribution of profile sizes has its scale between :math:`m_l = \max(0.8\,a, 1)` and
        :math:`m_h = \max(1.2\,a, 1.2\,m_l)`, and its upper end between :math:`u_l = \max(0.8\,b, 1.2\,m_h)` and
        :math:`\max(1.2\,b, 1.2\,u_l)`, where a and b are the least and the greatest number of rows of a user.
        Logarithmic steps of the shape, and likes no more than there are items, are choices made here.
        """
        check_kind(kind)
        counts = log.user_counts[log.user_counts > 0]
        users, items = len(counts), int((log.item_counts > 0).sum())
        ranges = (*_like_ranges(kind.partition("-")[0], items), *_size_ranges(int(counts.min()), int(counts.max())))
        return cls(kind, users, items, ranges)

    def at(self, shares: Sequence[float]) -> Parameters:
        """The parameters at a point of the unit cube."""
        return self.rounded({each.name: each.at(float(s)) for each, s in zip(self.ranges, shares, strict=True)})

    def shares_of(self, parameters: Mapping[str, float]) -> list[float]:
        """The point of the unit cube with these parameters."""
        return [each.share_of(parameters[each.name]) for each in self.ranges]

    def rounded(self, parameters: Mapping[str, float]) -> Parameters:
        """The parameters rounded to the digits that are kept; they stay within the limits, which are rounded too."""
        return {each.name: _rounded(parameters[each.name]) for each in self.ranges}

    def world(self, parameters: Mapping[str, float]) -> PreferenceWorld:
        """The world with these parameters."""
        likes, _, observe = self.kind.partition("-")
        size = {each: _short(parameters[each]) for each in ("scale", "shape", "upper")}
        sizes = f"pareto({', '.join(f'{key}={value}' for key, value in size.items())})"
        seen: Observe = _OBSERVE[observe]
        if likes == "ibp":
            return Ibp(
                users=self.users,
                observe=seen,
                sizes=sizes,
                alpha=parameters["alpha"],
                c=parameters["c"],
                sigma=parameters["sigma"],
            )
        if likes == "uniform":
            return UniformLikes(
                users=self.users, observe=seen, sizes=sizes, items=self.items, likes=parameters["likes"]
            )
        return Lda(
            users=self.users,
            observe=seen,
            sizes=sizes,
            items=self.items,
            topics=int(parameters["topics"]),
            likes=parameters["likes"],
            alpha=parameters["alpha"],
            beta=parameters["beta"],
        )


def check_kind(kind: str) -> None:
    """Refuse an unknown kind of world."""
    if kind not in KINDS:
        raise ConfigError(f"unknown world {kind!r}{did_you_mean(kind, KINDS)}")


def _like_ranges(likes: str, items: int) -> tuple[Range, ...]:
    most = Range("likes", 5, float(min(2000, items)), log=True)
    if likes == "uniform":
        return (most,)
    if likes == "lda":
        return (Range("topics", 5, 200, whole=True), most, Range("alpha", 0.01, 1), Range("beta", 0.01, 1))
    return (Range("alpha", 10, 1000, log=True), Range("c", 0.01, 100, log=True), Range("sigma", 0, 0.99))


def _size_ranges(least: int, most: int) -> tuple[Range, ...]:
    low = max(0.8 * least, 1.0)
    high = max(1.2 * least, 1.2 * low)
    upper_low = max(0.8 * most, 1.2 * high)
    upper_high = max(1.2 * most, 1.2 * upper_low)
    return (
        Range("scale", _rounded(low), _rounded(high)),
        Range("shape", 0.1, 20, log=True),
        Range("upper", _rounded(upper_low), _rounded(upper_high), log=True),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _short(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)
