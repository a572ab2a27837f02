"""The exposure model: cross-fitting, scale, power, side tables, samples and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.arrays import Bools, Floats
from unskew.data.pairs import pair_keys
from unskew.errors import ConfigError, PropensityError
from unskew.evaluation.fitting.pair_features import TrainingFeatures
from unskew.evaluation.fitting.relevance import fit_exposure
from unskew.logistic import fit_logistic, log_odds, sigmoid
from unskew.propensities import Exposure, FittedExposure, PropensityModel
from unskew.propensities.exposure import Counts
from unskew.ranking import MatrixScorer
from unskew.simulators import SelectionWorld
from unskew.testing.worlds.observed_worlds import covariate_world

USERS, ITEMS = 60, 40
CELLS = np.indices((USERS, ITEMS)).reshape(2, -1)


def rows_of(mask: Bools, name: str) -> Interactions:
    users, items = np.nonzero(mask)
    return Interactions.from_arrays(users, items, n_users=mask.shape[0], n_items=mask.shape[1], name=name)


def world(seed: int = 0, share: float = 0.6) -> tuple[Interactions, Interactions]:
    """Training rows and held-out rows of a log whose exposure depends on popularity and affinity."""
    drawn = SelectionWorld.preset("personal", users=USERS, items=ITEMS, density=0.3).draw(seed)
    first = np.random.default_rng(seed).random(drawn.observed.shape) < share
    return rows_of(drawn.observed & first, "train"), rows_of(drawn.observed & ~first, "test")


def fitted_to(model: Exposure, seed: int = 0) -> FittedExposure:
    train, test = world(seed)
    return model.observe_with(TrainingFeatures(train), test, seen=train)


def outcomes(fitted: FittedExposure, test: Interactions) -> Floats:
    """Whether each pair that was fitted was held out."""
    return np.isin(fitted.keys, pair_keys(test.users, test.items, ITEMS)).astype(float)


def test_a_pair_is_scored_by_a_regression_that_did_not_see_it() -> None:
    """The regression of fold k is that of the pairs of the other folds, so a pair's own outcome is not in it."""
    _, test = world()
    fitted = fitted_to(Exposure())
    users, items = fitted.keys // ITEMS, fitted.keys % ITEMS
    columns = (fitted.features.rows(users, items) - fitted.mean) / fitted.scale
    outcome, logits = outcomes(fitted, test), fitted.logits(users, items)
    for fold in range(5):
        kept = fitted.fold != fold
        own = ~kept
        fit = fit_logistic(columns[kept], outcome[kept])
        np.testing.assert_allclose(logits[own], fit.logits(columns[own]), atol=1e-8)
        flipped = np.where(own, 1 - outcome, outcome)
        other = fit_logistic(columns[kept], flipped[kept])
        assert other.intercept == fit.intercept


def test_every_fold_has_its_share_of_held_out_pairs() -> None:
    _, test = world()
    fitted = fitted_to(Exposure(folds=4))
    held_out = np.bincount(fitted.fold, weights=outcomes(fitted, test), minlength=4)
    assert held_out.sum() == len(test)
    assert held_out.max() - held_out.min() <= 1
    assert len(fitted.fits) == 4


def test_the_pairs_are_those_that_could_be_held_out() -> None:
    train, test = world()
    fitted = fitted_to(Exposure())
    assert len(fitted.keys) == USERS * ITEMS - len(train)
    assert not np.isin(pair_keys(train.users, train.items, ITEMS), fitted.keys).any()
    assert np.isin(pair_keys(test.users, test.items, ITEMS), fitted.keys).all()


def test_the_features_are_standardised_over_the_candidates() -> None:
    fitted = fitted_to(Exposure())
    users, items = fitted.keys // ITEMS, fitted.keys % ITEMS
    columns = fitted.features.rows(users, items)
    np.testing.assert_allclose(fitted.mean, columns.mean(axis=0))
    np.testing.assert_allclose(fitted.scale, columns.std(axis=0))
    assert list(fitted.coefficients) == ["intercept", "item count", "user activity", "ease", "item-knn"]


