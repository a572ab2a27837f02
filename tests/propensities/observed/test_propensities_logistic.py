"""Logistic propensities: scikit-learn on the plain design as the oracle, and worlds that are known."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from unskew import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.propensities import Logistic, PropensityModel
from unskew.propensities.observed.logistic import FittedLinear
from unskew.propensities.observed.logistic_path import PENALTIES
from unskew.propensities.observed.observation import Cells
from unskew.testing.worlds.observed_worlds import CovariateWorld, covariate_world, pairs


def plain_design(world: CovariateWorld) -> np.ndarray:
    """One row a pair, made the long way: the covariates of the user, of the item, and all products."""
    age = world.users["age"].to_numpy().astype(float)
    users = np.column_stack([(age - age.mean()) / age.std(), world.users["member"].to_numpy()])
    items = np.column_stack([world.items["kind"].to_numpy() == kind for kind in "abc"]).astype(float)
    rows = [
        [*user, *item, *(a * b for a in user for b in item)]  # all of a user first
        for user in users.tolist()
        for item in items.tolist()
    ]
    return np.array(rows)


def outcome(log: Interactions) -> np.ndarray:
    observed = np.zeros((log.n_users, log.n_items), bool)
    observed[log.users, log.items] = True
    return observed.ravel()


@pytest.mark.parametrize("penalty", [0.1, 3.0, 300.0])
def test_it_agrees_with_scikit_learn_on_the_plain_design(penalty: float) -> None:
    world = covariate_world(1, 60, 40)
    X, y = plain_design(world), outcome(world.log)
    oracle = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    fitted = Logistic(world.users, world.items, penalty=penalty).observe(world.log)
    assert fitted(*pairs(world.log)) == pytest.approx(oracle.predict_proba(X)[:, 1], rel=2e-3)


def test_offsets_agree_with_scikit_learn_on_scaled_one_hot_columns() -> None:
    world = covariate_world(2, 40, 30)
    users, items = pairs(world.log)
    X, y = plain_design(world), outcome(world.log)
    one_hot = np.hstack([users[:, None] == np.arange(40), items[:, None] == np.arange(30)])
    X = np.hstack([X, one_hot * np.sqrt(2.0 / 5.0)])
    oracle = LogisticRegression(C=1 / 2.0, tol=1e-10, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    fitted = Logistic(world.users, world.items, penalty=2, offsets=True, offset_penalty=5).observe(world.log)
    assert fitted(users, items) == pytest.approx(oracle.predict_proba(X)[:, 1], rel=2e-3)


def test_a_huge_offset_penalty_is_no_offsets() -> None:
    world = covariate_world(3, 40, 30)
    plain = Logistic(world.users, world.items, penalty=1).observe(world.log)
    tight = Logistic(world.users, world.items, penalty=1, offsets=True, offset_penalty=1e8).observe(world.log)
    assert tight(*pairs(world.log)) == pytest.approx(plain(*pairs(world.log)), rel=2e-3)


def test_offsets_find_a_busy_user_whom_no_covariate_tells() -> None:
    world = covariate_world(4, 40, 100)
    rest = world.log.take(world.log.users != 0)
    users = np.concatenate([rest.users, np.zeros(80, int)])
    items = np.concatenate([rest.items, np.arange(80)])
    log = Interactions.from_arrays(users, items, n_users=40, n_items=100)
    row = np.zeros(100, int), np.arange(100)
    without = Logistic(world.users, world.items, penalty=1).observe(log)(*row).mean()
    with_offsets = Logistic(world.users, world.items, penalty=1, offsets=True, offset_penalty=0.1).observe(log)(*row)
    assert without < 0.5
    assert with_offsets.mean() == pytest.approx(0.8, abs=0.03)


def test_the_penalty_is_the_one_that_cross_validation_finds() -> None:
    """Against an exhaustive search over the same folds on the plain design."""
    world = covariate_world(5, 30, 30)
    model = Logistic(world.users, world.items)
    linear, sample, _ = model.learn(Cells.of(world.log))
    assert isinstance(linear, FittedLinear)
    X, y = plain_design(world), outcome(world.log)
    assert np.array_equal(sample.users * 30 + sample.items, np.arange(900))
    rng = np.random.default_rng(model.seed)
    fold = np.empty(900, int)
    for outcomes in (y, ~y):
        fold[outcomes] = rng.permutation(int(outcomes.sum())) % 5
    scores = {}
    for penalty in PENALTIES:
        losses = 0.0
        for f in range(5):
            oracle = LogisticRegression(C=1 / penalty, tol=1e-9, max_iter=1000, solver="newton-cholesky")
            oracle.fit(X[fold != f], y[fold != f])
            losses += log_loss(y[fold == f], oracle.predict_proba(X[fold == f])[:, 1], normalize=False)
        scores[penalty] = -losses / 900
    best = max(scores, key=scores.__getitem__)
    assert linear.fit.penalty == best
    assert linear.fit.log_likelihood == pytest.approx(scores[best], abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_true_propensities_are_recovered(seed: int) -> None:
    """Log-odds of 30,000 pairs: in 30 other worlds the root mean square error was .054 +- .014, at most .091.

    The limit, .12, is over four standard deviations off, so it fails in fewer than 1 of 1000 worlds. The weights must
    add up too. Fitted ones do so better than true ones, within .17 of their standard deviation in those worlds; the
    limit is 1.
    """
    world = covariate_world(seed)
    fitted = Logistic(world.users, world.items).observe(world.log)
    truth = world.propensity.ravel()
    found = fitted(*pairs(world.log))
    errors = np.log(found / (1 - found)) - np.log(truth / (1 - truth))
    assert np.sqrt(np.mean(errors**2)) < 0.12
    diagnostics = fitted.diagnostics
    assert abs(diagnostics.inverse_sum - diagnostics.cells) < diagnostics.inverse_sd
    assert (diagnostics.clipped, diagnostics.notes) == (0, ())
    assert found.sum() == pytest.approx(len(world.log), rel=1e-3)  # the score equation of the constant


def test_a_weighted_sample_agrees_with_all_pairs() -> None:
    """Of 80,000 pairs 30,000 are fitted: about 17,000 of the unobserved stand for 67,000.

    In 15 other worlds log P differed by .018 (root mean square), at most .025, and the sum of P by at most .9 %.
    """
    world = covariate_world(6, 400, 200)
    full = Logistic(world.users, world.items, penalty=1).observe(world.log)
    part = Logistic(world.users, world.items, penalty=1, sample=30_000).observe(world.log)
    users, items = pairs(world.log)
    ratio = np.log(part(users, items) / full(users, items))
    assert 0 < np.sqrt(np.mean(ratio**2)) < 0.05
    assert part(users, items).sum() == pytest.approx(len(world.log), rel=0.02)
    assert sum(each.pairs for each in part.diagnostics.reliability) == pytest.approx(80_000)
    again = Logistic(world.users, world.items, penalty=1, sample=30_000).observe(world.log)
    assert np.array_equal(again(users, items), part(users, items))


def test_a_sample_smaller_than_the_log_weights_both_outcomes() -> None:
    world = covariate_world(7, 100, 100, level=0)
    sample = Cells.of(world.log).sample(1000, np.random.default_rng(0))
    assert sample.observed.sum() == 500
    assert sample.weight[sample.observed].sum() == pytest.approx(len(world.log))
    assert sample.weight.sum() == pytest.approx(10_000)
    assert len(np.unique(sample.users * 100 + sample.items)) == 1000


def test_sampled_pairs_are_neither_observed_nor_seen_and_uniform() -> None:
    """Chi-square over the users: 99 degrees of freedom, beyond 160 with chance below 1 in 10,000."""
    rng = np.random.default_rng(8)
    log = Interactions.from_arrays(rng.integers(0, 100, 500), rng.integers(0, 1000, 500), n_users=100, n_items=1000)
    seen = Interactions.from_arrays(rng.integers(0, 100, 500), rng.integers(0, 1000, 500), n_users=100, n_items=1000)
    cells = Cells.of(log, seen)
    sample = cells.sample(5500, rng)
    assert len(np.unique(sample.users * 1000 + sample.items)) == len(sample.users) == 5500
    observed, possible = cells.holds(sample.users, sample.items)
    assert np.array_equal(observed, sample.observed)
    assert possible.all()
    counts = np.bincount(sample.users[~sample.observed], minlength=100)
    assert np.sum((counts - counts.mean()) ** 2) / counts.mean() < 160


def test_pairs_seen_before_are_no_pairs_to_observe() -> None:
    """Half of the items seen by all: the other half's share doubles what it would be over all pairs."""
    world = covariate_world(9, 60, 40)
    late = world.log.take(world.log.items >= 20)
    everything = np.indices((60, 20)).reshape(2, -1)
    seen = Interactions.from_arrays(*everything, n_users=60, n_items=40)
    fitted = Logistic(world.users, world.items, penalty=1).fit(seen, late)
    assert fitted.diagnostics.cells == 1200
    users, items = pairs(late)
    assert fitted(users, items)[items >= 20].sum() == pytest.approx(len(late), rel=1e-3)


