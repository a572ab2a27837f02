"""`flip_factor`: the factor by which weights may be wrong before another model is first."""

import numpy as np

from unskew.arrays import Floats, Ints

MOST = 1e6
"""The largest factor that is tried."""


def flip_factor(gaps: Floats, weights: Floats, group: Ints | None = None) -> float | None:
    r"""The smallest factor by which weights must be wrong for a lead to vanish; None if no factor is large enough.

    The lead is a weighted mean of the gaps d, the worth of a row to the first model minus that to the second. Each
    weight may lie anywhere between :math:`w/\Gamma` and :math:`w\,\Gamma`. The mean has the sign of
    :math:`\sum w d`, which is smallest with the largest weights where d is negative and the smallest elsewhere, so

    .. math:: \Gamma = \sqrt{\frac{\sum_{d > 0} w\, d}{\sum_{d < 0} w\, |d|}}.

    A mean over groups (`group`, 0 to m-1) of each group's own weighted mean has its smallest value when, in each group,
    the rows with the least gaps have the largest weights; how many is found by sorting, and the factor by bisection.
    """
    if group is not None:
        return _grouped(gaps, weights, group)
    worth = weights * gaps
    return factor_of(float(worth[worth > 0].sum()), -float(worth[worth < 0].sum()))


def factor_of(ahead: float, behind: float) -> float | None:
    """The factor, from the weighted gaps of rows where the first model is ahead, and where it is behind."""
    if ahead <= behind:
        return 1.0
    return float(np.sqrt(ahead / behind)) if behind > 0 else None


def _grouped(gaps: Floats, weights: Floats, group: Ints) -> float | None:
    order = np.lexsort((gaps, group))
    starts = np.flatnonzero(np.append(True, group[order][1:] != group[order][:-1]))
    weight, worth = weights[order], (weights * gaps)[order]
    if least_mean(worth, weight, starts, 1.0) <= 0:
        return 1.0
    if least_mean(worth, weight, starts, MOST) > 0:
        return None
    low, high = 0.0, float(np.log(MOST))
    while high - low > 1e-12:
        middle = (low + high) / 2
        if least_mean(worth, weight, starts, float(np.exp(middle))) > 0:
            low = middle
        else:
            high = middle
    return float(np.exp(high))


def least_mean(worth: Floats, weight: Floats, starts: Ints, factor: float) -> float:
    """The smallest mean over groups of weighted means, when each weight may be wrong by a factor.

    `worth` is weight times gap; the rows of a group begin at one of `starts` and have ascending gaps.
    """
    ends = np.append(starts[1:], len(weight))
    sizes = ends - starts
    above, below = np.add.reduceat(worth, starts), np.add.reduceat(weight, starts)
    # sums of a group's rows up to and with each row, the rows whose weights are too large
    before = np.append(0.0, np.cumsum(worth))[starts], np.append(0.0, np.cumsum(weight))[starts]
    raised = np.cumsum(worth) - np.repeat(before[0], sizes), np.cumsum(weight) - np.repeat(before[1], sizes)
    square = factor**2
    means = (np.repeat(above, sizes) + (square - 1) * raised[0]) / (np.repeat(below, sizes) + (square - 1) * raised[1])
    return float(np.mean(np.minimum.reduceat(means, starts)))
