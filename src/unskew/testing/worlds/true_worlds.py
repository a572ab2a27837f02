"""Small simulated worlds by hand and at random, and the rank of each of their rows, counted with loops."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Ints, offsets_of
from unskew.data import Interactions
from unskew.simulators import World


def make_world(
    likes: dict[int, list[int]],
    train: dict[int, list[int]],
    test: dict[int, dict[int, float]],
    *,
    n_users: int,
    n_items: int,
    strength: dict[tuple[int, int], float] | None = None,
) -> World:
    """Return a world by hand.

    Parameters
    ----------
    likes : dict
        The items that each user likes.
    train : dict
        The items that each user has in train.
    test : dict
        The items that each user has in the test, with their propensities.
    n_users, n_items : int
    strength : dict, optional
        How strongly a user likes an item, for each pair; 1 for those that are not named.
    """

    def log(rows: list[tuple[int, int]], name: str, propensity: list[float] | None = None) -> Interactions:
        users = np.array([user for user, _ in rows], dtype=int)
        items = np.array([item for _, item in rows], dtype=int)
        return Interactions.from_arrays(
            users, items, propensity=propensity, n_users=n_users, n_items=n_items, name=name
        )

    truth = [sorted(set(likes.get(u, [])) - set(train.get(u, []))) for u in range(n_users)]
    # the rows of the test in no order, as a log may have them
    held = [(u, i, p) for u, rows in reversed(test.items()) for i, p in reversed(rows.items())]
    return World(
        train=log([(u, i) for u, items in train.items() for i in items], "train"),
        test=log([(u, i) for u, i, _ in held], "test", [p for _, _, p in held]),
        offsets=offsets_of([len(liked) for liked in truth]),
        items=np.array([item for liked in truth for item in liked], dtype=np.int32),
        origin="by hand",
        strength=None
        if strength is None
        else np.array([strength.get((u, i), 1.0) for u, liked in enumerate(truth) for i in liked]),
    )


def draw_world(seed: int, n_users: int = 7, n_items: int = 12) -> World:
    """Return a random world: ties, cold items, held-out dislikes and users without a test row are common."""
    rng = np.random.default_rng(seed)
    likes: dict[int, list[int]] = {}
    train: dict[int, list[int]] = {}
    test: dict[int, dict[int, float]] = {}
    strength: dict[tuple[int, int], float] = {}
    for user in range(n_users):
        liked = sorted(rng.choice(n_items, int(rng.integers(1, min(9, n_items))), replace=False).tolist())
        seen = [item for item in range(n_items) if rng.random() < (0.4 if item in liked else 0.05)]
        held = [item for item in seen if rng.random() < 0.4]
        likes[user] = liked
        train[user] = [item for item in seen if item not in held]
        test[user] = {item: float(rng.uniform(0.2, 1)) for item in held}
        strength |= {(user, item): float(rng.integers(1, 4)) for item in liked}
    return make_world(likes, train, test, n_users=n_users, n_items=n_items, strength=strength)


@dataclass(frozen=True)
class Place:
    """The rank of one row: candidates above it, tied with it, in all, and listed by the model."""

    above: int
    tied: int
    candidates: int
    listed: int


def count_places(world: World, how: str, *, ordinal: bool = False) -> dict[tuple[int, int], Place]:
    """Return the rank of each row by definition, candidate by candidate, for users with a row in truth and in test."""
    trained = {int(item) for item in world.train.items}
    train = _sets(world.train, world.n_users)
    test = _sets(world.test, world.n_users)
    times = np.bincount(world.train.items, minlength=world.n_items)
    places = {}
    for user in range(world.n_users):
        span = slice(int(world.offsets[user]), int(world.offsets[user + 1]))
        truth = [int(item) for item in world.items[span]]
        liked = dict(zip(truth, (world.strength if world.strength is not None else world.items)[span], strict=True))
        if not truth or not test[user]:
            continue
        candidates = trained - train[user]
        worth = {item: _worth(how, item, liked, times) for item in candidates}
        listed = [item for item in candidates if worth[item] > -np.inf]
        for row in set(truth) | test[user]:
            if row not in candidates:
                places[user, row] = Place(len(candidates), 0, len(candidates), len(listed))
                continue
            above = sum(worth[other] > worth[row] for other in candidates)
            tied = [other for other in candidates if other != row and worth[other] == worth[row]]
            if ordinal and row in listed and how != "random":
                above += sum(other < row for other in tied)
            places[user, row] = Place(above, len(tied), len(candidates), len(listed))
    return places


def _worth(how: str, item: int, liked: dict[int, float], times: Ints) -> float:
    """What a recommender of this word scores an item with."""
    return {
        "oracle": 1.0 if item in liked else -np.inf,
        "oracle(graded)": float(liked.get(item, -np.inf)),
        "popular": float(times[item]),
        "random": 0.0,
    }[how]


def _sets(log: Interactions, n_users: int) -> list[set[int]]:
    by_user: list[set[int]] = [set() for _ in range(n_users)]
    for user, item in zip(log.users.tolist(), log.items.tolist(), strict=True):
        by_user[user].add(item)
    return by_user
