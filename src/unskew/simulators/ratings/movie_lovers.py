"""A small example of self-selection: lovers of horror and of romance, and films of three genres."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError


@dataclass(frozen=True)
class MovieLovers:
    r"""Two groups of users who rate what they love and skip the rest (Schnabel et al. 2016, figure 1).

    =============== ============== ============== ============
    ratings and P   horror         romance        drama
    =============== ============== ============== ============
    horror lovers   5, p           1, p / 10      3, p / 2
    romance lovers  1, p / 10      5, p           3, p / 2
    =============== ============== ============== ============

    The first prediction is right except for drama, where its error is 2; the second is 5 for all of horror and romance
    and is right for drama. With groups and genres of equal size their MAE is 2/3 and 4/3, yet the naive average tends
    to 5/8 and 1/4: the wrong order.

    Parameters
    ----------
    p : float
        P of a film of the genre that a user loves, in (0, 1].
    lovers : tuple of int
        Number of users who love horror, and romance.
    films : tuple of int
        Number of films of horror, romance and drama.

    Examples
    --------
    >>> world = MovieLovers()
    >>> [round(float(abs(world.ratings - prediction).mean()), 4) for prediction in world.predictions]
    [0.6667, 1.3333]
    """

    p: float = 0.2
    lovers: tuple[int, int] = (1, 1)
    films: tuple[int, int, int] = (1, 1, 1)

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise ConfigError(f"p={self.p:g}: expected a probability above 0 and at most 1")
        if len(self.lovers) != 2 or len(self.films) != 3 or min(*self.lovers, *self.films) < 0:
            raise ConfigError(f"lovers={self.lovers}, films={self.films}: expected two and three counts of 0 or more")
        if not sum(self.lovers) or not sum(self.films):
            raise ConfigError(f"lovers={self.lovers}, films={self.films}: at least one user and one film are needed")

    @property
    def ratings(self) -> Ints:
        """Stars of every user for every film."""
        return self._spread([[5, 1, 3], [1, 5, 3]]).astype(np.int64)

    @property
    def propensity(self) -> Floats:
        """P of every cell."""
        return self.p * self._spread([[1, 0.1, 0.5], [0.1, 1, 0.5]])

    @property
    def predictions(self) -> tuple[Floats, Floats]:
        """The better prediction and the worse prediction."""
        return self._spread([[5, 1, 5], [1, 5, 5]]), self._spread([[5, 5, 3], [5, 5, 3]])

    def _spread(self, groups: list[list[float]]) -> Floats:
        """One value per group and genre, repeated for its users and films."""
        return np.asarray(groups, dtype=np.float64).repeat(self.lovers, axis=0).repeat(self.films, axis=1)
