"""A log with two tastes, like the colours of a checkerboard."""

import numpy as np

from unskew.arrays import Ints


def checkerboard(n_users: int = 24, n_items: int = 16, seed: int = 1) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the pairs of a log, and those that are missing from it.

    Even users have most of the even items, odd users most of the odd ones. The arrays are the users and items of the
    log, then the users and items of the same colours that were left out.
    """
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(np.add.outer(np.arange(n_users), np.arange(n_items)) % 2 == 0)
    missed = rng.random(len(users)) < 0.2
    return users[~missed], items[~missed], users[missed], items[missed]
