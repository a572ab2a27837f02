"""`blend_with_slice`: imputation, weighted rows and a slice of random rows, weighed by how far each may be off."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.estimators.estimate import Terms
from unskew.estimators.imputed.directions import leading, root_of

WORTH = np.logspace(0, 3.5, 15)
"""How many positives of the slice an estimate without it may be worth, from 1 to 3,162; all are equally likely
beforehand. If it were worth at least 10, one that a slice of 20 positives contradicts could not be left."""
OPPOSED = -0.5
"""Correlation of the biases of imputation and of weighted rows that the estimate supposes beforehand."""
CORRELATIONS = (-0.8, -0.4, 0.0, 0.4, 0.8)
"""Correlations of these biases that the interval allows for; all are equally likely beforehand."""
PSEUDO = 2.0
"""How many directions the equal prior of all worths counts as, when that of the differences is estimated."""
_STEPS = 200
_LARGEST, _TINY = 0.999, 1e-9  # a source that has no error of its own, or none at all, would have no inverse


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
        Gain of each held-out positive of the log; empty if the log has none.
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
        Place of the user of each held-out positive; empty if the log has none.
    logged_weight : array
        Weight of each held-out positive before the tilt; they add up to 1.
    tilted_weight : array, optional
        Tilted weight of each, if the slice has a positive; they add up to 1.
    weight_shifts : array (directions, rows)
        By how much tilted weights move if the slice is another, one standard error away in each direction.
    mass_shifts : array
        By how much `mass` moves in each direction of `SlicedModel.shifts`.
    """

    user: Ints
    positive: Bools
    chance: Floats
    candidates: int
    mass: float
    users: int
    logged_user: Ints
    logged_weight: Floats
    tilted_weight: Floats | None = None
    weight_shifts: Floats | None = None
    mass_shifts: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def positives(self) -> int:
        """Number of positives in the slice."""
        return int(self.positive.sum())


