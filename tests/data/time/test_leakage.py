"""How much of a test happened before rows that models train on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.data import find_leakage, split_by_time, split_fractions, split_leave_one_out


def split_of(train: list[tuple[int, int, float]], test: list[tuple[int, int, float]]) -> Split:
    parts = []
    for rows in (train, test):
        users, items, times = (np.array(column) for column in zip(*rows, strict=True))
        parts.append(Interactions.from_arrays(users, items, times=times, n_users=9, n_items=9))
    return Split(*parts)


def test_a_split_by_hand():
    """The last training row is at 10, of user 1; user 0's is at 4. Item 5 has rows at 1, 4 and 10, item 6 at 2."""
    train = [(0, 5, 1), (0, 5 + 2, 4), (2, 5, 4), (1, 5, 10), (3, 6, 2)]
    test = [(0, 8, 3), (0, 5, 5), (1, 6, 11), (4, 5, 10)]
    leakage = find_leakage(split_of(train, test))
    assert (leakage.test, leakage.train) == (4, 5)
    assert leakage.foreseen == 2  # at 3 and 5; the row at 10 is not older than 10
    assert leakage.same_user == 1  # the row at 3 of user 0
    assert leakage.late == 3  # 4, 4 and 10 are later than 3
    assert leakage.counted == 0 + 3 + 1 + 3
    assert leakage.counted_later == 1  # the row at 10 of item 5, seen from 5
    assert leakage
    assert leakage.to_dict()["popularity_share"] == 1 / 7


@given(st.integers(0, 10**6))
def test_the_counts_against_plain_loops(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 60))
    log = Interactions.from_arrays(
        rng.integers(0, 6, rows), rng.integers(0, 6, rows), times=rng.integers(0, 8, rows), n_users=6, n_items=6
    )
    chosen = rng.random(len(log)) < 0.5
    if chosen.all() or not chosen.any():
        return
    train, test = log.take(~chosen), log.take(chosen)
    leakage = find_leakage(Split(train, test))
    rows_of = [list(zip(part.users, part.items, part.times, strict=True)) for part in (train, test)]
    assert leakage.foreseen == sum(any(t < s for _, _, s in rows_of[0]) for _, _, t in rows_of[1])
    assert leakage.same_user == sum(any(t < s and u == v for v, _, s in rows_of[0]) for u, _, t in rows_of[1])
    assert leakage.late == sum(any(s > t for _, _, t in rows_of[1]) for _, _, s in rows_of[0])
    later = [(s > t) for _, i, t in rows_of[1] for _, j, s in rows_of[0] if i == j]
    assert (leakage.counted, leakage.counted_later) == (len(later), sum(later))


def test_a_split_at_a_moment_leaks_nothing_and_a_random_one_nearly_everything():
    rng = np.random.default_rng(0)
    log = Interactions.from_arrays(rng.integers(0, 30, 500), rng.integers(0, 60, 500), times=np.arange(500))
    assert not find_leakage(split_by_time(log, before=400))
    random = find_leakage(split_fractions(log, (80, 20)))
    assert random.foreseen_share > 0.95
    assert 0.3 < random.popularity_share < 0.7
    last = find_leakage(split_leave_one_out(log))
    assert last.same_user == 0
    assert last.foreseen_share > 0.5


def test_without_times_nothing_is_known_and_without_rows_nothing_leaks():
    timeless = Interactions.from_arrays([0, 1], [0, 1])
    timed = Interactions.from_arrays([0, 1], [0, 1], times=[1, 2])
    assert find_leakage(Split(timeless, timed)) is None
    empty = find_leakage(Split(timed, timed.take(np.empty(0, dtype=int))))
    assert not empty
    assert [empty.foreseen_share, empty.same_user_share, empty.popularity_share] == [0, 0, 0]
    assert find_leakage(Split(timed.take(np.empty(0, dtype=int)), timed)).late_share == pytest.approx(0)
