"""Compiled steps of the Indian buffet process."""

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit


@njit(nogil=True, cache=True)
def spread_items(
    births: Ints, weights: Floats, n_users: int, guess: int, generator: np.random.Generator
) -> tuple[Ints, Ints]:
    """Find the users who like each item: the first one, and each later one with the probability of the item's weight.

    Returns the end of each item's run, and the users, ascending within an item.
    """
    ends = np.empty(len(births), dtype=np.int64)
    users = np.empty(guess, dtype=np.int32)
    place = 0
    for item in range(len(births)):
        user = float(births[item])
        rate = -np.log1p(-weights[item])  # skipped users are geometric: an exponential time, rounded down
        while user < n_users:
            if place == len(users):
                more = np.empty(2 * len(users), dtype=np.int32)
                more[:place] = users
                users = more
            users[place] = np.int32(user)
            place += 1
            if rate <= 0:  # a weight so small that it rounds to 0: no other user
                break
            user += 1 + np.floor(generator.standard_exponential() / rate)
        ends[item] = place
    return ends, users[:place]


@njit(nogil=True, cache=True)
def to_rows(ends: Ints, users: Ints, n_users: int) -> tuple[Ints, Ints]:
    """Turn users by item into items by user, ascending."""
    offsets = np.zeros(n_users + 1, dtype=np.int64)
    for k in range(len(users)):
        offsets[users[k] + 1] += 1
    for u in range(n_users):
        offsets[u + 1] += offsets[u]
    place = offsets[:-1].copy()
    items = np.empty(len(users), dtype=np.int32)
    start = 0
    for item in range(len(ends)):
        for k in range(start, ends[item]):
            user = users[k]
            items[place[user]] = item
            place[user] += 1
        start = ends[item]
    return offsets, items
