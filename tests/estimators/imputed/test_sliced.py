"""Estimates with a slice of random rows: unbiasedness, covariance, tilt, shrinkage and Hotelling's test."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest

from unskew.arrays import Floats, Ints
from unskew.estimators import Terms
from unskew.estimators.imputed import (
    SlicedMetric,
    SlicedModel,
    SliceRows,
    blend_with_slice,
    hotelling,
    tilted_weights,
)
from unskew.estimators.imputed.sliced import WORTH, mahalanobis
from unskew.estimators.intervals import Delta, difference

USERS, ITEMS, MODELS = 3, 3, 2
CELLS = USERS * ITEMS


def population(
    seed: int, users: int = USERS, items: int = ITEMS, models: int = MODELS
) -> tuple[Floats, Floats, Floats]:
    """Gains (models, users, items), chances and labels of all pairs."""
    rng = np.random.default_rng(seed)
    relevant = (rng.random((users, items)) < 0.4).astype(float)
    relevant[0, 0] = 1
    return rng.random((models, users, items)), rng.uniform(0.1, 0.8, (users, items)), relevant


def sliced(
    gains: Floats,
    q: Floats,
    relevant: Floats,
    cells: Ints,
    *,
    mean: bool = True,
    logged: tuple[Ints, Ints, Floats] | None = None,
) -> SlicedMetric:
    """All models compared with the slice of these cells; `logged` has users, items and weights of the log."""
    users, items = np.unravel_index(cells, q.shape)
    v = q * (1 - q)
    moments = float(v.sum()), (gains * v).sum(axis=(1, 2)), np.einsum("aui,bui,ui->ab", gains, gains, v)
    size = q.sum(axis=1) if mean else np.ones(len(q))
    empty = np.empty(0, int), np.empty(0, int), np.empty(0)
    log_users, log_items, weight = logged or empty
    models = [SlicedModel(Terms((q * c).sum(axis=1), size), c[users, items], c[log_users, log_items]) for c in gains]
    rows = SliceRows(
        users, relevant[users, items] > 0, q[users, items], q.size, float(q.sum()), len(q), log_users, weight
    )
    return blend_with_slice(models, rows, moments, mean=mean)


def every_slice(n: int, cells: int = CELLS) -> list[Ints]:
    return [np.array(chosen) for chosen in itertools.combinations(range(cells), n)]


@pytest.mark.parametrize("seed", range(3))
def test_the_one_step_estimate_of_a_sum_is_unbiased_whatever_q_is(seed: int) -> None:
    """Over all slices of four pairs."""
    gains, q, relevant = population(seed)
    values = [sliced(gains, q, relevant, cells, mean=False).one_step for cells in every_slice(4)]
    np.testing.assert_allclose(np.mean(values, axis=0), (gains * relevant).sum(axis=(1, 2)) / USERS)


@pytest.mark.parametrize("seed", range(3))
def test_the_one_step_estimate_of_a_mean_is_unbiased_whatever_calibrated_q_is(seed: int) -> None:
    r"""Over all slices of four pairs, it is :math:`d + (t - d) \bar y / \bar q` on average: t if the means agree."""
    gains, q, relevant = population(seed)
    truth = (gains * relevant).sum(axis=(1, 2)) / relevant.sum()
    for level in (1.0, 0.7):
        chances = q * level * relevant.sum() / q.sum()
        direct = (gains * chances).sum(axis=(1, 2)) / chances.sum()
        values = [sliced(gains, chances, relevant, cells).one_step for cells in every_slice(4)]
        np.testing.assert_allclose(np.mean(values, axis=0), direct + (truth - direct) / level)


def test_chances_that_are_the_truth_make_every_slice_right() -> None:
    gains, _, relevant = population(1)
    truth = (gains * relevant).sum(axis=(1, 2)) / relevant.sum()
    for cells in every_slice(2):
        np.testing.assert_allclose(sliced(gains, relevant, relevant, cells).one_step, truth)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), mean=st.booleans(), models=st.integers(1, 4))
def test_the_covariance_is_the_sum_over_all_candidates(seed: int, *, mean: bool, models: int) -> None:
    gains, q, relevant = population(seed, 4, 5, models)
    cells = np.random.default_rng(seed).choice(20, 6, replace=False)
    got = sliced(gains, q, relevant, cells, mean=mean)
    centre = (gains * q).sum(axis=(1, 2)) / q.sum() if mean else np.zeros(models)
    scale = 1 / q.mean() if mean else 20 / 4
    want = np.zeros((models, models))
    for user in range(4):
        for item in range(5):
            away = gains[:, user, item] - centre
            want += q[user, item] * (1 - q[user, item]) * np.outer(away, away)
    np.testing.assert_allclose(got.variance, scale**2 * want / (20 * 6), rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(got.variance, got.variance.T)


def test_the_covariance_is_that_of_labels_drawn_with_the_chances() -> None:
    """Distinct rows with labels drawn by q; each variance within 15 %, five standard errors of 2,500 draws."""
    gains, q, _ = population(2, 6, 7, 2)
    rng = np.random.default_rng(0)
    values = []
    for _ in range(2500):
        relevant = (rng.random(q.shape) < q).astype(float)
        values.append(sliced(gains, q, relevant, rng.choice(42, 30, replace=False)).one_step)
    want = sliced(gains, q, np.ones_like(q), np.arange(30)).variance
    np.testing.assert_allclose(np.cov(np.array(values).T).diagonal(), want.diagonal(), rtol=0.15)


def test_the_empirical_covariance_is_clustered_by_user() -> None:
    gains, q, relevant = population(3, 5, 8)
    cells = np.random.default_rng(1).choice(40, 15, replace=False)
    got = sliced(gains, q, relevant, cells)
    users, items = np.unravel_index(cells, q.shape)
    errors = (relevant - q)[users, items] * (gains[:, users, items] - got.direct[:, None]) / q.mean()
    errors -= errors.mean(axis=1, keepdims=True)
    by_user = np.array([errors[:, users == user].sum(axis=1) for user in range(5)]).T / 15
    np.testing.assert_allclose(got.empirical, by_user @ by_user.T)
    assert got.design_effect == pytest.approx(np.trace(got.empirical) / np.trace(got.variance))


@pytest.mark.parametrize("mean", [True, False])
def test_the_base_is_the_mean_of_imputation_and_of_the_tilted_log(*, mean: bool) -> None:
    gains, q, relevant = population(4, 5, 6)
    users, items = np.nonzero(relevant)
    weight = np.random.default_rng(0).dirichlet(np.ones(len(users)))
    got = sliced(gains, q, relevant, np.arange(8), mean=mean, logged=(users, items, weight))
    plain = gains[:, users, items] @ weight
    tilted = plain * (1 if mean else q.sum() / 5)
    direct = (gains * q).sum(axis=(1, 2)) / (q.sum() if mean else 5)
    np.testing.assert_allclose(got.tilted, tilted)
    np.testing.assert_allclose(got.base, (direct + tilted) / 2)
    alone = sliced(gains, q, relevant, np.arange(8), mean=mean)
    np.testing.assert_allclose(alone.base, direct)
    if mean:
        size = q.sum(axis=1)
        of_imputation = (gains * q).sum(axis=2) / q.sum() - np.outer(direct, size) / q.sum()
        parts = weight * (gains[:, users, items] - plain[:, None])
        of_log = np.array([parts[:, users == user].sum(axis=1) for user in range(5)]).T
        both = (of_imputation + of_log) / 2
        np.testing.assert_allclose(got.base_variance, both @ both.T)
        np.testing.assert_allclose(alone.base_variance, of_imputation @ of_imputation.T)


def metric_of(gap: float, positives: int, models: int = 3) -> SlicedMetric:
    """A metric whose one-step estimates are `gap` standard errors above the base."""
    base = np.linspace(0.2, 0.4, models)
    variance = 1e-4 * (np.eye(models) + 0.3)
    one_step = base + gap * np.sqrt(np.diag(variance))
    return SlicedMetric(base, base, one_step, variance, variance, 1e-6 * np.eye(models), positives, uses_log=False)


def test_without_positives_the_base_is_kept() -> None:
    for gap in (0.0, 1.0, 100.0):
        shrunk = metric_of(gap, 0).shrunk(1.0)
        assert shrunk.share == 0
        np.testing.assert_allclose(shrunk.value, metric_of(gap, 0).base)


def test_many_positives_and_a_large_gap_decide() -> None:
    shrunk = metric_of(30.0, 20_000).shrunk(1.0)
    assert shrunk.share > 0.99
    assert shrunk.worth < 130  # the smallest worth on the grid is 100
    np.testing.assert_allclose(shrunk.value, metric_of(30.0, 20_000).one_step, rtol=0.01)


def test_the_share_grows_with_the_gap_and_with_the_positives() -> None:
    for positives in (20, 200, 2000):
        shares = [metric_of(gap, positives).shrunk(1.0).share for gap in (0.0, 1.0, 3.0, 10.0)]
        assert shares == sorted(shares)
    for gap in (0.0, 2.0):
        shares = [metric_of(gap, positives).shrunk(1.0).share for positives in (1, 20, 200, 2000)]
        assert shares == sorted(shares)


@given(gap=st.floats(-20, 20), positives=st.integers(0, 5000), effect=st.floats(0.1, 8))
def test_the_posterior_is_that_of_the_formula(gap: float, positives: int, effect: float) -> None:
    metric = metric_of(gap, positives)
    shrunk = metric.shrunk(effect)
    noise = max(1.0, effect) * metric.variance
    away = metric.one_step - metric.base
    distance = float(away @ np.linalg.solve(noise, away))  # all three directions are needed for 99 %
    rho = positives / WORTH
    log_posterior = [-1.5 * np.log(1 + r) - distance / (2 * (1 + r)) for r in rho]
    weight = np.exp(np.array(log_posterior) - max(log_posterior))
    weight /= weight.sum()
    shares = rho / (1 + rho)
    share = float(weight @ shares)
    spread = float(weight @ (shares - share) ** 2)
    assert shrunk.share == pytest.approx(share, abs=1e-12)
    np.testing.assert_allclose(shrunk.value, metric.base + share * away)
    np.testing.assert_allclose(
        shrunk.covariance, share * noise + spread * np.outer(away, away) + (1 - share) ** 2 * metric.base_variance
    )


@given(seed=st.integers(0, 10_000), models=st.integers(1, 6), rank=st.integers(1, 6))
def test_terms_of_a_covariance_have_exactly_that_covariance(seed: int, models: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(models, min(rank, models)))
    value, covariance = rng.random(models), half @ half.T
    zero = np.zeros((models, models))
    metric = SlicedMetric(value, value, value, zero, zero, covariance, 0, uses_log=False)
    terms = metric.shrunk(1.0).terms  # no positives: the covariance is that of the base
    np.testing.assert_allclose([term.value for term in terms], value)
    np.testing.assert_allclose([term.std_error for term in terms], np.sqrt(covariance.diagonal()), atol=1e-7)
    for a, b in itertools.combinations(range(models), 2):
        gap, error = difference(terms[a], terms[b])
        want = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        assert gap == pytest.approx(value[a] - value[b])
        assert error == pytest.approx(np.sqrt(max(want, 0)), abs=1e-6)
    (low, high) = Delta().bounds(terms, [], 0.95, rng)[0][0]
    assert low is not None
    assert high is not None
    assert high - low == pytest.approx(2 * 1.959963984540054 * np.sqrt(covariance[0, 0]), abs=1e-6)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_tilted_weights_meet_the_moments_of_the_slice_as_the_ridge_goes_to_0(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, weight = rng.normal(size=(60, 2)), rng.uniform(0.5, 5, 60)
    target = rng.dirichlet(np.ones(60)) @ features  # inside their hull
    got = tilted_weights(features, weight, target, 10**9)
    assert got.sum() == pytest.approx(1)
    np.testing.assert_allclose(got @ features, target, atol=1e-6)
    logs = np.log(got) - np.log(weight)  # linear in the features
    residual = np.linalg.lstsq(np.column_stack([np.ones(60), features]), logs, rcond=None)[1]
    assert residual.sum() < 1e-9


@given(seed=st.integers(0, 10_000), positives=st.integers(1, 500))
def test_the_ridge_is_20_over_the_positives(seed: int, positives: int) -> None:
    rng = np.random.default_rng(seed)
    features, weight, target = rng.normal(size=(40, 2)), rng.uniform(0.5, 5, 40), rng.normal(size=2)
    got = tilted_weights(features, weight, target, positives)
    logs = np.log(got) - np.log(weight)
    tilt = np.linalg.lstsq(np.column_stack([np.ones(40), features]), logs, rcond=None)[0][1:]
    np.testing.assert_allclose(target - got @ features, 20 / positives * tilt, atol=1e-6)


def test_hardly_any_positives_hardly_tilt() -> None:
    features, weight = np.random.default_rng(0).normal(size=(40, 2)), np.ones(40)
    got = tilted_weights(features, weight, np.array([0.5, 0.5]), 1)
    np.testing.assert_allclose(got, 1 / 40, rtol=0.15)


def test_a_target_outside_the_hull_gives_finite_weights() -> None:
    features = np.random.default_rng(0).normal(size=(40, 2))
    got = tilted_weights(features, np.ones(40), np.array([50.0, -50.0]), 1000)
    assert np.isfinite(got).all()
    assert got.sum() == pytest.approx(1)


def random_covariance(rng: np.random.Generator, models: int) -> Floats:
    half = rng.normal(size=(models, models))
    return np.asarray(half @ half.T * 1e-4)


def null_p_values(positives: int, draws: int, seed: int) -> Floats:
    """Hotelling's p of gaps that are noise of a known covariance."""
    rng = np.random.default_rng(seed)
    covariance = random_covariance(rng, 5)
    gaps = rng.multivariate_normal(np.zeros(5), covariance, size=draws)
    return np.array([hotelling(gap, covariance, positives) for gap in gaps])


