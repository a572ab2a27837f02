"""A world whose truth is known: what users like, what of it is observed, and where three models rank it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.metrics import Metric, parse_metric

LEANS: Mapping[str, tuple[float, float]] = {"personal": (1.0, 0.0), "mixed": (1.25, 0.2), "popular": (1.1, 0.7)}
"""Models, by how much of a user's taste and how much of popularity goes into their scores; noise has size 1.

The best stands in the middle, so that one can be wrong to both sides: with too little correction the popular one looks
best, with too much the personal one gains on it.
"""

RANGE = 20.0  # the most popular item is expected to have so many times the count of the least popular one
LEAST = 2.0  # the expected count of the least popular item
LIKED = 0.2  # share of the items that a user likes


@dataclass(frozen=True, eq=False)
class World:
    """All pairs of a user and an item the user likes.

    Parameters
    ----------
    gamma : float
        The true one: P is proportional to count^((gamma + 1) / 2).
    users, items : array of int
        One a pair, sorted by user.
    expected : array
        Expected training count, by item.
    counts : array of int
        The training counts that were drawn, by item.
    gains : mapping
        By metric: worth of each pair for each model, (models, pairs).
    """

    gamma: float
    users: Ints
    items: Ints
    expected: Floats
    counts: Ints
    gains: Mapping[str, Floats]

    @classmethod
    def draw(
        cls, gamma: float, n_users: int, n_items: int, metrics: tuple[str, ...], rng: np.random.Generator
    ) -> "World":
        r"""Draw likes, counts and the models' scores.

        Counts of training follow :math:`n^*_i`, spread evenly over their logarithm. With :math:`P \propto
        (n^*)^{(\gamma+1)/2}` items are liked in proportion to :math:`n^*/P \propto (n^*)^{(1-\gamma)/2}`, as the
        derivation of the paper's propensity has it (Yang et al. 2018, section 3.3).

        Parameters
        ----------
        gamma : float
        n_users, n_items : int
        metrics : tuple of str
            Words of means over relevant items.
        rng : Generator
        """
        expected = LEAST * RANGE ** np.linspace(1, 0, n_items)
        liking = expected ** ((1 - gamma) / 2)
        liked = rng.random((n_users, n_items)) < LIKED * liking / liking.mean()
        users, items = np.nonzero(liked)
        popularity = np.log(expected)
        popularity = (popularity - popularity.mean()) / popularity.std()
        above = np.empty((len(LEANS), len(users)), dtype=np.int64)
        for k, (taste, lean) in enumerate(LEANS.values()):
            scores = taste * liked + lean * popularity + rng.standard_normal(liked.shape)
            above[k] = _ranks(scores)[users, items]
        gains = {word: _worth(word, above, n_items) for word in metrics}
        return cls(gamma, users, items, expected, rng.poisson(expected), gains)

    @property
    def n_users(self) -> int:
        """How many like something."""
        return len(np.unique(self.users))

    def propensity(self, positives: float) -> Floats:
        """P of each pair, so that a user has so many positives in the test on average."""
        relative = self._power(self.expected, self.gamma)[self.items]
        P = relative * positives * self.n_users / relative.sum()
        if P.max() > 1:
            raise ConfigError(f"{positives:g} positives a user need a propensity of {P.max():.2f}; ask for fewer")
        return np.asarray(P)

    def assumed(self, gamma: float, smoothing: float) -> Floats:
        """P of each pair, up to scale, from the training counts; NaN where the count is 0 and nothing is added."""
        counts = self.counts + smoothing
        by_item = np.where(counts > 0, self._power(counts / counts.max(), gamma), np.nan)
        return np.asarray((by_item / np.nanmax(by_item))[self.items])

    def truth(self, metric: str) -> Floats:
        """What each model is worth: the mean over users of the mean over what they like."""
        sizes = np.bincount(self.users)
        weight = 1 / sizes[self.users] / self.n_users
        return np.asarray(self.gains[metric] @ weight)

    @staticmethod
    def _power(counts: Floats, gamma: float) -> Floats:
        return np.asarray(np.power(counts, (gamma + 1) / 2, where=counts > 0, out=np.zeros_like(counts)))


def _ranks(scores: Floats) -> Ints:
    """How many items of a user have a greater score."""
    order = np.argsort(-scores, axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(scores.shape[1]), scores.shape), axis=1)
    return ranks


def _worth(word: str, above: Ints, n_items: int) -> Floats:
    metric = parse_metric(word)
    if not isinstance(metric, Metric):
        raise TypeError(f"{word} is no mean over relevant items")
    candidates = np.full(above.shape[1], n_items)
    return np.array([metric.row_gains(row, np.zeros_like(row), candidates) for row in above])
