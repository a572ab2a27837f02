"""By which factor weights may be wrong before another model is first."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.evaluation.estimating.weight_error import flip_factor
from unskew.testing.worlds.head_and_tail import judge_models


def least_lead(gaps, weights, factor, group=None):
    """The smallest lead over all corners of the box of weights, by trying them all."""
    leads = []
    for signs in product((-1.0, 1.0), repeat=len(gaps)):
        wrong = weights * factor ** np.array(signs)
        if group is None:
            leads.append(float(np.sum(wrong * gaps) / np.sum(wrong)))
        else:
            sums = np.bincount(group, wrong * gaps) / np.bincount(group, wrong)
            leads.append(float(sums.mean()))
    return min(leads)


@st.composite
def rows(draw, groups=False):
    size = draw(st.integers(1, 7))
    gaps = np.array(draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)), float)
    weights = np.array(draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)), float)
    group = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    return gaps, weights, np.unique(group, return_inverse=True)[1] if groups else None


@pytest.mark.parametrize("groups", [False, True])
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_a_lead_vanishes_at_the_factor_and_not_before(groups, data):
    gaps, weights, group = data.draw(rows(groups))
    factor = flip_factor(gaps, weights, group)
    if factor is None:
        assert least_lead(gaps, weights, 1e6, group) > 0
        return
    assert least_lead(gaps, weights, factor * (1 + 1e-9), group) <= 1e-9
    if factor > 1:
        assert least_lead(gaps, weights, factor / (1 + 1e-6), group) > 0


def test_a_factor_by_hand():
    # 8 against 2 in weight: the lead is gone when the first weigh half and the second twice as much
    assert flip_factor(np.array([1.0, -1.0]), np.array([8.0, 2.0])) == pytest.approx(2)
    assert flip_factor(np.array([1.0, 0.0]), np.array([1.0, 9.0])) is None
    assert flip_factor(np.array([1.0, -2.0]), np.array([1.0, 1.0])) == 1.0


def test_an_evaluation_gives_the_factor_of_the_winner():
    # 160 head rows and 40 tail rows, each of which weighs sqrt(101 / 2) head rows; "tail" leads
    (answer,) = judge_models("head", "tail").answers
    assert answer.flips_to == "head"
    assert answer.flip_gamma == pytest.approx(np.sqrt(40 * np.sqrt(101 / 2) / 160))
    (naive,) = judge_models("head", "tail", estimators=["aoa"]).answers
    assert (naive.flip_gamma, naive.flips_to, naive.weighted) == (None, None, False)


def test_the_scale_of_the_weights_does_not_matter_and_every_form_has_a_factor():
    for form in ("snips", "snips(per=balanced)"):  # one row each, so these are the same here
        (answer,) = judge_models("head", "tail", estimators=[form]).answers
        assert answer.flip_gamma == pytest.approx(np.sqrt(40 * np.sqrt(101 / 2) / 160))
    (answer,) = judge_models("head", "tail", estimators=["snips(per=user)"]).answers
    assert (answer.flip_gamma, answer.judging.first) == (None, ("head",))  # one row per user: no weight matters