def test_the_p_of_noise_is_uniform_with_many_positives() -> None:
    """Kolmogorov and Smirnov's test at 1 in 10,000."""
    assert kstest(null_p_values(10**7, 2000, 1), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("positives", [8, 20, 100])
def test_the_p_of_noise_is_not_too_small_with_few_positives(positives: int) -> None:
    """The test rejects at most 5 %; more than the 99.99 % quantile of that number fails."""
    rejected = int(np.sum(null_p_values(positives, 2000, positives) < 0.05))
    assert rejected <= binom.ppf(0.9999, 2000, 0.05)


def test_a_gap_of_many_standard_errors_is_refuted() -> None:
    covariance = random_covariance(np.random.default_rng(0), 4)
    gap = 30 * np.sqrt(np.diag(covariance))
    assert hotelling(gap, covariance, 50) < 1e-6
    assert hotelling(gap, covariance, 3) < 1e-6  # fewer positives than directions
    assert hotelling(np.zeros(4), covariance, 50) == 1
    assert hotelling(gap, np.zeros((4, 4)), 50) == 1


def test_directions_without_variance_are_left_out_of_the_distance() -> None:
    covariance = np.diag([1.0, 1.0, 1e-30])
    distance, directions = mahalanobis(np.array([1.0, 2.0, 1.0]), covariance)
    assert (distance, directions) == (pytest.approx(5.0), 2)
    equal = np.ones((3, 3))  # three models whose estimates are the same
    assert mahalanobis(np.array([1.0, 1.0, 1.0]), equal) == (pytest.approx(1.0), 1)