def test_the_features_are_those_of_the_models_and_counts_of_train() -> None:
    train, _ = world()
    dense = np.zeros((USERS, ITEMS))
    dense[train.users, train.items] = 1
    features = TrainingFeatures(train, 100.0)
    gram = dense.T @ dense
    inverse = np.linalg.inv(gram + 100 * np.eye(ITEMS))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    block = features.block(np.arange(USERS))
    np.testing.assert_allclose(block[:, :, 0], np.broadcast_to(np.log1p(dense.sum(axis=0)), dense.shape))
    np.testing.assert_allclose(block[:, :, 1], np.broadcast_to(np.log1p(dense.sum(axis=1))[:, None], dense.shape))
    np.testing.assert_allclose(block[:, :, 2], dense @ weights, rtol=1e-4, atol=1e-5)


def test_rows_of_features_are_those_of_blocks_in_any_order() -> None:
    train, _ = world()
    features = TrainingFeatures(train)
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, USERS, 500), rng.integers(0, ITEMS, 500)
    np.testing.assert_allclose(features.rows(users, items), features.block(np.arange(USERS))[users, items])
    assert features.rows(users[:0], items[:0]).shape == (0, 4)


def test_a_user_and_an_item_without_training_rows_have_scores_of_0() -> None:
    train = Interactions.from_arrays([0, 0, 1], [0, 1, 1], n_users=3, n_items=4)
    block = TrainingFeatures(train).block(np.arange(3))
    assert not block[2].any(axis=0)[1:].any()
    assert not block[:, 3, 2:].any()


def test_a_large_catalogue_has_no_scores_of_ease(monkeypatch: pytest.MonkeyPatch) -> None:
    from unskew.evaluation.fitting import pair_features

    monkeypatch.setattr(pair_features, "EASE_ITEMS", 5)
    assert TrainingFeatures(world()[0]).names == ("item count", "user activity", "item-knn")


def test_the_power_is_an_exponent_of_the_chance() -> None:
    chance, power = fitted_to(Exposure(power=1)), fitted_to(Exposure(power=0.75))
    np.testing.assert_allclose(power(*CELLS), chance(*CELLS) ** 0.75)
    np.testing.assert_allclose(log_odds(chance(*CELLS)), chance.logits(*CELLS), atol=1e-6)


