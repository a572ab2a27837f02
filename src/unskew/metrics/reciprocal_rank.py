"""Reciprocal rank of the first hit."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.metrics.lists import UserLists
from unskew.metrics.metric import ListMetric
from unskew.metrics.positions import harmonic_numbers, positions_used


@dataclass(frozen=True)
class MRR(ListMetric, word="mrr"):
    """Reciprocal rank of the first hit, 0 when there is none in the top K."""

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "1 / rank of the first hit" + ("" if cutoff is None else f", 0 past rank {cutoff}")

    def values(self, lists: UserLists) -> Floats:
        """Return the reciprocal rank per user."""
        from unskew.metrics.tie_groups import reciprocal_ranks

        harmonic = harmonic_numbers(positions_used(lists.above, lists.tied, self.k))
        limits = lists.limits(self.k)
        return np.asarray(reciprocal_ranks(lists.offsets, lists.above, lists.tied, limits, harmonic))
