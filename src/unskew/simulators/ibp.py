"""Likes by the Indian buffet process."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, SeedLike
from unskew.simulators.preference_world import PreferenceWorld
from unskew.simulators.preferences import Preferences


@dataclass(frozen=True)
class Ibp(PreferenceWorld, word="ibp"):
    r"""Likes by the three-parameter Indian buffet process [teh2009], with the popularity law of real catalogues.

    User n + 1 likes each item that m of the n users before like with probability :math:`(m - \sigma)/(n + c)`, and

    .. math:: \mathrm{Poisson}\Bigl(\alpha\,\frac{\Gamma(1 + c)\,\Gamma(n + c + \sigma)}
       {\Gamma(n + 1 + c)\,\Gamma(c + \sigma)}\Bigr)

    new items. Every user is expected to like :math:`\alpha` items. An item that the n-th user was the first to like has
    a weight, :math:`\mathrm{Beta}(1 - \sigma,\ n - 1 + c + \sigma)`: each later user likes it with that probability,
    independently. So the weight is drawn once, and the users who like the item are found by geometric steps, at a cost
    proportional to the likes. Items are numbered in the order of their first like, so a low number goes with being
    popular.

    Parameters
    ----------
    alpha : float
        Expected likes of a user, above 0.
    c : float
        Concentration, above -sigma: the larger, the more equal are the popularities of the items.
    sigma : float
        In [0, 1): the larger, the more items there are, as the number of users to this power.

    Examples
    --------
    >>> likes = Ibp(users=100, alpha=5).like(rng=1)
    >>> likes.n_users, bool(4 < likes.counts.mean() < 6)
    (100, True)
    """

    smaller = "use a smaller alpha"

    alpha: float = 50.0
    c: float = 1.0
    sigma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < np.inf:
            raise self._outside("alpha", "a number above 0")
        if not 0 <= self.sigma < 1:
            raise self._outside("sigma", "a number of 0 or more, below 1")
        if not -self.sigma < self.c < np.inf:
            raise self._outside("c", f"a number above -sigma, which is {-self.sigma:g}")

    def new_items(self) -> Floats:
        """Expected number of items that each user is the first to like."""
        n = np.arange(self.users - 1)
        factors = (n + (self.c + self.sigma)) / (n + 1 + self.c)  # the factor from user to user
        return self.alpha * np.append(1.0, np.cumprod(factors))

    def expected_items(self) -> float:
        """The expected number of items."""
        return float(self.new_items().sum())

    def expected_likes(self) -> float:
        """The expected number of likes: alpha per user."""
        return self.alpha * self.users

    def like(self, rng: SeedLike = 0) -> Preferences:
        """Draw the likes of all users."""
        from unskew.simulators.ibp_kernel import spread_items, to_rows

        generator = np.random.default_rng(rng)
        births = np.repeat(np.arange(self.users), generator.poisson(self.new_items()))
        weights = generator.beta(1 - self.sigma, births + self.c + self.sigma)
        guess = int(1.2 * self.expected_likes()) + 1000
        ends, users = spread_items(births, weights, self.users, guess, generator)
        offsets, items = to_rows(ends, users, self.users)
        return Preferences(offsets, items, len(births))