@pytest.mark.parametrize(("power", "absolute"), [(1.0, True), (0.75, False), (0.5, False), (2.0, False)])
def test_it_is_a_probability_only_at_power_1(power: float, *, absolute: bool) -> None:
    fitted = fitted_to(Exposure(power=power))
    assert fitted.absolute is absolute
    assert fitted.diagnostics is not None
    assert fitted.diagnostics.cells == (len(fitted.keys) if absolute else 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_chances_of_all_candidates_add_up_to_the_held_out_rows(seed: int) -> None:
    """Exactly by the regression of all pairs, whose intercept sees to it; nearly by those of the folds."""
    train, test = world(seed)
    fitted = fitted_to(Exposure(power=1), seed)
    users, items = fitted.keys // ITEMS, fitted.keys % ITEMS
    assert fitted(users, items).sum() == pytest.approx(len(test), rel=0.02)
    candidates = np.ones((USERS, ITEMS), bool)
    candidates[train.users, train.items] = False
    whole = sigmoid(fitted.block_logits(np.arange(USERS)))
    assert whole[candidates].sum() == pytest.approx(len(test), rel=1e-6)


def test_the_diagnostics_are_of_the_held_out_rows() -> None:
    _, test = world()
    fitted = fitted_to(Exposure(power=1))
    report = fitted.diagnostics
    assert report is not None
    chance = fitted(test.users, test.items)
    assert report.observed == len(test)
    assert report.cells == len(fitted.keys)
    assert report.inverse_sum == pytest.approx(np.sum(1 / chance))
    assert (report.smallest, report.largest) == pytest.approx((chance.min(), chance.max()))
    assert sum(each.pairs for each in report.reliability) == pytest.approx(len(fitted.keys))
    assert "left out of the fit" in report.reliability_of


def test_clipping_raises_the_small_chances_and_counts_them() -> None:
    _, test = world()
    plain, clipped = fitted_to(Exposure()), fitted_to(Exposure(clip=0.5))
    chance = plain(test.users, test.items)
    assert clipped.floor == pytest.approx(0.5 * chance.max())
    np.testing.assert_allclose(clipped(test.users, test.items), np.maximum(chance, clipped.floor))
    assert clipped.diagnostics is not None
    assert clipped.diagnostics.clipped == np.sum(chance < clipped.floor)


def test_blocks_are_rows_for_pairs_that_were_not_fitted() -> None:
    train, _ = world()
    fitted = fitted_to(Exposure())
    block = fitted.block_logits(np.arange(USERS))
    np.testing.assert_allclose(block[train.users, train.items], fitted.logits(train.users, train.items))
    others = fitted_to(Exposure(sample=100))
    users, items = CELLS[:, ~np.isin(pair_keys(*CELLS, ITEMS), others.keys)]
    assert len(users) > 500
    np.testing.assert_allclose(others.block_logits(np.arange(USERS))[users, items], others.logits(users, items))


def test_a_weighted_sample_has_nearly_the_coefficients_of_all_pairs() -> None:
    """Within five standard errors of the regression on the sample: fails by chance less than once in 100,000 seeds."""
    drawn = SelectionWorld.preset("personal", users=300, items=200, density=0.1).draw(0)
    first = np.random.default_rng(0).random(drawn.observed.shape) < 0.6
    train, test = rows_of(drawn.observed & first, "train"), rows_of(drawn.observed & ~first, "test")
    features = TrainingFeatures(train)
    whole = Exposure(sample=10**6).observe_with(features, test, seen=train)
    some = Exposure(sample=8_000).observe_with(features, test, seen=train)
    assert len(some.keys) < len(whole.keys) / 4
    assert np.isin(pair_keys(test.users, test.items, 200), some.keys).all()
    # coefficients of the same scale: those of raw features
    slopes = [fitted.whole.slopes / fitted.scale for fitted in (whole, some)]
    errors = np.sqrt(np.diag(whole.whole.covariance))[1:] / whole.scale
    assert (np.abs(slopes[0] - slopes[1]) < 5 * errors * np.sqrt(1 + len(test) / 8_000)).all()
    chance = [sigmoid(fitted.block_logits(np.arange(300))) for fitted in (whole, some)]
    assert np.mean(chance[1]) == pytest.approx(np.mean(chance[0]), rel=0.05)


def test_a_seed_decides_the_folds_and_the_sample() -> None:
    once, again, other = (fitted_to(Exposure(seed=seed, sample=500)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once(*CELLS), again(*CELLS))
    np.testing.assert_array_equal(once.keys, again.keys)
    assert not np.array_equal(once.fold, other.fold[: len(once.fold)])
    assert not np.array_equal(once(*CELLS), other(*CELLS))


def test_side_tables_are_one_further_score_that_explains_exposure() -> None:
    known = covariate_world(1, 80, 60)
    train, test = covariate_world(2, 80, 60).log, known.log
    features = Counts(train)
    plain = Exposure(power=1).observe_with(features, test)
    sided = Exposure(power=1, users=known.users, items=known.items).observe_with(features, test)
    assert list(sided.coefficients) == ["intercept", "item count", "user activity", "side tables"]
    cells = np.indices((80, 60)).reshape(2, -1)
    truth = known.propensity.ravel()
    assert np.corrcoef(sided(*cells), truth)[0, 1] > np.corrcoef(plain(*cells), truth)[0, 1] + 0.1
    block = sided.features.block(np.arange(80))
    np.testing.assert_allclose(block[cells[0], cells[1]], sided.features.rows(*cells))


def test_without_seen_rows_the_counts_are_those_of_the_log_itself() -> None:
    _, test = world()
    fitted = Exposure().observe(test)
    assert list(fitted.coefficients) == ["intercept", "item count", "user activity"]
    assert len(fitted.keys) == USERS * ITEMS
    np.testing.assert_array_equal(
        fitted.features.rows(test.users, test.items)[:, 0], np.log1p(test.item_counts[test.items])
    )


def test_it_reads_and_prints_its_options() -> None:
    for word in ("exposure", "exposure(power=0.5)", "exposure(folds=3, seed=2)"):
        model = PropensityModel.from_word(word)
        assert isinstance(model, Exposure)
        assert str(model) == word
    assert Exposure().power == 0.75


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"power": 0}, "power=0 must be above 0 and at most 2"),
        ({"power": -1}, "power=-1 must be above 0"),
        ({"power": 2.5}, "at most 2"),
        ({"regularisation": 0}, "regularisation=0 must be above 0"),
        ({"regularisation": np.inf}, "regularisation=inf must be above 0"),
        ({"folds": 1}, "folds=1 must be at least 2, so that no pair scores itself"),
        ({"sample": 99}, "sample=99 must be at least 100"),
        ({"clip": 2}, "clip=2 must be from 0"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, float], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Exposure(**options)  # type: ignore[arg-type]


