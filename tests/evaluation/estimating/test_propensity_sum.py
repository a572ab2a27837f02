"""Whether the propensities of a run add up."""

from types import SimpleNamespace

import numpy as np
import pytest

from unskew.evaluation.checking.weights import SUM_IS_OFF, propensities_add_up
from unskew.evaluation.record import as_numbers
from unskew.propensities import Diagnostics, NaiveBayes
from unskew.testing.worlds.head_and_tail import judge_models, make_split
from unskew.testing.worlds.known_errors import ITEMS, RATINGS, USERS, judge_mixed, judge_ratings, rated_split


def test_propensities_that_come_with_the_rows_are_summed_against_all_pairs():
    report = judge_ratings()
    found = report.diagnostics
    expected = np.sum(1 / rated_split().test.propensity)
    assert found.observed == len(rated_split().test)
    assert found.cells == USERS * ITEMS
    assert found.inverse_sum == pytest.approx(expected)
    assert (found.smallest, found.largest) == (0.25, 1.0)
    assert report.run["propensity_diagnostics"]["ratio"] == pytest.approx(expected / (USERS * ITEMS))


def test_weights_that_add_up_to_too_few_pairs_are_warned_of():
    # twice too large: low ratings weigh 2 instead of 4
    report = judge_ratings(split=rated_split(factor=2.0))
    share = report.diagnostics.coverage
    assert share < 0.8
    assert SUM_IS_OFF.format(share=share) in report.warnings


def test_right_propensities_are_not_warned_of():
    report = judge_ratings()
    assert abs(report.diagnostics.coverage - 1) < 0.2
    assert not any("of all pairs" in text for text in report.warnings)


def test_notes_become_warnings_of_the_report():
    report = judge_ratings(split=rated_split(factor=2.0))
    assert report.diagnostics.notes
    assert set(report.diagnostics.notes) <= set(report.warnings)


def test_an_observation_model_brings_its_own_diagnostics():
    sample = RATINGS[:, 0]
    report = judge_ratings(propensity=NaiveBayes(sample), estimators=["aoa", "snips"])
    assert report.diagnostics is report.propensities.ratings.diagnostics


def test_naive_averages_have_no_propensities_to_check():
    report = judge_ratings(estimators=["aoa"], propensity="uniform")
    assert report.diagnostics is None
    assert "propensity_diagnostics" not in report.run
    assert judge_ratings(propensity="uniform").diagnostics is None


def test_propensities_known_up_to_scale_are_not_summed():
    report = judge_models("head", "tail")
    numbers = report.run["propensity_diagnostics"]
    assert [numbers[key] for key in ("pairs", "inverse_sum", "inverse_sum_sd", "ratio")] == [None] * 4
    # 101 training rows in the head and 2 in the tail, smoothing included
    assert numbers["smallest"] == pytest.approx((2 / 101) ** 0.5)
    assert numbers["largest_weight"] == pytest.approx((101 / 2) ** 0.5)
    assert not any("1/P" in text or "of all pairs" in text for text in report.warnings)


def test_pairs_of_positives_are_known_only_where_relevant_items_are_counted():
    split = make_split(propensity=0.5)
    alone = judge_models("head", split=split, propensity="column")
    assert alone.diagnostics.cells == 0
    counts = {str(user): 2 for user in range(300)}
    counted = judge_models("head", split=split, propensity="column", relevant=counts)
    assert counted.diagnostics.cells == 600
    assert counted.diagnostics.inverse_sum == 400
    assert SUM_IS_OFF.format(share=2 / 3) in counted.warnings


def test_a_mixed_run_is_checked_on_its_rated_rows():
    report = judge_mixed(positive="rating>=4")
    assert report.samples.judged.rows < report.samples.ratings.rows
    assert report.diagnostics.observed == report.samples.ratings.rows
    assert report.diagnostics.cells == USERS * ITEMS


def test_numbers_that_are_not_known_are_null():
    nothing = Diagnostics(0, 0, 0.0, 0.0, float("nan"), float("nan"))
    numbers = as_numbers(nothing)
    assert numbers["smallest"] is None
    assert numbers["largest_weight"] is None
    for found in (nothing, None):
        assert list(propensities_add_up.look(SimpleNamespace(diagnostics=found))) == []
