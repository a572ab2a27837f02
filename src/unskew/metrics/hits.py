"""Metrics that count hits in the top K: recall, precision and hit rate."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics.exact.user_lists import UserLists, check_fewer, divide
from unskew.metrics.metric import Kind, ListMetric, Metric, TakesCutoff
from unskew.ranking.all_candidates.recipes import ListGains, Recipe


@dataclass(frozen=True)
class Recall(Metric, word="recall"):
    """Share of the relevant items that are in the top K."""

    takes_cutoff: ClassVar[TakesCutoff] = "required"
    kind: ClassVar[Kind] = "mean"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "hits / all relevant"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return 1; the cut-off makes it a hit or not."""
        return np.ones(np.shape(above))


@dataclass(frozen=True)
class Precision(Metric, word="precision"):
    """Share of the top K that is relevant.

    Parameters
    ----------
    of : {"cutoff", "list"}
        Divide by K as trec_eval does, however short the list, or by the length of the list, at most K.
    """

    takes_cutoff: ClassVar[TakesCutoff] = "required"
    kind: ClassVar[Kind] = "sum"

    of: Literal["cutoff", "list"] = "cutoff"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"hits / {cutoff}" if self.of == "cutoff" else f"hits / min({cutoff}, length of the list)"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return 1; the cut-off makes it a hit or not, and divides."""
        return np.ones(np.shape(above))

    def divisor(self, cutoff: int, length: Ints) -> Floats | float:
        """Return K or the list's length; an empty list has no hit to divide."""
        if self.of == "cutoff":
            return float(cutoff)
        return np.clip(length, 1, cutoff).astype(np.float64)


@dataclass(frozen=True)
class RecallOfMin(ListMetric, word="recall", variant="of=min"):
    """Hits in the top K as a share of the largest possible number, min(K, relevant)."""

    takes_cutoff: ClassVar[TakesCutoff] = "required"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"hits / min({cutoff}, relevant)"

    def values(self, lists: UserLists) -> Floats:
        """Return the recall per user."""
        return self.expected_values(lists, lists.relevant)

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        """Return the recall expected of a part of the positives: a share of the hits, over a smaller largest number."""
        k = int(lists.relevant.max(initial=0)) if self.k is None else self.k
        return divide(lists.gains(np.ones(k), k) * lists.shares(sizes), np.minimum(sizes, k))

    def recipe(self, size: int) -> Recipe:
        """Return a gain of 1 for each hit."""
        k = self._checked_depth()
        return ListGains(np.ones(k), "each", np.append(0.0, 1 / np.arange(1, k + 1)))


@dataclass(frozen=True)
class Hit(ListMetric, word="hit"):
    r"""1 if any relevant item is in the top K, else 0 (hit rate, success@K).

    When a tie group of n with p positives spans the cut-off and m of its places are in the top K, the
    chance is :math:`1 - \prod_{j<p} (n - m - j) / (n - j)`.
    """

    takes_cutoff: ClassVar[TakesCutoff] = "required"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"1 with a hit in the top {cutoff}, else 0"

    def values(self, lists: UserLists) -> Floats:
        """Return the chance of a hit per user."""
        from unskew.metrics.exact.tie_kernel import hit_chances

        return np.asarray(hit_chances(lists.offsets, lists.above, lists.tied, lists.limits(self.k)))

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        r"""Return the chance of a hit among s of the p positives.

        With h of them in the top K that is :math:`1 - \binom{p - h}{s} / \binom{p}{s}`.
        """
        from unskew.metrics.exact.tie_kernel import hit_chances_of_part

        check_fewer(f"{self}", lists, sizes)
        limits = lists.limits(self.k)
        return np.asarray(hit_chances_of_part(lists.offsets, lists.above, lists.tied, limits, sizes))

    def recipe(self, size: int) -> Recipe:
        """Return a gain of 1 for the first hit."""
        return ListGains(np.ones(self._checked_depth()), "first", np.ones(1))
