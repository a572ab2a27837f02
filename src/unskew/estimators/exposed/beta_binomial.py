"""The number of a user's positives in the population, estimated from those in a random sample."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints, dot

OfCount: TypeAlias = Callable[[Ints, int, int], Floats]
_LARGEST = 20_000  # larger populations are scaled down: the possible shares are fine enough
_FLAT = 12.0  # log of the largest a or b, where all users have the same share


@dataclass(frozen=True)
class BetaBinomial:
    r"""Users' numbers of positives as draws of a beta-binomial distribution.

    If :math:`N^+_u` of L items are positive with :math:`N^+_u \sim BB(L, a, b)`, then the number n in a random sample
    of l is :math:`BB(l, a, b)` with the same a and b, whatever L. So a and b can be fitted to the samples, and given n
    the number of positives that were not drawn is :math:`BB(L - l, a + n, b + l - n)`.
    """

    a: float
    b: float

    @classmethod
    def fit(cls, positives: Ints, exposed: Ints) -> "BetaBinomial":
        """The a and b with the greatest likelihood.

        Parameters
        ----------
        positives, exposed : array of int
            n and l of each user.
        """
        from scipy.optimize import minimize
        from scipy.special import betaln

        pairs, times = np.unique(np.stack([positives, exposed]), axis=1, return_counts=True)
        n, size = pairs

        def surprise(logs: Floats) -> float:
            a, b = np.exp(np.clip(logs, -_FLAT, _FLAT))
            beyond = float(np.sum(np.maximum(np.abs(logs) - _FLAT, 0)))
            return beyond - dot(times, betaln(n + a, size - n + b) - betaln(a, b))

        share = float(np.clip((dot(times, n) + 0.5) / (dot(times, size) + 1), 1e-6, 1 - 1e-6))
        best = min(
            (
                minimize(surprise, np.log([share * weight, (1 - share) * weight]), method="Nelder-Mead")
                for weight in (5.0, 100.0)
            ),
            key=lambda fitted: float(fitted.fun),
        )
        a, b = np.clip(best.x, -_FLAT, _FLAT)
        return cls(exp(a), exp(b))

    def posterior(self, n: int, exposed: int, population: int) -> tuple[Ints, Floats]:
        """The possible numbers of positives of a user with n in the sample, and their chances."""
        from scipy.special import betaln, gammaln

        rest = population - exposed
        more = np.arange(rest + 1)
        logs = gammaln(rest + 1) - gammaln(more + 1) - gammaln(rest - more + 1)
        logs += betaln(more + self.a + n, rest - more + self.b + exposed - n)
        chances = np.exp(logs - logs.max())
        return n + more, chances / chances.sum()

    def expect(self, of: OfCount, positives: Ints, exposed: Ints, population: Ints) -> Floats:
        """The mean, for each user, of a function of the number of positives in the population.

        Parameters
        ----------
        of : callable
            Called with numbers of positives, the user's number of exposed items and population.
        positives, exposed, population : array of int
            n, l and L of each user.
        """

        @cache
        def mean(n: int, size: int, among: int) -> float:
            shrunk = min(among, max(_LARGEST, size))
            numbers, chances = self.posterior(n, size, shrunk)
            return dot(chances, of(numbers if shrunk == among else np.rint(numbers * (among / shrunk)), size, among))

        triples = zip(positives.tolist(), exposed.tolist(), population.tolist(), strict=True)
        return np.array([mean(*triple) for triple in triples], dtype=float)


def chance_of_any(numbers: Ints, exposed: int, population: int) -> Floats:
    r"""P(n >= 1), the chance that a sample has a positive: :math:`1 - \binom{L - N^+}{l} / \binom{L}{l}`.

    Parameters
    ----------
    numbers : array of int or float
        N+, the positives in the population; estimates need not be whole.
    exposed, population : int
        l and L.
    """
    from scipy.special import gammaln

    others = population - np.asarray(numbers, dtype=float)
    enough = others > exposed - 1  # else every sample has one
    left = np.where(enough, others, float(exposed))
    logs = gammaln(left + 1) - gammaln(left - exposed + 1) + gammaln(population - exposed + 1) - gammaln(population + 1)
    return np.asarray(np.where(enough, 1 - np.exp(logs), 1.0))
