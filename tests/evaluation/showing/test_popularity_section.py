"""Weights and popularity of the held-out rows."""

import numpy as np
import pytest

from unskew.evaluation.showing.popularity_section import Skew, cumulative_share, measure_skew
from unskew.testing.worlds.head_and_tail import judge_models


def test_shares_follow_the_counts():
    # counts 6, 3, 1: the first third of the items has 60 % of the rows
    curve = cumulative_share(np.array([1.0, 6, 3]), np.array([1.0, 6, 3]))
    assert len(curve) == 101
    assert curve[0] == 0
    assert curve[100] == pytest.approx(1)
    assert np.interp(1 / 3, np.linspace(0, 1, 101), curve) == pytest.approx(0.6, abs=0.01)


def test_items_of_equal_popularity_share_evenly():
    # all mass lies on one of ten items that are equally popular: no order of them may show
    mass = np.zeros(10)
    mass[7] = 5
    np.testing.assert_allclose(cumulative_share(np.ones(10), mass), np.linspace(0, 1, 101))


def test_no_mass_gives_no_curve():
    assert len(cumulative_share(np.ones(3), np.zeros(3))) == 0


def test_tenths_sum_to_one():
    curve = cumulative_share(np.arange(40.0), np.arange(40.0))
    tenths = Skew.tenths(curve)
    assert len(tenths) == 10
    assert tenths.sum() == pytest.approx(1)
    assert (np.diff(tenths) < 0).all()


def test_weights_move_rows_to_the_tail():
    skew = measure_skew(judge_models("head", "tail", propensity="popularity(gamma=1)"))
    assert skew.items == 20
    assert skew.unweighted == 0
    assert skew.varies
    # half of the items are the head: 80 % of rows, 0.8 / (0.8 + 0.2 * 50.5) of the weight
    assert skew.held_out[50] == pytest.approx(0.8)
    assert skew.weighted[50] == pytest.approx(0.8 / (0.8 + 0.2 * 50.5))
    assert skew.rows.sum() == pytest.approx(1)
    assert [skew.rows[0], skew.rows[-1]] == pytest.approx([0.8, 0.2])
    assert skew.weight[-1] == pytest.approx(1 - 0.8 / (0.8 + 0.2 * 50.5))


def test_clipped_weights_are_those_of_the_estimator():
    report = judge_models("head", estimators=["snips(clip=0.5)"], propensity="popularity(gamma=1)")
    skew = measure_skew(report)
    assert skew.edges[-1] / skew.edges[0] == pytest.approx(2)


def test_equal_weights_have_no_histogram():
    skew = measure_skew(judge_models("head", propensity="uniform"))
    assert not skew.varies
    assert skew.has_weights
    np.testing.assert_allclose(skew.weighted, skew.held_out)


def test_naive_runs_are_measured_too():
    assert measure_skew(judge_models("head", estimators=["aoa"])).varies
