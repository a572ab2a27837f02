"""Metrics of what is in the top lists, relevant or not: coverage, Gini, novelty, popularity and the head."""

import copy
import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np

from unskew.arrays import Floats, Ints, log2_of
from unskew.errors import ConfigError
from unskew.metrics.metric import Kind, MetricWord, TakesCutoff


@dataclass(frozen=True, eq=False)
class TopItems:
    """The top lists of some users, and how popular the items of the catalogue are.

    Parameters
    ----------
    items : array (users, k)
        Places in the catalogue, in any order; -1 where a list is shorter.
    counts : array
        Number of training users of each item of the catalogue.
    n_users : int
        Number of users with a training row.
    """

    items: Ints
    counts: Ints
    n_users: int

    def cut(self, k: int) -> "TopItems":
        """The first k places of each list."""
        return self if k == self.items.shape[1] else replace(self, items=self.items[:, :k])

    @cached_property
    def exposure(self) -> Ints:
        """How many lists each item of the catalogue is in."""
        return np.bincount(self.items[self.items >= 0], minlength=len(self.counts))

    def sums(self, by_item: Floats) -> Floats:
        """The sum over each list of a number of each item."""
        return np.asarray(np.append(by_item, 0.0)[self.items].sum(axis=1))  # the last one is of -1

    def means(self, by_item: Floats) -> Floats:
        """The mean over each list of a number of each item; NaN for an empty list."""
        lengths = (self.items >= 0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(lengths > 0, self.sums(by_item) / lengths, np.nan))


@dataclass(frozen=True)
class ContentMetric(MetricWord):
    """A number of the top lists, whatever is relevant; it describes a recommender, and no value is the better one.

    Its value is the mean over users of `values`. Held-out rows play no part, so there is nothing to correct.
    """

    kind: ClassVar[Kind] = "content"
    takes_cutoff: ClassVar[TakesCutoff] = "required"
    is_share: ClassVar[bool] = False
    """Whether the value is between 0 and 1, so that its interval ends there."""

    k: int | None = field(default=None, init=False)

    @property
    def cutoff(self) -> int | None:
        """The length of the lists."""
        return self.k

    @property
    def unbiased_to_missing(self) -> bool:
        """True: held-out rows play no part."""
        return True

    @abstractmethod
    def values(self, lists: TopItems) -> Floats:
        """Return one number per user, whose mean is the value; NaN for a user without one."""

    def __matmul__(self, k: int) -> Self:
        """Take the top k, as in ``Coverage() @ 10``."""
        self._check_cutoff(k)
        cut = copy.copy(self)
        object.__setattr__(cut, "k", int(k))
        return cut

    def __str__(self) -> str:
        """Print the word with its cut-off."""
        return super().__str__() if self.k is None else f"{super().__str__()}@{self.k}"


@dataclass(frozen=True)
class Coverage(ContentMetric, word="coverage"):
    r"""Share of the catalogue that is in the top K of at least one judged user.

    .. math:: C = \frac{1}{|I|} \Bigl|\bigcup_u L_u\Bigr|

    It grows with the number of users, so it is about as many users as were judged. The interval is by the jackknife:
    a user's influence is the share of the catalogue that only this user's list has.
    """

    is_share: ClassVar[bool] = True

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"items in the top {cutoff} of some user / items of the catalogue"

    def values(self, lists: TopItems) -> Floats:
        """Return the value plus the influence of each user."""
        size = len(lists.counts)
        value = np.count_nonzero(lists.exposure) / size
        return _jackknifed(value, value - lists.sums((lists.exposure == 1) / size))


@dataclass(frozen=True)
class Gini(ContentMetric, word="gini"):
    r"""Gini coefficient of the numbers of top lists that the items of the catalogue are in.

    .. math:: G = \frac{\sum_i (2 r_i - |I| - 1)\, x_i}{|I| \sum_i x_i}

    with the exposure :math:`x_i`, its rank :math:`r_i` from the smallest, and the mean rank of equal ones. 0 if all
    items are in the same number of lists, near 1 if a few have all places. Few places per item make it larger, so it
    is about as many users as were judged. The interval is by the jackknife.
    """

    is_share: ClassVar[bool] = True

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"Gini coefficient over the catalogue of the number of top {cutoff} lists that an item is in"

    def values(self, lists: TopItems) -> Floats:
        """Return the value plus the influence of each user."""
        exposure, size, lengths = lists.exposure, len(lists.counts), (lists.items >= 0).sum(axis=1)
        places = int(exposure.sum())
        if not places:
            return np.full(len(lists.items), np.nan)
        levels, level, number = np.unique(exposure, return_inverse=True, return_counts=True)
        below = np.cumsum(number) - number
        gaps = float(np.sum(levels * number * (2.0 * below + number - size)))  # of all pairs of items
        # one place less for an item moves it nearer to the items below, and away from all others outside the list
        moved = lists.sums((size - 2.0 * below).astype(np.float64)[level.reshape(-1)]) - _equal_pairs(
            lists, level.reshape(-1)
        )
        rest = places - lengths
        without = np.divide(gaps + moved, size * rest, out=np.zeros(len(rest)), where=rest > 0)
        return _jackknifed(gaps / (size * places), without)


