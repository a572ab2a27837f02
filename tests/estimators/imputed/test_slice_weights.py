"""Weights of imputation, tilted rows and the slice: a dense oracle, limits, and coverage under the model itself."""

import itertools
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multivariate_normal

from unskew.arrays import Floats
from unskew.estimators.imputed import SlicedMetric, joint_terms
from unskew.estimators.imputed.sliced import CORRELATIONS, WORTH
from unskew.estimators.intervals import Delta, difference

GRID = [10 ** (k / 4) for k in range(15)]
"""The worths: from 1 to 3,162, four per factor of 10."""
Z = 1.959963984540054


def covariance_of(rng: np.random.Generator, models: int) -> Floats:
    half = rng.normal(size=(models, models + 1))
    return np.asarray(1e-4 * half @ half.T)


def metric_of(
    gaps: list[float],
    positives: int,
    *,
    models: int = 3,
    users: float = 0.05,
    through: float = 0.1,
) -> SlicedMetric:
    """A metric whose sources are `gaps` standard errors above the one-step estimates, alike for all models."""
    one_step = np.linspace(0.2, 0.4, models)
    variance = 1e-4 * (np.eye(models) + 0.3)
    n = len(gaps)
    sources = np.array([one_step + gap * np.sqrt(np.diag(variance)) for gap in gaps])
    over_users = np.multiply.outer(users * np.eye(n), variance)
    return SlicedMetric(
        sources, one_step, variance, variance, over_users, through * np.stack([variance] * n), positives
    )


def random_metric(seed: int, models: int, n: int, positives: int) -> SlicedMetric:
    rng = np.random.default_rng(seed)
    variance = covariance_of(rng, models)
    scale = float(np.sqrt(np.trace(variance) / models))
    influence, moved = 0.2 * scale * rng.normal(size=(n, models, 7)), 0.2 * scale * rng.normal(size=(n, models, 4))
    noise = rng.multivariate_normal(np.zeros(models), variance, size=n)
    one_step = rng.random(models)
    return SlicedMetric(
        one_step + rng.choice([0.5, 2.0, 8.0]) * noise,
        one_step,
        variance,
        variance,
        np.einsum("aiu,bju->abij", influence, influence),
        np.einsum("aiu,aju->aij", moved, moved),
        positives,
    )


def errors_by_loops(
    metric: SlicedMetric, effect: float, worths: tuple[float, ...], correlation: float, basis: Floats
) -> Floats:
    """Covariance of the errors of sources and slice, in multiples of the noise in the span of a basis."""

    def trace(matrix: Floats) -> float:
        return sum(float(vector @ matrix @ vector) for vector in basis.T)

    unit, n = trace(metric.variance), len(metric.sources)
    through = [min(trace(each) / unit, 0.999) for each in metric.through_slice]
    table = np.zeros((n + 1, n + 1))
    for j in range(n):
        for k in range(n):
            bias = metric.positives / np.sqrt(worths[j] * worths[k]) * (1 if j == k else correlation)
            table[j, k] = min(through[j], through[k]) + bias + trace(metric.over_users[j, k]) / (unit * effect)
        table[j, n] = table[n, j] = through[j]
    table[n, n] = 1
    return table


def by_generalised_least_squares(metric: SlicedMetric, effect: float) -> tuple[Floats, Floats, Floats]:
    """Values, covariance and weights in the level: one direction and one worth after the other."""
    noise = effect * metric.variance
    values, vectors = np.linalg.eigh(noise)
    order = np.argsort(-values)
    models, n = len(noise), len(metric.sources)
    kept = next(k for k in range(1, models + 1) if values[order[:k]].sum() >= 0.99 * values.sum())
    parts = [vectors[:, [place]] for place in order[:kept]]
    if kept < models:
        parts.append(vectors[:, order[kept:]])
    supposed, possible = (by_direction(metric, effect, parts, kept, some) for some in ((-0.5,), CORRELATIONS))
    estimates = np.vstack([metric.sources, metric.one_step])
    value, covariance, levels = np.zeros(models), np.zeros((models, models)), []
    for basis, (posterior, each), (wider, others) in zip(parts, supposed, possible, strict=True):
        mean = sum(p * weights for p, (weights, _) in zip(posterior, each, strict=True))
        levels.append(mean)
        inside = estimates @ basis
        value = value + basis @ (mean @ inside)
        unit = noise.copy() if basis.shape[1] == models else basis @ basis.T @ noise @ basis @ basis.T
        for p, (weights, variance) in zip(wider, others, strict=True):
            covariance = covariance + p * variance * unit
            if basis.shape[1] == 1:
                away = basis @ ((weights - mean) @ inside)
                covariance = covariance + p * np.outer(away, away)
    assert len(levels[0]) == n + 1
    return value, covariance, np.asarray(levels[0])


