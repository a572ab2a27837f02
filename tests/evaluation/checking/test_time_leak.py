"""Popularity that is counted on rows from after the start of the test."""

import numpy as np

from unskew import Interactions, Split, evaluate
from unskew.data import find_leakage, split_fractions, split_leave_one_out, split_temporal
from unskew.display.numbers import short_percent
from unskew.errors import Option
from unskew.evaluation.checking.time_leak import FORESEEN, LATE_POPULARITY, find_hindsight


def log(users: int = 30, rows: int = 10, shift: int = 0) -> Interactions:
    """Users come one after another, each with items at ten moments; with a shift, each begins with another item."""
    codes = np.repeat(np.arange(users), rows)
    times = np.tile(np.arange(rows), users) + 5.0 * codes
    items = (np.tile(np.arange(rows), users) + shift * codes) % (2 * rows)
    return Interactions.from_arrays(codes, items, times=times)


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


def warned(split: Split, estimator: str) -> list[str]:
    report = evaluate({"popular": "popular"}, split, metrics=["recall@3"], estimators=[estimator])
    return [text for text in report.warnings if "older than the last training row" in text]


def test_training_rows_of_others_after_the_test_row_are_warned_of_with_both_shares():
    """Of the 30 last rows only that of the last user is not older than the last training row, at 153."""
    split = split_leave_one_out(log(shift=1))
    (said,) = warned(split, "aoa")
    leakage = find_leakage(split)
    assert leakage.foreseen == 29
    shares = [short_percent(share) for share in (29 / 30, leakage.popularity_share)]
    temporal = Option("temporal", command="split")
    assert said == FORESEEN.format(share=shares[0], popularity=shares[1], temporal=temporal)


def test_it_is_not_warned_of_twice():
    assert warned(split_leave_one_out(log(shift=1)), "snips") == []  # popularity of the future is warned of
    assert warned(split_fractions(log(shift=1), (80, 20), rng=0), "aoa") == []  # older than their user's last row
    assert warned(split_temporal(log(shift=1), 0.2), "aoa") == []
