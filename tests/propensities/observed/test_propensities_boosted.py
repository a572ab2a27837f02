"""Boosted and combined propensities."""

import numpy as np
import polars as pl
import pytest

from unskew import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.propensities import Boosted, Combined, Logistic, NaiveBayes, PropensityModel
from unskew.propensities.observed.boosted import _categories, _fold
from unskew.testing.worlds.observed_worlds import covariate_world, pairs


def test_boosting_finds_what_a_linear_model_cannot() -> None:
    """P is .3 for users in the middle of an age, .03 for others: the root mean square error of log P over pairs.

    In eight such worlds trees were off by .26 to .38, the straight line by 1.22 to 1.27.
    """
    rng = np.random.default_rng(0)
    age = rng.uniform(0, 1, 200)
    truth = np.where((age > 0.33) & (age < 0.67), 0.3, 0.03)
    rows, columns = np.nonzero(rng.random((200, 100)) < truth[:, None])
    log = Interactions.from_arrays(rows, columns, n_users=200, n_items=100)
    users = pl.DataFrame({"user": range(200), "age": age})
    codes = pairs(log)

    def error(model: PropensityModel) -> float:
        return float(np.sqrt(np.mean(np.log(model.fit(empty, log)(*codes) / truth[codes[0]]) ** 2)))

    empty = Interactions.from_arrays([], [], n_users=200, n_items=100)
    assert error(Boosted(users, trees=50)) < 0.5
    assert error(Logistic(users)) > 1.1


def test_it_is_calibrated_and_its_weights_add_up() -> None:
    """In eight worlds the sum of 1/P was at most .5 standard deviations off, and nine or ten of ten bins covered."""
    world = covariate_world(1, 150, 100)
    fitted = Boosted(world.users, world.items, trees=40).observe(world.log)
    found = fitted(*pairs(world.log))
    assert found.sum() == pytest.approx(len(world.log), rel=1e-3)
    diagnostics = fitted.diagnostics
    assert abs(diagnostics.inverse_sum - 15_000) < 1.5 * diagnostics.inverse_sd
    assert sum(each.low <= each.predicted <= each.high for each in diagnostics.reliability) >= 7
    assert "held out" in diagnostics.reliability_of
    again = Boosted(world.users, world.items, trees=40).observe(world.log)
    assert np.array_equal(again(*pairs(world.log)), found)


def test_covariates_that_mean_nothing_are_not_remembered() -> None:
    """Each user has a number of its own, and all pairs the same P; P found spread by .002 to .012 in eight worlds."""
    rng = np.random.default_rng(2)
    rows, columns = np.nonzero(rng.random((80, 60)) < 0.2)
    log = Interactions.from_arrays(rows, columns, n_users=80, n_items=60)
    users = pl.DataFrame({"user": range(80), "number": rng.normal(size=80)})
    items = pl.DataFrame({"item": range(60), "number": rng.normal(size=60)})
    fitted = Boosted(users, items, ids=True, trees=40).observe(log)
    assert np.std(fitted(*pairs(log))) < 0.03


def test_ids_tell_a_busy_user_whom_no_covariate_tells() -> None:
    world = covariate_world(4, 40, 100)
    rest = world.log.take(world.log.users != 0)
    users = np.concatenate([rest.users, np.zeros(80, int)])
    items = np.concatenate([rest.items, np.arange(80)])
    log = Interactions.from_arrays(users, items, n_users=40, n_items=100)
    row = np.zeros(100, int), np.arange(100)
    without = Boosted(items=world.items, trees=30).observe(log)(*row).mean()
    assert Boosted(items=world.items, ids=True, trees=30).observe(log)(*row).mean() > without + 0.2


def test_rare_ids_beyond_what_trees_take_go_together() -> None:
    counts = np.arange(300)
    categories = _categories(counts)
    assert categories[299] == 0
    assert set(categories) == set(range(255))
    assert (categories[:46] == 254).all()


def test_folds_are_even_and_depend_on_the_seed() -> None:
    """Binomial with standard deviation .004 of a share; five of them beyond .02 off with chance below 1 in 10,000."""
    users, items = np.indices((100, 100)).reshape(2, -1)
    fold = _fold(users, items, 0)
    assert np.bincount(fold) / 10_000 == pytest.approx([0.2] * 5, abs=0.02)
    by_user = np.array([np.bincount(fold[users == u], minlength=5) for u in range(100)])
    assert by_user.std() == pytest.approx(4, abs=0.8)  # as of 100 independent draws a user
    assert np.mean(_fold(users, items, 1) == fold) == pytest.approx(0.2, abs=0.02)


