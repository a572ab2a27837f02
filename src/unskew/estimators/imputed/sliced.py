"""`blend_with_slice`: imputation and weighted rows, shrunk towards what a slice of random rows shows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.estimators.estimate import Terms

WORTH = np.logspace(0, 3.5, 29)
"""How many positives of the slice the estimate without it may be worth, from 1 to 3,162; all are equally likely
beforehand. If a base were worth at least 100, one that a small slice contradicts could not be left."""
EXPLAINED = 0.99
"""Share of the variance over models that the leading directions explain, in which the two estimates are compared."""
RIDGE = 20.0
"""Penalty of the tilt, over the number of positives of the slice."""


@dataclass(frozen=True, eq=False)
class SlicedModel:
    """One model under one metric.

    Parameters
    ----------
    direct : Terms
        Of ``dm`` with the chances recalibrated by the slice, over all users.
    drawn : array
        Gain of each row of the slice.
    logged : array
        Gain of each held-out positive of the log; empty if the log is not used.
    shifts : array
        By how much `direct` moves if the chances are those of coefficients one standard error away, in each direction.
    """

    direct: Terms
    drawn: Floats
    logged: Floats
    shifts: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, eq=False)
class SliceRows:
    """The rows of a slice, and the held-out positives of the log.

    Parameters
    ----------
    user : array of int
        Place of each drawn row's user among all users.
    positive : array of bool
        Labels.
    chance : array
        q of each drawn row, by the fit that did not see it.
    candidates : int
        Number of all candidates, N.
    mass : float
        Sum of q over all candidates.
    users : int
        Number of all users.
    logged_user : array of int
        Place of the user of each held-out positive; empty if the log is not used.
    logged_weight : array
        Tilted weight of each held-out positive; they add up to 1.
    """

    user: Ints
    positive: Bools
    chance: Floats
    candidates: int
    mass: float
    users: int
    logged_user: Ints
    logged_weight: Floats

    @property
    def positives(self) -> int:
        """Number of positives in the slice."""
        return int(self.positive.sum())


@dataclass(frozen=True, eq=False)
class SlicedMetric:
    r"""All models under one metric: the estimate without the slice, the one-step estimate, and their covariances.

    Parameters
    ----------
    direct, tilted : array
        Imputation and tilted rows, per model.
    one_step : array
        :math:`p = d + \frac1n \sum (y - q)(c - d) / \bar q`, which is unbiased whatever q is.
    variance : array (models, models)
        Covariance of `one_step` by the chances, without the design effect.
    empirical : array (models, models)
        The same from the rows of the slice, summed by user.
    base_variance : array (models, models)
        Covariance of `base` over users, and over what the slice could have been, through the chances.
    positives : int
    uses_log : bool
        Whether the base is the mean of both, or imputation alone.
    """

    direct: Floats
    tilted: Floats
    one_step: Floats
    variance: Floats
    empirical: Floats
    base_variance: Floats
    positives: int
    uses_log: bool

    @property
    def base(self) -> Floats:
        """The estimate that is shrunk."""
        return (self.direct + self.tilted) / 2 if self.uses_log else self.direct

    @property
    def design_effect(self) -> float:
        """The variance over users, as a multiple of that of independent rows."""
        expected = float(np.trace(self.variance))
        return float(np.trace(self.empirical)) / expected if expected > 0 else 1.0

    def shrunk(self, design_effect: float) -> "Shrunk":
        r"""The estimate with the slice.

        .. math:: \theta = b + s (p - b), \qquad s = \frac{\rho}{1 + \rho}, \qquad \rho = n^+ / n_0

        The base b is worth :math:`n_0` positives of the slice, so that :math:`p - b \sim N(0, (1 + \rho) V)`; the
        posterior of :math:`n_0` is on a grid. The covariance is
        :math:`\bar s V + \operatorname{var}(s) (p - b)(p - b)^\top + (1 - \bar s)^2 V_b`.
        """
        noise = max(1.0, design_effect) * self.variance
        gap = self.one_step - self.base
        distance, directions = mahalanobis(gap, noise)
        ratio = self.positives / WORTH
        log_likelihood = -0.5 * directions * np.log1p(ratio) - 0.5 * distance / (1 + ratio)
        posterior = np.exp(log_likelihood - log_likelihood.max())
        posterior /= posterior.sum()
        shares = ratio / (1 + ratio)
        share = float(posterior @ shares)
        spread = float(posterior @ (shares - share) ** 2)
        covariance = share * noise + spread * np.outer(gap, gap) + (1 - share) ** 2 * self.base_variance
        return Shrunk(self.base + share * gap, covariance, share, float(np.exp(posterior @ np.log(WORTH))), noise)


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The estimates of all models with a slice, and their joint covariance."""

    value: Floats
    covariance: Floats
    share: float  # how far the estimate moved from its base to the slice, from 0 to 1
    worth: float  # how many positives of the slice the base is worth
    noise: Floats  # covariance of the slice's own estimate

    @cached_property
    def terms(self) -> list[Terms]:
        """Terms of each model, whose influences have this covariance."""
        return [Terms.of_covariance(value, row) for value, row in zip(self.value, _root(self.covariance), strict=True)]


