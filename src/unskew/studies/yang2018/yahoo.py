"""Table 3's test users and its biased test, for Yahoo! R3 and for other sets that have a random test."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Ints
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError

RELEVANT = 4.0
LIST_SIZE = 300
ATTEMPTS = 20


def eligible_users(train: Interactions, random: Interactions, *, relevant: float = RELEVANT, least: int = 2) -> Ints:
    """Codes of the users that both tests can judge (Yang et al. 2018, Table 3), ascending.

    They have a relevant and an irrelevant item in the random test, and `least` relevant ones in training, so that one
    can be held out and one be learnt from. In Yahoo! R3 there are 2,296.

    Parameters
    ----------
    train, random : Interactions
        With ratings, in the same vocabularies, as those of a `Split` are.
    relevant : float
        The rating from which on an item is relevant.
    least : int
        How many relevant training items a user needs.
    """
    if train.user_vocabulary != random.user_vocabulary:
        raise DataError(f"{train.name} and {random.name}: users are coded differently; put both into one Split")
    liked = _at_least(train, relevant)
    good = _at_least(random, relevant)
    enough = _users(train, liked) >= least
    return np.flatnonzero(enough & (_users(random, good) > 0) & (_users(random, ~good) > 0)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class BiasedSplit:
    """Training positives in two parts: what is left to learn from, and a test as biased as training is.

    Parameters
    ----------
    train : Interactions
        The positives that are left; those of users without a test are all here.
    test : Interactions
        The positives held out.
    listed : Interactions
        The drawn items of each user, value 1 for those in `test` and 0 for the others: what they are ranked among
        under the candidate rule ``listed``, with ``rating>=1`` as the positives.
    redrawn : int
        Users whose first draw left a part without a positive.
    moved : int
        Of them, those for whom no draw would do, so that one positive was put into the empty part.
    """

    train: Interactions
    test: Interactions
    listed: Interactions
    redrawn: int
    moved: int


def biased_split(
    train_positives: Interactions, users: Ints, n_songs: int, size: int, rng: np.random.Generator
) -> BiasedSplit:
    """Hold out, for each user, the positives among some items drawn uniformly from all.

    The paper holds out "300 songs per user" of 1,000 and does not say how. Here they are drawn uniformly, whether the
    user has them or not, so the test is as skewed as training. Both parts must have a positive: the draw is repeated
    up to 20 times, then one positive, drawn at random, changes place with an item that is none.

    Parameters
    ----------
    train_positives : Interactions
        The relevant rows of training.
    users : array of int
        Codes of the users to hold out for, each with at least two rows.
    n_songs : int
        Items are drawn from codes 0 to ``n_songs - 1``.
    size : int
        How many are drawn for each user.
    rng : numpy.random.Generator
    """
    _check(train_positives, users, n_songs, size)
    offsets, items = train_positives.by_user
    lists = np.empty((len(users), size), dtype=np.int32)
    redrawn = moved = 0
    for place, user in enumerate(users.tolist()):
        positive = np.zeros(n_songs, dtype=bool)
        positive[items[offsets[user] : offsets[user + 1]]] = True
        drawn, draws, swapped = _draw(positive, size, rng)
        lists[place] = drawn
        redrawn += draws > 1
        moved += swapped
    return _divide(train_positives, users, lists, redrawn, moved)


def _draw(positive: Bools, size: int, rng: np.random.Generator) -> tuple[Ints, int, bool]:
    """Items of a user, ascending; how many draws it took; whether a positive had to be moved."""
    total = int(positive.sum())
    for attempt in range(1, ATTEMPTS + 1):
        drawn = np.sort(rng.permutation(len(positive))[:size])
        if 0 < positive[drawn].sum() < total:
            return drawn, attempt, False
    inside = np.zeros(len(positive), dtype=bool)
    inside[drawn] = True
    held = bool(positive[drawn].any())  # then all are in the list, and one leaves it; else one enters
    inside[rng.choice(np.flatnonzero(positive))] = not held
    inside[rng.choice(np.flatnonzero(~positive & (inside != held)))] = held
    return np.flatnonzero(inside), ATTEMPTS, True


def _divide(positives: Interactions, users: Ints, lists: Ints, redrawn: int, moved: int) -> BiasedSplit:
    inside = np.zeros((positives.n_users, positives.n_items), dtype=bool)
    inside[users[:, None], lists] = True
    held = inside[positives.users, positives.items]
    relevant = np.zeros_like(inside)
    relevant[positives.users, positives.items] = True
    owners = np.repeat(users, lists.shape[1]).astype(np.int32)
    listed = Interactions(
        owners,
        lists.ravel(),
        positives.user_vocabulary,
        positives.item_vocabulary,
        values=relevant[owners, lists.ravel()].astype(np.float64),
        name="biased lists",
    )
    return BiasedSplit(positives.take(~held), positives.take(held), listed, redrawn, moved)


def _check(positives: Interactions, users: Ints, n_songs: int, size: int) -> None:
    if not 0 < size < n_songs:
        raise ConfigError(f"{size} of {n_songs} items cannot be held out; draw at least 1, and fewer than there are")
    if n_songs > positives.n_items or int(positives.items.max(initial=-1)) >= n_songs:
        raise DataError(f"{positives.name} has {positives.n_items} items; {n_songs} cannot be drawn from")
    if len(np.unique(users)) != len(users):
        raise DataError("a user is named twice; name each once")
    few = users[positives.user_counts[users] < 2]
    if len(few):
        first = positives.user_vocabulary.decode(few[:1]).tolist()[0]
        raise DataError(
            f"{positives.name}: user {first!r} ({len(few)} such) has fewer than 2 positives; one is to be held out and "
            "one to be learnt from, see eligible_users"
        )


def _at_least(log: Interactions, relevant: float) -> Bools:
    if log.values is None:
        raise DataError(f"{log.name} has no ratings; relevant items are told by them")
    return np.asarray(log.values >= relevant)


def _users(log: Interactions, rows: Bools) -> Ints:
    return np.bincount(log.users[rows], minlength=log.n_users)
