"""The error of an estimate if users are fixed and only the draw of their items is random."""

from dataclasses import replace

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.estimate import Terms
from unskew.estimators.rows import Rows


def with_draw_errors(terms: Terms, above: Floats, below: Floats, drawn: Rows) -> Terms:
    r"""The terms with what each exposed row adds to the error of the draw.

    A row adds :math:`a_i` to the numerator and :math:`b_i` to the denominator; the l rows of a user are drawn from L
    without replacement. With :math:`z_i = a_i - \hat v b_i` the variance of the ratio is, to first order,

    .. math:: \frac{1}{(\sum b)^2} \sum_u \left(1 - \frac{l}{L}\right) \frac{l}{l - 1}
              \sum_{i \in u} (z_i - \bar z_u)^2.

    With one row per user the spread, and so the variance, is unknown.

    Parameters
    ----------
    terms : Terms
    above, below : array
        a and b of each exposed row.
    drawn : Rows
    """
    total = float(terms.denominator.sum())
    if terms.value is None or total <= 0:
        return terms
    size = drawn.counts
    parts = above - terms.value * below
    middle = drawn.sums(parts) / size
    spread = np.sqrt((1 - size / drawn.population) * size / np.maximum(size - 1, 1))
    errors = (parts - middle[drawn.user]) * spread[drawn.user] / total
    lone = bool(np.any((size == 1) & (drawn.population > 1)))
    return replace(terms, rows=errors, lone=lone)
