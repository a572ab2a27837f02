"""HL-MAR and HL-MNAR: the bound and its gradient, what is recovered, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from rating_logs import log_of, small
from scipy.special import expit, ndtr

from unskew.data import Interactions
from unskew.errors import ConfigError, DataError
from unskew.models import HlMar, HlMnar, Model, Rated, fit_hl, tune_hl
from unskew.models.ratings import hl_fit
from unskew.models.ratings.hl_bound import SCALE, SHAPE, Block, Bound, Pairs, Posterior

THRESHOLDS = np.array([-0.8, 0, 0.7, 1.5])
EFFECTS = np.array([-4, -3, -2, -1, -0.5])


def world(seed, effects=EFFECTS, n_users=100, n_items=80):
    """Ratings of the model itself: two factors, offsets, and a chance of being observed that depends on the rating."""
    rng = np.random.default_rng(seed)
    scores = 0.7 * rng.normal(size=(n_users, 2)) @ rng.normal(size=(2, n_items)) + rng.normal(size=(n_users, n_items))
    scores += 0.5 * rng.normal(size=(n_users, 1)) + 0.7 * rng.normal(size=n_items)
    ratings = 1 + np.searchsorted(THRESHOLDS, scores)
    logits = effects[ratings - 1] + 0.5 * rng.normal(size=(n_users, 1)) + 0.5 * rng.normal(size=n_items)
    users, items = np.nonzero(rng.random(ratings.shape) < expit(logits))
    return ratings, Rated.unweighted(users, items, ratings[users, items].astype(float), n_users, n_items)


def missing_error(ratings, rated, **options):
    hidden = np.ones(ratings.shape, bool)
    hidden[rated.users, rated.items] = False
    errors = (ratings - fit_hl(rated, 3, **options).matrix())[hidden]
    return float(np.mean(errors**2))


def some_point(selective, factors=2, seed=0):
    """A bound of a few ratings of four levels, and a random point."""
    rng = np.random.default_rng(seed)
    rated = small(n_users=9, n_items=6, share=0.6)
    levels, place = np.unique(rated.values, return_inverse=True)
    start = hl_fit._start(rated, place, len(levels), factors, selective)
    pairs = Pairs.of(rated, place, 1000 if selective else 0, None, 0)
    return Bound(pairs, start, start.thresholds), start.packed() + 0.3 * rng.normal(size=len(start.packed()))


def slow_bound(bound, point):
    """The same number with loops, written from the formula; scores by a rule of 12 points."""
    state = bound.shape.unpacked(point)
    nodes, shares = np.polynomial.hermite_e.hermegauss(12)
    shares = shares / shares.sum()
    d = state.tastes[0].means.shape[1] - 1
    edges = np.concatenate([[-np.inf], state.thresholds, [np.inf]])

    def moments(blocks, u, i):
        (m, s), (n, t) = ((block.means[at], block.variances[at]) for block, at in zip(blocks, (u, i), strict=True))
        mean = sum(m[k] * n[k] for k in range(d)) + m[d] + n[d]
        variance = sum(m[k] ** 2 * t[k] + s[k] * n[k] ** 2 + s[k] * t[k] for k in range(d)) + s[d] + t[d]
        return mean, variance

    total = 0.0
    for u, i, level, weight in zip(*bound.pairs, strict=True):
        mean, variance = moments(state.tastes, u, i)
        centres = mean + np.sqrt(variance) * nodes
        chances = np.diff(ndtr(edges[:, None] - centres), axis=0)
        logs = np.zeros((2, len(edges) - 1))
        if state.habits:
            base, spread = moments(state.habits, u, i)
            (left, right) = state.habits
            for k in range(logs.shape[1]):
                logit = base + state.effects[k] + left.means[u, d + 1 + k] + right.means[i, d + 1 + k]
                size = math.sqrt(logit**2 + spread + left.variances[u, d + 1 + k] + right.variances[i, d + 1 + k])
                cosh = math.log(2 * math.cosh(size / 2))
                logs[:, k] = -logit / 2 - cosh, logit / 2 - cosh
        if level >= 0:
            total += weight * (shares @ np.log(chances[level]) + logs[1, level])
        else:
            total += weight * (shares @ np.log(np.exp(logs[0]) @ chances))
    for means, variances in state.blocks:
        n = len(means)
        for k in range(means.shape[1]):
            prior = (2 * SCALE + np.sum(means[:, k] ** 2 + variances[:, k])) / (n + 2 * SHAPE + 2)
            normal = (means[:, k] ** 2 + variances[:, k]) / prior - 1 - np.log(variances[:, k] / prior)
            total -= 0.5 * np.sum(normal) + (SHAPE + 1) * np.log(prior) + SCALE / prior
    apart = state.effects - state.effects.mean() if len(state.effects) else state.effects
    return total - np.sum((state.thresholds - bound.base) ** 2) / 2 - np.sum(apart**2) / 8


@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_that_of_the_formula(selective, seed):
    bound, point = some_point(selective, seed=seed)
    # the rules have 5 points for observed and 2 for missing ratings; variances here are ten times those of a fit
    assert -bound(point)[0] == pytest.approx(slow_bound(bound, point), rel=3e-3)


@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize("held", [None, 0.5])
def test_the_gradient_is_that_of_the_bound(selective, held):
    bound, point = some_point(selective)
    bound = replace(bound, held=held)
    steps = 1e-5 * np.eye(len(point))
    slopes = [(bound(point + step)[0] - bound(point - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(bound(point)[1], slopes, atol=1e-6)


def test_the_bound_of_a_missing_rating_is_below_its_expected_log_likelihood():
    # one pair, by many draws from the posterior; a bound that is wrong by a level's share exceeds it
    rng = np.random.default_rng(0)
    tastes = (
        Block(np.array([[0.6, -0.2]]), np.array([[0.05, 0.1]])),
        Block(np.array([[0.9, 0.3]]), np.array([[0.05, 0.1]])),
    )
    habits = tuple(Block(rng.normal(size=(1, 7)), np.full((1, 7), 0.2)) for _ in range(2))
    state = Posterior(tastes, habits, THRESHOLDS, EFFECTS)
    pairs = Pairs(np.array([0]), np.array([0]), np.array([-1]), np.ones(1))
    bound = Bound(pairs, state, THRESHOLDS)
    prior = (
        sum(block.divergence(block.prior)[0] for block in state.blocks) + np.sum((EFFECTS - EFFECTS.mean()) ** 2) / 8
    )
    value = prior - bound(state.packed())[0]
    (v, w), (e, f) = (
        [
            block.means[0] + np.sqrt(block.variances[0]) * rng.normal(size=(200_000, block.means.shape[1]))
            for block in pair
        ]
        for pair in (tastes, habits)
    )
    below = ndtr(THRESHOLDS - (v[:, 0] * w[:, 0] + v[:, 1] + w[:, 1])[:, None])
    logits = (e[:, 0] * f[:, 0] + e[:, 1] + f[:, 1])[:, None] + EFFECTS + e[:, 2:] + f[:, 2:]
    logs = np.log(np.sum(np.diff(below, axis=1, prepend=0, append=1) * expit(-logits), axis=1))
    assert value < logs.mean() < value + 0.2


@pytest.mark.parametrize("selective", [False, True])
def test_the_bound_never_falls(selective):
    _, rated = world(0, n_users=40, n_items=30)
    fit = fit_hl(rated, 2, selective=selective)
    assert fit.converged
    assert len(fit.bound) > 10
    assert np.diff(fit.bound).min() >= 0


@pytest.mark.slow
def test_ratings_that_hide_themselves_are_recovered():
    # over seeds 0 to 9 HL-MNAR had 35 to 50 % of the error of HL-MAR on missing pairs in nine worlds, and 90 % in one
    for seed in range(3):
        ratings, rated = world(seed)
        mar, mnar = (missing_error(ratings, rated, selective=selective) for selective in (False, True))
        assert mnar < 0.6 * mar


def test_without_selection_both_predict_the_same():
    ratings, rated = world(0, effects=np.full(5, -1.0), n_users=60, n_items=50)
    mar, mnar = (missing_error(ratings, rated, selective=selective) for selective in (False, True))
    assert mar < 0.75 * np.var(ratings)
    assert mnar == pytest.approx(mar, rel=0.05)


@pytest.mark.parametrize("selective", [False, True])
def test_the_order_of_users_and_items_does_not_matter(selective, monkeypatch):
    # sums in another order end a search at another step, so it has to go on until the optimum is near
    monkeypatch.setattr(hl_fit, "TOLERANCE", 1e-10)
    _, rated = world(1, n_users=40, n_items=30)
    rng = np.random.default_rng(0)
    users, items = rng.permutation(40), rng.permutation(30)
    moved = Rated.unweighted(users[rated.users], items[rated.items], rated.values, 40, 30)
    first, second = (fit_hl(rows, 2, selective=selective, iterations=5000).matrix() for rows in (rated, moved))
    np.testing.assert_allclose(second[np.ix_(users, items)], first, atol=0.002)


def test_pairs_are_all_pairs_or_a_weighted_sample():
    rated = small()
    levels = np.zeros(len(rated), int)
    cells = rated.n_users * rated.n_items
    everything = Pairs.of(rated, levels, cells, None, 0)
    assert sorted(everything.users * rated.n_items + everything.items) == list(range(cells))
    assert everything.weights.tolist() == [1] * cells
    some = Pairs.of(rated, levels, 50, None, 0)
    keys = some.users * rated.n_items + some.items
    assert len(set(keys.tolist())) == len(rated) + 50
    assert some.weights.sum() == pytest.approx(cells)
    assert (some.levels == -1).sum() == 50
    out = rated.take(np.arange(20))
    kept = rated.take(np.arange(20, len(rated)))
    less = Pairs.of(kept, levels[20:], cells, out, 0)
    assert len(less.users) == cells - 20
    assert not set((out.users * rated.n_items + out.items).tolist()) & set(
        (less.users * rated.n_items + less.items).tolist()
    )


def test_a_sample_of_missing_pairs_gives_about_the_same_predictions():
    ratings, rated = world(0, n_users=60, n_items=50)
    whole, part = (missing_error(ratings, rated, selective=True, sample=sample) for sample in (3000, 1500))
    assert part == pytest.approx(whole, rel=0.15)


def test_the_sample_is_drawn_by_the_seed():
    log = log_of(small())
    word = "hl-mnar(factors=2, sample=100)"
    first, again, other = (Model.from_word(word).fit(log, rng=seed).score(np.arange(5)) for seed in (0, 0, 1))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize("selective", [False, True])
def test_chances_add_up_and_predictions_are_their_mean_or_median(selective):
    rated = small()
    fit = fit_hl(rated, 2, selective=selective)
    users, items = np.divmod(np.arange(rated.n_users * rated.n_items), rated.n_items)
    for observed in (False, True):
        chances = fit.chances(users, items, observed=observed)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        np.testing.assert_allclose(fit.predict(users, items, observed=observed), chances @ fit.levels)
    np.testing.assert_allclose(fit.matrix().ravel(), fit.predict(users, items), rtol=1e-12)
    middle = replace(fit, summary="median").predict(users, items)
    below = np.array([fit.chances(users, items)[k, fit.levels < middle[k]].sum() for k in range(len(users))])
    upto = np.array([fit.chances(users, items)[k, fit.levels <= middle[k]].sum() for k in range(len(users))])
    assert np.all((below <= 0.5) & (upto >= 0.5))


def test_observed_ratings_are_better_than_all_where_the_better_are_observed():
    _, rated = world(0, n_users=60, n_items=50)
    fit = fit_hl(rated, 3, selective=True)
    users, items = rated.users[:200], rated.items[:200]
    assert np.mean(fit.predict(users, items, observed=True)) > np.mean(fit.predict(users, items)) + 0.3


@pytest.mark.parametrize("word", ["hl-mar(factors=2)", "hl-mnar(factors=2)"])
def test_users_and_items_without_a_rating_get_predictions_on_the_scale(word):
    rated = small()
    log = Interactions.from_arrays(
        rated.users, rated.items, rated.values, n_users=rated.n_users + 2, n_items=rated.n_items + 2
    )
    given = Model.from_word(word).fit(log).score(np.arange(rated.n_users + 2))
    assert np.isfinite(given).all()
    assert given.min() >= 1
    assert given.max() <= 5


@pytest.mark.parametrize("model", [HlMar(), HlMnar()])
def test_ratings_that_are_not_levels_are_refused_with_a_hint(model):
    rated = small()
    with pytest.raises(DataError, match=r"168 different ones.*round them"):
        model.fit(log_of(rated, values=np.arange(len(rated)) / 7))
    with pytest.raises(DataError, match=r"168 different ones.*round them"):
        fit_hl(replace(rated, values=np.arange(len(rated)) / 7), 2, selective=False)


@pytest.mark.parametrize(
    "word", ["hl-mar(factors=0)", "hl-mar(predict=mode)", "hl-mnar(sample=0)", "hl-mnar(iterations=0)"]
)
def test_an_option_out_of_range_is_refused(word):
    with pytest.raises(ConfigError, match=r"expected|did you mean"):
        Model.from_word(word)


def test_an_unknown_summary_is_refused_in_python_too():
    with pytest.raises(ConfigError, match="expected mean or median"):
        HlMar(predict="mode")


def test_cross_validation_chooses_factors_where_there_are_some():
    _, rated = world(0, effects=np.full(5, 0.0), n_users=60, n_items=50)
    tuned = tune_hl(rated, (1, 2), selective=False)
    assert tuned.factors["mse"] == 2
    assert tuned.scores["mse"].shape == (2,)
    assert set(tuned.scores) == {"mse", "mae"}


def test_cross_validation_needs_rows_and_a_grid():
    with pytest.raises(ConfigError, match="at least one number of factors"):
        tune_hl(small(), (), selective=False)
    with pytest.raises(DataError, match="needs at least 4 rows"):
        tune_hl(small().take(np.arange(3)), (1,), selective=False)
