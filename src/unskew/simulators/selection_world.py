"""Worlds in which the relevance of all pairs is known, and what is observed depends on items, users and relevance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from unskew.arrays import Bools, Ints, Matrix, SeedLike
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError, did_you_mean
from unskew.simulators.world import solve_offset

QUALITY, LEVEL, TASTE = 0.8, 0.7, 0.9
"""Effects on the logit of relevance: of the quality of items, of the level of users, of affinity."""


@dataclass(frozen=True)
class SelectionWorld:
    r"""Users, items and a rule of selective observation; `draw` draws all pairs.

    User u and item i have vectors of d independent standard normal tastes, :math:`x_u` and :math:`y_i`. The pair is
    relevant with probability

    .. math::

       \sigma(b + 0.8\,a_i + 0.7\,b_u + 0.9\,s_{ui}), \qquad s_{ui} = \frac{x_u \cdot y_i}{\sqrt d}

    and observed, relevant or not, with probability

    .. math::

       \sigma(\alpha\,p_i + \tau\,t_u + \beta\,s_{ui} + \kappa\,r_{ui} + c)

    where r is 1 for a relevant pair and 0 for another, and c is such that the mean of this probability over all pairs
    is `density`. The qualities a, levels b, popularities p and activities t are standard normal; a and p have the
    correlation :math:`\rho`. All draws are independent given these.

    With ``kappa=0`` observation depends on relevance only through what an item or a user is (and is missing at random
    given these); with another number it depends on the label itself.

    Parameters
    ----------
    users, items : int
    tastes : int
        d, the dimensions of the tastes.
    base : float
        b, the level of relevance; a lower number makes fewer pairs relevant.
    alpha : float
        The effect of popularity on observation.
    rho : float
        Correlation of an item's popularity and quality, from -1 to 1.
    beta : float
        The effect of affinity on observation.
    kappa : float
        The effect of relevance on observation.
    activity : float
        The standard deviation, in logits, of how much users are observed.
    density : float
        Mean probability of observation, between 0 and 1.

    Examples
    --------
    >>> drawn = SelectionWorld.preset("self", users=200, items=100).draw(rng=1)
    >>> bool(drawn.relevant[drawn.observed].mean() > drawn.relevant.mean())
    True
    """

    users: int = 700
    items: int = 600
    tastes: int = 6
    base: float = -2.2
    alpha: float = 0.0
    rho: float = 0.0
    beta: float = 0.0
    kappa: float = 0.0
    activity: float = 0.6
    density: float = 0.06

    def __post_init__(self) -> None:
        for option in ("users", "items", "tastes"):
            if getattr(self, option) < 1:
                raise self._refuse(option, "at least 1")
        for option in ("base", "alpha", "beta", "kappa"):
            if not np.isfinite(getattr(self, option)):
                raise self._refuse(option, "a finite number")
        if not 0 <= self.activity < np.inf:
            raise self._refuse("activity", "a finite number of 0 or more")
        if not -1 <= self.rho <= 1:
            raise self._refuse("rho", "a correlation from -1 to 1")
        if not 0 < self.density < 1:
            raise self._refuse("density", "a share of pairs between 0 and 1")

    def _refuse(self, option: str, expected: str) -> ConfigError:
        return ConfigError(f"selection world: {option}={getattr(self, option):g}; expected {expected}")

    @classmethod
    def preset(cls, name: str, **settings: Any) -> "SelectionWorld":
        """The world of that name in `SELECTION_WORLDS`, with some settings replaced.

        Parameters
        ----------
        name : str
        **settings
            Parameters of the class, such as ``users=5000`` or ``base=-3``.
        """
        if name not in SELECTION_WORLDS:
            raise ConfigError(f"unknown selection world {name!r}{did_you_mean(name, SELECTION_WORLDS)}")
        return replace(SELECTION_WORLDS[name], **settings)

    def draw(self, rng: SeedLike = 0) -> "SelectionDraw":
        """Draw relevance and observation of all pairs.

        The same random numbers are drawn for all settings of one size, and those of relevance first: worlds that differ
        only in what is observed have the same relevant pairs for the same seed.
        """
        from scipy.special import expit

        generator = np.random.default_rng(rng)
        quality, level = _normal(generator, self.items), _normal(generator, self.users)
        affinity = self._affinity(generator)
        relevance_logit = np.float32(TASTE) * affinity
        relevance_logit += np.float32(QUALITY) * quality
        relevance_logit += (np.float32(LEVEL) * level + np.float32(self.base))[:, None]
        relevant = generator.random(affinity.shape) < expit(relevance_logit)
        popularity = np.float32(self.rho) * quality
        popularity += np.float32(np.sqrt(1 - self.rho**2)) * _normal(generator, self.items)
        activity = np.float32(self.activity) * _normal(generator, self.users)
        chance = self._chance(affinity, relevant, popularity, activity)
        return SelectionDraw(
            relevant=relevant,
            chance=chance,
            observed=generator.random(chance.shape) < chance,
            affinity=affinity,
            relevance_logit=relevance_logit,
            quality=quality,
            popularity=popularity,
        )

    def _affinity(self, generator: np.random.Generator) -> Matrix:
        x, y = (_normal(generator, (size, self.tastes)) for size in (self.users, self.items))
        # not a BLAS product, whose last bit may depend on the number of threads
        return np.asarray(np.einsum("uk,ik->ui", x / np.float32(np.sqrt(self.tastes)), y))

    def _chance(self, affinity: Matrix, relevant: Bools, popularity: Matrix, activity: Matrix) -> Matrix:
        """The probability of observation of each pair."""
        from scipy.special import expit

        logit = np.float32(self.beta) * affinity
        logit += np.float32(self.alpha) * popularity
        logit += activity[:, None]
        logit[relevant] += np.float32(self.kappa)
        logit += np.float32(solve_offset(logit, self.density))
        return np.asarray(expit(logit, out=logit))


@dataclass(frozen=True, eq=False)
class SelectionDraw:
    """The truth of all pairs, and what is observed of it; users and items by code, matrices users by items.

    Parameters
    ----------
    relevant : array of bool, users by items
        Which pairs are relevant.
    chance : array of float32, users by items
        The probability that each pair is observed, given its relevance.
    observed : array of bool, users by items
        Which pairs are observed.
    affinity : array of float32, users by items
        The product of the tastes.
    relevance_logit : array of float32, users by items
        The logit of the probability that each pair is relevant.
    quality, popularity : array of float32
        Of each item.
    """

    relevant: Bools
    chance: Matrix
    observed: Bools
    affinity: Matrix
    relevance_logit: Matrix
    quality: Matrix
    popularity: Matrix

    @property
    def n_users(self) -> int:
        """Number of users, observed or not."""
        return int(self.relevant.shape[0])

    @property
    def n_items(self) -> int:
        """Size of the catalogue."""
        return int(self.relevant.shape[1])

    @cached_property
    def log(self) -> Interactions:
        """The observed pairs, with their labels 1 or 0 as values and the chance of observation as propensity."""
        users, items = np.nonzero(self.observed)
        return self._labelled(users, items, "selected", self.chance[users, items])

    def random_slice(self, size: int, rng: SeedLike = 0, *, outside: Bools | None = None) -> Interactions:
        """Pairs drawn uniformly, with their labels 1 or 0 as values.

        Parameters
        ----------
        size : int
            Number of pairs; they are distinct.
        rng : int or Generator
        outside : array of bool, users by items, optional
            Pairs that are not drawn; by default those observed.
        """
        users, items = draw_outside(self.observed if outside is None else outside, size, rng)
        return self._labelled(users, items, "random slice")

    def _labelled(self, users: Ints, items: Ints, name: str, propensity: Matrix | None = None) -> Interactions:
        return Interactions.from_arrays(
            users,
            items,
            self.relevant[users, items],
            propensity=propensity,
            n_users=self.n_users,
            n_items=self.n_items,
            name=name,
        )


def draw_outside(mask: Bools, size: int, rng: SeedLike = 0) -> tuple[Ints, Ints]:
    """Users and items of distinct pairs outside a mask, drawn uniformly and sorted.

    Parameters
    ----------
    mask : array of bool, users by items
        Pairs that are not drawn.
    size : int
        Number of pairs.
    rng : int or Generator
    """
    free = np.flatnonzero(~mask)
    if not 0 <= size <= len(free):
        raise DataError(f"cannot draw {size:,} pairs, because {len(free):,} are outside the mask; draw fewer")
    chosen = np.random.default_rng(rng).choice(len(free), size, replace=False, shuffle=False)
    users, items = np.unravel_index(free[np.sort(chosen)], mask.shape)
    return users, items


def _normal(generator: np.random.Generator, shape: int | tuple[int, int]) -> Matrix:
    return generator.standard_normal(shape, dtype=np.float32)


SELECTION_WORLDS: Mapping[str, SelectionWorld] = MappingProxyType(
    {
        "pop": SelectionWorld(alpha=1.5),
        "popq": SelectionWorld(alpha=1.5, rho=0.7),
        "personal": SelectionWorld(alpha=0.7, rho=0.3, beta=1.0),
        "self": SelectionWorld(alpha=0.7, rho=0.3, beta=0.3, kappa=1.5),
        "mixed": SelectionWorld(alpha=1.0, rho=0.5, beta=0.7, kappa=0.8),
        "adverse": SelectionWorld(alpha=1.0, rho=-0.6, kappa=-1.0),
        "mar": SelectionWorld(activity=0.0),
    }
)
"""The worlds by name: popular items are observed (``pop``), and are better (``popq``); users see what fits their tastes
(``personal``); users choose what they like (``self``); all of these (``mixed``); worse items and pairs are observed
(``adverse``); all pairs have the same chance (``mar``)."""
