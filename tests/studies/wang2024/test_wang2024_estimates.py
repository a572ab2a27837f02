"""Correlations over models, and what many draws of one population say (Wang et al. 2024)."""

from math import comb

import numpy as np
import pytest
from made_wang2024 import tiny_log
from scipy import stats

from unskew.estimators import Estimator, Places, Terms
from unskew.studies import Context
from unskew.studies.framework.stats import kendall
from unskew.studies.wang2024.aggregates import Errors, scores
from unskew.studies.wang2024.correlations import Truth, pearson, right_pairs
from unskew.studies.wang2024.draws import chances_of, draw_exposed
from unskew.studies.wang2024.estimates import (
    IDEAL,
    _dcg,
    _ideals,
    conditional_scores,
    delta_errors,
    full_ndcg,
    full_sums,
    measure,
)
from unskew.studies.wang2024.rankings import discounts, full_dcg, full_recall, places
from unskew.studies.wang2024.strata import CONTROL, MEAN, MONOTONE, POOLED, Draw, Strata


@pytest.fixture(scope="module")
def truth():
    log = tiny_log()
    rng = np.random.default_rng(1)
    noise = {"good": 0.5, "fair": 1.0, "poor": 4.0}
    return Truth.of(
        log,
        {
            name: places(log.world.labels + rng.normal(0, size, log.held.shape), log.held)
            for name, size in noise.items()
        },
    )


@pytest.fixture(scope="module")
def many(truth):
    """Eighty draws of six items."""
    return measure(Context(trials=80), truth, 6)


def test_tau_and_correlation_are_those_of_scipy():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, (4, 9)).astype(float), rng.integers(0, 5, (3, 9)).astype(float)
    for a, mine in zip(first, kendall(first, second), strict=True):
        assert mine == pytest.approx([stats.kendalltau(a, b).statistic for b in second])
    for a, mine in zip(first, pearson(first, second), strict=True):
        assert mine == pytest.approx([np.corrcoef(a, b)[0, 1] for b in second])


def test_pairs_that_differ_clearly_are_counted():
    truth = np.array([1.0, 0.95, 0.5])  # the first two differ by less than a tenth
    values = np.array([[1.0, 2.0, 0.0], [0.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    assert right_pairs(values, truth, 0.1).tolist() == [1.0, 0.5, 0.5]
    assert np.isnan(right_pairs(values, np.ones(3), 0.1)).all()


def test_rows_that_tie_all_tell_nothing():
    flat, other = np.ones((1, 4)), np.arange(4.0)[None]
    assert np.isnan(kendall(flat, other)).all()
    assert np.isnan(pearson(flat, other)).all()


def test_the_truth_holds_recall_at_every_cut_off(truth):
    assert truth.macro.shape == truth.micro.shape == (truth.log.population.max(), 3)
    macro, micro = full_recall(truth.ranks["fair"], truth.log, [7])
    assert (truth.macro[6, 1], truth.micro[6, 1]) == (macro[0], micro[0])
    assert truth.of_form(MEAN) is truth.macro
    assert truth.of_form(MONOTONE) is truth.micro


def test_chances_of_a_positive_are_hypergeometric(truth):
    found = chances_of(truth.log, 6)
    for user, (n, among) in enumerate(zip(truth.log.relevant.sum(axis=1), truth.log.population, strict=True)):
        assert found[user] == pytest.approx(1 - comb(int(among - n), 6) / comb(int(among), 6))


def test_errors_are_those_of_the_delta_method():
    rng = np.random.default_rng(2)
    numerator, denominator = rng.random((20, 2)), rng.random(20)
    expected = [Terms(column, denominator).std_error for column in numerator.T]
    assert delta_errors(numerator, denominator) == pytest.approx(expected)


def test_sums_of_a_draw_are_those_of_the_estimator(truth):
    log, ranks = truth.log, truth.ranks["good"]
    drawn = draw_exposed(log.held, 8, np.random.default_rng(3))
    draw = Draw.of(Strata.of(log, truth.ranks, (5, IDEAL)), drawn)
    above = np.take_along_axis(ranks, drawn, axis=1).ravel().astype(float)
    best = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(IDEAL) + 2))])
    known = Places(above, lambda numbers: np.zeros((40, len(numbers))), IDEAL, lambda n: best[np.minimum(n, IDEAL)])
    rows = draw.rows.with_worth(discounts(above, IDEAL), known)
    estimator = Estimator.from_word(POOLED)
    assert _dcg(draw, ranks, (5, IDEAL))[1] == pytest.approx(estimator.terms(rows, "sum").value)
    shares = estimator.terms(rows, "list")
    assert _dcg(draw, ranks, (IDEAL,))[0] * 40 / _ideals(draw).sum() == pytest.approx(shares.value)


def test_full_sums_are_means_over_users(truth):
    precision, dcg = full_sums(truth, (5,))
    found, ideal = full_dcg(truth.ranks["fair"], truth.log, 5)
    assert dcg[1, 0] == pytest.approx(found.mean())
    hits = (truth.ranks["fair"] < 5) & truth.log.relevant
    assert precision[1, 0] == pytest.approx(hits.sum() / 5 / 40)
    found, ideal = full_dcg(truth.ranks["fair"], truth.log, IDEAL)
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
    for table in (*errors.sums, errors.pooled):
        assert np.abs(table).max() < 4.5
    observed, from_theory = errors.published
    assert np.abs(from_theory).max() < 4.5
    assert np.abs(observed).max() > 4.5


def test_shares_of_error_are_relative_to_each_target(many):
    errors = Errors(many)
    off = many.at(POOLED, 5) - many.truth.micro[4]
    place = many.ks.index(5)
    assert errors.bias(POOLED)[:, place] == pytest.approx(off.mean(axis=0) / many.truth.micro[4])
    assert errors.rmse(POOLED)[:, place] == pytest.approx(np.sqrt((off**2).mean(axis=0)) / many.truth.micro[4])
    ratio = errors.ratio(CONTROL, POOLED)[:, place]
    mine = many.at(CONTROL, 5) - many.truth.micro[4]
    assert ratio == pytest.approx((mine**2).mean(axis=0) / (off**2).mean(axis=0))
    assert np.sign(errors.gain(CONTROL, POOLED)[:, place]).tolist() == np.sign(1 - ratio).tolist()
    assert (errors.removed(MEAN) == 0).all()


def test_intervals_of_fixed_users_hold_the_truth_often_enough(many):
    assert Errors(many).coverage[many.ks.index(10)] > 0.9


def test_what_never_moves_has_no_score():
    assert scores(np.zeros((3, 2))).tolist() == [0.0, 0.0]
