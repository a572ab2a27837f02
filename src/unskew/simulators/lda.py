"""Likes by latent Dirichlet allocation: users with a mix of topics, topics with a mix of items."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints, SeedLike
from unskew.simulators.preference_world import PreferenceWorld
from unskew.simulators.preferences import Preferences

MOST_CELLS = 50_000_000
"""Largest number of users, or items, times topics: the tables are in memory, at most about 2 GiB."""
TINY = 1e-300
"""The smallest concentration: below, all the mass is on one item, and the inverse would overflow."""


@dataclass(frozen=True)
class Lda(PreferenceWorld, word="lda"):
    r"""Likes by latent Dirichlet allocation with symmetric priors (Tian & Ekstrand 2020).

    Topic k has a distribution over the items, :math:`\phi_k \sim \mathrm{Dir}(\beta)`, and user u one over the topics,
    :math:`\theta_u \sim \mathrm{Dir}(\alpha)`. The user makes :math:`n_u` choices, Poisson(`likes`) truncated to
    between 1 and the number of items; each choice is of a topic, and then of an item of the topic. Items chosen at
    least once are liked; with `graded`, the number of choices is the strength.

    Parameters
    ----------
    items, topics : int
    likes : float
        Expected choices of a user; the liked items are fewer, because some are chosen again.
    alpha, beta : float
        Concentrations of the users' topics and of the topics' items, above 0; the smaller, the more concentrated.

    Examples
    --------
    >>> likes = Lda(users=100, items=50, likes=10).like(rng=1)
    >>> likes.n_users, likes.n_items, bool(likes.counts.min() >= 1)
    (100, 50, True)
    """

    smaller = "use fewer likes"

    items: int = 1000
    topics: int = 20
    likes: float = 100.0
    alpha: float = 0.1
    beta: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("items", "topics"):
            if getattr(self, option) < 1:
                raise self._outside(option, "1 or more")
        for option in ("likes", "alpha", "beta"):
            if not 0 < getattr(self, option) < np.inf:
                raise self._outside(option, "a number above 0")
        if (most := MOST_CELLS // max(self.users, self.items)) < self.topics:
            raise self._outside("topics", f"at most {most} with these numbers of users and items")

    def expected_likes(self) -> float:
        """An upper bound of the expected number of choices, and so of likes."""
        return poisson_bound(self.likes, self.items) * self.users

    def like(self, rng: SeedLike = 0) -> Preferences:
        """Draw the likes of all users."""
        from unskew.simulators.lda_kernel import alias_tables, choose_items

        generator = np.random.default_rng(rng)
        themes = dirichlet(self.beta, self.topics, self.items, generator)
        tastes = np.cumsum(dirichlet(self.alpha, self.users, self.topics, generator), axis=1)
        choices = truncated_poisson(self.likes, self.items, self.users, generator)
        kept, other = alias_tables(themes)
        offsets, items, times = choose_items(tastes, kept, other, choices, generator)
        return Preferences(offsets, items, self.items, times.astype(np.float64) if self.graded else None)


def dirichlet(concentration: float, count: int, width: int, rng: SeedLike = 0) -> Floats:
    r"""Draw symmetric Dirichlet distributions, even if the concentration is so small that gamma numbers underflow.

    If G is Gamma(a + 1) and U uniform, :math:`G\,U^{1/a}` is Gamma(a); so its logarithm can be drawn.

    Parameters
    ----------
    concentration : float
    count, width : int
        Number of distributions, and their width.
    rng : int or Generator
    """
    generator = np.random.default_rng(rng)
    logs = np.log(generator.standard_gamma(concentration + 1, size=(count, width)))
    logs -= generator.standard_exponential((count, width)) / max(concentration, TINY)
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return np.asarray(logs)


def truncated_poisson(mean: float, most: int, count: int, rng: SeedLike = 0) -> Ints:
    """Draw Poisson numbers between 1 and `most`.

    Parameters
    ----------
    mean : float
        Mean of the distribution before truncation.
    most, count : int
    rng : int or Generator
    """
    from scipy.special import gammaln

    numbers = np.arange(1, most + 1)
    logs = numbers * np.log(mean) - gammaln(numbers + 1)
    reached = np.cumsum(np.exp(logs - logs.max()))
    draws = np.random.default_rng(rng).random(count) * reached[-1]
    return np.asarray(numbers[np.minimum(np.searchsorted(reached, draws, side="right"), most - 1)])


def poisson_bound(mean: float, most: int) -> float:
    """An upper bound of the mean of Poisson numbers between 1 and `most`, which is close if `most` is large."""
    return float(min(mean / -np.expm1(-mean), most))
