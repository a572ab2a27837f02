"""Seeded random scores, a baseline that any model should beat."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.data import Interactions
from unskew.models.model import Model, Observed, Progress
from unskew.ranking.scorers import CallableScorer


@dataclass(frozen=True)
class Random(Model, word="random"):
    """Uniform scores in [0, 1), each a hash of the seed, the user and the item.

    So a score does not depend on the block, and no users x items matrix is kept. The hash is
    SplitMix64 (Steele, Lea and Flood 2014), applied first to the user and then to the item.
    """

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> CallableScorer:
        """Draw the seed of the hash."""
        observed = Observed.of(train)
        seed = rng.integers(2**64, dtype=np.uint64)
        n_items = len(observed.item_ids)

        def score(users: Ints) -> Matrix:
            from unskew.models.closed_kernel import hash_uniform

            out = np.empty((len(users), n_items))
            hash_uniform(seed, np.asarray(users, dtype=np.uint64), out)
            return out

        progress(1, 1)
        return CallableScorer(score, user_ids=observed.all_user_ids, item_ids=observed.item_ids, name=str(self))
