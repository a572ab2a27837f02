"""`Log`: a selectively observed log of pairs whose relevance is known; and how logs are drawn from complete labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Bools, Floats, Matrix
from unskew.data import Interactions
from unskew.simulators import SelectionDraw
from unskew.simulators.world import logistic, solve_offset

if TYPE_CHECKING:
    import polars as pl

HELD_OUT = 0.2
"""Share of the observed rows that become the test."""


@dataclass(frozen=True, eq=False)
class Log:
    """An observed log, and what is known of the relevance of all pairs; matrices are users by items.

    Parameters
    ----------
    observed : array of bool
        Which pairs the log has.
    liked : array of bool
        Which of them are positive in the log.
    relevant : array of bool
        Which pairs are truly relevant.
    known : array of bool, optional
        A uniform sample of all pairs, the only ones whose relevance is known; all by default.
    chance : array, optional
        The chance that each pair is observed, where it is known.
    features : (frame, frame), optional
        Features of users and of items.
    """

    observed: Bools
    liked: Bools
    relevant: Bools
    known: Bools | None = None
    chance: Matrix | None = None
    features: "tuple[pl.DataFrame, pl.DataFrame] | None" = None

    @classmethod
    def drawn(cls, world: SelectionDraw) -> "Log":
        """The log of a selection world."""
        return cls(world.observed, world.observed & world.relevant, world.relevant, chance=world.chance)

    def parts(self, rng: np.random.Generator, *, positives: bool = False) -> "Parts":
        """Split the log at random; with `positives`, only positive rows are given."""
        held = rng.random(self.observed.shape) < HELD_OUT
        given = self.liked if positives else self.observed
        return Parts(self, given & ~held, given & held)

    def sample(self, share: float, rng: np.random.Generator) -> Bools:
        """Pairs drawn uniformly among those known: this share of all pairs."""
        cells = np.arange(self.observed.size) if self.known is None else np.flatnonzero(self.known)
        size = min(round(share * self.observed.size), len(cells))
        drawn = np.zeros(self.observed.size, dtype=bool)
        drawn[rng.choice(cells, size, replace=False, shuffle=False)] = True
        return drawn.reshape(self.observed.shape)


@dataclass(frozen=True, eq=False)
class Parts:
    """The two parts of a log, as matrices and as interactions with labels 1 and 0 as values."""

    log: Log
    trained: Bools
    held: Bools

    @cached_property
    def train(self) -> Interactions:
        """The rows that models learn from."""
        return self._rows(self.trained, self.log.liked, "train")

    @cached_property
    def test(self) -> Interactions:
        """The rows that were held out."""
        return self._rows(self.held, self.log.liked, "test")

    @cached_property
    def test_with_chance(self) -> Interactions:
        """The rows that were held out, with the true chance that a row not in train is held out."""
        assert self.log.chance is not None
        chance = self.log.chance[self.held].astype(float)
        return self._rows(self.held, self.log.liked, "test", HELD_OUT * chance / (1 - (1 - HELD_OUT) * chance))

    def slice_of(self, drawn: Bools) -> Interactions:
        """Random pairs with their true labels."""
        return self._rows(drawn, self.log.relevant, "slice")

    def truth(self, drawn: Bools | None = None) -> Interactions:
        """All relevant candidates that are known; without those of the slice, if only a sample is known."""
        pairs = self.log.relevant & ~self.trained
        if self.log.known is not None:
            pairs &= self.log.known if drawn is None else self.log.known & ~drawn
        return self._rows(pairs, self.log.relevant, "truth")

    def _rows(self, mask: Bools, labels: Bools, name: str, propensity: Floats | None = None) -> Interactions:
        users, items = np.nonzero(mask)
        values = labels[users, items].astype(float)
        n_users, n_items = mask.shape
        return Interactions.from_arrays(
            users, items, values, propensity=propensity, n_users=n_users, n_items=n_items, name=name
        )


@dataclass(frozen=True)
class Selection:
    """How a log is drawn from complete labels: effects on the logit of observation.

    Parameters
    ----------
    popularity : float
        Of an item's popularity: its standardised rate of relevance, half of whose variance is replaced by noise.
    affinity : float
        Of a fit of the labels of rank 8, standardised.
    relevance : float
        Of relevance itself.
    activity : float
        Standard deviation of the effect of users.
    """

    popularity: float
    affinity: float = 0.0
    relevance: float = 0.0
    activity: float = 0.6

    def draw(self, relevant: Bools, density: float, rng: np.random.Generator) -> Log:
        """A log of this density."""
        users, items = relevant.shape
        popularity = (standardised(relevant.mean(axis=0)) + rng.standard_normal(items)) / np.sqrt(2)
        logit = np.add.outer(self.activity * rng.standard_normal(users), self.popularity * popularity)
        if self.affinity:
            logit += self.affinity * standardised(low_rank(relevant))
        logit[relevant] += self.relevance
        chance = logistic(logit + solve_offset(logit.astype(np.float32), density))
        observed = rng.random(relevant.shape) < chance
        return Log(observed, observed & relevant, relevant, chance=chance)


def low_rank(relevant: Bools, rank: int = 8) -> Floats:
    """The best approximation of this rank of labels from which the means of users and items are subtracted."""
    from scipy.linalg import eigh

    labels = relevant.astype(float)
    centred = labels - labels.mean(axis=0) - labels.mean(axis=1, keepdims=True) + labels.mean()
    _, right = eigh(centred.T @ centred, subset_by_index=(len(labels.T) - rank, len(labels.T) - 1))
    return np.asarray(centred @ right @ right.T)


def standardised(values: Floats) -> Floats:
    """Values of mean 0 and standard deviation 1."""
    return np.asarray((values - values.mean()) / values.std())
