"""Each user's rows in three parts: whole numbers by largest remainders, and who only trains."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.data import count_train_only, split_per_user
from unskew.errors import ConfigError, DataError


def log_of(counts: list[int], *, propensity: float | None = None) -> Interactions:
    """A log in which user k has counts[k] rows, out of 60 items."""
    users = np.repeat(np.arange(len(counts)), counts)
    rng = np.random.default_rng(0)
    items = np.concatenate([rng.permutation(60)[:n] for n in counts])
    column = None if propensity is None else np.full(len(users), propensity)
    return Interactions.from_arrays(users, items, propensity=column, n_users=len(counts), n_items=60)


def counts_of(split: Split) -> list[tuple[int, int, int]]:
    """Rows in train, validation and test, a user each."""
    held = np.zeros(split.train.n_users, int) if split.validation is None else split.validation.user_counts
    columns = (split.train.user_counts, held, split.test.user_counts)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def pairs(part: Interactions | None) -> set[tuple[int, int]]:
    return set() if part is None else set(zip(part.users.tolist(), part.items.tolist(), strict=True))


# counted by hand: 5 rows have the quotas 3.5, 0.5 and 1, and of the equal remainders train, the largest part, is first;
# 15 have 10.5, 1.5 and 3, where the float 1 - 0.1 - 0.2 is a little more than 0.7
BY_HAND = {
    3: (2, 0, 1),
    4: (3, 0, 1),
    5: (4, 0, 1),
    6: (4, 1, 1),
    7: (5, 1, 1),
    9: (6, 1, 2),
    10: (7, 1, 2),
    13: (9, 1, 3),
    15: (11, 1, 3),
    25: (18, 2, 5),
    30: (21, 3, 6),
}


def test_largest_remainders_of_70_10_20_are_those_counted_by_hand() -> None:
    split = split_per_user(log_of(list(BY_HAND)), 0.2, validation=0.1)
    assert counts_of(split) == list(BY_HAND.values())


def test_users_below_the_least_only_train_and_are_counted() -> None:
    split = split_per_user(log_of(list(BY_HAND)), 0.2, validation=0.1, least=5)
    assert counts_of(split) == [(3, 0, 0), (4, 0, 0), *list(BY_HAND.values())[2:]]
    assert count_train_only(split) == 2


def test_the_test_part_gets_its_row_first_when_its_quota_is_below_one() -> None:
    """2 rows have the quotas 1.8, 0.1 and 0.1, and 12 have 10.8, 0.6 and 0.6."""
    log = log_of([2, 12, 40])
    assert counts_of(split_per_user(log, 0.05, validation=0.05)) == [(2, 0, 0), (11, 1, 0), (36, 2, 2)]
    assert counts_of(split_per_user(log, 0.05, validation=0.05, least=2)) == [(1, 0, 1), (11, 0, 1), (36, 2, 2)]


def test_equal_remainders_go_to_the_largest_part_whichever_it_is() -> None:
    """3 rows in sixths have the quotas 0.5, 1 and 1.5; as floats, train has a little more than its half."""
    split = split_per_user(log_of([3, 60]), 3 / 6, validation=2 / 6)
    assert counts_of(split) == [(0, 1, 2), (10, 20, 30)]


@given(
    counts=st.lists(st.integers(1, 60), min_size=2, max_size=8),
    parts=st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20)),
    least=st.none() | st.integers(1, 20),
    seed=st.integers(0, 100),
)
def test_parts_are_whole_within_one_of_their_quotas_and_never_overlap(
    counts: list[int], parts: tuple[int, int, int], least: int | None, seed: int
) -> None:
    total = sum(parts)
    log = log_of([*counts, 60])  # the last user has a row in every part, so none is empty
    split = split_per_user(log, parts[2] / total, validation=parts[1] / total, least=least, rng=seed)
    for n, got in zip([*counts, 60], counts_of(split), strict=True):
        assert sum(got) == n
        if least is not None and n < least:
            assert got == (n, 0, 0)
            continue
        assert all(abs(Fraction(part * n, total) - rows) < 1 for part, rows in zip(parts, got, strict=True))
        assert least is None or got[2] >= 1
    kept = [pairs(split.train), pairs(split.validation), pairs(split.test)]
    assert sum(map(len, kept)) == len(log)
    assert set.union(*kept) == pairs(log)


@pytest.mark.parametrize("least", [None, 5])
def test_the_order_of_the_rows_does_not_matter_and_the_seed_does(least: int | None) -> None:
    log = log_of([12, 7, 30, 4])
    shuffled = log.take(np.random.default_rng(1).permutation(len(log)))
    first, same, other = (
        split_per_user(rows, 0.2, validation=0.1, least=least, rng=seed)
        for rows, seed in ((log, 3), (shuffled, 3), (log, 4))
    )
    assert pairs(first.test) == pairs(same.test) != pairs(other.test)
    assert pairs(first.validation) == pairs(same.validation)


def test_every_row_is_drawn_equally_often_for_each_part() -> None:
    """Chi-square on 10 rows over 2,000 splits, twice: error rate 0.001 each (9 degrees of freedom, 27.88).

    Draws without replacement vary less than the chi-square assumes, by (10 - n) / 9 for n rows a split.
    """
    log = Interactions.from_arrays(np.zeros(10, int), np.arange(10), n_users=1, n_items=10)
    rng = np.random.default_rng(0)
    test, held = np.zeros(10), np.zeros(10)
    for _ in range(2000):
        split = split_per_user(log, 0.2, validation=0.1, rng=rng)
        test += split.test.item_counts
        assert split.validation is not None
        held += split.validation.item_counts
    assert np.sum((test - 400) ** 2 / 400) / (8 / 9) < 27.88
    assert np.sum((held - 200) ** 2 / 200) < 27.88


def test_how_it_was_made_is_recorded() -> None:
    log = log_of([20, 30])
    assert split_per_user(log, 0.2, validation=0.1, least=5, rng=3).origin == "per-user(0.7/0.1/0.2, least=5), seed 3"
    assert split_per_user(log, 0.2, validation=0.1, rng=3).origin == "per-user(0.7/0.1/0.2), seed 3"
    assert split_per_user(log, 0.2, least=5, rng=3).origin == "per-user(0.8/0.2, least=5), seed 3"
    assert split_per_user(log, 0.2, rng=3).origin == "per-user(0.2), seed 3"


def test_a_share_alone_gives_the_rows_it_always_gave() -> None:
    """Worked out from the rule before there were other parts: numbers drawn in the order of the rows."""
    log = log_of([10, 4, 9])
    drawn = np.random.default_rng(5).random(len(log))
    expected = set()
    for user, held in ((0, 3), (1, 1), (2, 3)):
        rows = np.flatnonzero(log.users == user)
        chosen = rows[np.argsort(drawn[rows])[:held]]
        expected |= {(user, int(item)) for item in log.items[chosen]}
    split = split_per_user(log, 0.3, rng=5)
    assert pairs(split.test) == expected
    assert split.validation is None


def test_without_validation_the_least_still_holds() -> None:
    split = split_per_user(log_of([4, 5, 10]), 0.2, least=5)
    assert split.validation is None
    assert counts_of(split) == [(4, 0, 0), (4, 0, 1), (8, 0, 2)]


def test_too_few_rows_for_validation_leave_none() -> None:
    split = split_per_user(log_of([5, 5]), 0.2, validation=0.1, least=5)
    assert split.validation is None
    assert counts_of(split) == [(4, 0, 1), (4, 0, 1)]


def test_the_propensity_is_rewritten_with_the_shares_the_user_got() -> None:
    """Of 60 items a user has n, each with P = n / 60; 60 - train are candidates, and any can be one of the test.

    With the shares asked for, the user of 6 rows would have 0.2 P / (1 - 0.7 P), which is 0.0215, not 1 / 56.
    """
    for n, (train, _, test) in ((6, (4, 1, 1)), (30, (21, 3, 6))):
        split = split_per_user(log_of([n, n], propensity=n / 60), 0.2, validation=0.1, least=5)
        assert split.test.propensity == pytest.approx(np.full(2 * test, test / (60 - train)), rel=1e-12)
        assert split.train.propensity is not None
        assert split.train.propensity.tolist() == [n / 60] * (2 * train)


def test_users_who_only_train_do_not_change_the_propensity_of_others() -> None:
    alone = split_per_user(log_of([30], propensity=0.5), 0.2, validation=0.1, least=5)
    beside = split_per_user(log_of([30, 3, 4], propensity=0.5), 0.2, validation=0.1, least=5)
    assert beside.test.propensity is not None
    assert alone.test.propensity is not None
    assert beside.test.propensity.tolist() == alone.test.propensity.tolist()


@pytest.mark.parametrize("validation", [-0.1, 1, float("nan")])
def test_impossible_validation_shares_are_refused(validation: float) -> None:
    with pytest.raises(ConfigError, match=r"validation .* must be between 0 and 1, as in 0\.1"):
        split_per_user(log_of([10]), 0.2, validation=validation)


def test_parts_that_leave_nothing_for_train_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"validation 0\.5 and share 0\.5 leave no row for train"):
        split_per_user(log_of([10]), 0.5, validation=0.5)


@pytest.mark.parametrize("least", [0, -3])
def test_a_least_below_one_is_refused(least: int) -> None:
    with pytest.raises(ConfigError, match=r"least .* must be 1 or more, as in 5"):
        split_per_user(log_of([10]), 0.2, least=least)


def test_a_log_in_which_all_only_train_is_refused() -> None:
    with pytest.raises(DataError, match=r"7 rows leave none for test under per-user\(0\.7/0\.1/0\.2, least=5\)"):
        split_per_user(log_of([3, 4]), 0.2, validation=0.1, least=5)
