"""Users whose every candidate is labelled, and every random sample that may be drawn of each."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.estimators import Places, Rows, Terms, Ure

Picks = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Labelled:
    """For each user the labels by rank, best first, and what each rank gains."""

    labels: Sequence[Sequence[int]]
    gains: Sequence[Sequence[float]]
    cutoff: int | None = None

    @classmethod
    def recall(cls, labels: Sequence[Sequence[int]], k: int) -> "Labelled":
        return cls(labels, [[float(rank < k) for rank in range(len(row))] for row in labels], k)

    @property
    def counts(self) -> Ints:
        """N+ of each user."""
        return np.array([sum(row) for row in self.labels])

    @property
    def totals(self) -> Floats:
        """The sum of gains over all positives of each user."""
        return np.array([float(np.dot(a, b)) for a, b in zip(self.labels, self.gains, strict=True)])

    def rows(self, picks: Picks) -> Rows:
        """What was drawn, with labels and gains."""
        user = np.repeat(np.arange(len(picks)), [len(picked) for picked in picks])
        positive = [self.labels[u][rank] == 1 for u, picked in enumerate(picks) for rank in picked]
        found = [(self.gains[u][rank], rank) for u, picked in enumerate(picks) for rank in picked]
        gains, above = np.array(found, dtype=float).T
        population = np.array([float(len(row)) for row in self.labels])
        places = Places(above, self.up_to, self.cutoff)
        return Rows(gains, user, total=population, positive=np.array(positive), places=places)

    def up_to(self, places: Ints) -> Floats:
        """For each user and number of places, the sum of so many gains."""
        return self._sums[:, np.minimum(places, self._sums.shape[1] - 1)]

    @cached_property
    def _sums(self) -> Floats:
        longest = max(map(len, self.gains))
        padded = [[0.0, *row, *[0.0] * (longest - len(row))] for row in self.gains]
        return np.cumsum(padded, axis=1)

    def means(self, picks: Picks, estimator: Ure) -> Terms:
        return estimator.terms(self.rows(picks), "mean")

    def sums(self, picks: Picks, estimator: Ure) -> Terms:
        return estimator.terms(self.rows(picks), "sum")

    def draws(self, sizes: Sequence[int]) -> Iterator[Picks]:
        """Every way to draw so many items of each user; all are equally likely."""
        each = [itertools.combinations(range(len(row)), l) for row, l in zip(self.labels, sizes, strict=True)]
        return itertools.product(*each)


def every_sample(labels: Sequence[int], gains: Sequence[float], size: int) -> tuple[Labelled, Picks]:
    """One user as many times as there are samples, each time with another: means over users are expectations."""
    picks = list(itertools.combinations(range(len(labels)), size))
    return Labelled([labels] * len(picks), [gains] * len(picks)), picks
