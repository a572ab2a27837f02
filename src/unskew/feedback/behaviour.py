"""`Behaviour`: what users do with a list; `play_round`: one round of showing lists and consuming."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.data import Interactions
from unskew.data.pairs import find, pair_keys, row_keys
from unskew.data.vocabulary import Vocabulary
from unskew.errors import ConfigError, DataError
from unskew.ranking.top import TopLists
from unskew.simulators import Preferences, World


@dataclass(frozen=True)
class Behaviour:
    r"""A user looks at some places of a list, consumes liked items, and finds some items without a list.

    The item at place j is looked at with probability :math:`j^{-\eta}`, the position-based model with a power of the
    place as in [joachims2017], and never beyond the list. Looked at, a liked item is consumed with probability `take`,
    another one with probability `dislikes`. In addition, each liked item outside the log is found with its own
    probability :math:`q_{ui}`. These events are independent, so a liked pair that is not in the log is consumed in the
    next round with probability

    .. math:: P_{ui} = 1 - (1 - j_{ui}^{-\eta}\, \text{take}) (1 - q_{ui}),

    where the first factor is 1 for an item that is not shown.

    Parameters
    ----------
    eta : float
        0 if all places are looked at.
    take : float
    organic : float
        Mean of q over all likes. If it is above 0, every liked pair has a chance, which inverse propensities need.
    dislikes : float
    """

    eta: float = 1.0
    take: float = 0.5
    organic: float = 0.02
    dislikes: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.eta < np.inf:
            raise ConfigError(f"eta={self.eta:g}: expected a number of 0 or more")
        for option in ("take", "organic", "dislikes"):
            if not 0 <= getattr(self, option) <= 1:
                raise ConfigError(f"{option}={getattr(self, option):g}: expected a probability between 0 and 1")

    def looked_at(self, place: Ints) -> Floats:
        """Probability that a place of the list is looked at; places count from 1."""
        return np.asarray(place, dtype=float) ** -self.eta

    def organic_chances(self, likes: Preferences, observe: str = "uniform") -> Floats:
        """Probability q of each like to be found without a list.

        All are equal (``uniform``), or in proportion to the number of users who like the item (``popular``) or to how
        much the user likes it (``preferred``). Their mean is `organic`, unless a probability would be above 1.
        """
        weights = np.ones(len(likes))
        if observe == "popular":
            weights = likes.popularity[likes.items].astype(float)
        elif observe == "preferred" and likes.strength is not None:
            weights = likes.strength
        return np.asarray(np.minimum(self.organic * weights / weights.mean(), 1.0))


def play_round(
    likes: Preferences,
    log: Interactions,
    lists: TopLists,
    behaviour: Behaviour,
    rng: np.random.Generator,
    *,
    observe: str = "uniform",
    origin: str = "given",
) -> World:
    """Show lists, and let users consume: the log is the train of a world, and the consumed items its test.

    Parameters
    ----------
    likes : Preferences
    log : Interactions
        The log so far; all users and items are declared.
    lists : TopLists
        The lists that are shown, without items of the user's log.
    behaviour : Behaviour
    rng : Generator
    observe : {"uniform", "popular", "preferred"}
        What q is proportional to.
    origin : str
        The origin to record in the world.

    Returns
    -------
    World
        Its truth is the liked items outside the log; its chances and the propensities of its test are exact.

    Raises
    ------
    DataError
        If a list holds an item of the user's log.
    """
    keys = pair_keys(likes.row_users, likes.items, likes.n_items)
    logged = row_keys(log, likes.n_items)
    hidden = ~np.isin(keys, logged)
    filled = lists.items >= 0
    users, items = np.repeat(lists.users, filled.sum(axis=1)), lists.items[filled]
    shown = pair_keys(users, items, likes.n_items)
    _check_new(shown, logged, users, items)
    looked = behaviour.looked_at(np.nonzero(filled)[1] + 1)
    row, liked = find(keys, shown)

    by_list = np.zeros(len(likes))
    by_list[row[liked]] = looked[liked] * behaviour.take
    chances = 1 - (1 - by_list) * (1 - behaviour.organic_chances(likes, observe))
    consumed = hidden & (rng.random(len(likes)) < chances)
    by_mistake = looked[~liked] * behaviour.dislikes
    also = rng.random(len(by_mistake)) < by_mistake
    test = _rows(
        np.concatenate([likes.row_users[consumed], users[~liked][also]]),
        np.concatenate([likes.items[consumed], items[~liked][also]]),
        likes,
        np.concatenate([chances[consumed], by_mistake[also]]),
    )
    return World(
        train=log,
        test=test,
        offsets=offsets_of(np.bincount(likes.row_users[hidden], minlength=likes.n_users)),
        items=likes.items[hidden],
        origin=origin,
        chances=chances[hidden],
        strength=None if likes.strength is None else likes.strength[hidden],
        likes=likes,
    )


def join(world: World) -> Interactions:
    """The log after a round: train and test together."""
    likes = world.likes
    assert likes is not None
    users = np.concatenate([world.train.users, world.test.users])
    return _rows(users, np.concatenate([world.train.items, world.test.items]), likes)


def in_log(likes: Preferences, log: Interactions) -> Bools:
    """Which likes are in the log."""
    return np.isin(pair_keys(likes.row_users, likes.items, likes.n_items), row_keys(log, likes.n_items))


def _check_new(shown: Ints, logged: Ints, users: Ints, items: Ints) -> None:
    again = np.flatnonzero(np.isin(shown, logged))
    if len(again):
        first = again[0]
        raise DataError(
            f"user {users[first]} is shown item {items[first]}, which is in the log already; leave such items out"
        )


def _rows(users: Ints, items: Ints, likes: Preferences, propensity: Floats | None = None) -> Interactions:
    """Distinct rows, sorted by user and item."""
    order = np.argsort(pair_keys(users, items, likes.n_items), kind="stable")
    return Interactions(
        users[order].astype(np.int32),
        items[order].astype(np.int32),
        Vocabulary.of_range(likes.n_users),
        Vocabulary.of_range(likes.n_items),
        propensity=None if propensity is None else propensity[order],
        name="log" if propensity is None else "test",
    )
