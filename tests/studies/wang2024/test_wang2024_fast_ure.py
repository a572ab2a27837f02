"""All forms of the estimator at once, against `Ure`; what many draws of one population say (Wang et al. 2024)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_wang2024 import noisy_truth, tiny_log

from unskew.estimators import Estimator, Places
from unskew.studies import Context
from unskew.studies.wang2024.aggregates import Errors, scores
from unskew.studies.wang2024.fast_ure import (
    CONTROL,
    DRAWS,
    FORMS,
    IDEAL,
    MEAN,
    MONOTONE,
    POOLED,
    Draw,
    Strata,
    conditional_scores,
    estimates,
    full_ndcg,
    full_sums,
    target_of,
)
from unskew.studies.wang2024.full_recall import discounts, full_dcg, full_recall, places
from unskew.studies.wang2024.worlds import draw_exposed


@pytest.fixture(scope="module")
def truth():
    return noisy_truth(tiny_log(), 0.5, 1.0, 4.0)


@pytest.fixture(scope="module")
def many(truth):
    """Four hundred draws of six items."""
    return estimates(Context(sizes={DRAWS: 400}), truth, 6)


def with_recall(rows, above, k):
    """The rows with their worth to recall@K, from their ranks in the population."""

    def up_to(numbers):
        return np.minimum(np.minimum(numbers[None], rows.population[:, None]), k).astype(float)

    return rows.with_worth((above < k).astype(float), Places(above.astype(float), up_to, k))


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([4, 15]))
def test_all_forms_at_once_are_those_of_the_estimators(seed, size):
    """Populations differ here between users, and so do the weights of rows."""
    log, rng, ks = tiny_log(40, 90, seed % 1000), np.random.default_rng(seed), (1, 2, 5, 7, 20, 40)
    ranks = places(log.world.labels + rng.normal(size=log.held.shape), log.held)
    drawn = draw_exposed(log.held, size, rng)
    draw = Draw.of(Strata.of(log, {"model": ranks}, ks), drawn)
    values, _ = draw.values("model")
    assert tuple(values) == FORMS
    above = np.take_along_axis(ranks, drawn, axis=1).ravel()
    for form in FORMS:
        estimator = Estimator.from_word(form)
        slow = [estimator.terms(with_recall(draw.rows, above, k), "mean").value for k in ks]
        np.testing.assert_allclose(values[form], slow, rtol=1e-12, atol=1e-14)


def test_the_truth_holds_recall_at_every_cut_off(truth):
    assert truth.macro.shape == truth.micro.shape == (truth.log.population.max(), 3)
    macro, micro = full_recall(truth.ranks["noise 1"], truth.log, [7])
    assert (truth.macro[6, 1], truth.micro[6, 1]) == (macro[0], micro[0])
    assert target_of(truth, MEAN) is truth.macro
    assert target_of(truth, MONOTONE) is truth.micro


def test_sums_of_a_draw_are_those_of_the_estimator(truth):
    log, ranks = truth.log, truth.ranks["noise 0.5"]
    drawn = draw_exposed(log.held, 8, np.random.default_rng(3))
    draw = Draw.of(Strata.of(log, truth.ranks, (5, IDEAL)), drawn)
    above = np.take_along_axis(ranks, drawn, axis=1).ravel()
    best = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(IDEAL) + 2))])
    known = Places(
        above.astype(float), lambda numbers: np.zeros((40, len(numbers))), IDEAL, lambda n: best[np.minimum(n, IDEAL)]
    )
    rows = draw.rows.with_worth(discounts(above, IDEAL), known)
    estimator = Estimator.from_word(POOLED)
    assert draw.dcg(ranks, (5, IDEAL))[1] == pytest.approx(estimator.terms(rows, "sum").value)
    shares = estimator.terms(rows, "list")
    assert draw.dcg(ranks, (IDEAL,))[0] * 40 / draw.ideals().sum() == pytest.approx(shares.value)


def test_full_sums_are_means_over_users(truth):
    precision, dcg = full_sums(truth, (5,))
    found, ideal = full_dcg(truth.ranks["noise 1"], truth.log, 5)
    assert dcg[1, 0] == pytest.approx(found.mean())
    hits = (truth.ranks["noise 1"] < 5) & truth.log.relevant
    assert precision[1, 0] == pytest.approx(hits.sum() / 5 / 40)
    found, ideal = full_dcg(truth.ranks["noise 1"], truth.log, IDEAL)
    assert full_ndcg(truth)[1] == pytest.approx(found.sum() / ideal.sum())


def test_own_shares_given_a_positive_are_unbiased_and_as_variable_as_they_should_be(many):
    # theorem 3; with 3 models and 6 cut-offs, 4.5 standard errors: P < 2e-4
    sums, squares = conditional_scores(many)
    assert np.abs(sums).max() < 4.5
    # by the variance formula 1; 120 users of three models, so an s.e. of at most sqrt(2 / 120) = 0.13, 4.5 of them
    assert squares.mean() == pytest.approx(1, abs=0.6)


def test_forms_without_bias_show_none_and_the_published_mean_has_that_of_theory(many):
    # 18 cells each, 4.5 standard errors over draws: P < 2e-4
    errors = Errors(many)
    for table in (*errors.sums, scores(errors.errors(POOLED)), scores(many.recall[MEAN] - many.expected())):
        assert np.abs(table).max() < 4.5
    assert np.abs(scores(errors.errors(MEAN))).max() > 4.5


def test_shares_of_error_are_relative_to_each_target(many):
    errors = Errors(many)
    off = many.at(POOLED, 5) - many.truth.micro[4]
    place = many.ks.index(5)
    shares = {title: table[:, place] for title, table in errors.shares(POOLED).items()}
    assert shares["bias"] == pytest.approx(off.mean(axis=0) / many.truth.micro[4])
    assert shares["spread"] == pytest.approx(off.std(axis=0, ddof=1) / many.truth.micro[4])
    assert shares["rmse"] == pytest.approx(np.sqrt((off**2).mean(axis=0)) / many.truth.micro[4])
    ratio = errors.ratio(CONTROL, POOLED)[:, place]
    mine = many.at(CONTROL, 5) - many.truth.micro[4]
    assert ratio == pytest.approx((mine**2).mean(axis=0) / (off**2).mean(axis=0))
    gain = scores(errors.squares(POOLED) - errors.squares(CONTROL))[:, place]
    assert np.sign(gain).tolist() == np.sign(1 - ratio).tolist()
    assert errors.removed(MEAN) == 0


def test_intervals_of_fixed_users_hold_the_truth_often_enough(many):
    assert Errors(many).coverage[many.ks.index(10)] > 0.9


def test_what_never_moves_has_no_score():
    assert scores(np.zeros((3, 2))).tolist() == [0.0, 0.0]