@pytest.mark.parametrize("side", ["users", "items"])
def test_one_side_may_be_left_out(side: str) -> None:
    world = covariate_world(10, 60, 40)
    fitted = Logistic(**{side: getattr(world, side)}).observe(world.log)
    table = fitted(*pairs(world.log)).reshape(60, 40)
    assert np.ptp(table, axis=1 if side == "users" else 0).max() < 1e-12
    assert np.ptp(table) > 0.01


def test_separable_data_are_noted_and_do_not_crash() -> None:
    """Users of kind a see everything, the others nothing."""
    users = pl.DataFrame({"user": range(20), "kind": ["a", "b"] * 10})
    codes = np.indices((10, 15)).reshape(2, -1)
    log = Interactions.from_arrays(codes[0] * 2, codes[1], n_users=20, n_items=15)
    fitted = Logistic(users).observe(log)
    assert "separable data" in fitted.diagnostics.notes[0]
    values = fitted(*pairs(log))
    assert ((values > 0) & (values <= 1)).all()


def test_a_vanishing_prediction_is_floored() -> None:
    users = pl.DataFrame({"user": range(40), "kind": ["a", "b"] * 20})
    log = Interactions.from_arrays(np.arange(0, 40, 2), np.zeros(20, int), n_users=40, n_items=1)
    fitted = Logistic(users, penalty=1e-13).observe(log)
    others = fitted(np.arange(1, 40, 2), np.zeros(20, int))
    assert (others > 0).all()
    assert fitted.floor == 1e-12