def by_direction(
    metric: SlicedMetric, effect: float, parts: list[Floats], kept: int, correlations: Sequence[float]
) -> list[tuple[Floats, list[tuple[Floats, float]]]]:
    """For each part: the posterior of worths and correlations, and for each of them weights and variance."""
    n = len(metric.sources)
    contrast = np.hstack([np.eye(n), -np.ones((n, 1))])
    pairs = correlations[: len(correlations) if n > 1 else 1]
    logs, solved = [], []
    places = list(itertools.product(itertools.product(GRID, repeat=n), pairs))
    for basis in parts:
        of_part, likely = [], []
        for worths, correlation in places:
            table = errors_by_loops(metric, effect, worths, correlation, basis)
            inverse = np.linalg.inv(table)
            of_part.append((inverse.sum(axis=0) / inverse.sum(), 1 / inverse.sum()))
            unit = effect * float(basis[:, 0] @ metric.variance @ basis[:, 0])
            gaps = (metric.sources - metric.one_step) @ basis[:, 0]
            likely.append(multivariate_normal.logpdf(gaps, np.zeros(n), unit * contrast @ table @ contrast.T))
        logs.append(normalised(likely))
        solved.append(of_part)
    common = np.full(len(places), 1 / len(places))
    for _ in range(200):
        posteriors = [common * each / (common * each).sum() for each in logs[1:kept]]
        common = (2 / len(places) + sum(posteriors, np.zeros(len(places)))) / (2 + len(posteriors))
    of_parts = [logs[0], *posteriors, *([common] if len(parts) > kept else [])]
    return list(zip(of_parts, solved, strict=True))


def normalised(logs: Sequence[float]) -> Floats:
    posterior = np.exp(np.array(logs) - max(logs))
    return np.asarray(posterior / posterior.sum())


def test_the_grid_is_that_of_the_page() -> None:
    np.testing.assert_allclose(WORTH, GRID)
    assert CORRELATIONS == (-0.8, -0.4, 0, 0.4, 0.8)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    models=st.integers(1, 3),
    n=st.integers(1, 2),
    positives=st.integers(0, 3000),
    effect=st.floats(0.2, 5),
)
def test_the_estimate_is_that_of_generalised_least_squares(
    seed: int, models: int, n: int, positives: int, effect: float
) -> None:
    metric = random_metric(seed, models, n, positives)
    got = metric.shrunk(effect)
    value, covariance, level = by_generalised_least_squares(metric, max(1.0, effect))
    scale = float(np.sqrt(np.trace(metric.variance)))
    np.testing.assert_allclose(got.value, value, atol=1e-4 * scale)
    np.testing.assert_allclose(got.covariance, covariance, atol=1e-4 * scale**2)
    np.testing.assert_allclose(got.weights[0], level, atol=1e-4)
    np.testing.assert_allclose(got.noise, max(1.0, effect) * metric.variance)


@given(seed=st.integers(0, 10_000), models=st.integers(1, 5), n=st.integers(1, 2), positives=st.integers(0, 3000))
def test_weights_add_up_to_1_and_the_covariance_is_positive_semi_definite(
    seed: int, models: int, n: int, positives: int
) -> None:
    metric = random_metric(seed, models, n, positives)
    got = metric.shrunk(1.0)
    np.testing.assert_allclose(got.weights.sum(axis=1), 1)
    first = np.linalg.eigh(metric.variance)[1][:, -1]
    level = got.weights[0] @ np.vstack([metric.sources, metric.one_step])
    np.testing.assert_allclose(first @ got.value, first @ level, atol=1e-9)
    np.testing.assert_allclose(got.covariance, got.covariance.T, atol=1e-15)
    assert np.linalg.eigvalsh(got.covariance).min() > -1e-12