def test_a_weighted_sample_adds_up_to_all_pairs() -> None:
    """In eight worlds the sum of P was at most .8 % off."""
    world = covariate_world(3, 200, 150)
    fitted = Boosted(world.users, world.items, trees=20, sample=10_000).observe(world.log)
    assert fitted(*pairs(world.log)).sum() == pytest.approx(len(world.log), rel=0.03)


def test_separable_or_few_pairs_do_not_crash() -> None:
    users = pl.DataFrame({"user": range(20), "kind": ["a", "b"] * 10})
    codes = np.indices((10, 15)).reshape(2, -1)
    log = Interactions.from_arrays(codes[0] * 2, codes[1], n_users=20, n_items=15)
    for rows in (np.arange(150), np.array([7])):
        values = Boosted(users, trees=5).observe(log.take(rows))(*pairs(log))
        assert ((values > 0) & (values <= 1)).all()


def test_combined_is_the_product_of_its_parts() -> None:
    world = covariate_world(5, 60, 40)
    rng = np.random.default_rng(5)
    ratings = rng.integers(1, 4, len(world.log)).astype(float)
    log = Interactions.from_arrays(world.log.users, world.log.items, ratings, n_users=60, n_items=40)
    mcar = np.array([1] * 50 + [2] * 30 + [3] * 4)
    rows = log.users, log.items, log.values
    combined = Combined(users=world.users, items=world.items, mcar=mcar, penalty=1).observe(log)
    linear = Logistic(world.users, world.items, penalty=1).observe(log)(*rows)
    bayes = NaiveBayes(mcar).observe(log).raw(*rows)
    product = linear * bayes / (len(log) / 2400)
    assert combined(*rows) == pytest.approx(np.minimum(product, 1))
    assert combined.diagnostics.clipped == (product > 1).sum() > 0
    with pytest.raises(PropensityError, match="depend on the rating"):
        combined(log.users, log.items)


def test_combined_keeps_the_notes_of_both_parts() -> None:
    world = covariate_world(5, 60, 40)
    log = Interactions.from_arrays(
        world.log.users, world.log.items, np.arange(len(world.log)) % 3, n_users=60, n_items=40
    )
    more = pl.concat([world.users, pl.DataFrame({"user": [99], "age": [1.0], "member": [0]})])
    mcar = pl.DataFrame({"user": [0, 1], "item": [0, 1], "rating": [0, 1]})
    diagnostics = Combined(users=more, mcar=mcar, penalty=1).observe(log).diagnostics
    assert "names 1 user that" in diagnostics.notes[0]
    assert "depends on smoothing alone" in diagnostics.notes[1]
    assert sum(each.pairs for each in diagnostics.reliability) == 2


@pytest.mark.parametrize(
    "word",
    [
        "boosted(users=u.csv, items=i.csv)",
        "boosted(users=u.csv, ids, trees=10, leaves=4, rate=0.5, clip=0.1, sample=500, seed=1)",
        "combined(mcar=m.csv, users=u.csv, items=i.csv)",
        "combined(mcar=m.csv, items=i.csv, smoothing=0, penalty=3, offsets, offset-penalty=2, clip=0.1)",
    ],
)
def test_words_of_boosted_and_combined_round_trip(word: str) -> None:
    model = PropensityModel.from_word(word)
    assert str(model) == word
    assert PropensityModel.from_word(str(model)) == model


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("boosted", "needs covariates, as in boosted"),
        ("boosted(users=u.csv, trees=0)", "trees=0 must be at least 1"),
        ("boosted(users=u.csv, leaves=1)", "leaves=1 must be at least 2"),
        ("boosted(users=u.csv, rate=0)", "rate=0 must be above 0"),
        ("combined(users=u.csv)", "needs mcar"),
        ("combined(mcar=m.csv)", "needs covariates, as in combined"),
        ("combined(mcar=m.csv, users=u.csv, penalty=0)", "penalty=0 must be above 0"),
        ("combined(mcar=m.csv, users=u.csv, smoothing=-1)", "must be 0 or more"),
    ],
)
def test_bad_words_of_boosted_and_combined_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PropensityModel.from_word(word)