@dataclass(frozen=True, eq=False)
class SlicedMetric:
    r"""All models under one metric: estimates from the log, the one-step estimate, and how far each may be off.

    Parameters
    ----------
    sources : array (sources, models)
        Imputation, and weighted rows if the log has held-out positives.
    one_step : array
        :math:`p = d + \frac1n \sum (y - q)(c - d) / \bar q`, which is unbiased whatever q is.
    variance : array (models, models)
        Covariance of `one_step` by the chances, without the design effect.
    empirical : array (models, models)
        The same from the rows of the slice, summed by user.
    over_users : array (sources, sources, models, models)
        Covariances of the sources over users.
    through_slice : array (sources, models, models)
        Covariance of each source over what the slice could have been, to which it is fitted.
    positives : int
    """

    sources: Floats
    one_step: Floats
    variance: Floats
    empirical: Floats
    over_users: Floats
    through_slice: Floats
    positives: int

    @property
    def design_effect(self) -> float:
        """The variance over users, as a multiple of that of independent rows."""
        expected = float(np.trace(self.variance))
        return float(np.trace(self.empirical)) / expected if expected > 0 else 1.0

    def shrunk(self, design_effect: float) -> "Shrunk":
        r"""The estimate with the slice.

        With V the covariance of the one-step estimate p, a source k of the log is modelled as
        :math:`e_k = \theta + b_k + \epsilon_k`. In each eigenvector of V its bias :math:`b_k` has the variance
        :math:`v n^+ / n_k`, with v that of p: there it is worth :math:`n_k` positives of the slice. Biases of two
        sources have a correlation of -0.5 beforehand. Given all :math:`n_k`, the estimate is the linear combination of
        sources and p with the least variance. The posterior of the :math:`n_k` is on a grid, from the likelihood of the
        gaps :math:`e_k - p`.

        On some logs both sources are biased in the same direction. So the error of the estimate is that of a wider
        posterior, in which the correlation may be anything from -0.8 to 0.8.

        The first eigenvector is the level that all models share, and models differ in the others. A source can have the
        wrong level and the right order. So the level has worths of its own. A source can also be wrong in one direction
        and right in all others; so each direction has its own worths, from a distribution that the others share.
        """
        noise = max(1.0, design_effect) * self.variance
        directions = leading(noise)
        back = noise @ directions  # from coordinates, in which the noise has a variance of 1, to estimates
        rest = np.eye(len(noise)) - directions @ back.T
        errors, coordinates = self._errors(directions, noise), self._estimates @ directions
        left = float(np.trace(rest.T @ noise @ rest))
        known = left > _TINY * float(np.trace(noise))
        if known:
            errors = np.append(errors, [self._errors_in(rest, left, noise)], axis=0)
        weights, variance = self._weigh(errors, coordinates)
        n = directions.shape[1]
        value = back @ np.sum(weights[:n] * coordinates.T, axis=1)
        covariance = (back * variance[:n]) @ back.T
        # what the slice cannot tell apart is the mean of the sources, and has no error
        of_rest = weights[n] if known else np.append(np.full(len(self.sources), 1 / len(self.sources)), 0.0)
        value = value + rest.T @ (of_rest @ self._estimates)
        if known:
            covariance = covariance + variance[n] * rest.T @ noise @ rest
        traces = np.append(np.sum(back[:, 1:] ** 2, axis=0), left if known else 0.0)
        level = weights[0] if n else of_rest
        among = np.vstack([weights[1:n], of_rest])
        differences = traces @ among / traces.sum() if traces.sum() > 0 else of_rest
        return Shrunk(value, (covariance + covariance.T) / 2, np.stack([level, differences]), noise)

    @property
    def _estimates(self) -> Floats:
        """Of the sources, and last of the slice, by model."""
        return np.vstack([self.sources, self.one_step])

    def _weigh(self, errors: Floats, coordinates: Floats) -> tuple[Floats, Floats]:
        """Weights of sources and slice in each direction, and the variance of the estimate there.

        Directions without coordinates have weights from the distribution of worths alone.
        """
        gaps = (coordinates[:-1] - coordinates[-1]).T
        posterior, weights, _ = self._posterior(errors, gaps, (OPPOSED,))
        mean = np.sum(posterior[:, :, None] * weights, axis=1)
        posterior, weights, least = self._posterior(errors, gaps, CORRELATIONS)
        n = len(gaps)
        away = np.zeros(least.shape)
        away[:n] = np.sum((weights - mean[:, None])[:n] * coordinates.T[:, None], axis=2)
        return mean, np.sum(posterior * (least + away**2), axis=1)

    def _posterior(self, errors: Floats, gaps: Floats, correlations: Sequence[float]) -> tuple[Floats, Floats, Floats]:
        """On a grid of worths and correlations of biases: posterior, weights, and the variance they leave.

        All are by direction and place of the grid.
        """
        n = len(self.sources)
        *worths, correlation = np.meshgrid(*[WORTH] * n, correlations[: len(correlations) if n > 1 else 1])
        root = np.sqrt(self.positives / np.stack([each.ravel() for each in worths], axis=1))
        same = np.where(np.eye(n) > 0, 1.0, correlation.reshape(-1, 1, 1))
        total = np.tile(errors[:, None], (1, len(root), 1, 1))
        total[:, :, :n, :n] += root[:, :, None] * root[:, None, :] * same
        away = np.column_stack([np.eye(n), -np.ones(n)])
        spread = away @ total[: len(gaps)] @ away.T
        squares = np.sum(gaps[:, None] * np.linalg.solve(spread, gaps[:, None, :, None])[..., 0], axis=2)
        log_likelihood = np.zeros(total.shape[:2])
        log_likelihood[: len(gaps)] = -0.5 * np.linalg.slogdet(spread)[1] - 0.5 * squares
        inverse = np.linalg.solve(total, np.ones((*total.shape[:2], n + 1, 1)))[..., 0]
        least = 1 / inverse.sum(axis=2)
        likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
        return shared_posterior(likelihood, len(gaps)), inverse * least[..., None], least

    def _errors(self, directions: Floats, noise: Floats) -> Floats:
        """Covariance of the errors of sources and slice in each direction, biases left out, over the slice's."""
        of_each = [self._errors_in(direction[:, None], 1.0, noise) for direction in directions.T]
        n = len(self.sources) + 1
        return np.array(of_each).reshape(-1, n, n)

    def _errors_in(self, basis: Floats, unit: float, noise: Floats) -> Floats:
        """The same over several directions, in which the slice's errors have the sum `unit`.

        A source that is fitted to the slice shares the error of that fit with the one-step estimate, which has all of
        the slice's error; two sources share the smaller one.
        """
        n = len(self.sources)
        effect = float(np.trace(noise)) / float(np.trace(self.variance))
        through = np.einsum("ma,kmn,na->k", basis, self.through_slice, basis) * effect / unit
        through = np.append(np.minimum(through, _LARGEST), 1.0)
        errors = np.asarray(np.minimum.outer(through, through))
        errors[:n, :n] += np.einsum("ma,jkmn,na->jk", basis, self.over_users, basis) / unit
        return np.asarray(errors + _TINY * np.eye(n + 1))