@given(seed=st.integers(0, 10_000), shift=st.floats(-3, 3), factor=st.floats(0.01, 100))
def test_another_unit_of_the_metric_changes_nothing_else(seed: int, shift: float, factor: float) -> None:
    metric = random_metric(seed, 3, 2, 100)
    other = SlicedMetric(
        factor * (metric.sources + shift),
        factor * (metric.one_step + shift),
        factor**2 * metric.variance,
        factor**2 * metric.empirical,
        factor**2 * metric.over_users,
        factor**2 * metric.through_slice,
        100,
    )
    got, want = other.shrunk(2.0), metric.shrunk(2.0)
    np.testing.assert_allclose(got.weights, want.weights, atol=1e-6)
    np.testing.assert_allclose(got.value, factor * (want.value + shift), rtol=1e-6, atol=1e-6 * factor)


def test_without_positives_no_source_is_biased_and_the_weights_are_those_of_noise_alone() -> None:
    """One source with an error of u over users and a through the slice leaves u / (1 - a + u) to the slice."""
    for gap in (0.0, 1.0, 100.0):
        got = metric_of([gap], 0, users=0.05, through=0.1).shrunk(1.0)
        assert got.weights[0, -1] == pytest.approx(0.05 / 0.95, rel=1e-6)
    assert metric_of([3.0, 3.0], 0, users=0.0).shrunk(1.0).weights[0, -1] == pytest.approx(0, abs=1e-6)


def test_many_positives_and_a_large_gap_decide_for_the_slice() -> None:
    for gaps in ([30.0], [30.0, 30.0], [30.0, -30.0]):
        metric = metric_of(gaps, 20_000)
        got = metric.shrunk(1.0)
        assert got.weights[0, -1] > 0.99
        np.testing.assert_allclose(got.value, metric.one_step, rtol=0.01)
        level = np.ones(3) / np.sqrt(3)
        assert level @ got.covariance @ level == pytest.approx(level @ metric.variance @ level, rel=0.05)


@pytest.mark.parametrize("positives", [20, 200, 2000])
@pytest.mark.parametrize("n", [1, 2])
def test_the_share_grows_with_the_gap(positives: int, n: int) -> None:
    shares = [metric_of([gap] * n, positives).shrunk(1.0).weights[0, -1] for gap in (0.0, 1.0, 2.0, 4.0, 10.0)]
    assert shares == sorted(shares)
    assert shares[-1] > shares[0] + 0.1


def test_the_share_grows_with_the_positives() -> None:
    for gap in (0.0, 2.0):
        shares = [metric_of([gap, gap], positives).shrunk(1.0).weights[0, -1] for positives in (1, 20, 200, 2000)]
        assert shares == sorted(shares)


@pytest.mark.parametrize("positives", [20, 100, 500])
def test_a_source_that_the_slice_contradicts_loses_its_weight_to_the_other(positives: int) -> None:
    agree = metric_of([0.3, 0.3], positives).shrunk(1.0).weights[0]
    for wrong in (0, 1):
        gaps = [0.3, 0.3]
        gaps[wrong] = 8.0
        weights = metric_of(gaps, positives).shrunk(1.0).weights[0]
        assert weights[wrong] < 0.5 * agree[wrong]
        assert weights[1 - wrong] > agree[1 - wrong]
        assert weights[1 - wrong] > 2 * weights[wrong]


def test_two_sources_that_are_the_same_share_their_weight() -> None:
    weights = metric_of([0.7, 0.7], 50).shrunk(1.0).weights[0]
    assert weights[0] == pytest.approx(weights[1])


def test_models_that_are_the_same_have_the_estimate_of_one() -> None:
    one = metric_of([1.5, -0.5], 80, models=1)
    ones = np.ones((4, 4))
    four = SlicedMetric(
        np.repeat(one.sources, 4, axis=1),
        np.repeat(one.one_step, 4),
        one.variance * ones,
        one.empirical * ones,
        one.over_users * ones,
        one.through_slice * ones,
        80,
    )
    got, want = four.shrunk(1.3), one.shrunk(1.3)
    np.testing.assert_allclose(got.weights[0], want.weights[0], atol=1e-6)
    np.testing.assert_allclose(got.value, np.repeat(want.value, 4))
    np.testing.assert_allclose(got.covariance, want.covariance * ones)
    gap, error = difference(got.terms[0], got.terms[3])
    assert (gap, error) == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-7))


