"""Reciprocal rank of the first hit."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics.exact.positions import harmonic_numbers, positions_used
from unskew.metrics.exact.user_lists import UserLists, check_fewer
from unskew.metrics.metric import ListMetric
from unskew.ranking.all_candidates.recipes import ListGains, Recipe


@dataclass(frozen=True)
class MRR(ListMetric, word="mrr"):
    """Reciprocal rank of the first hit, 0 when there is none in the top K."""

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "1 / rank of the first hit" + ("" if cutoff is None else f", 0 past rank {cutoff}")

    def values(self, lists: UserLists) -> Floats:
        """Return the reciprocal rank per user."""
        from unskew.metrics.exact.tie_kernel import reciprocal_ranks

        harmonic = harmonic_numbers(positions_used(lists.above, lists.tied, self.k))
        limits = lists.limits(self.k)
        return np.asarray(reciprocal_ranks(lists.offsets, lists.above, lists.tied, limits, harmonic))

    def recipe(self, size: int) -> Recipe:
        """Return one divided by each rank, for the first hit."""
        return ListGains(1 / np.arange(1, self._checked_depth() + 1), "first", np.ones(1))

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        r"""Return the reciprocal rank expected of the first of s of the p positives.

        The j-th of them is the first one kept with chance :math:`\binom{p - j}{s - 1} / \binom{p}{s}`.
        """
        from unskew.metrics.exact.tie_kernel import reciprocal_ranks_of_part

        check_fewer(f"{self}", lists, sizes)
        harmonic = harmonic_numbers(positions_used(lists.above, lists.tied, self.k))
        limits = lists.limits(self.k)
        return np.asarray(reciprocal_ranks_of_part(lists.offsets, lists.above, lists.tied, limits, harmonic, sizes))
