"""How far a simulated distribution is from an observed one."""

import numpy as np

from unskew.errors import DataError
from unskew.simulators.statistics import STATISTICS, Histogram, Statistics


def divergence(observed: Histogram, simulated: Histogram) -> float:
    r"""Smoothed Kullback-Leibler divergence of two histograms, in nats (Tian & Ekstrand 2020, section 3.3).

    Cells are those with a count in either. With counts o and s, a tenth of the smallest positive count is added to all:

    .. math:: D = \sum_x p_x \ln \frac{p_x}{q_x}, \qquad
       p_x = \frac{o_x + \epsilon}{\sum_y (o_y + \epsilon)}, \quad
       q_x = \frac{s_x + \epsilon}{\sum_y (s_y + \epsilon)}, \quad
       \epsilon = \frac{1}{10} \min \{ o_x, s_x : > 0 \}

    So it is 0 for equal histograms, and finite even when no cell has a count in both.

    Parameters
    ----------
    observed, simulated : Histogram
        At least one has a count.

    Returns
    -------
    float

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
    return max(float(np.sum(p * np.log(p / q))), 0.0)  # rounding may take it below


def divergences(observed: Statistics, simulated: Statistics) -> dict[str, float]:
    """The divergence of each of the four statistics, by name."""
    return {name: divergence(observed[name], simulated[name]) for name in STATISTICS}