def blend_with_slice(
    models: Sequence[SlicedModel], rows: SliceRows, moments: tuple[float, Floats, Floats], *, mean: bool
) -> SlicedMetric:
    r"""Compare the estimates of all models with a slice.

    Parameters
    ----------
    models : sequence of SlicedModel
    rows : SliceRows
    moments : (float, array, array)
        Sums over all candidates of v, v c and v c c', with v = q (1 - q) and c the gains of the models.
    mean : bool
        Whether the metric is a mean over relevant pairs; else it is a sum per user, which is not centred and is scaled
        by the candidates per user.

    Notes
    -----
    The covariance of the one-step estimate is
    :math:`\sum q (1 - q) (c - d)(c - d)^\top / (N n \bar q^2)`, over all candidates. That of few rows is too uncertain:
    with 20 positives its intervals held the truth in 50 to 70 % of cases.
    """
    n, size = len(rows.user), float(rows.candidates)
    direct = np.array([model.direct.value or 0.0 for model in models])
    centre = direct if mean else np.zeros_like(direct)
    scale = size / rows.mass if mean else size / rows.users
    drawn = np.stack([model.drawn for model in models]) - centre[:, None]
    errors = scale * (rows.positive - rows.chance) * drawn
    total, first, second = moments
    crossed = np.outer(centre, first)
    variance = scale**2 * (second - crossed - crossed.T + total * np.outer(centre, centre)) / (size * n)
    deviations = errors - errors.mean(axis=1, keepdims=True)
    by_user = np.stack([np.bincount(rows.user, weights=row, minlength=rows.users) for row in deviations]) / n
    influence = np.stack([model.direct.influence for model in models])
    shifts = np.stack([model.shifts for model in models])
    tilted = direct
    uses_log = len(rows.logged_user) > 0
    if uses_log:
        level = 1.0 if mean else rows.mass / rows.users
        gains = np.stack([model.logged for model in models])
        plain = gains @ rows.logged_weight
        tilted = level * plain
        parts = level * rows.logged_weight * (gains - plain[:, None])
        of_log = np.stack([np.bincount(rows.logged_user, weights=row, minlength=rows.users) for row in parts])
        influence, shifts = (influence + of_log) / 2, shifts / 2
    return SlicedMetric(
        direct=direct,
        tilted=tilted,
        one_step=direct + errors.mean(axis=1),
        variance=(variance + variance.T) / 2,
        empirical=by_user @ by_user.T,
        base_variance=influence @ influence.T + shifts @ shifts.T,
        positives=rows.positives,
        uses_log=uses_log,
    )


def tilted_weights(features: Floats, weight: Floats, target: Floats, positives: int) -> Floats:
    r"""Weights :math:`w e^{b \cdot f}` that give the features of held-out positives the mean that the slice has.

    Parameters
    ----------
    features : array (rows, features)
        Of the held-out positives, standardised.
    weight : array
        w above, inverse propensities.
    target : array
        Mean of the features of the slice's positives.
    positives : int
        How many those are; the ridge penalty of b is 20 over it.
    """
    tilt, ridge = np.zeros(features.shape[1]), RIDGE / max(positives, 1)
    shares = weight / weight.sum()
    for _ in range(200):
        mean = shares @ features
        slope = target - mean - ridge * tilt
        curvature = (features * shares[:, None]).T @ features - np.outer(mean, mean) + ridge * np.eye(len(tilt))
        step = np.clip(np.linalg.solve(curvature, slope), -1, 1)
        tilt = tilt + step
        logs = np.log(weight) + features @ tilt
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        if float(np.abs(step).max()) < 1e-10:
            break
    return np.asarray(shares)


def mahalanobis(gap: Floats, covariance: Floats) -> tuple[float, int]:
    """The squared distance of a gap in the leading directions of a covariance, and how many directions these are."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    total = float(values.sum())
    if total <= 0:
        return 0.0, 0
    kept = int(np.searchsorted(np.cumsum(values) / total, EXPLAINED)) + 1
    kept = min(kept, int(np.sum(values > 1e-12 * values[0])))
    return float(np.sum((vectors[:, :kept].T @ gap) ** 2 / values[:kept])), kept


def hotelling(gap: Floats, covariance: Floats, positives: int) -> float:
    r"""The p-value of Hotelling's test that a gap over models is noise.

    :math:`T^2 = g^\top V^{-1} g` in the k leading directions of V; :math:`T^2 (n - k) / (k (n - 1))` has the F
    distribution of k and n - k degrees of freedom, with n the number of positives.
    """
    from scipy.stats import chi2, f

    distance, k = mahalanobis(gap, covariance)
    if k == 0:
        return 1.0
    if positives <= k:
        return float(chi2.sf(distance, k))
    return float(f.sf(distance * (positives - k) / (k * (positives - 1)), k, positives - k))


def _root(covariance: Floats) -> Floats:
    """A square root of a covariance: the scalar products of its rows are the covariances."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
