import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unskew.studies.framework.stats import kendall

rows = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3)


@pytest.mark.parametrize("ties", ["a", "b"])
def test_kendall_is_that_of_scipy_without_ties(ties: str) -> None:
    first, second = np.random.default_rng(0).random((2, 4))
    assert kendall(first, second, ties=ties).item() == pytest.approx(stats.kendalltau(first, second).statistic)


def test_kendall_a_by_hand() -> None:
    truth = np.array([1.0, 2.0, 3.0, 4.0])
    assert kendall(truth, truth, ties="a") == 1
    assert kendall(truth, truth[::-1], ties="a") == -1
    assert kendall(truth, np.array([2.0, 1.0, 3.0, 4.0]), ties="a") == pytest.approx(4 / 6)
    assert kendall(truth, np.array([1.0, 1.0, 3.0, 4.0]), ties="a") == pytest.approx(5 / 6)


@given(rows, rows)
def test_kendall_b_is_that_of_scipy_row_by_row(first: list[list[int]], second: list[list[int]]) -> None:
    found = kendall(np.array(first, dtype=float), np.array(second, dtype=float))
    for k, mine in enumerate(first):
        for j, other in enumerate(second):
            if len(set(mine)) == 1 or len(set(other)) == 1:
                assert np.isnan(found[k, j])
            else:
                assert found[k, j] == pytest.approx(stats.kendalltau(mine, other).statistic)
