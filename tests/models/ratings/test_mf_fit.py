"""The factorisation: its gradient, its start, and what scaling weights does (Schnabel et al. 2016, section 4)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from rating_logs import numpy_objective, small

from unskew.errors import ConfigError
from unskew.models import Rated, fit_mf
from unskew.models.ratings.mf_fit import Objective, packed, start_mf

MODES = [(loss, offsets) for loss in ("mse", "mae") for offsets in ("regularised", "free")]


def scaled(rated, factor):
    return replace(rated, weights=rated.weights * factor)


def some_point(rated, factors, seed=1):
    return np.random.default_rng(seed).normal(size=(rated.n_users + rated.n_items) * (factors + 1) + 1)


@pytest.mark.parametrize("loss, offsets", MODES)
@pytest.mark.parametrize("factors", [1, 3, 8, 20])
def test_loss_and_gradient_are_those_of_the_formula(loss, offsets, factors):
    rated = small()
    point = some_point(rated, factors)
    value, gradient = Objective(rated, factors, 0.7, loss, offsets)(point)
    expected_value, expected = numpy_objective(rated, factors, 0.7, loss, offsets)(point)
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("loss, offsets", MODES)
def test_the_gradient_is_that_of_central_differences(loss, offsets):
    rated, factors, step = small(), 3, 1e-5
    objective = Objective(rated, factors, 0.7, loss, offsets)
    point = some_point(rated, factors)
    _, gradient = objective(point)
    for k in range(len(point)):
        nudge = np.zeros_like(point)
        nudge[k] = step
        slope = (objective(point + nudge)[0] - objective(point - nudge)[0]) / (2 * step)
        assert slope == pytest.approx(gradient[k], rel=1e-5, abs=1e-4)


def test_the_penalty_has_the_scale_of_all_pairs():
    rated = small()
    U, I = rated.n_users, rated.n_items
    assert Objective(rated, 4, 2.0, offsets="free").scales == (2.0 * U * I / ((U + I) * 4), 0.0)
    both = 2.0 * U * I / ((U + I) * 5)
    assert Objective(rated, 4, 2.0).scales == (both, both)


def test_the_start_is_the_decomposition_of_the_matrix_filled_with_its_mean():
    rated = small()
    start = start_mf(rated, 4)
    mean = rated.values.mean()
    filled = np.full((rated.n_users, rated.n_items), mean)
    filled[rated.users, rated.items] = rated.values
    left, sizes, right = np.linalg.svd(filled - mean)
    np.testing.assert_allclose(start.matrix(), mean + (left[:, :4] * sizes[:4]) @ right[:4], atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(start.user_factors, axis=0), 1)
    np.testing.assert_allclose(np.linalg.norm(start.item_factors, axis=0), sizes[:4])
    assert not start.user_offsets.any()
    assert not start.item_offsets.any()


@pytest.mark.parametrize("loss, offsets", MODES)
def test_the_fit_is_a_minimum(loss, offsets):
    rated = small()
    fit = fit_mf(rated, 2, 0.5, loss=loss, offsets=offsets)
    objective = Objective(rated, 2, 0.5, loss, offsets)
    point = packed(fit)
    assert fit.converged
    assert objective(point)[0] == pytest.approx(fit.objective)
    assert fit.objective < objective(packed(start_mf(rated, 2)))[0]
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert objective(point + 0.1 * rng.normal(size=len(point)))[0] > fit.objective


@pytest.mark.parametrize("offsets", ["regularised", "free"])
def test_a_large_penalty_leaves_the_offsets_problem_which_has_an_exact_solution(offsets):
    rated, penalty = small(), 1e3
    U, I, n = rated.n_users, rated.n_items, len(rated)
    fit = fit_mf(rated, 3, penalty, offsets=offsets)
    design = np.zeros((n, U + I + 1))
    design[np.arange(n), rated.users] = design[np.arange(n), U + rated.items] = design[:, -1] = 1
    ridge = np.full(U + I + 1, Objective(rated, 3, penalty, offsets=offsets).scales[1])
    ridge[-1] = 0
    left = design.T @ (rated.weights[:, None] * design) + np.diag(ridge)
    solution = np.linalg.lstsq(left, design.T @ (rated.weights * rated.values), rcond=None)[0]
    least = np.sum(rated.weights * (rated.values - design @ solution) ** 2) + ridge @ solution**2
    # the search ends when a step gains less than 1e-5 of the objective
    assert least < fit.objective < (1 + 1e-4) * least


@pytest.mark.parametrize("loss, offsets", MODES)
def test_scaling_all_weights_is_scaling_the_penalty(loss, offsets):
    rated = small()
    point = some_point(rated, 3)
    value, gradient = Objective(rated, 3, 0.5, loss, offsets)(point)
    larger_value, larger_gradient = Objective(scaled(rated, 4), 3, 2.0, loss, offsets)(point)
    assert larger_value == 4 * value
    np.testing.assert_array_equal(larger_gradient, 4 * gradient)


@pytest.mark.parametrize("offsets", ["regularised", "free"])
def test_constant_propensities_of_another_size_give_the_same_fit_with_the_penalty_rescaled(offsets):
    # the search takes the same steps but for rounding
    rated = small()
    plain, larger = fit_mf(rated, 3, 0.5, offsets=offsets), fit_mf(scaled(rated, 4), 3, 2.0, offsets=offsets)
    np.testing.assert_allclose(larger.matrix(), plain.matrix(), atol=1e-7)


def test_self_normalised_weights_have_the_same_minimum_when_the_penalty_is_rescaled():
    rated = small()
    constant = rated.n_users * rated.n_items / rated.weights.sum()
    ips = fit_mf(rated, 3, 1.5)
    snips = fit_mf(scaled(rated, constant), 3, 1.5 * constant)
    assert snips.objective == pytest.approx(constant * ips.objective, rel=1e-5)
    np.testing.assert_allclose(snips.matrix(), ips.matrix(), atol=1e-2)


def test_equal_propensities_give_the_naive_fit_to_the_byte():
    rated = small(weighted=False)
    pairs = rated.n_users * rated.n_items
    uniform = replace(rated, weights=np.full(len(rated), pairs / len(rated)))
    naive = Rated.unweighted(rated.users, rated.items, rated.values, rated.n_users, rated.n_items)
    assert fit_mf(uniform, 3, 1).matrix().tobytes() == fit_mf(naive, 3, 1).matrix().tobytes()


def test_neither_the_order_of_rows_nor_threads_change_a_byte():
    rated = small()
    order = np.random.default_rng(0).permutation(len(rated))
    shuffled = Rated(
        rated.users[order], rated.items[order], rated.values[order], rated.weights[order], rated.n_users, rated.n_items
    )
    first = fit_mf(rated, 3, 0.5).matrix().tobytes()
    with ThreadPoolExecutor(2) as pool:
        for other in pool.map(lambda r: fit_mf(r, 3, 0.5), [rated, shuffled, rated]):
            assert other.matrix().tobytes() == first


def test_the_absolute_loss_makes_absolute_errors_smaller_and_squared_ones_larger():
    rated = small(3)
    errors = {
        loss: rated.values - fit_mf(rated, 1, 5, loss=loss).predict(rated.users, rated.items) for loss in ("mse", "mae")
    }
    weights = rated.weights
    assert np.sum(weights * np.abs(errors["mae"])) < np.sum(weights * np.abs(errors["mse"]))
    assert np.sum(weights * errors["mse"] ** 2) < np.sum(weights * errors["mae"] ** 2)


def test_users_and_items_without_a_row_have_neither_factors_nor_offset():
    rated = small()
    wider = Rated(rated.users + 1, rated.items, rated.values, rated.weights, rated.n_users + 3, rated.n_items + 1)
    for offsets in ("regularised", "free"):
        fit = fit_mf(wider, 3, 0.5, offsets=offsets)
        for part, absent in ((fit.user_factors, [0, -1, -2]), (fit.item_factors, [-1])):
            np.testing.assert_allclose(part[absent], 0, atol=1e-9)
        assert not fit.user_offsets[[0, -1, -2]].any()
        assert fit.item_offsets[-1] == 0


@pytest.mark.parametrize("offsets", ["regularised", "free"])
def test_a_fit_begun_where_factors_vanished_finds_them_again(offsets):
    rated = small()
    gone = fit_mf(rated, 3, 1e4, offsets=offsets)
    assert np.abs(gone.user_factors @ gone.item_factors.T).max() < 1e-3
    cold, warm = fit_mf(rated, 3, 0.5, offsets=offsets), fit_mf(rated, 3, 0.5, offsets=offsets, start=gone)
    assert warm.objective < 1.1 * cold.objective
    assert np.abs(warm.user_factors @ warm.item_factors.T).max() > 1


def test_a_fit_begun_at_its_own_end_stays():
    rated = small()
    fit = fit_mf(rated, 2, 0.5)
    again = fit_mf(rated, 2, 0.5, start=fit)
    assert again.objective <= fit.objective
    assert again.evaluations < fit.evaluations


def test_equal_ratings_and_more_factors_than_users_are_no_trouble():
    rated = small(n_users=4, n_items=6, share=0.9)
    assert np.isfinite(fit_mf(rated, 9, 0.5).matrix()).all()
    assert np.isfinite(fit_mf(rated, 9, 0.5, start=fit_mf(rated, 9, 1e4)).matrix()).all()
    same = replace(rated, values=np.full(len(rated), 4.0))
    np.testing.assert_array_equal(fit_mf(same, 2, 0.5).matrix(), 4)


def test_a_start_of_another_shape_is_refused():
    rated = small()
    with pytest.raises(ConfigError, match="give one of the same shape"):
        fit_mf(rated, 3, 1, start=fit_mf(rated, 2, 1))