def test_a_log_with_every_candidate_is_refused() -> None:
    train, _ = world()
    rest = np.ones((USERS, ITEMS), bool)
    rest[train.users, train.items] = False
    with pytest.raises(PropensityError, match="has every candidate, so all propensities are 1; use aoa"):
        Exposure().observe(rows_of(rest, "test"), seen=train)


def test_too_few_rows_for_the_folds_are_refused() -> None:
    train, test = world()
    with pytest.raises(PropensityError, match="1 held-out rows are too few for 5 folds of exposure; use popularity"):
        Exposure().observe(test.take(np.arange(len(test)) == 0), seen=train)
    with pytest.raises(PropensityError, match="has no rows to learn propensities from"):
        Exposure().observe(test.take(np.zeros(len(test), bool)), seen=train)


def test_a_log_that_a_feature_explains_without_error_is_refused() -> None:
    """The held-out rows are all users' pairs with the five most frequent items."""
    train = rows_of(np.arange(ITEMS)[None] >= np.arange(USERS)[:, None] % ITEMS, "train")
    mask = np.zeros((USERS, ITEMS), bool)
    mask[:, -5:] = True
    with pytest.raises(PropensityError, match=r"separates what was observed .* use popularity"):
        Exposure().observe_with(Counts(train), rows_of(mask, "chosen"))


def test_of_a_split_the_candidates_exclude_train_unless_all_are_candidates() -> None:
    train, test = world()
    split = Split(train, test)
    unseen = fit_exposure(Exposure(), split)
    everything = fit_exposure(Exposure(), split.with_candidates("all"))
    assert len(unseen.keys) == USERS * ITEMS - len(train)
    assert len(everything.keys) == USERS * ITEMS


def test_it_weights_snips_in_an_evaluation() -> None:
    train, test = world()
    scores = np.random.default_rng(0).normal(size=(USERS, ITEMS))
    split = Split(train, test)
    report = evaluate({"m": MatrixScorer(scores)}, split, metrics=["auc"], estimators=["snips"], propensity="exposure")
    fitted = fit_exposure(Exposure(), split)
    candidates = np.ones((USERS, ITEMS), bool)
    candidates[train.users, train.items] = False
    above = np.array(
        [np.sum(scores[u, candidates[u]] > scores[u, i]) for u, i in zip(test.users, test.items, strict=True)]
    )
    gain = 1 - above / candidates.sum(axis=1)[test.users]
    weight = 1 / fitted(test.users, test.items)
    assert report.estimates[0].value == pytest.approx(np.sum(weight * gain) / np.sum(weight))
    with pytest.raises(PropensityError, match="ips needs absolute propensities"):
        evaluate({"m": MatrixScorer(scores)}, split, metrics=["dcg"], estimators=["ips"], propensity="exposure")


def test_ips_takes_it_at_power_1() -> None:
    train, test = world()
    scores = MatrixScorer(np.random.default_rng(0).normal(size=(USERS, ITEMS)))
    report = evaluate(
        {"m": scores}, Split(train, test), metrics=["dcg"], estimators=["ips"], propensity="exposure(power=1)"
    )
    assert report.estimates[0].value is not None
    assert replace(Exposure(), power=1) == report.settings.propensity
