"""The numbers of tables 3 and 4 of Wang et al. 2024, as printed."""

import pytest

from unskew.studies.wang2024.printed import (
    BACKBONES,
    KUAIREC,
    METHODS,
    TABLE3,
    TABLE4_KUAIREC,
    TABLE4_YAHOO,
    YAHOO,
    furthest,
)

ROWS = [(backbone, method) for backbone in BACKBONES for method in METHODS]


def test_every_table_has_five_methods_on_two_backbones():
    assert list(TABLE4_KUAIREC) == list(TABLE4_YAHOO) == ROWS
    assert {name: list(rows) for name, rows in TABLE3.items()} == {KUAIREC: ROWS, YAHOO: ROWS}


def test_all_numbers_are_recalls_that_grow_with_k():
    for row in TABLE4_KUAIREC.values():
        assert 0 < row.full_5 < row.full_500 < row.traditional < 1
        assert 0 < row.ure_5 < row.ure_500 < 1
    for row in TABLE4_YAHOO.values():
        assert 0 < row.ure_5 < row.ure_500 < row.traditional < 1


def test_the_columns_stand_in_the_order_in_which_estimates_follow_full_recall():
    for row in TABLE4_KUAIREC.values():
        assert abs(row.ure_5 - row.full_5) < 0.002
        assert 0 < row.ure_500 - row.full_500 < 0.005  # one-sided in all ten rows


def test_table_3_is_the_first_column_of_table_4():
    assert TABLE3[KUAIREC]["MF", "Bias"] == 0.3546
    assert TABLE3[YAHOO]["LightGCN", "NegS"] == 0.8141


def test_the_furthest_deviations_are_those_of_mf_ips_and_mf_bias():
    assert furthest(5) == pytest.approx(0.0230 / 0.0213 - 1)
    assert furthest(500) == pytest.approx(0.3280 / 0.3237 - 1)
