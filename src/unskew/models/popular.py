"""Popularity: the same list for all users, by the number of training users of each item."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints
from unskew.data import Interactions
from unskew.models.model import Model, Observed, Progress
from unskew.ranking.scorers import FactorScorer

EXACT_IN_FLOAT32 = 2**24


@dataclass(frozen=True)
class Popular(Model, word="popular"):
    r"""Popularity: the score is the number of training users of the item.

    .. math:: s_{ui} = n_i
    """

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> FactorScorer:
        """Count the users of each item; as factors of length 1, the scores need no users x items matrix."""
        observed = Observed.of(train)
        progress(1, 1)
        return popular_scorer(observed.item_counts, observed.all_user_ids, observed.item_ids, str(self))


def popular_scorer(counts: Ints, user_ids: npt.NDArray[Any], item_ids: npt.NDArray[Any], name: str) -> FactorScorer:
    """The scorer that gives every user the counts of the items."""
    dtype: type[np.floating[Any]] = np.float32 if counts.max() <= EXACT_IN_FLOAT32 else np.float64
    ones = np.ones((len(user_ids), 1), dtype=dtype)
    return FactorScorer(ones, counts.astype(dtype)[:, None], user_ids=user_ids, item_ids=item_ids, name=name)
