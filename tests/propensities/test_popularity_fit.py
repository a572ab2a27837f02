"""Presentation bias and gamma: examples by hand, the paper's sum over pairs, and logs that cannot tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.errors import ConfigError, DataError, PropensityError
from unskew.propensities import fit_gamma, presentation_bias
from unskew.testing.oracles import gamma_of_pairs


def test_f_is_the_mean_over_the_items_of_a_level() -> None:
    # two items of popularity 1 with 0 and 4 recommendations, one of 3 with 6, one of 5 with none, one never seen
    bias = presentation_bias(np.array([1, 3, 1, 5, 0]), np.array([0, 6, 4.0, 0, 9]))
    assert bias.levels.tolist() == [1, 3, 5]
    assert bias.f.tolist() == [2, 6, 0]
    assert bias.items.tolist() == [2, 1, 1]
    assert bias.never.tolist() == [5]


def test_a_power_law_is_found_without_error() -> None:
    popularity = np.arange(1, 40)
    fit = fit_gamma(popularity, 0.5 * popularity.astype(float) ** 1.7, cut=0)
    assert fit.gamma == pytest.approx(1.7)
    assert np.exp(fit.intercept) == pytest.approx(0.5)
    assert fit.std_error == pytest.approx(0, abs=1e-12)
    assert (fit.levels, fit.never, fit.cut_items, fit.items, fit.doubtful) == (39, 0, 0, 39, False)


def test_the_error_is_that_of_the_slope() -> None:
    # log2 n = 0, 1, 2 and log2 f = 0, 2, 1: slope 1/2, residuals -1/2, 1, -1/2: s^2 = 1.5, error sqrt(1.5 / 2)
    fit = fit_gamma(np.array([1, 2, 4]), np.array([1, 4, 2.0]))
    assert fit.gamma == pytest.approx(0.5)
    assert fit.residual == pytest.approx(np.sqrt(1.5) * np.log(2))
    assert fit.std_error == pytest.approx(np.sqrt(1.5 / 2))


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 300)), min_size=3, max_size=30).filter(
        lambda rows: len({popularity for popularity, _ in rows}) > 2
    )
)
def test_the_slope_is_the_papers_sum_over_pairs(rows: list[tuple[int, int]]) -> None:
    popularity, recommended = (np.array(column) for column in zip(*rows, strict=True))
    bias = presentation_bias(popularity, recommended)
    fit = fit_gamma(popularity, recommended, cut=0)
    assert fit.gamma == pytest.approx(gamma_of_pairs(bias.levels.tolist(), bias.f.tolist()), rel=1e-6, abs=1e-8)


def test_levels_never_recommended_and_items_never_seen_are_left_out_and_counted() -> None:
    popularity = np.array([0, 1, 2, 3, 4, 8])
    fit = fit_gamma(popularity, np.array([7, 1, 0, 0, 4.0, 8]))
    assert fit.gamma == pytest.approx(1)
    assert (fit.levels, fit.never, fit.items, fit.recommended_items) == (3, 2, 3, 4)


def test_the_most_popular_items_are_cut_by_whole_levels() -> None:
    # 400 items: 0.5 % are 2. One item of popularity 900 and two of 800: cutting the 800s too would make 3
    popularity = np.concatenate([np.repeat(np.arange(1, 398) % 20 + 1, 1), [800, 800, 900]])
    recommended = popularity.astype(float)
    recommended[-1] = 1e6
    fit = fit_gamma(popularity, recommended)
    assert (fit.cut_items, fit.levels) == (1, 21)
    assert fit.gamma == pytest.approx(1)
    assert fit_gamma(popularity, recommended, cut=0.0075).cut_items == 3
    assert fit_gamma(popularity, recommended, cut=0).gamma > 1.1


def test_one_popularity_level_gives_no_number() -> None:
    with pytest.raises(PropensityError, match=r"every item has 3 interactions.*give a gamma"):
        fit_gamma(np.full(10, 3), np.arange(10.0))


def test_recommendations_of_one_level_give_no_number() -> None:
    with pytest.raises(PropensityError, match="recommendations show 1 of 3 popularity levels"):
        fit_gamma(np.array([1, 2, 3]), np.array([0, 0, 5.0]))
    with pytest.raises(PropensityError, match="show 0"):
        fit_gamma(np.array([1, 2, 3]), np.zeros(3))
    with pytest.raises(PropensityError, match="no item occurs in training"):
        fit_gamma(np.zeros(3, int), np.ones(3))


def test_two_levels_give_no_number_for_it_would_have_no_error() -> None:
    with pytest.raises(PropensityError, match=r"every item has 1 or 4 interactions.*give a gamma"):
        fit_gamma(np.array([1, 4]), np.array([1, 2.0]))
    with pytest.raises(PropensityError, match=r"recommendations show 2 of 4 popularity levels, .*three are needed"):
        fit_gamma(np.array([1, 2, 3, 4]), np.array([0, 0, 5.0, 2]))
    # of three levels the highest is cut, so two are left
    with pytest.raises(PropensityError, match="recommendations show 2 of 2 popularity levels"):
        fit_gamma(np.array([1, 2, 2, 9]), np.ones(4), cut=0.25)


def test_a_wide_error_is_doubted_however_many_levels_there_are() -> None:
    # log2 n = 0 to 13, and log2 f swings by 9 to each side of it from level to level
    popularity = 2 ** np.arange(14)
    swing = np.where(np.arange(14) % 2, 9.0, -9.0)
    wide = fit_gamma(popularity, popularity * 2**swing)
    narrow = fit_gamma(popularity, popularity * 2 ** (swing / 8))
    assert wide.levels == narrow.levels == 14
    assert narrow.std_error < 0.5 < wide.std_error
    assert not narrow.doubtful
    (said,) = wide.notes
    assert said.startswith(f"gamma {wide.gamma:.2f} is uncertain (standard error {wide.std_error:.2f})")
    assert said.endswith("14 popularity levels of 14 recommended items")


def test_recommendations_that_never_leave_ten_items_are_doubted() -> None:
    popularity = np.arange(1, 101)
    recommended = np.where(popularity > 90, 50.0, 0)
    fit = fit_gamma(popularity, recommended)
    assert fit.doubtful
    assert fit.recommended_items == fit.levels == 10
    assert fit.never == 90
    assert "10 popularity levels" in fit.notes[0]


def test_bad_columns_are_refused() -> None:
    with pytest.raises(DataError, match="must be two columns"):
        presentation_bias(np.array([1, 2]), np.array([1.0]))
    with pytest.raises(DataError, match="counts"):
        presentation_bias(np.array([1, 2]), np.array([1.0, np.nan]))
    with pytest.raises(ConfigError, match="cut=1 must be a share"):
        fit_gamma(np.array([1, 2]), np.array([1.0, 2]), cut=1)
