"""Average precision in its forms."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics.exact.positions import harmonic_numbers, positions_used
from unskew.metrics.exact.user_lists import UserLists, divide
from unskew.metrics.metric import ListMetric
from unskew.ranking.all_candidates.recipes import ListGains, Recipe


@dataclass(frozen=True)
class MAP(ListMetric, word="map"):
    """Average precision: the precision at each hit, summed and divided by the number of relevant items.

    Parameters
    ----------
    of : {"all", "min"}
        Divide by all relevant items, as trec_eval's ``map_cut`` and ranx do, or by min(K, relevant), as
        RecBole and Kaggle do; the same without a cut-off.
    """

    of: Literal["all", "min"] = "all"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        hits = "each relevant item" if cutoff is None else f"each hit in the top {cutoff}"
        by = "all relevant" if cutoff is None or self.of == "all" else f"min({cutoff}, relevant)"
        return f"sum of the precision at {hits} / {by}"

    @property
    def unbiased_to_missing(self) -> bool:
        """Whether missing items leave it unbiased: only if it is recall@1, because no other hit can be above."""
        return self.k == 1 and self.of == "all"

    def values(self, lists: UserLists) -> Floats:
        """Return the average precision per user."""
        return divide(self._sums(lists), self._divisor(lists.relevant))

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        r"""Return the average precision expected of s of the p positives.

        The precision at a hit counts the hit itself, which is kept with chance s/p, and the hits above, which are then
        kept with chance :math:`q = (s - 1) / (p - 1)`. So the sum is a mixture of two known sums,

        .. math:: \frac{s}{p} \Bigl((1 - q) \sum_i \frac{1}{rank_i} + q \sum_i precision(rank_i)\Bigr).

        NaN for more positives than one of a user with one positive, because one positive says nothing about pairs.
        """
        if self.unbiased_to_missing:  # to the last bit
            return self.values(lists)
        alone = lists.gains(1 / np.arange(1, positions_used(lists.above, lists.tied, self.k) + 1), self.k)
        pairs = np.where(sizes == 1, 0.0, divide(sizes - 1, lists.relevant - 1))
        sums = (1 - pairs) * alone + pairs * self._sums(lists)
        return divide(sums * lists.shares(sizes), self._divisor(sizes))

    def recipe(self, size: int) -> Recipe:
        """Return one divided by each rank, to be multiplied by the number of hits, and the divisors."""
        k = self._checked_depth()
        numbers = np.arange(1, (k if self.of == "min" else max(size, k)) + 1)
        return ListGains(1 / np.arange(1, k + 1), "hits", np.append(0.0, 1 / self._divisor(numbers)))

    def _sums(self, lists: UserLists) -> Floats:
        from unskew.metrics.exact.tie_kernel import precision_sums

        harmonic = harmonic_numbers(positions_used(lists.above, lists.tied, self.k))
        return np.asarray(precision_sums(lists.offsets, lists.above, lists.tied, lists.limits(self.k), harmonic))

    def _divisor(self, relevant: Ints) -> Ints:
        return relevant if self.k is None or self.of == "all" else np.minimum(relevant, self.k)
