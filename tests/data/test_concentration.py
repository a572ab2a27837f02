"""How unevenly rows are distributed over items, without what chance adds."""

import numpy as np
import pytest

from unskew.data.concentration import spread_of_rates


def test_the_spread_is_the_variance_beyond_chance_over_the_squared_mean() -> None:
    value, _ = spread_of_rates(np.array([0.0, 4.0, 8.0]))
    assert value == pytest.approx((16 - 4) / 4**2)


def test_counts_of_equal_rates_have_no_spread_and_its_error_is_right() -> None:
    rng = np.random.default_rng(1)
    results = np.array([spread_of_rates(rng.poisson(3.0, 400)) for _ in range(400)])
    assert abs(results[:, 0].mean()) < 0.004
    assert results[:, 1].mean() == pytest.approx(results[:, 0].std(), rel=0.1)


@pytest.mark.parametrize("rows", [2, 50])
def test_the_spread_does_not_depend_on_the_number_of_rows(rows: int) -> None:
    rng = np.random.default_rng(2)
    rates = rng.gamma(2.0, 0.5, 20_000)  # mean 1, squared variation 1/2
    value, error = spread_of_rates(rng.poisson(rows * rates))
    assert value == pytest.approx(0.5, abs=4 * error)
    assert error < 0.03


@pytest.mark.parametrize("counts", [[], [3.0], [0.0, 0.0]])
def test_without_rows_or_with_one_count_there_is_no_spread(counts: list[float]) -> None:
    assert spread_of_rates(np.array(counts)) == (0.0, 0.0)
