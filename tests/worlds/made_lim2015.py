"""A small made fold for the tests of Lim et al. (2015): ranks that are known, parted by lot."""

import numpy as np

from unskew.data import Interactions
from unskew.ranking import Ranks
from unskew.studies.lim2015.fits import Fold
from unskew.studies.lim2015.tuning import RULES

N_ITEMS = 40


def fold_of_ranks(above, in_test, model="mf-adg"):
    """A fold in which user u's held-out items stand at above[u], those with in_test[u] in the test.

    Item codes are places, so that no two of a user's items are the same; nobody has anything in training but item 39.
    """
    users = np.repeat(np.arange(len(above)), [len(each) for each in above])
    places = np.concatenate([np.sort(each) for each in above]).astype(np.int32)
    lots = np.concatenate([np.asarray(each)[np.argsort(a)] for a, each in zip(above, in_test, strict=True)]).astype(
        bool
    )
    rows = {"n_users": len(above), "n_items": N_ITEMS}
    zeros = np.zeros_like(places)
    ranks = Ranks(users.astype(np.int32), places, places, zeros, np.full_like(places, N_ITEMS - 1))
    return Fold(
        Interactions.from_arrays(np.arange(len(above)), np.full(len(above), N_ITEMS - 1), **rows),
        Interactions.from_arrays(users[~lots], places[~lots], **rows),
        Interactions.from_arrays(users[lots], places[lots], **rows),
        {rule: {model: ranks} for rule in RULES},
        lots,
        {},
        0,
    )
