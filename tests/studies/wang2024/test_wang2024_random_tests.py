"""Data of which only a random sample is labelled: parts and populations (Wang et al. 2024)."""

import os
from pathlib import Path

import numpy as np
import pytest
from made_wang2024 import tiny_split

from unskew.data.sources import get_source, status_of
from unskew.studies import Context
from unskew.studies.wang2024.random_tests import COAT, random_tests, split_test


def pairs(part):
    return set(zip(part.users.tolist(), part.items.tolist(), strict=True))


def test_random_rows_are_dealt_into_three_parts_with_labels():
    split = tiny_split()
    test = split_test("made", split, np.random.default_rng(0))
    parts = [test.parts.uniform, test.parts.validation, test.exposed]
    assert [len(part) for part in parts] == [15, 15, 270]
    assert set.union(*map(pairs, parts)) == pairs(split.test)
    assert sum(len(pairs(part)) for part in parts) == 300
    labels = dict(zip(zip(split.test.users, split.test.items, strict=True), split.test.values >= 4, strict=True))
    for part in parts:
        rows = zip(part.users, part.items, strict=True)
        assert [bool(value) for value in part.values] == [bool(labels[row]) for row in rows]
    assert (np.diff(test.exposed.users) >= 0).all()


@pytest.mark.parametrize("candidates", ["all", "unseen"])
def test_the_population_is_what_the_rows_were_drawn_from(candidates):
    split = tiny_split(candidates)
    test = split_test("made", split, np.random.default_rng(0))
    outside = (
        pairs(test.parts.uniform)
        | pairs(test.parts.validation)
        | (pairs(split.train) if candidates == "unseen" else set())
    )
    held = {(int(u), int(i)) for u, i in zip(*np.nonzero(test.held), strict=True)}
    assert held == {(u, i) for u in range(30) for i in range(40)} - outside
    assert pairs(test.exposed) <= held


def test_data_that_is_not_here_gives_nothing(tmp_path):
    assert random_tests(Context(folder=tmp_path)) == []


def test_coat_has_sixteen_random_ratings_a_person_of_three_hundred_coats():
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"])
    if status_of(get_source(COAT), folder / COAT).presence == "absent":
        pytest.skip("real data: coat is not in the folder UNSKEW_DATA")
    test = random_tests(Context(folder=folder))[0]
    parts = (test.parts.train, test.parts.uniform, test.parts.validation, test.exposed)
    assert [len(part) for part in parts] == [6960, 232, 232, 4176]
    assert test.held.sum() == 290 * 300 - 2 * 232
