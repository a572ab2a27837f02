"""Metrics discounted by the logarithm of the rank: ADG, DCG and NDCG."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats, Ints, log2_of
from unskew.metrics.exact.positions import mean_gain, positions_used
from unskew.metrics.exact.user_lists import UserLists, divide
from unskew.metrics.metric import Kind, ListMetric, Metric
from unskew.ranking.all_candidates.recipes import ListGains, Recipe


@dataclass(frozen=True)
class ADG(Metric, word="adg"):
    r"""Average discounted gain, the mean of :math:`1 / \log_2(rank + 1)` over relevant items [lim2015].

    It is DCG divided by the number of relevant items. As a mean over a user's relevant items it can be estimated
    without bias from a part of them, unlike NDCG.
    """

    kind: ClassVar[Kind] = "mean"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"sum of 1/log2(rank + 1) over {_hits(cutoff)} / all relevant"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return the discount at a place."""
        return discount(above)


@dataclass(frozen=True)
class DCG(Metric, word="dcg"):
    r"""Discounted cumulative gain: :math:`1 / \log_2(rank + 1)` summed over relevant items [jarvelin2002].

    It is a sum, so a part of the relevant items gives a part of it. Lim et al. (2015) list "DCG" as unbiased to missing
    data, but mean the average over relevant items, which is `ADG` here.
    """

    kind: ClassVar[Kind] = "sum"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"sum of 1/log2(rank + 1) over {_hits(cutoff)}"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return the discount at a place."""
        return discount(above)


@dataclass(frozen=True)
class NDCG(ListMetric, word="ndcg"):
    r"""DCG divided by that of the ideal list [jarvelin2002].

    With binary relevance the gains :math:`rel` and :math:`2^{rel} - 1` are the same, and the base of the
    logarithm cancels.

    Parameters
    ----------
    discount : {"standard", "lenskit"}
        ``standard`` divides by log2(rank + 1) (trec_eval, scikit-learn, ranx, RecBole); ``lenskit`` by
        max(log2(rank), 1), the first paper's form, which LensKit uses: ranks 1 and 2 count in full.
    ideal : {"cut", "all"}
        The ideal list has min(K, relevant) items (``cut``), or all relevant items whatever K (``all``).
    """

    discount: Literal["standard", "lenskit"] = "standard"
    ideal: Literal["cut", "all"] = "cut"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        form = "1/log2(rank + 1)" if self.discount == "standard" else "1/max(log2(rank), 1)"
        size = "all relevant" if cutoff is None or self.ideal == "all" else f"min({cutoff}, relevant)"
        return f"sum of {form} over {_hits(cutoff)} / the same for {size} on top"

    def values(self, lists: UserLists) -> Floats:
        """Return the NDCG per user."""
        return divide(self._gains(lists), self.ideal_gains(lists.relevant))

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        """Return the NDCG expected of a part of the positives: a share of the gain, with a shorter ideal list."""
        return divide(self._gains(lists) * lists.shares(sizes), self.ideal_gains(sizes))

    def weighted_values(self, gains: Floats, weights: Floats, offsets: Ints) -> Floats:
        r"""Return the NDCG per user if relevant items have weights: graded gains [jarvelin2002].

        .. math:: \frac{\sum_i w_i\, d(r_i)}{\sum_j w_{(j)}\, d(j)}

        with d the discount, :math:`r_i` the rank of item i, and :math:`w_{(1)} \ge w_{(2)} \ge \ldots` the weights of
        the user's relevant items. NaN for a user without weight.

        Parameters
        ----------
        gains : Floats
            The expected discounts, as from `row_gains`.
        weights : Floats
            At least 0.
        offsets : Ints
            The rows of user u are ``offsets[u]`` to ``offsets[u + 1]``.
        """
        users = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((-weights, users))
        place = np.arange(len(users)) - offsets[users]
        best = discount(place, self.discount)
        if self.k is not None and self.ideal == "cut":
            best[place >= self.k] = 0.0
        top = np.bincount(users, weights[order] * best, minlength=len(offsets) - 1)
        return divide(np.bincount(users, weights * gains, minlength=len(offsets) - 1), top)

    def ideal_gains(self, relevant: Ints) -> Floats:
        """Return the DCG of the ideal list for each number of relevant items."""
        k = relevant if self.k is None or self.ideal == "all" else np.minimum(relevant, self.k)
        return np.append(0.0, np.cumsum(discount(np.arange(k.max(initial=0)), self.discount)))[k]

    def row_gains(self, above: Ints, tied: Ints, candidates: Ints, listed: Ints | None = None) -> Floats:
        """Return the expected discount per row; the user's DCG is their sum. See `Metric.row_gains`."""
        del candidates  # the discount depends on the place only
        gains = mean_gain(self._table(above, tied), above, tied)
        if self.k is not None and listed is not None:
            gains[above >= listed] = 0.0
        return gains

    def recipe(self, size: int) -> Recipe:
        """Return the discounts, and one divided by each ideal gain."""
        k = self._checked_depth()
        numbers = np.arange(1, (k if self.ideal == "cut" else max(size, k)) + 1)
        weights = np.append(0.0, 1 / self.ideal_gains(numbers))
        return ListGains(discount(np.arange(k), self.discount), "each", weights)

    def _gains(self, lists: UserLists) -> Floats:
        return lists.gains(self._table(lists.above, lists.tied), self.k)

    def _table(self, above: Ints, tied: Ints) -> Floats:
        return discount(np.arange(positions_used(above, tied, self.k)), self.discount)


def discount(above: Ints, form: str = "standard") -> Floats:
    """Return the worth of a place with this many above it."""
    if form == "standard":
        return 1 / log2_of(np.asarray(above) + 2)
    return np.asarray(1 / np.maximum(log2_of(np.asarray(above) + 1), 1))


def _hits(cutoff: int | str | None) -> str:
    return "relevant items" if cutoff is None else f"the hits in the top {cutoff}"
