"""Means over replicates of an estimate, such as test windows or seeds: the error of users, and that of replicates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.intervals import Bounds, around, normal_quantile, p_value

_LARGEST_Z = 37.0  # its p-value is the smallest that a float holds in full


@dataclass(frozen=True)
class Mean:
    r"""The mean of an estimate over R replicates, with both kinds of error.

    Replicate r has the value :math:`v_r = \mu + b_r + e_r`: :math:`b_r` is what is special to the replicate, with
    variance :math:`\tau^2`, and :math:`e_r` the error of its users, with the influence :math:`\psi_{ur}` of user u. A
    user may be in several replicates, so the errors :math:`e_r` are correlated. With :math:`\bar\psi_u` the mean of a
    user's influences over all R replicates, 0 where the user is absent, :math:`\bar c` the mean covariance of two
    replicates, :math:`\sum_u \psi_{ur} \psi_{uq}`, and :math:`s^2` the variance of the values,

    .. math::

       \hat A = \sum_u \bar\psi_u^2, \qquad
       s^2 = \frac{\sum_r (v_r - \bar v)^2}{R-1}, \qquad
       \mathrm{se}^2 = \max\Bigl(\hat A,\ \bar c + \frac{s^2}{R}\Bigr) = \hat A + \frac{\hat\tau^2}{R}.

    This is the estimate of DerSimonian and Laird (1986) with equal weights and with shared users: :math:`\hat A` has
    what replicates share, :math:`\bar c`, and the part of :math:`s^2 / R` that users explain.

    The variance :math:`s^2` comes from R values only, so the interval takes Student's t for it, and the normal quantile
    z for what is known from many users (Banerjee 1960):

    .. math:: \bar v \pm \sqrt{\max\Bigl(z^2 \hat A,\ z^2 \bar c + t_{R-1}^2\, \frac{s^2}{R}\Bigr)}.

    It misses at most as often as stated, for any :math:`\tau` and any R above 1, if values are normal: with F the
    distribution function of :math:`\chi^2_1` and shares w of the variance, the coverage is
    :math:`E\,F(w_1 z^2 + w_2 t^2 s^2/\sigma^2)`, and F is concave, so this is at least :math:`w_1 F(z^2) + w_2
    E\,F(t^2 s^2/\sigma^2)`, where both are the level. Degrees of freedom by Satterthwaite (1946) miss in up to 13 % of
    cases instead of 5 % with two replicates, because two values are often close by chance.

    Parameters
    ----------
    value : float or None
    users_error : float or None
        Square root of :math:`\hat A`: the error if the replicates were fixed, and the users drawn again.
    replicates_error : float or None
        :math:`\hat\tau / \sqrt R`: the error if the users were fixed. None for one replicate.
    shared : float
        The variance that replicates share, :math:`\bar c`.
    spreads : tuple of (float, int)
        :math:`s^2 / R` with its degrees of freedom; for a difference, those of both means.
    """

    value: float | None
    users_error: float | None = None
    replicates_error: float | None = None
    shared: float = 0.0
    spreads: tuple[tuple[float, int], ...] = ()

    @property
    def std_error(self) -> float | None:
        """Both errors together."""
        if self.users_error is None:
            return None
        return sqrt(self.users_error**2 + (self.replicates_error or 0.0) ** 2)

    def bounds(self, level: float) -> Bounds:
        """Low and high of the interval; None if it is not defined."""
        return around(self.value, None if self.users_error is None else self._half(normal_quantile(level)), 1.0)

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of the value being 0: one minus the level at which the interval reaches 0."""
        if self.value is None or not self.std_error or not self.spreads:
            return p_value(self.value, self.std_error)
        low, high = 0.0, _LARGEST_Z
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._half(middle) < abs(self.value) else (low, middle)
        return _two_sided(high)

    def _half(self, z: float) -> float:
        """Half the width of the interval at the level of a normal quantile."""
        from scipy.special import stdtrit

        total = z**2 * max(self.shared, 0.0)
        for part, freedom in self.spreads:
            t = float(stdtrit(freedom, _two_sided(z) / 2))
            total += t * t * part if part else 0.0
        return sqrt(max(z**2 * (self.users_error or 0.0) ** 2, total))


def _two_sided(z: float) -> float:
    return erfc(z / sqrt(2))


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
        return Mean(None)
    value = float(np.mean(known))
    users = float(np.sum(np.mean(influences, axis=0) ** 2))
    if n == 1:
        return Mean(value, sqrt(users), None, users)
    # one product after another, because a matrix product may round in another order on another machine
    variance = float(np.mean([np.sum(each**2) for each in influences]))
    shared = (n * users - variance) / (n - 1)
    spread = float(np.var(known, ddof=1)) / n
    return Mean(value, sqrt(users), sqrt(max(0.0, shared + spread - users)), shared, ((spread, n - 1),))


def difference_of_means(a: Mean, b: Mean, influences: tuple[Sequence[Floats], Sequence[Floats]]) -> Mean:
    r"""The difference of two means whose replicates are independent, such as seeds, over the same users.

    The variance over users is that of the difference, :math:`\sum_u (\bar\psi_{au} - \bar\psi_{bu})^2`, and the
    variances over replicates add up. The interval takes Student's t for each of them, and misses at most as often as
    stated for the reason that `Mean` gives. The variances of two models are not pooled, because one that hardly
    depends on its seed would hide that the other one does.

    Parameters
    ----------
    a, b : Mean
    influences : pair of sequences of array
        Those that the means were computed from; place u is the same user in all.
    """
    if a.value is None or b.value is None:
        return Mean(None)
    if a.users_error is None or b.users_error is None:
        return Mean(a.value - b.value)
    users = float(np.sum((np.mean(influences[0], axis=0) - np.mean(influences[1], axis=0)) ** 2))
    between = (a.replicates_error or 0.0) ** 2 + (b.replicates_error or 0.0) ** 2
    # what the spreads have of users is not shared
    shared = users - sum((each.users_error or 0.0) ** 2 - each.shared for each in (a, b))
    return Mean(a.value - b.value, sqrt(users), sqrt(between), shared, (*a.spreads, *b.spreads))
