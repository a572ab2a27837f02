"""The error of an estimate when users are fixed and only the draw of their items is chance."""

from dataclasses import replace

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.estimate import Terms
from unskew.estimators.exposed.exposure import Exposure


def with_draw_errors(terms: Terms, above: Floats, below: Floats, exposure: Exposure) -> Terms:
    r"""The terms with what each exposed row adds to the error of the draw.

    A row adds :math:`a_i` to the numerator and :math:`b_i` to the denominator; the l rows of a user are drawn from L
    without replacement. With :math:`z_i = a_i - \hat v b_i` the variance of the ratio is, to first order,

    .. math:: \frac{1}{(\sum b)^2} \sum_u \left(1 - \frac{l}{L}\right) \frac{l}{l - 1}
              \sum_{i \in u} (z_i - \bar z_u)^2.

    With one row a user its spread is unknown, and so is the variance.

    Parameters
    ----------
    terms : Terms
    above, below : array
        a and b of each exposed row.
    exposure : Exposure
    """
    total = float(terms.denominator.sum())
    if terms.value is None or total <= 0:
        return terms
    size = exposure.exposed
    parts = above - terms.value * below
    middle = exposure.sums(parts) / size
    spread = np.sqrt((1 - size / exposure.population) * size / np.maximum(size - 1, 1))
    errors = (parts - middle[exposure.user]) * spread[exposure.user] / total
    lone = bool(np.any((size == 1) & (exposure.population > 1)))
    return replace(terms, rows=errors, lone=lone)