def shared_posterior(likelihood: Floats, compared: int) -> Floats:
    r"""The posterior of each direction on a grid, in which all directions but the first have a common prior.

    The common prior :math:`\pi` is estimated from these directions themselves, by the fixed point of
    :math:`\pi = (\alpha / G + \sum_j p_j) / (\alpha + J)`, with :math:`p_j \propto \pi L_j` the posterior of
    direction j and :math:`\alpha` = 2: before any direction is seen, all G places of the grid are equally likely, and
    this counts as much as two directions. The first direction has this equal prior.

    Parameters
    ----------
    likelihood : array (directions, places)
        Those that could not be compared with the slice come last, and have the common prior as their posterior.
    compared : int
        How many were compared.
    """
    places = likelihood.shape[1]
    posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    common = np.full(places, 1 / places)
    for _ in range(_STEPS):
        before, others = common, common * likelihood[1:compared]
        others = others / others.sum(axis=1, keepdims=True)
        common = (PSEUDO / places + others.sum(axis=0)) / (PSEUDO + len(others))
        posterior[1:compared] = others
        if float(np.abs(common - before).max()) < _TINY:
            break
    posterior[compared:] = common
    return np.asarray(posterior)


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The estimates of all models with a slice, and their joint covariance."""

    value: Floats
    covariance: Floats
    weights: Floats  # (2, sources + 1): of the log's sources, and last of the slice; in the level, mean of differences
    noise: Floats  # covariance of the slice's own estimate

    @cached_property
    def terms(self) -> list[Terms]:
        """Terms of each model, whose influences have this covariance."""
        return joint_terms(self.value, self.covariance)


def joint_terms(values: Floats, covariance: Floats) -> list[Terms]:
    """Terms of each model, whose influences have the covariance of all models."""
    return [Terms.of_covariance(value, row) for value, row in zip(values, root_of(covariance), strict=True)]


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
    influences = [np.stack([model.direct.influence for model in models])]
    shifts = [np.stack([model.shifts for model in models])]
    sources = [direct]
    if len(rows.logged_user):
        level = 1.0 if mean else rows.mass / rows.users
        weighted = _weighted_rows(np.stack([model.logged for model in models]), rows)
        sources.append(level * weighted.value)
        influences.append(level * weighted.influence)
        moves = [level * weighted.shifts]
        if not mean:
            moves.append(np.outer(weighted.value, rows.mass_shifts / rows.users))
        shifts.append(np.column_stack(moves))
    return SlicedMetric(
        sources=np.stack(sources),
        one_step=direct + errors.mean(axis=1),
        variance=(variance + variance.T) / 2,
        empirical=by_user @ by_user.T,
        over_users=np.array([[a @ b.T for b in influences] for a in influences]),
        through_slice=np.array([each @ each.T for each in shifts]),
        positives=max(rows.positives, 1),  # with none, the log would count as unbiased
    )


@dataclass(frozen=True, eq=False)
class _WeightedRows:
    """Means over the log's positives: values by model, influences of users, and moves with the slice."""

    value: Floats
    influence: Floats  # (models, users)
    shifts: Floats  # (models, directions)


def _weighted_rows(gains: Floats, rows: SliceRows) -> _WeightedRows:
    r"""The mean of weighted rows with and without the tilt, :math:`(t + s \bar t / \bar s) / 2`.

    t has tilted weights, s those before the tilt, and the bars are means over models. So the tilt alone decides the
    level. Tilted weights are farther from equal, and the noise of a few rows would change the order of models; the
    weights before the tilt are biased instead.
    """

    def by_user(parts: Floats) -> Floats:
        return np.stack([np.bincount(rows.logged_user, weights=row, minlength=rows.users) for row in parts])

    plain = gains @ rows.logged_weight
    of_plain = by_user(rows.logged_weight * (gains - plain[:, None]))
    total = float(plain.mean())
    if rows.tilted_weight is None or total <= 0:
        return _WeightedRows(plain, of_plain, np.zeros((len(gains), 0)))
    tilted = gains @ rows.tilted_weight
    of_tilted = by_user(rows.tilted_weight * (gains - tilted[:, None]))
    factor, share = float(tilted.mean()) / total, plain / total
    of_level = of_tilted.mean(axis=0) - factor * of_plain.mean(axis=0)
    moves = np.zeros((len(gains), 0)) if rows.weight_shifts is None else gains @ rows.weight_shifts.T
    return _WeightedRows(
        (tilted + factor * plain) / 2,
        (of_tilted + factor * of_plain + np.outer(share, of_level)) / 2,
        (moves + np.outer(share, moves.mean(axis=0))) / 2,
    )
