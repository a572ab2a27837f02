"""A simulated log with its truth: all relevant pairs, and how likely each was to be observed."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints, Matrix, SeedLike, offsets_of
from unskew.data import Interactions, Split, test_propensity
from unskew.errors import DataError
from unskew.notation import Named
from unskew.simulators.preferences import Preferences


@dataclass(frozen=True, eq=False)
class World:
    """A simulated log and its truth, users and items by code.

    The truth is all items relevant to a user without those in the user's train, as for a metric under the candidate
    rule ``unseen``: an item in train is not a candidate, so it is not in the truth either.

    Parameters
    ----------
    train, test : Interactions
        The observed part; all users and items are declared. The propensity of the test is P(in the test | candidate).
    offsets, items : array of int
        The relevant items of user u, ascending, are ``items[offsets[u]:offsets[u + 1]]``.
    origin : str
        The world it was drawn from, as a word.
    chances : array, optional
        P(in the test | not in train) of every relevant item, in the order of `items`.
    strength : array, optional
        How much each of them is liked, in graded worlds.
    likes : Preferences, optional
        All items that users like, in train or not.
    """

    train: Interactions
    test: Interactions
    offsets: Ints
    items: Ints
    origin: str = "given"
    chances: Floats | None = None
    strength: Floats | None = None
    likes: Preferences | None = None

    @classmethod
    def hide(
        cls, relevant: Bools, observation: Floats, holdout: float, *, rng: np.random.Generator, origin: str = "given"
    ) -> "World":
        r"""A world in which a part of the relevant pairs is observed, and a part of these is held out.

        Each relevant pair is observed with its own probability P, and each observed row is in the test with probability
        h, all independently. A pair that is not in train is therefore in the test with probability :math:`h P / (1 - (1
        - h) P)`, exactly.

        Parameters
        ----------
        relevant : array of bool, users by items
        observation : array
            P, in that shape or one that broadcasts to it, in (0, 1].
        holdout : float
            The probability h.
        rng : Generator
        origin : str
            The origin to record.
        """
        draws = rng.random(relevant.shape)
        observed = relevant & (draws < observation)
        held = observed & (rng.random(relevant.shape) < holdout)
        train = observed & ~held
        if not held.any() or not train.any():
            raise DataError(f"{origin}: train or test is empty, because few rows are observed; use more users or items")
        in_test = np.broadcast_to(test_propensity(observation, 1 - holdout, holdout), relevant.shape)
        hidden = relevant & ~train
        return cls(
            train=_interactions(train, name="train"),
            test=_interactions(held, propensity=in_test[held], name="test"),
            offsets=offsets_of(hidden.sum(axis=1)),
            items=np.nonzero(hidden)[1].astype(np.int32),
            origin=origin,
        )

    @property
    def n_users(self) -> int:
        """Number of users, observed or not."""
        return self.train.n_users

    @property
    def n_items(self) -> int:
        """Size of the catalogue."""
        return self.train.n_items

    @property
    def split(self) -> Split:
        """Train and test, to evaluate models as on a real log."""
        return Split(self.train, self.test, origin=self.origin)

    @cached_property
    def relevant_counts(self) -> Ints:
        """Each user's number of relevant items outside train, which ``ips`` needs."""
        return np.diff(self.offsets)

    @cached_property
    def truth(self) -> Interactions:
        """All relevant pairs outside train; a naive average over these rows is the true value of a metric."""
        users = np.repeat(np.arange(self.n_users), self.relevant_counts)
        return Interactions.from_arrays(users, self.items, n_users=self.n_users, n_items=self.n_items, name="truth")


class WorldModel(Named, family="world"):
    """Settings of a world; `draw` draws one."""

    @abstractmethod
    def draw(self, rng: SeedLike = 0) -> World:
        """Draw a world; all randomness comes from `rng`."""


def solve_offset(affinity: Matrix, share: float) -> float:
    """The number to add to all affinities so that their mean logistic probability is this share."""
    from scipy.optimize import brentq

    least = float(np.log(share / (1 - share)))
    low, high = least - float(np.max(affinity)) - 1, least - float(np.min(affinity)) + 1
    return float(brentq(lambda offset: float(np.mean(logistic(affinity + offset))) - share, low, high, xtol=1e-7))


def logistic(x: Matrix) -> Matrix:
    """1 / (1 + exp(-x)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _interactions(mask: Bools, *, propensity: Floats | None = None, name: str) -> Interactions:
    users, items = np.nonzero(mask)
    return Interactions.from_arrays(
        users, items, propensity=propensity, n_users=mask.shape[0], n_items=mask.shape[1], name=name
    )