def test_few_observed_rows_need_no_cross_validation() -> None:
    users = pl.DataFrame({"user": range(3), "age": [1.0, 2.0, 3.0]})
    log = Interactions.from_arrays([1], [0], n_users=3, n_items=2)
    fitted = Logistic(users).observe(log)
    assert fitted(*pairs(log)).sum() == pytest.approx(1, rel=1e-3)


def test_a_log_of_all_pairs_is_refused() -> None:
    users = pl.DataFrame({"user": range(3), "age": [1.0, 2.0, 3.0]})
    log = Interactions.from_arrays(*np.indices((3, 2)).reshape(2, -1), n_users=3, n_items=2)
    with pytest.raises(PropensityError, match="has every pair"):
        Logistic(users).observe(log)


def test_vocabularies_must_agree() -> None:
    log = Interactions.from_arrays([0], [0], n_users=3, n_items=2)
    other = Interactions.from_arrays([0], [0], n_users=4, n_items=2)
    with pytest.raises(PropensityError, match="must share their users and items"):
        Logistic(pl.DataFrame({"user": range(3), "age": [1, 2, 3]})).observe(log, seen=other)


@pytest.mark.parametrize(
    "word",
    [
        "logistic(users=u.csv, items=i.csv)",
        "logistic(items=i.csv, penalty=2, offsets, offset-penalty=0.5, clip=0.01)",
        "logistic(users=u.csv, sample=5000, seed=3)",
    ],
)
def test_words_round_trip(word: str) -> None:
    model = PropensityModel.from_word(word)
    assert str(model) == word
    assert PropensityModel.from_word(str(model)) == model


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("logistic", "needs covariates, as in logistic"),
        ("logistic(users=u.csv, penalty=0)", "penalty=0 must be above 0"),
        ("logistic(users=u.csv, offset-penalty=-1)", "offset-penalty=-1 must be above 0"),
        ("logistic(users=u.csv, sample=5)", "at least 100"),
        ("logistic(users=u.csv, clip=-1)", "must be from 0"),
        ("logistic(user=u.csv)", "did you mean 'users'"),
    ],
)
def test_bad_words_of_logistic_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PropensityModel.from_word(word)
