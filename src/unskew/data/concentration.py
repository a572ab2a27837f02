"""Gini coefficient, Lorenz curve and spread of rates: how unevenly rows are distributed over items."""

import numpy as np

from unskew.arrays import Floats


def gini(amounts: Floats) -> float:
    r"""Gini coefficient of amounts: 0 when all are equal, towards 1 when one has everything.

    .. math:: G = \frac{\sum_k (2k - n - 1)\, x_{(k)}}{n \sum_k x_k}

    with the amounts in ascending order; 0 if all are 0. The largest value is :math:`1 - 1/n`.
    """
    total = float(np.sum(amounts))
    if total <= 0:
        return 0.0
    n = len(amounts)
    places = 2 * np.arange(1, n + 1) - n - 1
    return max(0.0, float(np.sum(places * np.sort(amounts))) / (n * total))  # equal amounts may round below 0


def lorenz(amounts: Floats, points: int = 200) -> tuple[Floats, Floats]:
    """Shares of the items, the least popular first, and the share of the total that these items have.

    Parameters
    ----------
    amounts : array
    points : int
        Largest number of points of the curve, without its start.
    """
    n = len(amounts)
    places = np.unique(np.round(np.linspace(0, n, min(n, points) + 1)).astype(int))
    reached = np.append(0.0, np.cumsum(np.sort(amounts)))[places]
    total = float(np.sum(amounts))
    return places / n, reached / total if total > 0 else places / n


def spread_of_rates(counts: Floats) -> tuple[float, float]:
    r"""Squared coefficient of variation of the rates behind counts, and its standard error.

    .. math:: \hat v = \frac{s^2 - \bar n}{\bar n^2}

    with the mean and the variance of the counts. Counts of equal rates vary too, by chance, with a variance of their
    mean; that is subtracted. So the number does not depend on how many rows there are; it is 0 on average for equal
    rates, and may be below 0. Both are 0 for fewer than two counts, or without any row.
    """
    counts = np.asarray(counts, dtype=float)
    mean = float(counts.mean()) if len(counts) else 0.0
    if len(counts) < 2 or mean <= 0:
        return 0.0, 0.0
    value = (float(counts.var(ddof=1)) - mean) / mean**2
    gaps = counts - mean
    influence = (gaps**2 - gaps) / mean**2 - 2 * value * gaps / mean
    return value, float(influence.std(ddof=1) / np.sqrt(len(counts)))
