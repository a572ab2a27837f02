"""Lim et al. (2015) on real data, where it is available."""

import os
from pathlib import Path

import numpy as np
import pytest

from unskew.studies import Context
from unskew.studies.lim2015 import table1
from unskew.studies.lim2015.protocol import dense_log, split_of

HERE = "ml-100k"


@pytest.mark.parametrize(
    ("data", "users", "items", "rows", "validation", "test"),
    [
        ("ml-1m", 6_034, 3_125, 574_376, 57_153, 114_287),
        ("ml-100k", 938, 1_008, 54_413, 5_398, 10_804),
        ("amazon-video-games", 24_303, 10_672, 231_780, 22_014, 42_925),
        ("lastfm-hetrec2011", 1_843, 2_795, 70_596, 7_018, 13_902),
    ],
)
def test_what_is_left_of_the_real_data(data, users, items, rows, validation, test):
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    context = Context(folder=Path(os.environ["UNSKEW_DATA"]))
    dense = dense_log(context, data)
    if dense is None:
        pytest.skip(f"real data: {data} is not in the folder UNSKEW_DATA")
    assert (dense.after.users, dense.after.items, dense.after.rows) == (users, items, rows)
    split = split_of(context, data, 0)
    assert (len(split.validation), len(split.test)) == (validation, test)
    assert len(split.train) == rows - validation - test
    assert np.count_nonzero(split.test.user_counts) == users


@pytest.mark.slow
def test_the_small_version_runs_on_real_data():
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    context = Context(fast=True, folder=Path(os.environ["UNSKEW_DATA"]))
    if context.find(HERE) is None:
        pytest.skip(f"real data: {HERE} is not in the folder UNSKEW_DATA")
    table = table1.run(context)
    found = {(cell.row, cell.column): cell.ours for cell in table.cells if cell.data == HERE}
    assert (found["users", "count"], found["items", "count"]) == (938, 1_008)
    assert 0.2 < found["MF-AUC, unseen items", "ADG"] < found["MF-ADG, unseen items", "ADG"] < 0.25
    for model in ("MF-AUC", "MF-ADG", "SVD rank 50"):  # what was trained on takes places
        assert found[model, "ADG"] < found[f"{model}, unseen items", "ADG"]
