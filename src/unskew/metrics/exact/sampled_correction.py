r"""Estimates of the gain among all candidates, from a rank among sampled candidates [krichene2020].

Of the N items that a user's candidates are drawn from, A are above a held-out item; n are drawn without replacement,
and a of those drawn are above it, so a is hypergeometric given A. All of the user's other positives are candidates, so
the part p of the rank that is due to them is known. The wanted gain is c(p + A), and a is known.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics.auc import LinearMetric
from unskew.metrics.metric import Metric

GAMMA = 0.1  # the weight of the variance that Krichene and Rendle use
_STEP = 0.01  # pools that differ by less than this share are interpolated
_CHUNK = 2**20  # values held at a time


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Held-out rows among sampled candidates, with the user's other positives separated from the draws.

    Parameters
    ----------
    positives_above, positives_tied : array
        Other positives of the user above the item, and tied with it.
    above, tied : array
        Drawn items above the item, and tied with it.
    drawn, pool : array
        How many items were drawn for the user, and from how many.
    positives : array
        How many positives the user has.
    """

    positives_above: Ints
    positives_tied: Ints
    above: Ints
    tied: Ints
    drawn: Ints
    pool: Ints
    positives: Ints

    @classmethod
    def from_ranks(
        cls, offsets: Ints, above: Ints, tied: Ints, candidates: Ints, pool: Ints, *, behind: bool = False
    ) -> "SampledRows":
        """Separate positives from draws, using the other rows of the same user.

        Parameters
        ----------
        offsets : array
            Offsets of the rows of each user.
        above, tied, candidates, pool : array
            Per row; `tied` counts the places over which the gain is averaged.
        behind : bool
            Whether an item ranks below those tied with it (``ties=pessimistic``).
        """
        counts = np.diff(offsets)
        starts, positives = np.repeat(offsets[:-1], counts), np.repeat(counts, counts)
        # items of a user with equal counts have the same score, or else one would be in the count of the other
        keys = starts.astype(np.int64) * (int(above.max(initial=0)) + 1) + above
        ordered = np.sort(keys)
        better = np.searchsorted(ordered, keys, side="left") - starts
        equal = np.searchsorted(ordered, keys, side="right") - starts - better - 1
        positives_above = better + equal if behind else better
        positives_tied = np.minimum(equal, tied)  # 0 if the order of ties is not averaged over
        return cls(
            positives_above,
            positives_tied,
            above - positives_above,
            tied - positives_tied,
            candidates - positives,
            np.asarray(pool, dtype=np.int64),
            positives,
        )

    @property
    def candidates(self) -> Ints:
        """Number of candidates without sampling."""
        return self.pool + self.positives

    @property
    def whole(self) -> bool:
        """Whether all items were drawn for every user."""
        return bool(np.all(self.drawn == self.pool))

    def take(self, rows: Ints) -> "SampledRows":
        """Some of the rows."""
        return SampledRows(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def unbiased_gains(metric: Metric, rows: SampledRows) -> Floats:
    r"""Return the gain at the unbiased estimate of the rank, :math:`c(p + a N / n)`.

    :math:`E[a N / n] = A`, so a gain linear in the rank (``auc``, ``atop``) is exact in expectation. Other gains are
    interpolated linearly between whole ranks: this keeps the gain at every whole rank, is exact for linear gains, and
    changes the gain only slightly when N changes slightly, while the step of ``recall@K`` would jump from 1 to 0. Their
    bias does not vanish, because a moves in steps of N / n ranks.
    """
    scale = rows.pool / np.maximum(rows.drawn, 1)
    if isinstance(metric, LinearMetric):
        place = rows.positives_above + 0.5 * rows.positives_tied + (rows.above + 0.5 * rows.tied) * scale
        return metric.gain(place, rows.candidates)
    gain = _gain_at(metric, rows)

    def value(row: Ints, positives: Ints, above: Ints) -> Floats:
        place = positives + above * rows.pool[row] / np.maximum(rows.drawn[row], 1)
        low = np.floor(place).astype(np.int64)
        share = place - low
        return (1 - share) * gain(low, row) + share * gain(low + 1, row)

    return _over_orders(rows, value)


@dataclass(frozen=True, eq=False)
class BiasVariance:
    r"""The estimator of a gain with the least squared bias and :math:`\gamma` times the variance [krichene2020].

    Over a uniform prior of A = 0, ..., N, the table :math:`\hat f(0), ..., \hat f(n)` minimises

    .. math:: \sum_A (E[\hat f(a) | A] - c(p + A))^2 + \gamma Var[\hat f(a) | A].

    The hypergeometric law takes discrete Chebyshev polynomials on 0, ..., n to those on 0, ..., N, the k-th times

    .. math:: \sigma_k^2 = \prod_{j=1}^k \frac{(N + 1 + j)(n + 1 - j)}{(n + 1 + j)(N + 1 - j)}

    squared. So the normal equations are diagonal in them: :math:`\hat f` is the posterior mean
    :math:`g(a) = E[c(p + A) | a]` with its k-th part divided by :math:`(1 - \gamma) \sigma_k^2 + \gamma`.

    Parameters
    ----------
    pools : array
        Values of N with a table, ascending; between them the gain is interpolated.
    drawn : int
        n
    tables : array
        By N, p and a.
    """

    pools: Ints
    drawn: int
    tables: Floats

    @classmethod
    def of(cls, metric: Metric, rows: SampledRows, gamma: float = GAMMA) -> "BiasVariance":
        """The tables that these rows, or any rows of the same users, need."""
        short = rows.pool > rows.drawn
        pools, drawn = pools_for(rows.pool[short]), int(rows.drawn[short].max())
        shifts = np.arange(int(rows.positives.max()))
        tables = [bias_variance_table(metric, int(pool), drawn, shifts, gamma) for pool in pools]
        return cls(pools, drawn, np.array(tables))

    def gains(self, metric: Metric, rows: SampledRows) -> Floats:
        """Return the corrected gain of each row; if all items were drawn, the gain itself."""
        gains = np.empty(rows.above.size)
        short = np.flatnonzero(rows.pool > rows.drawn)
        others = np.flatnonzero(rows.pool <= rows.drawn)
        gains[others] = unbiased_gains(metric, rows.take(others))
        short_rows = rows.take(short)
        last = max(self.pools.size - 2, 0)
        low = np.clip(np.searchsorted(self.pools, short_rows.pool, side="right") - 1, 0, last)
        high = np.minimum(low + 1, self.pools.size - 1)
        gap = np.maximum(self.pools[high] - self.pools[low], 1)
        share = (short_rows.pool - self.pools[low]) / gap

        def value(row: Ints, positives: Ints, above: Ints) -> Floats:
            below, beyond = (self.tables[ends[row], positives, above] for ends in (low, high))
            return np.asarray((1 - share[row]) * below + share[row] * beyond)

        gains[short] = _over_orders(short_rows, value)
        return gains


def pools_for(pool: Ints) -> Ints:
    """Values of N with a table: all that occur, or if there are many, a grid with steps of 1 %."""
    distinct = np.unique(pool)
    points = 1 + int(np.ceil(np.log(distinct[-1] / distinct[0]) / _STEP))
    if distinct.size <= points + 1:
        return distinct
    return np.unique(np.round(np.geomspace(distinct[0], distinct[-1], points + 1)).astype(np.int64))


def bias_variance_table(metric: Metric, pool: int, drawn: int, shifts: Ints, gamma: float = GAMMA) -> Floats:
    """Return the estimator by p (those in `shifts`) and a = 0, ..., n, for one N.

    Parameters
    ----------
    metric : Metric
        Its gain must not depend on the number of candidates.
    pool, drawn : int
        N and n.
    shifts : array
    gamma : float
        The weight of the variance; 0 gives the least bias.
    """
    basis, factors = _spectrum(pool, drawn)
    means = _posterior_means(metric, pool, drawn, shifts)
    return np.asarray((means @ basis) / ((1 - gamma) * factors + gamma) @ basis.T)


def _spectrum(pool: int, drawn: int) -> tuple[Floats, Floats]:
    """Discrete Chebyshev polynomials on 0, ..., n as orthonormal columns, and how much of each the draws keep."""
    from scipy.linalg import eigh_tridiagonal

    step = np.arange(1.0, drawn + 1) * np.arange(drawn, 0, -1)
    # as eigenvectors of a second difference, because their recurrence in k is not stable
    _, basis = eigh_tridiagonal(np.append(step, 0) + np.append(0, step), -step)
    k = np.arange(1, drawn + 1)
    logs = np.log1p(pool + k) + np.log(drawn + 1 - k) - np.log1p(drawn + k) - np.log(pool + 1 - k)
    return np.asarray(basis, dtype=np.float64), np.append(1.0, np.exp(np.cumsum(logs)))


def _posterior_means(metric: Metric, pool: int, drawn: int, shifts: Ints) -> Floats:
    """E[c(p + A) | a] by p and a, with a uniform prior of A."""
    from scipy.special import gammaln

    from unskew.metrics.exact.hypergeometric import posterior

    logs = gammaln(np.arange(pool + 2.0) + 1)
    last = pool + 1 if metric.cutoff is None else min(metric.cutoff, pool + 1)  # c is 0 beyond
    places = np.arange(last + int(shifts.max(initial=0)))
    gains = metric.gain(places, np.full(places.size, pool + 1))
    means = np.zeros((shifts.size, drawn + 1))
    size = max(_CHUNK // (drawn + 1), 1)
    for start in range(0, last, size):
        chances = posterior(logs, pool, drawn, start, min(start + size, last))
        means += gains[shifts[:, None] + np.arange(start, start + len(chances))] @ chances
    return means


def _gain_at(metric: Metric, rows: SampledRows) -> Callable[[Ints, Ints], Floats]:
    """Return the gain at places of rows, from a table if it does not depend on the number of candidates."""
    if metric.uses_candidates or not rows.above.size:
        return lambda place, row: metric.gain(place, rows.candidates[row])
    places = np.arange(int(rows.candidates.max()) + 1)
    table = np.asarray(metric.gain(places, np.full(places.size, places.size)), dtype=np.float64)
    return lambda place, _: table[place]


def _over_orders(rows: SampledRows, value: Callable[[Ints, Ints, Ints], Floats]) -> Floats:
    r"""Return the mean of ``value(row, p, a)`` over all orders of each tie group.

    Of q positives and t draws that an item is tied with, x and y come before it in a random order with chance
    :math:`\binom{q}{x} \binom{t}{y} / \binom{q + t}{x + y} / (q + t + 1)`. The order of the whole tie group is random
    too, so an estimate that is unbiased for each order is unbiased for their mean.
    """
    from scipy.special import gammaln

    values = np.empty(rows.above.size)
    sizes = (rows.positives_tied + 1) * (rows.tied + 1)
    logs = gammaln(np.arange(int((rows.positives_tied + rows.tied).max(initial=0)) + 1) + 1.0)
    alone = np.flatnonzero(sizes == 1)
    values[alone] = value(alone, rows.positives_above[alone], rows.above[alone])
    groups = np.flatnonzero(sizes > 1)
    for part in np.split(groups, np.flatnonzero(np.diff(np.cumsum(sizes[groups]) // _CHUNK)) + 1):
        counts = sizes[part]
        row = np.repeat(part, counts)
        place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        q, t = rows.positives_tied[row], rows.tied[row]
        x, y = np.divmod(place, t + 1)
        log = logs[q] - logs[x] - logs[q - x] + logs[t] - logs[y] - logs[t - y]
        log += logs[x + y] + logs[q + t - x - y] - logs[q + t]
        weighted = np.exp(log) / (q + t + 1) * value(row, rows.positives_above[row] + x, rows.above[row] + y)
        values[part] = np.bincount(row, weighted, values.size)[part]
    return values
