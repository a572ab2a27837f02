"""Cross-validation of the factorisation."""

import numpy as np
import pytest
from rating_logs import small

from unskew.errors import ConfigError, DataError
from unskew.models import Rated, fit_mf, tune_mf
from unskew.models.ratings import mf_tuning as module

GRID = {"factors_grid": (1, 2), "penalty_grid": (0.1, 1.0, 10.0)}


def test_a_fold_is_fitted_with_three_quarters_of_the_propensity_and_judged_with_one():
    rated = small()
    rng = np.random.default_rng(7)
    part = rng.permutation(len(rated)) % 4
    expected = []
    for fold in range(4):
        out = part == fold
        columns = [column[~out] for column in (rated.users, rated.items, rated.values, rated.weights)]
        columns[3] = 1 / ((1 / columns[3]) * 3 / 4)
        fit = fit_mf(Rated(*columns, rated.n_users, rated.n_items), 2, 0.5)
        errors = rated.values[out] - fit.predict(rated.users[out], rated.items[out])
        judged = errors**2 / ((1 / rated.weights[out]) / 4)
        expected.append(judged.sum() / (rated.n_users * rated.n_items))
    tuned = tune_mf(rated, (2,), (0.5,), rng=7)
    assert tuned.scores[0, 0] == pytest.approx(np.mean(expected), rel=1e-6)


def test_the_score_of_a_constant_prediction_is_unbiased_for_its_loss(monkeypatch):
    # a fit that ends at once at the constant 0 has the loss y^2; over the folds each row is judged once
    rated = small()
    zero = fit_mf(rated, 1, 1.0)
    monkeypatch.setattr(module, "_fit_fold", lambda *_, **__: zero)
    monkeypatch.setattr(type(zero), "predict", lambda self, users, items: np.zeros(len(users)))
    tuned = tune_mf(rated, (1,), (1.0,))
    assert tuned.scores[0, 0] == pytest.approx(np.sum(rated.weights * rated.values**2) / 600)


def test_the_least_score_is_chosen_and_the_penalties_come_from_large_to_small():
    tuned = tune_mf(small(), **GRID, patience=3)
    assert tuned.penalty_grid == (10, 1, 0.1)
    assert tuned.factors_grid == (1, 2)
    best = np.unravel_index(np.argmin(tuned.scores), (2, 3))
    assert (tuned.factors, tuned.penalty) == (tuned.factors_grid[best[0]], tuned.penalty_grid[best[1]])


def test_it_finds_the_rank_of_ratings_without_noise():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    users, items = np.nonzero(rng.random(truth.shape) < 0.5)
    rated = Rated.unweighted(users, items, truth[users, items], 60, 40)
    tuned = tune_mf(rated, (1, 2, 6), (1.0, 0.1, 0.01))
    assert tuned.factors == 2


@pytest.mark.parametrize("loss", ["mse", "mae"])
@pytest.mark.parametrize("offsets", ["regularised", "free"])
def test_neither_workers_nor_the_order_of_rows_change_a_byte(loss, offsets):
    rated = small()
    order = np.random.default_rng(0).permutation(len(rated))
    shuffled = Rated(*(column[order] for column in (rated.users, rated.items, rated.values, rated.weights)), 30, 20)
    alone = tune_mf(rated, **GRID, loss=loss, offsets=offsets, rng=5)
    together = tune_mf(shuffled, **GRID, loss=loss, offsets=offsets, rng=5, workers=2)
    assert alone.scores.tobytes() == together.scores.tobytes()
    assert (alone.factors, alone.penalty) == (together.factors, together.penalty)


def test_a_path_ends_when_it_only_gets_worse():
    rated = small()
    penalties = tuple(2.0**-k for k in range(10))
    short = tune_mf(rated, (2,), penalties, patience=2)
    whole = tune_mf(rated, (2,), penalties, patience=10)
    stop = int(np.argmax(np.isnan(short.scores[0])))
    assert 3 <= stop < 10
    np.testing.assert_array_equal(short.scores[0, :stop], whole.scores[0, :stop])
    assert stop - 1 - np.argmin(short.scores[0, :stop]) == 2


def test_weights_are_cut_after_they_were_scaled(monkeypatch):
    seen = []

    def spy(fold, start, **settings):
        seen.append((fold.training.weights.max(), fold.validation.weights.max()))
        return fit_mf(fold.training, settings["factors"], settings["penalty"])

    monkeypatch.setattr(module, "_fit_fold", spy)
    tune_mf(small(), (1,), (1.0,), most=10.0)
    assert seen == [(10.0, 10.0)] * 4
    rated = small()
    assert rated.weights.max() * 4 / 3 > 10


def test_progress_is_counted_in_fits():
    calls = []
    tune_mf(small(), **GRID, progress=lambda *call: calls.append(call))
    assert calls == sorted(calls)
    assert calls[-1] == (24, 24)


def test_settings_that_cannot_be_tuned_are_refused():
    with pytest.raises(ConfigError, match="at least one number of factors"):
        tune_mf(small(), ())
    with pytest.raises(ConfigError, match="two folds"):
        tune_mf(small(), folds=1)
    few = Rated.unweighted(np.array([0, 1]), np.array([0, 1]), np.array([1.0, 2]), 2, 2)
    with pytest.raises(DataError, match="4 folds needs at least 4 rows"):
        tune_mf(few)
