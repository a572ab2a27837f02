"""Gini coefficient and Lorenz curve: how unevenly rows are distributed over items."""

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