def test_metrics_without_variance_are_the_mean_of_the_sources() -> None:
    zero = np.zeros((2, 2))
    metric = SlicedMetric(
        np.full((2, 2), 0.3), np.full(2, 0.3), zero, zero, np.zeros((2, 2, 2, 2)), np.zeros((2, 2, 2)), 30
    )
    got = metric.shrunk(metric.design_effect)
    np.testing.assert_allclose(got.value, 0.3)
    np.testing.assert_array_equal(got.covariance, zero)
    np.testing.assert_allclose(got.weights, [[0.5, 0.5, 0]] * 2)


def test_a_source_whose_error_is_all_of_the_slice_is_finite() -> None:
    for through in (1.0, 5.0):
        got = metric_of([0.0, 0.0], 30, users=0.0, through=through).shrunk(1.0)
        assert np.isfinite(got.value).all()
        assert np.linalg.eigvalsh(got.covariance).min() > 0


def test_a_source_with_the_right_order_and_a_wrong_level_keeps_its_weight_in_differences() -> None:
    level = metric_of([8.0, 0.2], 200)
    gaps = np.array([8.0, -8.0, 0.0])  # no level
    sources = level.one_step + 0.01 * np.array([gaps, np.full(3, 0.2)])
    order = SlicedMetric(sources, *(getattr(level, f.name) for f in fields(SlicedMetric)[1:]))
    of_level, of_order = level.shrunk(1.0).weights[:, 0], order.shrunk(1.0).weights[:, 0]
    assert of_level[0] < 0.15
    assert of_level[1] > 0.3
    assert of_order[1] < 0.15
    assert of_order[0] > 0.3


def draw(rng: np.random.Generator, models: int, n: int) -> tuple[SlicedMetric, Floats]:
    """A truth, and sources and a slice whose biases and noise are drawn from the model itself."""
    variance, positives = covariance_of(rng, models), int(rng.choice([20, 100, 500]))
    half = rng.normal(size=(n, 3))
    truth = rng.random(models)
    plain = SlicedMetric(
        np.zeros((n, models)),
        truth,
        variance,
        variance,
        np.multiply.outer(0.1 * half @ half.T, variance),
        np.multiply.outer(rng.uniform(0, 0.5, n), variance),
        positives,
    )
    estimates = np.tile(truth, (n + 1, 1))
    values, vectors = np.linalg.eigh(variance)
    for place in range(models):
        worths = tuple(rng.choice(GRID, n))
        basis = vectors[:, [place]]
        table = errors_by_loops(plain, 1.0, worths, float(rng.choice(CORRELATIONS)), basis)
        shape = np.linalg.cholesky(table + 1e-12 * np.eye(n + 1))
        estimates += np.sqrt(values[place]) * np.outer(shape @ rng.normal(size=n + 1), basis)
    metric = SlicedMetric(
        estimates[:n],
        estimates[n],
        variance,
        variance,
        plain.over_users,
        plain.through_slice,
        positives,
    )
    return metric, truth


@pytest.mark.parametrize(("models", "n"), [(1, 1), (1, 2), (3, 2), (6, 2)])
def test_intervals_cover_what_they_say_if_the_model_is_true(models: int, n: int) -> None:
    """1,500 truths; the number of 95 % intervals that hold the first one has a chance of 1 in 10,000 to be outside."""
    rng = np.random.default_rng([models, n])
    covered = 0
    for _ in range(1500):
        metric, truth = draw(rng, models, n)
        got = metric.shrunk(1.0)
        covered += abs(got.value[0] - truth[0]) <= Z * np.sqrt(got.covariance[0, 0])
    low, high = binom.ppf([0.00005, 0.99995], 1500, 0.95)
    assert low <= covered <= high


@given(seed=st.integers(0, 10_000), models=st.integers(1, 6), rank=st.integers(1, 6))
def test_terms_of_a_covariance_have_exactly_that_covariance(seed: int, models: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(models, min(rank, models)))
    value, covariance = rng.random(models), half @ half.T
    terms = joint_terms(value, covariance)
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
    assert high - low == pytest.approx(2 * Z * np.sqrt(covariance[0, 0]), abs=1e-6)
