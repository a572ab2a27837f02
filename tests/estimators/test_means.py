"""Weighted means of rows in four forms, by hand: what stands above, what below, and what each row adds to the error."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.estimators import Rows
from unskew.estimators.means import mean_by, sum_by, weighted_mean, weights_of_mean

# user 0 has items 0 and 1, user 1 item 1; weighted gains are 2, 12 and 2
ROWS = Rows(np.array([1.0, 3, 2]), np.array([0, 0, 1]), item=np.array([0, 1, 1]))
WEIGHT = np.array([2.0, 4, 1])
SIZED = replace(ROWS, size=np.array([1 / 2, 1 / 2, 1 / 4]))  # weighted sizes are 1, 2 and 1/4


@pytest.mark.parametrize(
    ("per", "plain", "weighted", "sized"),
    [
        ("pair", 6 / 3, 16 / 7, 16 / (13 / 4)),
        ("balanced", (4 / 2 + 2) / 2, (14 / 2 + 2) / (6 / 2 + 1), (14 / 2 + 2) / (3 / 2 + 1 / 4)),
        ("user", (4 / 2 + 2) / 2, (14 / 6 + 2) / 2, (14 / 3 + 8) / 2),
        ("item", (1 + 5 / 2) / 2, (1 + 14 / 5) / 2, (2 + 14 / (9 / 4)) / 2),
    ],
)
def test_the_four_forms(per: str, plain: float, weighted: float, sized: float) -> None:
    assert weighted_mean(ROWS, None, per).value == pytest.approx(plain, rel=1e-15)
    assert weighted_mean(ROWS, np.ones(3), per).value == pytest.approx(plain, rel=1e-15)
    assert weighted_mean(ROWS, WEIGHT, per).value == pytest.approx(weighted, rel=1e-15)
    assert weighted_mean(SIZED, WEIGHT, per).value == pytest.approx(sized, rel=1e-15)


def test_numerators_and_denominators_are_of_users() -> None:
    columns = {
        per: [column.tolist() for column in (terms.numerator, terms.denominator)]
        for per in ("pair", "balanced", "user")
        for terms in [weighted_mean(ROWS, WEIGHT, per)]
    }
    assert columns == {"pair": [[14, 2], [6, 1]], "balanced": [[7, 2], [3, 1]], "user": [[14 / 6, 2], [1, 1]]}


@pytest.mark.parametrize(
    ("per", "errors", "lone"),
    [
        # (w c - value w s) / sum of w s, with w and s of the form; a group of one row says nothing of its error
        ("pair", [(2 - 32 / 7) / 7, (12 - 64 / 7) / 7, (2 - 16 / 7) / 7], False),
        ("balanced", [(1 - 9 / 4) / 4, (6 - 9 / 2) / 4, (2 - 9 / 4) / 4], False),
        ("user", [(2 - 14 / 3) / 12, (12 - 28 / 3) / 12, 0], True),
        ("item", [0, (12 - 56 / 5) / 10, (2 - 14 / 5) / 10], True),
    ],
)
def test_what_each_row_adds_to_the_error(per: str, errors: list[float], lone: bool) -> None:
    spread = np.array([1.0, 0.5, 2])
    terms = weighted_mean(ROWS, WEIGHT, per, spread)
    assert terms.rows == pytest.approx(errors * spread)
    assert terms.lone == lone
    assert terms.value == weighted_mean(ROWS, WEIGHT, per).value
    assert weighted_mean(ROWS, WEIGHT, per).rows is None


@pytest.mark.parametrize(
    ("per", "weights"),
    [
        ("pair", [2, 4, 1]),
        ("balanced", [1, 2, 1]),
        ("user", [1 / 3, 2 / 3, 1]),
        ("item", [1, 4 / 5, 1 / 5]),
    ],
)
def test_the_weight_of_a_row_in_each_form(per: str, weights: list[float]) -> None:
    assert weights_of_mean(ROWS, WEIGHT, per) == pytest.approx(weights, rel=1e-15)


def test_sums_and_means_by_user() -> None:
    user, values = np.array([1, 0, 1]), np.array([1.0, 5, 4])
    assert sum_by(user, values).tolist() == [5, 5]
    assert mean_by(user, values).tolist() == [5, 2.5]
    assert not len(sum_by(user[:0], values[:0]))
