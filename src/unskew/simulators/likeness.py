"""The similarity of two logs: four distributions of their rows, and the divergences of these."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints, SeedLike, offsets_of
from unskew.compiling import njit
from unskew.data import Interactions
from unskew.errors import DataError

STATISTICS = ("item-item", "item-popularity", "user-user", "user-activity")
"""Similarity of items, how often items are consumed, similarity of users, how much users consume."""
LEAST_ROWS = 5
"""Users and items with fewer rows are not compared, because their cosines are unreliable."""
MOST_PAIRS = 1_000_000
MOST_BINS = 5_000
"""Largest number of bins; automatic bins can be very narrow if nearly all similarities are equal."""
_SHARE = 0.2  # largest share of all pairs that is sampled


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value occurs; cells without a count are left out.

    Parameters
    ----------
    cells : array of int
        Ascending numbers of rows, or numbers of bins.
    counts : array of int
        Positive, one per cell.
    """

    cells: Ints
    counts: Ints

    @classmethod
    def of(cls, numbers: Ints) -> "Histogram":
        """The histogram of numbers of rows. Zeros are left out: a log does not have users or items without rows.

        Examples
        --------
        >>> histogram = Histogram.of(np.array([3, 0, 1, 3]))
        >>> histogram.cells.tolist(), histogram.counts.tolist()
        ([1, 3], [1, 2])
        """
        return cls.dense(np.bincount(numbers[numbers > 0]))

    @classmethod
    def dense(cls, counts: Ints) -> "Histogram":
        """The histogram with these counts of cells 0, 1, 2, ..."""
        cells = np.flatnonzero(counts)
        return cls(cells, counts[cells])

    @property
    def total(self) -> int:
        """How many values were counted."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Statistics:
    """The four distributions of a log by which a world is calibrated to it (Tian & Ekstrand 2020, section 3.4).

    Parameters
    ----------
    item_popularity, user_activity : Histogram
        How many items, or users, have n rows, for n of at least 1.
    item_similarity, user_similarity : Histogram
        Cosines of sampled pairs, by bin.
    item_edges, user_edges : array of float
        Edges of those bins, from -1 to 1.
    """

    item_popularity: Histogram
    user_activity: Histogram
    item_similarity: Histogram
    user_similarity: Histogram
    item_edges: Floats
    user_edges: Floats

    def __getitem__(self, statistic: str) -> Histogram:
        """The distribution with this name, one of `STATISTICS`."""
        return {
            "item-item": self.item_similarity,
            "item-popularity": self.item_popularity,
            "user-user": self.user_similarity,
            "user-activity": self.user_activity,
        }[statistic]


def measure(
    log: Interactions, rng: SeedLike = 0, *, reference: Statistics | None = None, pairs: int = MOST_PAIRS
) -> Statistics:
    r"""Measure the four distributions of a log.

    Similarity is the cosine of two binary vectors,

    .. math:: \cos(A, B) = \frac{|A \cap B|}{\sqrt{|A|\,|B|}}

    for pairs of users (A and B are their sets of items) and of items (sets of users) in which both have at least
    five rows. Pairs are drawn at random with replacement, a fifth of all pairs and at most `pairs`; repeated pairs and
    those of a user or item with itself are then removed. Bins are the automatic ones of numpy on [-1, 1], at most 5,000
    (Tian & Ekstrand 2020, section 3.4).

    Parameters
    ----------
    log : Interactions
    rng : int or Generator
        Generator of the sample of pairs.
    reference : Statistics, optional
        The statistics of the real log, whose bins are used for a simulated one. By default bins come from this log.
    pairs : int
        Largest number of sampled pairs.

    Examples
    --------
    >>> log = Interactions.from_arrays(np.repeat(np.arange(9), 6), np.tile(np.arange(6), 9), n_users=9, n_items=6)
    >>> measure(log).user_activity.cells.tolist(), measure(log).item_popularity.counts.tolist()
    ([6], [6])
    """
    generator = np.random.default_rng(rng)
    users, items = log.users.astype(np.int32, copy=False), log.items.astype(np.int32, copy=False)
    item_cosines = _cosines(items, users, log.item_counts, log.n_users, generator, pairs)
    user_cosines = _cosines(users, items, log.user_counts, log.n_items, generator, pairs)
    item_edges = _edges(item_cosines) if reference is None else reference.item_edges
    user_edges = _edges(user_cosines) if reference is None else reference.user_edges
    return Statistics(
        item_popularity=Histogram.of(log.item_counts),
        user_activity=Histogram.of(log.user_counts),
        item_similarity=_binned(item_cosines, item_edges),
        user_similarity=_binned(user_cosines, user_edges),
        item_edges=item_edges,
        user_edges=user_edges,
    )


def sample_pairs(n: int, rng: np.random.Generator, most: int = MOST_PAIRS) -> tuple[Ints, Ints]:
    """Distinct pairs i < j below n, sorted: a fifth of all pairs and at most `most`, before repeats are removed."""
    wanted = min(most, int(_SHARE * n * (n - 1) / 2))
    drawn = rng.integers(0, max(n, 1), (2, wanted))
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    codes = np.sort((low * n + high)[low < high])
    codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])] if len(codes) else codes
    return codes // max(n, 1), codes % max(n, 1)


def _cosines(groups: Ints, other: Ints, counts: Ints, n_other: int, rng: np.random.Generator, most: int) -> Floats:
    """Cosines of sampled pairs of users, or items, with enough rows."""
    eligible = np.flatnonzero(counts >= LEAST_ROWS)
    first, second = sample_pairs(len(eligible), rng, most)
    offsets = offsets_of(counts)
    members = _grouped(groups, other, offsets)
    first, second = eligible[first], eligible[second]
    shared = _shared(offsets, members, first, second, np.zeros(n_other, dtype=np.bool_))
    return np.asarray(shared / np.sqrt(counts[first].astype(np.float64) * counts[second]))


def _edges(cosines: Floats) -> Floats:
    """Automatic bins on [-1, 1]; their number is computed from the width, so that it can be limited."""
    if not len(cosines):
        return np.linspace(-1.0, 1.0, 2)
    low, high = np.percentile(cosines, (25, 75))
    narrow = (
        2 * (high - low) / len(cosines) ** (1 / 3)
    )  # the width of Freedman and Diaconis, one of the two that numpy tries
    if 0 < narrow < 2 / MOST_BINS:
        return np.linspace(-1.0, 1.0, MOST_BINS + 1)
    return np.asarray(np.histogram_bin_edges(cosines, bins="auto", range=(-1, 1)))


def _binned(cosines: Floats, edges: Floats) -> Histogram:
    bins = len(edges) - 1  # all bins have the same width
    places = np.clip(((cosines + 1) * (bins / 2)).astype(np.int64), 0, bins - 1)
    return Histogram.dense(np.bincount(places, minlength=bins))


@njit(cache=True, nogil=True)
def _grouped(groups: Ints, other: Ints, offsets: Ints) -> Ints:  # pragma: no cover
    """The members of each group, one group after another, in the order of the rows."""
    free = offsets[:-1].copy()
    members = np.empty(len(groups), np.int32)
    for row in range(len(groups)):
        members[free[groups[row]]] = other[row]
        free[groups[row]] += 1
    return members


@njit(cache=True, nogil=True)
def _shared(offsets: Ints, members: Ints, first: Ints, second: Ints, marked: Bools) -> Ints:  # pragma: no cover
    """How many members each pair has in common; pairs are sorted by their first, whose members are marked once."""
    shared = np.empty(len(first), np.int64)
    start = 0
    while start < len(first):
        one = first[start]
        for place in range(offsets[one], offsets[one + 1]):
            marked[members[place]] = True
        end = start
        while end < len(first) and first[end] == one:
            both = 0
            for place in range(offsets[second[end]], offsets[second[end] + 1]):
                both += marked[members[place]]
            shared[end] = both
            end += 1
        for place in range(offsets[one], offsets[one + 1]):
            marked[members[place]] = False
        start = end
    return shared


def divergence(observed: Histogram, simulated: Histogram) -> float:
    r"""Smoothed Kullback-Leibler divergence of two histograms, in nats (Tian & Ekstrand 2020, section 3.4).

    The cells are those with a count in either histogram. With counts o and s, a tenth of the smallest positive count is
    added to all:

    .. math:: D = \sum_x p_x \ln \frac{p_x}{q_x}, \qquad
       p_x = \frac{o_x + \epsilon}{\sum_y (o_y + \epsilon)}, \quad
       q_x = \frac{s_x + \epsilon}{\sum_y (s_y + \epsilon)}, \quad
       \epsilon = \frac{1}{10} \min \{ o_x, s_x : > 0 \}

    So it is 0 for equal histograms, and finite even when no cell has a count in both.

    Parameters
    ----------
    observed, simulated : Histogram
        At least one has a count.

    Examples
    --------
    >>> one, other = Histogram.of(np.array([1, 1, 2])), Histogram.of(np.array([3]))
    >>> divergence(one, one), round(divergence(one, other), 4)
    (0.0, 1.7325)
    """
    cells = np.union1d(observed.cells, simulated.cells)
    if not len(cells):
        raise DataError("two empty histograms have no divergence; at least one needs a count")
    counts = np.zeros((2, len(cells)))
    for row, histogram in enumerate((observed, simulated)):
        counts[row, np.searchsorted(cells, histogram.cells)] = histogram.counts
    counts += counts[counts > 0].min() / 10
    p, q = counts / counts.sum(axis=1, keepdims=True)
    return max(float(np.sum(p * np.log(p / q))), 0.0)  # rounding may make it negative


def divergences(observed: Statistics, simulated: Statistics) -> dict[str, float]:
    """The divergence of each of the four statistics, by name."""
    return {name: divergence(observed[name], simulated[name]) for name in STATISTICS}
