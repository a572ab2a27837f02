"""CPT-v: EM, and what it finds in a world of its own."""

import itertools

import numpy as np
import pytest
from rating_logs import log_of, small

from unskew.errors import ConfigError, DataError
from unskew.models import CptV, Model, Rated, fit_cpt
from unskew.models.ratings import cpt as module

MU = np.array([0.05, 0.1, 0.2, 0.4, 0.6])


def drawn(seed=0, n_users=3000, n_items=100):
    """A world of three classes of users whose ratings are observed with probability MU."""
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(5, 0.5), size=(n_items, 3))
    classes = rng.choice(3, n_users, p=[0.5, 0.3, 0.2])
    above = rng.random((n_users, n_items, 1)) > beta[:, classes].transpose(1, 0, 2).cumsum(axis=2)
    ratings = 1 + np.minimum(above.sum(axis=2), 4)
    users, items = np.nonzero(rng.random(ratings.shape) < MU[ratings - 1])
    return ratings, Rated.unweighted(users, items, ratings[users, items].astype(float), n_users, n_items)


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("smoothing", [0.1, 1, 5])
def test_the_posterior_never_falls(classes, smoothing):
    fit = fit_cpt(small(), classes, smoothing=smoothing, iterations=60)
    gains = np.diff(fit.log_posterior)
    assert len(gains) > 3
    assert gains.min() >= -1e-9 * abs(fit.log_posterior[0])
    assert fit.log_posterior[-1] > fit.log_posterior[0]


def test_the_likelihood_is_the_sum_over_classes_and_hidden_ratings():
    # 2 users x 3 items, by listing every hidden rating of every class
    rated = Rated.unweighted(np.array([0, 0, 1]), np.array([0, 2, 1]), np.array([1.0, 2, 2]), 2, 3)
    data = module._Data.of(rated, 0.0)
    beta = np.random.default_rng(0).dirichlet([1, 1], size=(3, 2)).transpose(2, 0, 1)
    state = module._State(np.array([0.3, 0.7]), beta, np.array([0.2, 0.6]))
    memberships, value = data.expect(state)
    total = 0.0
    for user, seen in enumerate(({0: 0, 2: 1}, {1: 1})):
        parts = np.zeros(2)
        for z in range(2):
            for ratings in itertools.product(range(2), repeat=3):
                if all(ratings[item] == rating for item, rating in seen.items()):
                    chance = state.theta[z]
                    for item, rating in enumerate(ratings):
                        mu = state.mu[rating]
                        chance *= state.beta[rating, item, z] * (mu if item in seen else 1 - mu)
                    parts[z] += chance
        total += np.log(parts.sum())
        np.testing.assert_allclose(memberships[user], parts / parts.sum())
    assert value == pytest.approx(total)


def test_it_finds_how_often_each_rating_is_observed():
    # over seeds 0 to 9 the largest relative error of μ was .044; classes were mixed up once, which hardly moved μ
    ratings, rated = drawn()
    fit = fit_cpt(rated, 3, smoothing=0.1)
    assert np.max(np.abs(fit.observed / MU - 1)) < 0.06
    np.testing.assert_allclose(np.sort(fit.shares), [0.2, 0.3, 0.5], atol=0.03)
    observed_mean = rated.values.mean()
    assert abs(fit.factors.matrix().mean() - ratings.mean()) < 0.1 * abs(observed_mean - ratings.mean())


def test_predictions_are_mean_ratings_of_the_classes_of_a_user():
    fit = fit_cpt(small(), 2)
    np.testing.assert_allclose(fit.ratings.sum(axis=0), 1)
    np.testing.assert_allclose(fit.memberships.sum(axis=1), 1)
    means = np.tensordot(fit.levels, fit.ratings, axes=1)
    np.testing.assert_allclose(fit.factors.matrix(), fit.memberships @ means.T)
    assert fit.factors.matrix().min() >= 1
    assert fit.factors.matrix().max() <= 5


def test_another_seed_begins_elsewhere():
    rated = small()
    first, other = (fit_cpt(rated, 3, iterations=1, rng=seed).factors.matrix() for seed in (0, 1))
    assert not np.array_equal(first, other)


def test_weights_are_not_used():
    weighted, plain = small(), small(weighted=False)
    assert fit_cpt(weighted).factors.matrix().tobytes() == fit_cpt(plain).factors.matrix().tobytes()


def test_too_many_values_are_refused_with_a_hint():
    rated = small()
    with pytest.raises(DataError, match=r"168 different ratings.*round them"):
        CptV().fit(log_of(rated, values=np.arange(len(rated)) / 7))


@pytest.mark.parametrize("word", ["cpt-v(classes=0)", "cpt-v(smoothing=0)", "cpt-v(iterations=0)"])
def test_an_option_out_of_range_is_refused(word):
    with pytest.raises(ConfigError, match="expected a"):
        Model.from_word(word)
