"""A slice of random rows: unbiased one-step estimate, covariance, and the errors of each source."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.arrays import Floats, Ints
from unskew.estimators import Terms
from unskew.estimators.imputed import (
    SlicedMetric,
    SlicedModel,
    SliceRows,
    blend_with_slice,
)
from unskew.imputation import LabelledRows, SliceFit, fit_to_slice
from unskew.logistic import sigmoid

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
    tilted: Floats | None = None,
    shifts: tuple[Floats, Floats | None, Floats] | None = None,
) -> SlicedMetric:
    """All models compared with the slice of these cells.

    `logged` has users, items and weights of the log, and `tilted` other weights; `shifts` are those of imputation, of
    these other weights and of the mass.
    """
    users, items = np.unravel_index(cells, q.shape)
    v = q * (1 - q)
    moments = float(v.sum()), (gains * v).sum(axis=(1, 2)), np.einsum("aui,bui,ui->ab", gains, gains, v)
    size = q.sum(axis=1) if mean else np.ones(len(q))
    empty = np.empty(0, int), np.empty(0, int), np.empty(0)
    log_users, log_items, weight = logged or empty
    of_model, of_weight, of_mass = shifts or (np.empty((len(gains), 0)), None, np.empty(0))
    models = [
        SlicedModel(Terms((q * c).sum(axis=1), size), c[users, items], c[log_users, log_items], shift)
        for c, shift in zip(gains, of_model, strict=True)
    ]
    rows = SliceRows(
        users,
        relevant[users, items] > 0,
        q[users, items],
        q.size,
        float(q.sum()),
        len(q),
        log_users,
        weight,
        tilted,
        of_weight,
        of_mass,
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
    errors = (relevant - q)[users, items] * (gains[:, users, items] - got.sources[0][:, None]) / q.mean()
    errors -= errors.mean(axis=1, keepdims=True)
    by_user = np.array([errors[:, users == user].sum(axis=1) for user in range(5)]).T / 15
    np.testing.assert_allclose(got.empirical, by_user @ by_user.T)
    assert got.design_effect == pytest.approx(np.trace(got.empirical) / np.trace(got.variance))


@pytest.mark.parametrize("mean", [True, False])
def test_the_sources_are_imputation_and_the_rows_with_and_without_the_tilt(*, mean: bool) -> None:
    gains, q, relevant = population(4, 5, 6)
    users, items = np.nonzero(relevant)
    weight, tilted = np.random.default_rng(0).dirichlet(np.ones(len(users)), 2)
    got = sliced(gains, q, relevant, np.arange(8), mean=mean, logged=(users, items, weight), tilted=tilted)
    level = 1 if mean else q.sum() / 5
    direct = (gains * q).sum(axis=(1, 2)) / (q.sum() if mean else 5)
    plain, moved = (gains[:, users, items] @ each for each in (weight, tilted))
    want = [
        level * (t + s * (moved[0] + moved[1]) / (plain[0] + plain[1])) / 2 for t, s in zip(moved, plain, strict=True)
    ]
    np.testing.assert_allclose(got.sources, [direct, want])


def test_one_model_has_the_tilted_rows_alone() -> None:
    """Because the level is all that there is."""
    gains, q, relevant = population(4, 5, 6, models=1)
    users, items = np.nonzero(relevant)
    weight, tilted = np.random.default_rng(0).dirichlet(np.ones(len(users)), 2)
    got = sliced(gains, q, relevant, np.arange(8), logged=(users, items, weight), tilted=tilted)
    np.testing.assert_allclose(got.sources[1], gains[:, users, items] @ tilted)


def test_rows_that_no_model_finds_have_no_level_to_be_tilted_to() -> None:
    gains, q, relevant = population(4, 5, 6)
    users, items = np.nonzero(relevant)
    gains[:, users, items] = 0
    weight, tilted = np.random.default_rng(0).dirichlet(np.ones(len(users)), 2)
    got = sliced(gains, q, relevant, np.arange(8), logged=(users, items, weight), tilted=tilted)
    np.testing.assert_array_equal(got.sources[1], [0, 0])
    assert np.isfinite(got.shrunk(1.0).covariance).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), models=st.integers(1, 4))
def test_errors_of_rows_with_a_tilt_are_derivatives_by_the_weights_of_users_and_by_the_slice(
    seed: int, models: int
) -> None:
    gains, q, relevant = population(seed, 4, 5, models)
    users, items = np.nonzero(relevant)
    rng = np.random.default_rng(seed)
    weight, tilted = rng.dirichlet(np.ones(len(users)), 2)
    moves = rng.normal(size=(2, len(users)))

    def rows(of_user: Floats, move: Floats | float = 0.0) -> Floats:
        weights = of_user[users] * weight, of_user[users] * (tilted + move)
        total = of_user[users] @ tilted  # a move keeps the sum of the weights in what it is linear in
        plain, moved = (
            gains[:, users, items] @ weights[0] / weights[0].sum(),
            gains[:, users, items] @ weights[1] / total,
        )
        return np.asarray((moved + plain * moved.mean() / plain.mean()) / 2)

    step = 1e-6
    got = sliced(
        gains,
        q,
        relevant,
        np.arange(6),
        logged=(users, items, weight),
        tilted=tilted,
        shifts=(np.zeros((models, 0)), moves, np.empty(0)),
    )
    np.testing.assert_allclose(got.sources[1], rows(np.ones(4)))
    nudges = [(rows(np.ones(4) + step * each) - rows(np.ones(4) - step * each)) / (2 * step) for each in np.eye(4)]
    np.testing.assert_allclose(got.over_users[1, 1], np.transpose(nudges) @ nudges, atol=1e-8)
    shifts = [(rows(np.ones(4), step * move) - rows(np.ones(4), -step * move)) / (2 * step) for move in moves]
    np.testing.assert_allclose(got.through_slice[1], np.transpose(shifts) @ shifts, atol=1e-7)


def test_a_log_without_held_out_positives_is_one_source() -> None:
    gains, q, relevant = population(4, 5, 6)
    got = sliced(gains, q, relevant, np.arange(8))
    np.testing.assert_allclose(got.sources, [(gains * q).sum(axis=(1, 2)) / q.sum()])
    assert got.over_users.shape == (1, 1, MODELS, MODELS)
    assert got.through_slice.shape == (1, MODELS, MODELS)
    assert got.shrunk(1.0).weights.shape == (2, 2)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), models=st.integers(1, 4))
def test_errors_over_users_are_products_of_the_influences(seed: int, models: int) -> None:
    """The influence of a user is what the user adds to a mean, less the mean times what the user adds to its size."""
    gains, q, relevant = population(seed, 4, 5, models)
    users, items = np.nonzero(relevant)
    weight = np.random.default_rng(seed).dirichlet(np.ones(len(users)))
    got = sliced(gains, q, relevant, np.arange(6), logged=(users, items, weight))
    influence = np.zeros((2, models, 4))
    for model in range(models):
        direct = np.sum(q * gains[model]) / q.sum()
        plain = sum(w * gains[model, u, i] for w, u, i in zip(weight, users, items, strict=True))
        for user in range(4):
            rows = [k for k in range(len(users)) if users[k] == user]
            influence[0, model, user] = sum(q[user, i] * (gains[model, user, i] - direct) for i in range(5)) / q.sum()
            influence[1, model, user] = sum(weight[k] * (gains[model, user, items[k]] - plain) for k in rows)
    want = np.einsum("amu,bnu->abmn", influence, influence)
    np.testing.assert_allclose(got.over_users, want, atol=1e-14)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), mean=st.booleans())
def test_errors_through_the_slice_are_sums_of_products_of_shifts(seed: int, *, mean: bool) -> None:
    """Those of the log's rows come from their weights, and for sums per user from the number of relevant items too.

    The weights are the same with and without the tilt.
    """
    gains, q, relevant = population(seed, 4, 5)
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(relevant)
    weight = rng.dirichlet(np.ones(len(users)))
    moved, mass_moved, shifts = rng.normal(size=(2, len(users))), rng.normal(size=3), rng.normal(size=(MODELS, 3))
    got = sliced(
        gains,
        q,
        relevant,
        np.arange(6),
        mean=mean,
        logged=(users, items, weight),
        tilted=weight,
        shifts=(shifts, moved, mass_moved),
    )
    of_log, level = np.zeros((MODELS, MODELS)), 1.0 if mean else q.sum() / 4
    plain = [c[users, items] @ weight for c in gains]
    moves = np.array([[level * c[users, items] @ move for move in moved] for c in gains])
    moves = (moves + np.outer(plain / np.mean(plain), moves.mean(axis=0))) / 2
    for a, c in enumerate(gains):
        for b, other in enumerate(gains):
            of_log[a, b] += moves[a] @ moves[b]
            if not mean:
                both = (c[users, items] @ weight) * (other[users, items] @ weight)
                of_log[a, b] += sum(both * (move / 4) ** 2 for move in mass_moved)
    np.testing.assert_allclose(got.through_slice, [shifts @ shifts.T, of_log])


class MatrixColumns:
    """Columns of pairs from an array (users, items, columns)."""

    def __init__(self, table: Floats) -> None:
        self.table = table

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        return np.asarray(self.table[users, items])

    def block(self, users: Ints, items: Ints, /) -> Floats:
        return np.asarray(self.table[users][:, items])


def test_the_error_of_imputation_through_the_slice_is_that_of_labels_drawn_again() -> None:
    """400 slices with labels by the fitted chances; the standard error of a variance is 7 %, and 25 % are allowed."""
    users, items, rng = 40, 30, np.random.default_rng(0)
    table, gains = rng.normal(size=(users, items, 3)), rng.random((2, users, items))
    gains += 0.5 * table[:, :, :2].transpose(2, 0, 1)
    cells = rng.choice(users * items, 400, replace=False)
    drawn = np.unravel_index(cells, (users, items))
    truth = sigmoid(table @ np.array([0.8, -0.5, 0.3]) - 1)

    def fit(label: Floats) -> SliceFit:
        return fit_to_slice(MatrixColumns(table), LabelledRows(*drawn, label, users, items), penalty=1e-3)

    def chances(fitted: SliceFit) -> Floats:
        return fitted.block(np.arange(users), np.arange(items))

    def direct(q: Floats) -> Floats:
        return np.asarray((gains * q).sum(axis=(1, 2)) / q.sum())

    fitted = fit((rng.random(400) < truth[drawn]).astype(float))
    q = chances(fitted)
    shifts = np.stack([direct(chances(each)) for each in fitted.shifted], axis=1) - direct(q)[:, None]
    relevant = (rng.random((users, items)) < q).astype(float)
    got = sliced(gains, q, relevant, cells, shifts=(shifts, None, np.zeros(4)))
    again = [direct(chances(fit((rng.random(400) < q[drawn]).astype(float)))) for _ in range(400)]
    np.testing.assert_allclose(np.trace(got.through_slice[0]), np.trace(np.cov(np.array(again).T)), rtol=0.25)
