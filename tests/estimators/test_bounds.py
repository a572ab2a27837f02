"""Bounds, bias and variance by hand, at their edges, and what they refuse."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.errors import ConfigError, DataError, PropensityError, UnskewError
from unskew.estimators import erm_bound, ips_bias, ips_variance, misspecified_bound, tail_bound

SETTINGS: dict[str, Any] = {"largest_loss": 4.0, "hypotheses": 10, "eta": 0.05}


def test_the_tail_bound_by_hand() -> None:
    """Ratios 4, 2 and 0, and a certain cell that counts for nothing: sqrt(ln(20) / 2 * 20) / 4."""
    bound = tail_bound([[2, 1], [0, 1]], [[0.5, 0.5], [0.1, 1]], eta=0.1)
    assert bound == pytest.approx(math.sqrt(math.log(20) / 2 * 20) / 4)


def test_what_is_certain_has_no_tail() -> None:
    assert tail_bound([[2, 1]], [[1, 1]], eta=0.1) == 0
    assert ips_variance([[2, 1]], [[1, 1]]) == 0


def test_the_bound_of_a_choice_by_hand() -> None:
    """Inverse squares 4, 4, 16 and 1, so a root of 5: .5 + 4 / 4 * sqrt(ln(400) / 2) * 5."""
    bound = erm_bound(0.5, [[0.5, 0.5], [0.25, 1]], **SETTINGS)
    assert bound == pytest.approx(0.5 + 5 * math.sqrt(math.log(400) / 2))


def test_the_bound_with_wrong_propensities_by_hand() -> None:
    """The ratios of true and assumed are 1, 2, .5 and 0, off by 0, 1, .5 and 1: 2.5 / 4 in the mean."""
    bound = misspecified_bound(0.5, [[0.5, 0.5], [0.25, 0]], [[0.5, 0.25], [0.5, 1]], **SETTINGS)
    assert bound == pytest.approx(0.5 + 4 * 2.5 / 4 + 5 * math.sqrt(math.log(400) / 2))


@given(seed=st.integers(0, 1000), value=st.floats(0, 4))
def test_with_the_true_propensities_assumed_both_bounds_are_one(seed: int, value: float) -> None:
    propensity = np.random.default_rng(seed).uniform(0.01, 1, (4, 5))
    assert misspecified_bound(value, propensity, propensity, **SETTINGS) == erm_bound(value, propensity, **SETTINGS)


@given(seed=st.integers(0, 1000))
def test_with_the_true_propensities_assumed_there_is_no_bias(seed: int) -> None:
    rng = np.random.default_rng(seed)
    propensity = rng.uniform(0.01, 1, (4, 5))
    assert ips_bias(rng.uniform(0, 4, (4, 5)), propensity, propensity) == 0


@given(seed=st.integers(0, 1000), eta=st.floats(0.001, 0.999))
def test_one_hypothesis_with_the_largest_loss_everywhere_has_the_tail_bound(seed: int, eta: float) -> None:
    """Both are Hoeffding's inequality, as long as no cell is certain."""
    propensity = np.random.default_rng(seed).uniform(0.01, 0.99, (4, 5))
    bound = erm_bound(0.0, propensity, largest_loss=4, hypotheses=1, eta=eta)
    assert bound == pytest.approx(tail_bound(np.full((4, 5), 4), propensity, eta), rel=1e-12)


def test_overestimating_small_propensities_can_pay() -> None:
    """One cell in a hundred has P of .001; taking .02 for it costs little and saves much."""
    propensity = np.full((10, 10), 0.5)
    propensity[0, 0] = 0.001
    raised = np.maximum(propensity, 0.02)
    assert misspecified_bound(0, propensity, raised, **SETTINGS) < 0.2 * erm_bound(0, propensity, **SETTINGS)


@pytest.mark.parametrize("assumed, sign", [(0.1, -1), (0.5, 0), (0.9, 1)], ids=["too small", "right", "too large"])
def test_too_small_propensities_make_the_loss_look_too_large(assumed: float, sign: int) -> None:
    assert np.sign(ips_bias([[2.0, 1.0]], [[0.5, 0.5]], [[assumed, assumed]])) == sign


def test_a_cell_that_is_never_observed_adds_its_whole_loss_to_the_bias() -> None:
    assert ips_bias([[3.0, 1.0]], [[0.0, 0.5]], [[0.7, 0.5]]) == 1.5


ONE: list[list[float]] = [[0.5]]


@pytest.mark.parametrize(
    "call, error, hint",
    [
        (lambda: tail_bound(ONE, ONE, 0), ConfigError, "eta=0: expected"),
        (lambda: tail_bound(ONE, ONE, 1), ConfigError, "eta=1: expected"),
        (lambda: tail_bound(ONE, [[0.5, 0.5]], 0.1), DataError, "shape"),
        (lambda: tail_bound(ONE, [[0.0]], 0.1), PropensityError, r"outside \(0, 1\]"),
        (lambda: tail_bound(ONE, [[1.5]], 0.1), PropensityError, r"1\.5 .* outside"),
        (lambda: tail_bound([[math.nan]], ONE, 0.1), DataError, "finite"),
        (lambda: tail_bound([["a"]], ONE, 0.1), DataError, "numbers"),
        (lambda: tail_bound([[]], [[]], 0.1), DataError, "no cell"),
        (lambda: ips_variance(ONE, [[math.nan]]), PropensityError, "nan"),
        (lambda: ips_variance(ONE, [[0.0]]), PropensityError, r"outside \(0, 1\]"),
        (lambda: ips_bias(ONE, ONE, [[0.0]]), PropensityError, "assumed: 0 "),
        (lambda: ips_bias(ONE, [[-0.1]], ONE), PropensityError, r"outside \[0, 1\]"),
        (lambda: ips_bias(ONE, ONE, [[0.5], [0.5]]), DataError, "assumed"),
        (lambda: erm_bound(0, ONE, largest_loss=0, hypotheses=1, eta=0.1), ConfigError, "largest_loss=0"),
        (lambda: erm_bound(0, ONE, largest_loss=math.inf, hypotheses=1, eta=0.1), ConfigError, "largest_loss=inf"),
        (lambda: erm_bound(0, ONE, largest_loss=1, hypotheses=0, eta=0.1), ConfigError, "hypotheses=0"),
        (lambda: erm_bound(math.nan, ONE, largest_loss=1, hypotheses=1, eta=0.1), DataError, "estimate nan"),
        (lambda: misspecified_bound(0, ONE, [[math.inf]], **SETTINGS), PropensityError, "assumed: inf"),
        (lambda: misspecified_bound(0, ONE, [[0.5, 0.5]], **SETTINGS), DataError, "shape"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(call: Any, error: type[UnskewError], hint: str) -> None:
    with pytest.raises(error, match=hint) as caught:
        call()
    assert "\n" not in str(caught.value)
