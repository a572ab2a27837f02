"""Relevant items that may be observed or not, and every way in which that can turn out."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.estimators import Estimator, Rows


@dataclass(frozen=True, eq=False)
class Relevant:
    """All relevant (user, item) pairs: their user from 0, gain and chance to be observed."""

    user: Ints
    gains: Floats
    propensity: Floats

    @classmethod
    def random(cls, counts: list[int], seed: int) -> "Relevant":
        """Return random gains and chances for users with these numbers of relevant items."""
        rng = np.random.default_rng(seed)
        n = sum(counts)
        return cls(np.repeat(np.arange(len(counts)), counts), rng.uniform(0, 1, n), rng.uniform(0.1, 0.9, n))

    @property
    def counts(self) -> Floats:
        """Number of relevant items of each user."""
        return np.bincount(self.user).astype(float)

    @property
    def truth(self) -> float:
        """R of Yang et al. (2018): the mean over users of the mean over their relevant items."""
        sums = [0.0] * len(self.counts)
        for user, gain in zip(self.user, self.gains, strict=True):
            sums[user] += gain / self.counts[user]
        return sum(sums) / len(sums)

    def patterns(self) -> Iterator[tuple[Bools, float]]:
        """Yield every pattern of observation with its probability."""
        for bits in itertools.product([False, True], repeat=len(self.user)):
            seen = np.array(bits)
            yield seen, float(np.prod(np.where(seen, self.propensity, 1 - self.propensity)))

    def value(self, estimator: Estimator, seen: Bools, *, total: bool = False) -> float | None:
        """Return the estimate from what was seen; users with nothing seen count as 0 where the estimator says so."""
        users, user = np.unique(self.user[seen], return_inverse=True)
        rows = Rows(
            worth=self.gains[seen],
            user=user,
            propensity=self.propensity[seen],
            total=self.counts[users],
            empty=len(self.counts) - len(users),
        )
        return estimator.terms(rows, "sum" if total else "mean").value