@dataclass(frozen=True)
class Novelty(ContentMetric, word="novelty"):
    r"""Mean self-information of the items in the top K.

    .. math:: \frac{1}{|L_u|} \sum_{i \in L_u} -\log_2 \frac{\max(n_i, 1)}{n}

    with the number of training users :math:`n_i` of an item and :math:`n` of all (Zhou et al. 2010). An item without
    training users counts like one with a single user. A user with an empty list is left out, for all models.
    """

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"mean over the top {cutoff} of -log2(training users of the item / training users)"

    def values(self, lists: TopItems) -> Floats:
        """Return the mean of each list."""
        return lists.means(math.log2(max(lists.n_users, 1)) - log2_of(np.maximum(lists.counts, 1)))


@dataclass(frozen=True)
class AveragePopularity(ContentMetric, word="popularity"):
    """Mean number of training users of the items in the top K.

    Also called ARP (Yin et al. 2012). A user with an empty list is left out, for all models.
    """

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"mean over the top {cutoff} of the training users of the item"

    def values(self, lists: TopItems) -> Floats:
        """Return the mean of each list."""
        return lists.means(lists.counts.astype(np.float64))


@dataclass(frozen=True)
class Head(ContentMetric, word="head"):
    """Share of the top K that belongs to the head, the most popular items.

    A user with an empty list is left out, for all models. Items tied at the end of the head share its last places.

    Parameters
    ----------
    of : {"items", "rows"}
        Whether the head is this share of the catalogue, or the fewest items that have this share of the training rows.
    share : float
        As in ``head(of=rows, share=0.8)@10``.
    """

    is_share: ClassVar[bool] = True

    of: Literal["items", "rows"] = "items"
    share: float = 0.2

    def __post_init__(self) -> None:
        if self.of not in {"items", "rows"}:
            raise ConfigError(f"head(of={self.of}): choose items or rows")
        if not 0 < self.share < 1:
            raise ConfigError(f"head(share={self.share:g}): give a share between 0 and 1, as in 0.2")

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        if self.of == "items":
            return f"share of the top {cutoff} among the {100 * self.share:g} % most popular items"
        return f"share of the top {cutoff} among the most popular items with {100 * self.share:g} % of training rows"

    def values(self, lists: TopItems) -> Floats:
        """Return the share of each list."""
        return lists.means(self.membership(lists.counts))

    def membership(self, counts: Ints) -> Floats:
        """Return how far each item belongs to the head: 1, 0, or a share of the last places if it ties for them."""
        ordered = np.sort(counts)[::-1]
        if self.of == "items":
            size = int(np.ceil(self.share * len(counts) - 1e-9))
        else:
            size = int(np.searchsorted(np.cumsum(ordered), self.share * counts.sum() - 1e-9)) + 1
        edge = ordered[size - 1]
        above, level = counts > edge, counts == edge
        share = (size - np.count_nonzero(above)) / np.count_nonzero(level)
        return np.where(above, 1.0, np.where(level, share, 0.0))


def _jackknifed(value: float, without: Floats) -> Floats:
    r"""Numbers whose mean is a value, and whose standard error is that of the jackknife.

    .. math:: v + (n - 1)(\bar v_{-} - v_{-u})

    with the value :math:`v_{-u}` without each user. The squared standard error is on average not smaller than the
    variance of the value among samples of users (Efron and Stein 1981).
    """
    return np.asarray(value + (len(without) - 1) * (without.mean() - without))


def _equal_pairs(lists: TopItems, level: Ints) -> Ints:
    """How many ordered pairs of items in each list, an item with itself included, have the same level."""
    users, width = len(lists.items), int(level.max()) + 2
    levels = np.append(level, width - 1)[lists.items]  # the last one is of -1
    keys, number = np.unique(np.arange(users)[:, None] * width + levels, return_counts=True)
    number[keys % width == width - 1] = 0
    return np.bincount(keys // width, weights=number.astype(np.float64) ** 2, minlength=users)
