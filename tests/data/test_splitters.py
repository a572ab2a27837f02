"""Ways to hold out: seeded, without overlap, nothing lost, propensities rewritten."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.data import (
    split_fractions,
    split_leave_one_out,
    split_per_user,
    split_temporal,
    test_propensity,
)
from unskew.errors import ConfigError, DataError

SPLITTERS: dict[str, Callable[[Interactions, int], Split]] = {
    "fractions of two": lambda log, seed: split_fractions(log, (80, 20), rng=seed),
    "fractions of three": lambda log, seed: split_fractions(log, rng=seed),
    "per user": lambda log, seed: split_per_user(log, 0.3, rng=seed),
    "leave one out": lambda log, seed: split_leave_one_out(log, rng=seed),
    "temporal": lambda log, seed: split_temporal(log, 0.25),
}
SEEDED = [name for name in SPLITTERS if name != "temporal"]


def some_log(rows: int = 400, seed: int = 0, *, times: bool = True, propensity: bool = False) -> Interactions:
    rng = np.random.default_rng(seed)
    return Interactions.from_arrays(
        rng.integers(0, 30, rows),
        rng.integers(100, 160, rows),
        values=rng.integers(1, 6, rows),
        times=rng.integers(0, 50, rows) if times else None,
        propensity=rng.uniform(0.1, 1, rows) if propensity else None,
    )


def keys(part: Interactions | None) -> set[tuple[int, int]]:
    if part is None:
        return set()
    users, items = part.user_vocabulary.decode(part.users), part.item_vocabulary.decode(part.items)
    return set(zip(users.tolist(), items.tolist(), strict=True))


@pytest.mark.parametrize("name", SPLITTERS)
@given(seed=st.integers(0, 1000))
def test_parts_do_not_overlap_and_together_are_the_log(name: str, seed: int) -> None:
    log = some_log(seed=seed)
    split = SPLITTERS[name](log, seed)
    parts = [keys(split.train), keys(split.validation), keys(split.test)]
    assert sum(map(len, parts)) == len(log)
    assert set.union(*parts) == keys(log)


@pytest.mark.parametrize("name", SPLITTERS)
def test_columns_stay_with_their_rows(name: str) -> None:
    log = some_log()
    wanted = {row[:2]: row[2:] for row in log.to_polars().rows()}
    split = SPLITTERS[name](log, 0)
    for part in (split.train, split.test):
        assert all(wanted[row[:2]] == row[2:] for row in part.to_polars().rows())


@pytest.mark.parametrize("name", SEEDED)
def test_the_seed_decides(name: str) -> None:
    log = some_log(times=False)
    first, again, other = (keys(SPLITTERS[name](log, seed).test) for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", SPLITTERS)
def test_how_a_split_was_made_is_recorded(name: str) -> None:
    log = some_log(times=name == "temporal")
    assert (
        SPLITTERS[name](log, 3).origin
        == {
            "fractions of two": "fractions(80/20), seed 3",
            "fractions of three": "fractions(70/15/15), seed 3",
            "per user": "per-user(0.3), seed 3",
            "leave one out": "leave-one-out(random), seed 3",
            "temporal": "temporal(0.25)",
        }[name]
    )


def test_fractions_have_their_sizes_to_the_nearest_row() -> None:
    log = some_log()
    split = split_fractions(log, (0.7, 0.1, 0.2))
    assert split.validation is not None
    sizes = [len(split.train), len(split.validation), len(split.test)]
    assert sizes == pytest.approx(np.array([0.7, 0.1, 0.2]) * len(log), abs=1)


def test_per_user_holds_out_the_nearest_whole_number_of_each_user() -> None:
    log = some_log()
    split = split_per_user(log, 0.3)
    held = split.test.user_counts
    assert held.tolist() == np.floor(0.3 * log.user_counts + 0.5).tolist()


def test_per_user_draws_every_row_equally_often() -> None:
    """Chi-square on 10 rows, one held out in 2,000 splits: error rate 0.001 (9 degrees of freedom, 27.88)."""
    log = Interactions.from_arrays(np.zeros(10, int), np.arange(10), n_users=1, n_items=10)
    rng = np.random.default_rng(0)
    counts = sum(split_per_user(log, 0.1, rng=rng).test.item_counts for _ in range(2000))
    assert np.sum((counts - 200) ** 2 / 200) < 27.88


def test_leave_one_out_takes_each_users_latest_row_and_leaves_single_rows() -> None:
    log = Interactions.from_arrays([1, 1, 1, 2, 3, 3], [1, 2, 3, 1, 2, 3], times=[5, 9, 7, 1, 4, 3])
    split = split_leave_one_out(log)
    assert keys(split.test) == {(1, 2), (3, 2)}
    assert split.origin == "leave-one-out(latest)"


def test_leave_one_out_without_times_takes_one_row_of_each_user() -> None:
    log = some_log(times=False)
    split = split_leave_one_out(log)
    assert split.test.user_counts.tolist() == (log.user_counts > 1).astype(int).tolist()


@given(seed=st.integers(0, 1000), share=st.floats(0.05, 0.9))
def test_a_temporal_split_never_trains_on_the_future(seed: int, share: float) -> None:
    split = split_temporal(some_log(seed=seed), share)
    assert split.train.times is not None
    assert split.test.times is not None
    assert split.train.times.max() < split.test.times.min()


@pytest.mark.parametrize("held", [1, 20, 29, 57, 58, 99])
def test_a_temporal_split_holds_out_the_share_when_times_differ(held: int) -> None:
    log = Interactions.from_arrays(np.zeros(100, int), np.arange(100), times=np.random.default_rng(0).permutation(100))
    split = split_temporal(log, held / 100)
    assert len(split.test) == held
    assert split.test.times is not None
    assert split.test.times.min() == 100 - held


def test_equal_times_stay_together_in_train() -> None:
    log = Interactions.from_arrays(np.zeros(10, int), np.arange(10), times=[0] * 5 + [1] * 3 + [2] * 2)
    assert len(split_temporal(log, 0.3).test) == 2


@pytest.mark.parametrize("fractions", [(100,), (1, 1, 1, 1), (0.5, 0), (0.5, -0.5, 1), ()])
def test_impossible_fractions_are_refused(fractions: tuple[float, ...]) -> None:
    with pytest.raises(ConfigError, match="two or three positive parts, as in 70/15/15"):
        split_fractions(some_log(), fractions)


def test_fractions_sum_to_the_whole_but_for_rounding() -> None:
    with pytest.raises(ConfigError, match=r"80/30 sum to 110, not to 100 or 1; write 80/20, or 72\.73/27\.27"):
        split_fractions(some_log(), (80, 30))
    third = split_fractions(some_log(), (33.3, 33.3, 33.3))
    exact = split_fractions(some_log(), (1 / 3, 1 / 3, 1 / 3))
    assert len(third.test) == len(exact.test)


@pytest.mark.parametrize("share", [0, 1, -0.2, 1.5, float("nan")])
def test_impossible_shares_are_refused(share: float) -> None:
    for split in (split_per_user, split_temporal):
        with pytest.raises(ConfigError, match=r"must be between 0 and 1, as in 0\.2"):
            split(some_log(), share)


def test_a_part_left_empty_is_refused() -> None:
    log = Interactions.from_arrays([1, 2], [1, 2], times=[3, 3], name="log")
    with pytest.raises(DataError, match=r"log: no row is later than the start of the last 0.2"):
        split_temporal(log)
    with pytest.raises(DataError, match="none for test under leave-one-out"):
        split_leave_one_out(log)
    with pytest.raises(DataError, match="none for train"):
        split_per_user(log, 0.9)


def test_a_temporal_split_needs_times() -> None:
    with pytest.raises(DataError, match="no column 'timestamp', which a temporal split needs"):
        split_temporal(some_log(times=False))


def test_the_rewritten_propensity_is_the_formula_of_the_design() -> None:
    """P becomes h P / (1 - (1-h) P) for a random holdout share h."""
    observed = np.array([0.1, 0.5, 1.0])
    h = 0.2
    assert test_propensity(observed, 1 - h, h) == pytest.approx(h * observed / (1 - (1 - h) * observed), rel=1e-12)
    assert test_propensity(np.array([1.0]), 0.8, 0.2).tolist() == [pytest.approx(1.0)]


@pytest.mark.parametrize("fractions", [(80, 20), (70, 10, 20)], ids=["two parts", "three parts"])
def test_the_rewritten_propensity_is_the_chance_to_be_in_the_test_for_a_candidate(fractions: tuple[float, ...]) -> None:
    """Monte Carlo over observation and split, 4 standard errors: a candidate is what did not go to train."""
    rng = np.random.default_rng(1)
    observation, draws = 0.6, 200_000
    shares = np.array(fractions) / sum(fractions)
    seen = rng.random(draws) < observation
    part = rng.choice(len(shares), draws, p=shares)
    candidate = ~(seen & (part == 0))
    hit = seen & (part == len(shares) - 1)
    rate = hit.sum() / candidate.sum()
    expected = float(test_propensity(np.array([observation]), shares[0], shares[-1])[0])
    assert abs(rate - expected) < 4 * np.sqrt(expected * (1 - expected) / candidate.sum())


def test_random_splits_rewrite_the_propensity_of_the_test_only() -> None:
    log = some_log(propensity=True)
    before = {row[:2]: row[-1] for row in log.to_polars().rows()}
    for split, t, h in (
        (split_fractions(log, (80, 20)), 0.8, 0.2),
        (split_fractions(log, (70, 10, 20)), 0.7, 0.2),
        (split_per_user(log, 0.25), 0.75, 0.25),
    ):
        for row in split.test.to_polars().rows():
            assert row[-1] == pytest.approx(h * before[row[:2]] / (1 - t * before[row[:2]]), rel=1e-12)
        assert {row[:2]: row[-1] for row in split.train.to_polars().rows()}.items() <= before.items()


def test_splits_that_are_not_random_drop_the_propensity() -> None:
    """It would mean something else: which row is the latest is no coin toss."""
    log = some_log(propensity=True)
    assert split_temporal(log).test.propensity is None
    assert split_leave_one_out(log).test.propensity is None


def test_validation_rows_get_the_propensity_of_being_in_validation() -> None:
    """P of 1/2, and 60/20/20: a row is no candidate with chance .3, and in validation with chance .1."""
    users, items = np.divmod(np.arange(600), 20)
    log = Interactions.from_arrays(users, items, propensity=np.full(600, 0.5))
    for split in (
        split_fractions(log, (60, 20, 20), rng=1),
        split_per_user(log, 0.2, validation=0.2, rng=1),
    ):
        assert split.validation.propensity == pytest.approx(np.full(120, 0.1 / 0.7))
        assert split.test.propensity == pytest.approx(np.full(120, 0.1 / 0.7))
        assert split.train.propensity == pytest.approx(np.full(360, 0.5))
    uneven = split_fractions(log, (60, 10, 30), rng=1)
    assert uneven.validation.propensity == pytest.approx(np.full(60, 0.05 / 0.7))
