"""Corrected metrics as other packages define them, and their plain counterparts, of lists and held-out positives."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from unskew.arrays import Bools, Floats, Ints, log2_of

POWER, FLOOR = 0.5, 0.1
"""WarpRec's exponent of popularity and its smallest propensity."""
MOST_WEIGHT = 10_000
"""RecPack's largest weight."""
SPREADS = 1.5
"""RecTools' distance of an outlier from the third quartile, in interquartile ranges."""


class Permuting(Protocol):
    """What `without_excess` needs of a random generator, old or new."""

    def permutation(self, x: int, /) -> Ints:
        """The numbers below x in random order."""


@dataclass(frozen=True, eq=False)
class Lists:
    """The top lists of a model and the positives that they are judged by.

    Parameters
    ----------
    top : array (users, k)
        Items, the best first.
    positive : array of bool (users, items)
        The held-out positives. A user without one is left out of all means, as all packages do.
    """

    top: Ints
    positive: Bools

    @cached_property
    def counted(self) -> Bools:
        """Which users have a positive."""
        return np.asarray(self.positive.any(axis=1))

    @cached_property
    def hits(self) -> Bools:
        """Whether each place of a list has a positive."""
        return np.take_along_axis(self.positive, self.top, axis=1)

    @cached_property
    def sizes(self) -> Ints:
        """Number of positives per user."""
        return np.asarray(self.positive.sum(axis=1))

    @property
    def k(self) -> int:
        """Length of the lists."""
        return int(self.top.shape[1])

    def mean(self, numerator: Floats, denominator: Floats | Ints | float = 1.0) -> float:
        """The mean of a ratio over users who have a positive."""
        parts = np.broadcast_to(denominator, numerator.shape)[self.counted]
        return float(np.mean(numerator[self.counted] / parts))


def discounts(k: int) -> Floats:
    """1/log2(rank + 1) for the first k ranks."""
    return 1 / log2_of(np.arange(2, k + 2))


def recall(lists: Lists) -> float:
    """Hits over positives, in the mean over users: ``R@k`` of ir_measures."""
    return lists.mean(lists.hits.sum(axis=1), lists.sizes)


def ndcg(lists: Lists) -> float:
    """DCG over that of min(k, positives) hits on top, in the mean over users: ``nDCG@k`` of ir_measures."""
    ideal = np.concatenate([[np.inf], np.cumsum(discounts(lists.k))])
    return lists.mean(lists.hits @ discounts(lists.k), ideal[np.minimum(lists.sizes, lists.k)])


def adg(lists: Lists) -> float:
    """DCG over the number of positives, in the mean over users."""
    return lists.mean(lists.hits @ discounts(lists.k), lists.sizes)


def dcg(lists: Lists) -> float:
    """DCG in the mean over users."""
    return lists.mean(lists.hits @ discounts(lists.k))


def hits(lists: Lists) -> float:
    """The number of hits in the mean over users: ``HitK`` of RecPack."""
    return lists.mean(lists.hits.sum(axis=1))


def weighted_recall(lists: Lists, weight: Floats) -> float:
    r"""Weights of hits over weights of positives, in the mean over users.

    .. math:: \frac{1}{|U|} \sum_u \frac{\sum_{i \in T_u \cap L_u} w_i}{\sum_{i \in T_u} w_i}

    ``LinkPredRecall(k, weighted=True)`` of PyTorch Geometric, and with weights 1/P ``SNIPSRecall`` of WarpRec and
    ``snips(per=user)`` of this package.
    """
    return lists.mean((lists.hits * weight[lists.top]).sum(axis=1), lists.positive @ weight)


def weighted_ndcg(lists: Lists, weight: Floats) -> float:
    """DCG with weights as gains over its largest value: ``LinkPredNDCG(k, weighted=True)`` of PyTorch Geometric."""
    gains = (lists.hits * weight[lists.top]) @ discounts(lists.k)
    ordered = -np.sort(-np.where(lists.positive, weight, 0.0), axis=1)[:, : lists.k]
    return lists.mean(gains, ordered @ discounts(ordered.shape[1]))


def popularity_propensity(counts: Ints) -> Floats:
    """A power of the share of the most popular item's training count, not below a floor: WarpRec's ``popularity``."""
    return np.asarray(np.clip((counts / counts.max()) ** POWER, FLOOR, 1.0))


def ips_recall(lists: Lists, propensity: Floats) -> float:
    """Weights 1/P of hits over the number of positives, in the mean over users: ``IPSRecall`` of WarpRec."""
    return lists.mean((lists.hits / propensity[lists.top]).sum(axis=1), lists.sizes)


def ips_dcg(lists: Lists, propensity: Floats) -> float:
    """DCG with gains 1/P, in the mean over users: ``IPSDCG`` of WarpRec."""
    return lists.mean((lists.hits / propensity[lists.top]) @ discounts(lists.k))


def snips_dcg(lists: Lists, propensity: Floats) -> float:
    """DCG with gains 1/P over the sum of 1/P of positives, in the mean over users: ``SNIPSDCG`` of WarpRec."""
    return lists.mean((lists.hits / propensity[lists.top]) @ discounts(lists.k), lists.positive @ (1 / propensity))


def ips_hits(lists: Lists, counts: Ints) -> float:
    """Hits weighted by all interactions over those of the item, in the mean over users: ``IPSHitRateK`` of RecPack.

    An item without interactions has weight 0.
    """
    weight = np.minimum(np.divide(counts.sum(), counts, out=np.zeros(len(counts)), where=counts > 0), MOST_WEIGHT)
    return lists.mean((lists.hits * weight[lists.top]).sum(axis=1))


def without_excess(positive: Bools, rng: Permuting) -> Bools:
    """Positives without those by which an item exceeds a limit: ``debias_config`` of RecTools.

    The limit is the third quartile of the items' numbers of positives plus 1.5 interquartile ranges, rounded down. Of
    an item that has more, that many are kept at random.
    """
    counts = positive.sum(axis=0)
    first, third = np.quantile(counts[counts > 0], [0.25, 0.75])
    limit = int(third + SPREADS * (third - first))
    users, items = np.nonzero(positive)
    excess = np.flatnonzero(counts[items] > limit)
    drawn = excess[rng.permutation(len(excess))]
    by_item = drawn[np.argsort(items[drawn], kind="stable")]
    starts = np.searchsorted(items[by_item], items[by_item])
    kept = positive.copy()
    dropped = by_item[np.arange(len(by_item)) - starts >= limit]
    kept[users[dropped], items[dropped]] = False
    return kept
