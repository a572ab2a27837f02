"""A marketplace that shows the head of its catalogue far more than the rest."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, SeedLike
from unskew.errors import ConfigError
from unskew.simulators.world import World, WorldModel, logistic, solve_offset


@dataclass(frozen=True)
class Marketplace(WorldModel, word="marketplace"):
    r"""Users with latent tastes, and exposure that favours the head of the catalogue.

    User u and item i have vectors of independent standard normal tastes, and

    .. math::

       \Pr(i \text{ relevant to } u) = \sigma\Bigl(s\,\frac{p_u \cdot q_i}{\sqrt{d}} + b\Bigr), \qquad
       P_i = \max(\text{floor},\ \text{top} \cdot k_i^{-\text{exponent}})

    where b is such that the share `liked` of all pairs is relevant, and :math:`k_i` is the item's place in a random
    order: exposure does not depend on tastes. A relevant pair is observed with probability P; each observed row is held
    out with probability `holdout`. All draws are independent, so the propensity of a test row is known exactly: see
    `World.hide`.

    Parameters
    ----------
    users, items : int
    tastes : int
        d, the dimensions of the latent tastes.
    strength : float
        s, the influence of tastes; 0 makes relevance purely random.
    liked : float
        Share of the catalogue that is relevant to a user, on average.
    exponent : float
        How fast exposure falls from the head of the catalogue; 0 shows all items equally.
    top : float
        Exposure of the first item.
    floor : float
        Smallest exposure of an item.
    holdout : float
        Share of the log that is held out for the test.

    Examples
    --------
    >>> world = Marketplace(users=200, items=50).draw(rng=1)
    >>> world.n_users, world.n_items, bool(world.relevant_counts.sum() > len(world.test))
    (200, 50, True)
    """

    users: int = 4000
    items: int = 500
    tastes: int = 4
    strength: float = 1.75
    liked: float = 0.2
    exponent: float = 0.8
    top: float = 0.9
    floor: float = 0.06
    holdout: float = 0.25

    def __post_init__(self) -> None:
        for option in ("users", "items", "tastes"):
            if getattr(self, option) < 1:
                raise ConfigError(f"marketplace({option}={getattr(self, option)}): must be at least 1")
        for option in ("strength", "exponent"):
            if not 0 <= getattr(self, option) < np.inf:
                raise ConfigError(f"marketplace({option}={getattr(self, option):g}): expected a number of 0 or more")
        for option in ("liked", "holdout"):
            if not 0 < getattr(self, option) < 1:
                raise ConfigError(f"marketplace({option}={getattr(self, option):g}): expected a share between 0 and 1")
        if not 0 < self.floor <= self.top <= 1:
            raise ConfigError(f"marketplace(floor={self.floor:g}, top={self.top:g}): expected 0 < floor <= top <= 1")

    def draw(self, rng: SeedLike = 0) -> World:
        """Draw tastes, relevance, exposure, the log and its split."""
        generator = np.random.default_rng(rng)
        user_tastes = generator.standard_normal((self.users, self.tastes))
        item_tastes = generator.standard_normal((self.items, self.tastes))
        # not a BLAS product, whose last bit may depend on the number of threads
        affinity = self.strength / np.sqrt(self.tastes) * np.einsum("uk,ik->ui", user_tastes, item_tastes)
        chance = logistic(affinity + solve_offset(affinity, self.liked))
        relevant = generator.random(chance.shape) < chance
        exposure = self.exposure()[generator.permutation(self.items)]
        return World.hide(relevant, exposure, self.holdout, rng=generator, origin=str(self))

    def exposure(self) -> Floats:
        """P of the items, from the most to the least exposed."""
        places = np.arange(1.0, self.items + 1)
        return np.asarray(np.maximum(self.floor, self.top * places**-self.exponent))
