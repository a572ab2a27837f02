"""Sums by rating give what the estimators and the propensity model give, and tend to the closed forms."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.estimators import Aoa, Ips, Rows, Snips
from unskew.metrics import DCGOfValues
from unskew.propensities.observed.naive_bayes import NaiveBayes
from unskew.simulators import draw_observed, prediction_matrices, relabel
from unskew.studies.schnabel2016 import draws as draws_module
from unskew.studies.schnabel2016.closed_forms import chances_at, limit
from unskew.studies.schnabel2016.draws import Losses, chances, rmse
from unskew.studies.schnabel2016.printed import MATRICES
from unskew.studies.schnabel2016.table1 import exact_sds

ALPHA = 0.25


@pytest.fixture(scope="module")
def ratings():
    return relabel(np.random.default_rng(5).random((40, 300)))


@pytest.fixture(scope="module")
def losses(ratings):
    return Losses.of(ratings, ("MAE", "DCG"), np.random.default_rng(1))


def _observed(ratings, losses, chance, rng):
    """The cells that `Losses.draw` observes first, back in their places."""
    drawn = draw_observed(np.repeat(chance, losses.cells), rng)
    observed = np.zeros(ratings.shape, dtype=bool)
    observed.ravel()[np.argsort(ratings, axis=None, kind="stable")] = drawn
    return observed


def _matrix(ratings, losses, column):
    loss = np.empty(ratings.shape)
    loss.ravel()[np.argsort(ratings, axis=None, kind="stable")] = losses.values[:, column]
    return loss


def test_estimates_from_sums_by_rating_are_those_of_the_estimators(ratings, losses):
    chance = chances(ratings, ALPHA)
    draws = losses.draw(chance, 2, np.random.default_rng(7))
    observed = _observed(ratings, losses, chance, np.random.default_rng(7))
    propensity = chance[ratings - 1]
    for column in range(len(losses.names)):
        rows = Rows.of_matrix(_matrix(ratings, losses, column), propensity, observed)
        for estimator, ours in ((Aoa(), draws.naive()), (Ips(), draws.ips(chance)), (Snips(), draws.snips(chance))):
            assert ours[0, column] == pytest.approx(estimator.terms(rows, "loss").value, rel=1e-12), (
                column,
                str(estimator),
            )


def test_naive_bayes_in_a_line_is_that_of_the_propensity_model(ratings, losses):
    chance = chances(ratings, ALPHA)
    draws = losses.draw(chance, 1, np.random.default_rng(7))
    observed = _observed(ratings, losses, chance, np.random.default_rng(7))
    users, items = np.nonzero(observed)
    log = Interactions.from_arrays(users, items, ratings[observed], n_users=40, n_items=300)
    for sample in ([9, 4, 2, 1, 1], [60, 20, 9, 0, 1]):
        mcar = np.repeat(np.arange(1.0, 6), sample)
        fitted = NaiveBayes(mcar=mcar).observe(log)
        ours = draws.naive_bayes(np.array([sample]))[0]
        assert ours[ratings[observed] - 1] == pytest.approx(fitted(log.users, log.items, log.values), rel=1e-12)


def test_naive_bayes_propensities_above_one_are_cut_to_one(losses, ratings):
    draws = losses.draw(chances(ratings, ALPHA), 1, np.random.default_rng(0))
    assert draws.naive_bayes(np.array([[100_000, 0, 0, 0, 0]]))[0].max() == 1.0


def test_losses_are_those_of_the_predictions(ratings, losses):
    matrices = prediction_matrices(ratings, np.random.default_rng(1))
    for column, (metric, name) in enumerate(losses.names[:5]):
        assert (metric, name) == ("MAE", MATRICES[column])
        assert losses.truth[column] == pytest.approx(np.abs(ratings - matrices[name]).mean())


def test_dcg_of_a_matrix_is_the_mean_over_users_of_their_sums():
    rng = np.random.default_rng(3)
    ratings, predicted = rng.integers(1, 6, (4, 60)), rng.random((4, 60))
    loss = draws_module._dcg(ratings, predicted, rng)
    by_hand = 0.0
    for stars, scores in zip(ratings, predicted, strict=True):
        best = sorted(range(60), key=lambda item: -scores[item])[:50]
        by_hand += sum(stars[item] / np.log2(place + 1) for place, item in enumerate(best, 1)) / 4
    assert loss.mean() == pytest.approx(by_hand)


def test_tied_items_share_the_places_of_their_group():
    ratings = np.ones((3, 80), dtype=int)
    loss = draws_module._dcg(ratings, np.zeros((3, 80)), np.random.default_rng(0)) / 80
    places = sorted((DCGOfValues() @ 50).gain(np.arange(80), np.full(80, 80)).tolist())
    assert np.sort(loss, axis=1).tolist() == [pytest.approx(places)] * 3
    assert len(set(np.argmax(loss, axis=1).tolist())) > 1  # users have orders of their own


def test_rotate_has_the_printed_dcg_wherever_all_users_have_fifty_ones(ratings, losses):
    assert ((ratings == 1).sum(axis=1) >= 50).all()
    truth = dict(zip(losses.names, losses.truth, strict=True))
    assert truth["DCG", "ROTATE"] == pytest.approx(12.8977, abs=5e-5)


def test_the_spread_over_draws_is_the_one_computed_from_all_cells(ratings, losses):
    # 10 standard deviations a metric of 5 predictions: with 600 draws each has a standard error of 2.9 %, and four
    # of these are exceeded by one of 30 in fewer than 0.3 % of runs; the seed is fixed
    chance = chances(ratings, ALPHA)
    draws = losses.draw(chance, 600, np.random.default_rng(11))
    estimates = {"IPS": draws.ips(chance), "SNIPS": draws.snips(chance), "Naive": draws.naive()}
    exact = exact_sds(losses, chance)
    for name, values in estimates.items():
        assert values.std(axis=0, ddof=1) == pytest.approx(exact[name], rel=4 / np.sqrt(2 * 599)), name


def test_chances_in_a_world_with_the_marginals_are_the_closed_ones(ratings):
    assert chances(ratings, ALPHA) == pytest.approx(chances_at(ALPHA), rel=0.01)  # counts are whole numbers
    assert chances_at(ALPHA) == pytest.approx([0.00531, 0.02122, 0.08488, 0.33954, 0.33954], abs=5e-6)


def test_closed_forms_are_those_of_the_simulated_world(ratings, losses):
    exact = exact_sds(losses, chances(ratings, ALPHA))
    for column, name in enumerate(MATRICES):
        form = limit(name, "MAE", ALPHA, ratings.size)
        slack = 4 * form.sd_prediction + 1e-3
        assert losses.truth[column] == pytest.approx(form.true, abs=slack), name
        assert exact["IPS"][column] == pytest.approx(form.sd_ips, rel=0.1), name
        assert exact["Naive"][column] == pytest.approx(form.sd_naive, rel=0.1), name


def test_rmse_and_its_error_are_those_of_the_squared_errors():
    root, error = rmse(np.array([1.0, 2.0]))
    assert root == pytest.approx(np.sqrt(1.5))
    assert error == pytest.approx(0.5 / (2 * np.sqrt(1.5)))
    assert rmse(np.zeros(2)) == (0.0, 0.0)
