"""Popularity that is counted on rows from after the start of the test."""

import numpy as np

from unskew import Interactions, Split
from unskew.data import split_fractions, split_leave_one_out, split_temporal
from unskew.errors import Option
from unskew.evaluation.checking.time_leak import LATE_POPULARITY, find_hindsight


def log(users: int = 30, rows: int = 10) -> Interactions:
    """Users come one after another, each with items at ten moments."""
    codes = np.repeat(np.arange(users), rows)
    times = np.tile(np.arange(rows), users) + 5.0 * codes
    return Interactions.from_arrays(codes, np.tile(np.arange(rows), users), times=times)


def test_the_last_row_of_each_user_held_out_is_warned_of():
    (said,) = find_hindsight(split_leave_one_out(log()))
    # the first test row is at 9; later are 4 of the second user's training rows and all 9 of each of the other 28
    assert said == LATE_POPULARITY.format(late=256, share=256 / 270, temporal=Option("temporal"))


def test_a_cut_in_time_is_not():
    assert list(find_hindsight(split_temporal(log(), 0.2))) == []


def test_a_random_split_is_not():
    assert list(find_hindsight(split_fractions(log(), (80, 20), rng=0))) == []


def test_without_times_or_rows_there_is_nothing_to_say():
    timeless = Interactions.from_arrays([0, 0, 1, 1], [0, 1, 0, 1])
    assert list(find_hindsight(Split(timeless.take(np.array([0, 2])), timeless.take(np.array([1, 3]))))) == []
    whole = log()
    assert list(find_hindsight(Split(whole, whole.take(np.empty(0, dtype=int))))) == []
