"""Distributions of profile sizes, the numbers of items that users consume."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats, Ints, SeedLike, dot
from unskew.errors import ConfigError
from unskew.notation import Named


class ProfileSizes(Named, family="profile size"):
    """A distribution of whole numbers of at least 1."""

    @abstractmethod
    def pmf(self) -> tuple[Ints, Floats]:
        """The possible sizes, ascending, and the probability of each."""

    @cached_property
    def _table(self) -> tuple[Ints, Floats, Floats]:
        sizes, chances = self.pmf()
        return sizes, chances, np.cumsum(chances)

    @property
    def mean(self) -> float:
        """The expected size."""
        sizes, chances, _ = self._table
        return dot(sizes, chances)

    def draw(self, count: int, rng: SeedLike = 0, most: Ints | None = None) -> Ints:
        """Draw sizes by the inverse of the distribution function.

        Parameters
        ----------
        count : int
        rng : int or Generator
        most : array of int, optional
            A limit for each draw: the size is drawn from the distribution up to the limit. If that has no probability,
            the size is the limit.
        """
        sizes, _, reached = self._table
        draws = np.random.default_rng(rng).random(count)
        if most is None:
            places = np.minimum(np.searchsorted(reached, draws * reached[-1], side="right"), len(sizes) - 1)
            return np.asarray(sizes[places])
        allowed = np.searchsorted(sizes, most, side="right")  # the number of sizes within the limit
        ends = np.where(allowed > 0, reached[np.maximum(allowed, 1) - 1], 0.0)
        places = np.minimum(np.searchsorted(reached, draws * ends, side="right"), np.maximum(allowed, 1) - 1)
        return np.where(allowed > 0, sizes[places], most)


@dataclass(frozen=True)
class ParetoSizes(ProfileSizes, word="pareto"):
    r"""Sizes with a heavy tail: a Pareto number up to `upper`, rounded down.

    .. math:: F(x) = 1 - (m / x)^a, \qquad \Pr(n) = \frac{F(n + 1) - F(n)}{F(\text{upper}) - F(1)}

    with scale m and shape a, x between m and `upper`; a size of 0 is drawn again (Tian & Ekstrand 2020).

    Parameters
    ----------
    scale : float
        m, the smallest number, above 0.
    shape : float
        a, above 0; the smaller, the heavier the tail.
    upper : float
        Where the tail is cut, above the scale and above 1.

    Examples
    --------
    >>> round(ParetoSizes(scale=20, shape=0.510528, upper=737).mean, 1)
    119.6
    """

    scale: float = 10.0
    shape: float = 1.0
    upper: float = 200.0

    def __post_init__(self) -> None:
        for option in ("scale", "shape"):
            if not 0 < getattr(self, option) < np.inf:
                raise ConfigError(f"pareto({option}={getattr(self, option):g}): expected a number above 0")
        if not max(self.scale, 1.0) < self.upper < 1e8:
            raise ConfigError(
                f"pareto(upper={self.upper:g}): expected a number above the scale {self.scale:g} and above 1, "
                "below 100 million"
            )

    def reached(self, x: Floats) -> Floats:
        """F(x) of the distribution without the limit `upper`."""
        return np.asarray(-np.expm1(self.shape * np.log(self.scale / np.maximum(x, self.scale))))

    def pmf(self) -> tuple[Ints, Floats]:
        """The sizes there are, and the probability of each."""
        start = max(self.scale, 1.0)  # a Pareto number that is at least 1 is one that starts at 1
        sizes = np.arange(int(start), max(int(np.ceil(self.upper)), int(start) + 1))
        ends = np.log(np.append(np.maximum(sizes, start), self.upper))
        # by logarithms, because F rounds to 1 far in the tail
        mass = np.exp(self.shape * (np.log(start) - ends[:-1])) * -np.expm1(self.shape * (ends[:-1] - ends[1:]))
        return sizes, mass / mass.sum()


@dataclass(frozen=True)
class BetaBinomialSizes(ProfileSizes, word="beta-binomial"):
    r"""Sizes around a share of the largest size: beta-binomial numbers of at least `low`.

    .. math:: \Pr(n) \propto \binom{h}{n} \frac{B(n + a,\ h - n + b)}{B(a, b)}, \qquad \text{low} \le n \le h

    Parameters
    ----------
    a, b : float
        Parameters of the beta distribution of the share, above 0.
    high : int
        h, the largest size.
    low : int
        The smallest size; smaller ones are drawn again.
    """

    a: float = 1.0
    b: float = 3.0
    high: int = 200
    low: int = 20

    def __post_init__(self) -> None:
        for option in ("a", "b"):
            if not 0 < getattr(self, option) < np.inf:
                raise ConfigError(f"beta-binomial({option}={getattr(self, option):g}): expected a number above 0")
        if not 1 <= self.low <= self.high < 1e8:
            raise ConfigError(
                f"beta-binomial(low={self.low}, high={self.high}): expected 1 <= low <= high, below 100 million"
            )

    def pmf(self) -> tuple[Ints, Floats]:
        """The sizes there are, and the probability of each."""
        from scipy.stats import betabinom

        sizes = np.arange(self.low, self.high + 1)
        logs = betabinom.logpmf(sizes, self.high, self.a, self.b)
        mass = np.exp(logs - logs.max())
        return sizes, mass / mass.sum()
