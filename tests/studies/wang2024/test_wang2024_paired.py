"""Paired differences and verdicts over several of them."""

import numpy as np
import pytest

from unskew.studies.wang2024.paired import Gap, all_above, clear

FAR, NEAR, BELOW = Gap(1.0, 0.1), Gap(0.1, 0.1), Gap(-1.0, 0.1)


def test_a_gap_is_the_mean_difference_with_its_error():
    gap = Gap.of(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 1.0]))
    # differences 1, 0, 2: mean 1, standard deviation 1
    assert (gap.mean, gap.error) == (1.0, pytest.approx(1 / 3**0.5))
    assert gap.z == pytest.approx(3**0.5)
    assert gap.p_value == pytest.approx(0.0833, abs=1e-4)


def test_alike_values_have_no_gap():
    gap = Gap.of(np.ones(4), 1.0)
    assert (gap.z, gap.p_value) == (0.0, 1.0)
    assert clear({"a": gap}) == {"a": 0}


def test_clear_differences_have_a_sign():
    assert clear({"far": FAR, "near": NEAR, "below": BELOW}) == {"far": 1, "near": 0, "below": -1}


def test_holms_correction_asks_more_of_each_when_there_are_many():
    two = Gap(0.2, 0.1)  # p = 0.0455
    assert clear({"alone": two}) == {"alone": 1}
    assert clear({"a": two, "b": NEAR}) == {"a": 0, "b": 0}


@pytest.mark.parametrize("gaps, verdict", [([FAR, FAR], True), ([FAR, NEAR], None), ([FAR, BELOW], False)])
def test_all_are_above_only_when_all_are_clearly_so(gaps, verdict):
    assert all_above(dict(enumerate(gaps))) is verdict
