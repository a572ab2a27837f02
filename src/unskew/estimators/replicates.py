"""Means over replicates of an estimate, such as test windows: the error of users, and that of replicates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.estimate import Terms
from unskew.estimators.intervals import Bounds, around, normal_quantile, p_value


@dataclass(frozen=True)
class Mean:
    r"""The mean of an estimate over R replicates, with both kinds of error.

    Replicate r has the value :math:`v_r = \mu + b_r + e_r`: :math:`b_r` is what is special to the replicate, with
    variance :math:`\tau^2`, and :math:`e_r` the error of its users, with the influence :math:`\psi_{ur}` of user u. A
    user may be in several replicates, so the errors :math:`e_r` are correlated. With :math:`\bar\psi_u` the mean of a
    user's influences over all R replicates, 0 where the user is absent,

    .. math::

       \hat A = \sum_u \bar\psi_u^2, \qquad
       \hat\tau^2 = \max\Bigl(0,\ \frac{\sum_r (v_r - \bar v)^2}{R-1} - (\bar s - \bar c)\Bigr), \qquad
       \mathrm{se}^2 = \hat A + \frac{\hat\tau^2}{R},

    where :math:`\bar s` is the mean variance of a replicate, :math:`\sum_u \psi_{ur}^2`, and :math:`\bar c` the mean
    covariance of two, :math:`\sum_u \psi_{ur} \psi_{uq}`. This is the estimate of DerSimonian and Laird (1986) with
    equal weights and with shared users. Intervals are Student's t, with the degrees of freedom of Satterthwaite (1946),
    because :math:`\tau` is estimated from R values only.

    Parameters
    ----------
    value : float or None
    users_error : float or None
        Square root of :math:`\hat A`: the error if the replicates were fixed, and the users drawn again.
    replicates_error : float or None
        :math:`\hat\tau / \sqrt R`: the error if the users were fixed. None for one replicate.
    freedom : float
        Degrees of freedom; infinity where :math:`\hat\tau` is 0.
    replicates : int
        R.
    """

    value: float | None
    users_error: float | None
    replicates_error: float | None
    freedom: float
    replicates: int

    @property
    def std_error(self) -> float | None:
        """Both errors together."""
        if self.users_error is None:
            return None
        return sqrt(self.users_error**2 + (self.replicates_error or 0.0) ** 2)

    def bounds(self, level: float) -> Bounds:
        """Low and high of the interval; None if it is not defined."""
        return around(self.value, self.std_error, self._quantile(level))

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of the value being 0."""
        if self.value is None or not self.std_error or self.freedom == float("inf"):
            return p_value(self.value, self.std_error)
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.value) / self.std_error))

    def _quantile(self, level: float) -> float:
        if self.freedom == float("inf"):
            return normal_quantile(level)
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2))


def mean_of_replicates(values: Sequence[float | None], influences: Sequence[Floats]) -> Mean:
    """The mean over replicates.

    Parameters
    ----------
    values : sequence of float or None
        One per replicate; the mean is undefined if one is.
    influences : sequence of array
        For each replicate, what each user adds to its error, see `influence_of`; place u is the same user in all.

    Examples
    --------
    >>> import numpy as np
    >>> mean = mean_of_replicates([0.2, 0.4], [np.array([0.03, -0.03, 0, 0]), np.array([0, 0, 0.03, -0.03])])
    >>> round(mean.value, 6), round(mean.users_error, 6), round(mean.std_error, 6)
    (0.3, 0.03, 0.1)
    """
    known, n = [value for value in values if value is not None], len(values)
    if len(known) < n or not n:
        return Mean(None, None, None, float("inf"), n)
    value = float(np.mean(known))
    users = float(np.sum(np.mean(influences, axis=0) ** 2))
    if n == 1:
        return Mean(value, sqrt(users), None, float("inf"), n)
    # one product after another, because a matrix product may round in another order on another machine
    variance = float(np.mean([np.sum(each**2) for each in influences]))
    shared = (n * users - variance) / (n - 1)
    between = float(np.var(known, ddof=1)) / n
    total = between + shared
    if total <= users:
        return Mean(value, sqrt(users), 0.0, float("inf"), n)
    freedom = max(1.0, (n - 1) * (total / between) ** 2) if between > 0 else float("inf")
    return Mean(value, sqrt(users), sqrt(total - users), freedom, n)


def difference_of_means(a: Mean, b: Mean, influences: tuple[Sequence[Floats], Sequence[Floats]]) -> Mean:
    r"""The difference of two means whose replicates are independent, such as seeds, over the same users.

    The variance over users is that of the difference, :math:`\sum_u (\bar\psi_{au} - \bar\psi_{bu})^2`, and the
    variances over replicates add up. The degrees of freedom are those of Satterthwaite (1946).

    Parameters
    ----------
    a, b : Mean
    influences : pair of sequences of array
        Those that the means were computed from; place u is the same user in all.
    """
    if a.value is None or b.value is None or a.std_error is None or b.std_error is None:
        return Mean(None, None, None, float("inf"), a.replicates)
    users = float(np.sum((np.mean(influences[0], axis=0) - np.mean(influences[1], axis=0)) ** 2))
    between = (a.replicates_error or 0.0) ** 2 + (b.replicates_error or 0.0) ** 2
    doubt = sum(each.std_error**4 / each.freedom for each in (a, b) if each.std_error)
    freedom = max(1.0, (users + between) ** 2 / doubt) if doubt > 0 else float("inf")
    return Mean(a.value - b.value, sqrt(users), sqrt(between), freedom, a.replicates)


def influence_of(terms: Terms) -> Floats | None:
    """What each user adds to the error of an estimate, scaled so that the sum of squares is its variance.

    None for fewer than two users.
    """
    m = len(terms.numerator)
    return None if m < 2 else np.asarray(terms.influence * sqrt(m / (m - 1)))
