"""Statistics of studies against scipy, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unskew.studies.framework.stats import Gap, Mean, bonferroni, clear_signs, kendall, tau

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


def test_a_mean_has_its_spread_and_standard_error() -> None:
    mean = Mean.of([1.0, 2.0, 3.0, 4.0])
    assert (mean.value, mean.spread) == (2.5, pytest.approx(np.std([1, 2, 3, 4], ddof=1)))
    assert mean.error == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    assert mean.z == pytest.approx(2.5 / mean.error)
    assert Mean.of([1.0]) == Mean(1.0, None, None)
    assert np.isnan(Mean.of([1.0]).z)


def test_a_paired_gap_is_the_t_statistic_of_scipy() -> None:
    first, second = np.random.default_rng(0).random((2, 12))
    gap = Gap.of(first, second)
    assert gap.z == pytest.approx(stats.ttest_rel(first, second).statistic)
    assert gap.p_value == pytest.approx(2 * stats.norm.sf(abs(gap.z)))
    assert Gap.of(first, 0.5).mean == pytest.approx(first.mean() - 0.5)


def test_an_independent_gap_is_the_welch_statistic_of_scipy() -> None:
    first, second = np.random.default_rng(1).random(12), np.random.default_rng(2).random(30)
    welch = stats.ttest_ind(first, second, equal_var=False).statistic
    assert Gap.independent(first, second).z == pytest.approx(welch)


def test_gaps_without_spread_are_not_tested() -> None:
    same, apart = Gap.of(np.ones(3), np.ones(3)), Gap.of(np.ones(3), np.zeros(3))
    assert (same.z, same.p_value) == (0.0, 1.0)
    assert (apart.z, apart.p_value) == (np.inf, 1.0)
    assert clear_signs({"same": same, "apart": apart}) == {"same": 0, "apart": 0}


def test_users_are_the_units_of_the_error_and_folds_are_averaged_first() -> None:
    differences = np.array([[1.0, 2.0, 3.0, np.nan], [3.0, 2.0, 1.0, np.nan]])
    assert Gap.by_user(differences) == Gap(2.0, 0.0)
    other = Gap.by_user(np.array([[1.0, 3.0], [3.0, 5.0]]))
    assert other.error == pytest.approx(np.std([2.0, 4.0], ddof=1) / np.sqrt(2))
    assert np.isnan(Gap.by_user(np.full((2, 3), np.nan)).mean)


def test_models_trained_per_fold_have_the_larger_error_of_users_and_folds() -> None:
    """Two folds that differ by 2 for all users: no spread over users, a standard error of 1 over folds."""
    shared = np.array([[0.0, 0, 0], [2, 2, 2]])
    assert Gap.by_user(shared, trained_per_fold=True) == Gap(1, 1)
    assert Gap.by_user(shared).error == 0
    per_user = np.array([[0.0, 1, 5], [0, 1, 5]])
    assert Gap.by_user(per_user, trained_per_fold=True) == Gap.by_user(per_user)
    alone = np.array([[0.0, 1, 5]])  # one fold says nothing about others
    assert Gap.by_user(alone, trained_per_fold=True) == Gap.by_user(alone)
    missing = np.array([[0.0, 0, np.nan], [2, 2, np.nan]])
    assert Gap.by_user(missing, trained_per_fold=True).error == 1


def test_signs_are_clear_where_holm_rejects() -> None:
    """Of p .01, .02 and .04, Holm at .05 compares with .05/3, .05/2 and .05: all are rejected; .03 for .02 is not."""
    gaps = {p: Gap(float(stats.norm.isf(p / 2)), 1.0) for p in (0.01, 0.02, 0.04)}
    assert list(clear_signs(gaps).values()) == [1, 1, 1]
    gaps = {p: Gap(-float(stats.norm.isf(p / 2)), 1.0) for p in (0.01, 0.03, 0.04)}
    assert list(clear_signs(gaps).values()) == [-1, 0, 0]


def test_the_bound_for_many_comparisons_keeps_the_chance_of_any_false_alarm() -> None:
    assert bonferroni(1) == pytest.approx(1.959964, abs=1e-6)
    assert bonferroni(24) == pytest.approx(3.0783, abs=1e-3)
    assert bonferroni(24) > bonferroni(6) > 2


def test_tau_is_that_of_scipy() -> None:
    first, second = [1, 2, 2, 4, 5], [2, 1, 3, 3, 9]
    assert tau(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)
