"""Tests of whether a slice was drawn at random: uniform p of random slices, tiny p of selected ones."""

import numpy as np
import pytest
from scipy.stats import binom, kstest

from unskew import Interactions, Split
from unskew.arrays import Bools, Floats, Ints
from unskew.errors import DataError
from unskew.evaluation.collecting import slice_draw
from unskew.evaluation.collecting.slice_draw import DrawTest, refuse_selected
from unskew.imputation import LabelledRows
from unskew.ranking import Contest, MatrixScorer, everyone, prepare_contest
from unskew.simulators.selection_world import draw_outside

USERS, ITEMS, ROWS = 120, 60, 500


def world(rule: str = "unseen") -> tuple[Contest, Bools]:
    """The contest of all users of a skewed log, and which pairs are in train."""
    rng = np.random.default_rng(0)
    popular = 0.6 / np.arange(1, ITEMS + 1) ** 0.6
    seen = rng.random((USERS, ITEMS)) < popular
    users, items = np.nonzero(seen)
    train = Interactions.from_arrays(users, items, n_users=USERS, n_items=ITEMS)
    test = Interactions.from_arrays(*draw_outside(seen, 50, 1), n_users=USERS, n_items=ITEMS)
    split = Split(train, test, candidates=rule)
    contest = prepare_contest({"m": MatrixScorer(np.zeros((USERS, ITEMS)))}, split)
    return everyone(contest, split), seen


def drawn(users: Ints, items: Ints) -> LabelledRows:
    order = np.lexsort((items, users))
    return LabelledRows(users[order], items[order], np.zeros(len(users)), USERS, ITEMS, "slice.csv")


def verdict(rows: LabelledRows, contest: Contest, seen: Bools) -> DrawTest:
    return slice_draw.test_draw(rows, contest, rows.items, np.log1p(seen.sum(axis=0)))


def of_random_slices(rule: str, rows: int, draws: int = 400) -> tuple[Floats, Floats]:
    contest, seen = world(rule)
    outside = seen if rule == "unseen" else np.zeros_like(seen)
    tests = [verdict(drawn(*draw_outside(outside, rows, seed)), contest, seen) for seed in range(draws)]
    return np.array([each.p_items for each in tests]), np.array([each.p_popularity for each in tests])


@pytest.mark.parametrize(("rule", "rows"), [("unseen", 70), ("all", 70), ("unseen", ROWS), ("unseen", 2000)])
def test_the_p_of_random_slices_is_roughly_uniform(rule: str, rows: int) -> None:
    """Kolmogorov and Smirnov's test at 1 in 10,000, of 400 slices of 1 % to a third of the candidates."""
    for p in of_random_slices(rule, rows):
        assert kstest(p, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("rows", [10, 30, ROWS, 2000])
def test_random_slices_of_any_size_are_not_taken_for_selected(rows: int) -> None:
    """At most the 99.99 % quantile of 5 % is rejected."""
    for p in of_random_slices("unseen", rows):
        assert np.sum(p < 0.05) <= binom.ppf(0.9999, 400, 0.05)


@pytest.mark.parametrize(("sign", "kind"), [(1.0, "more"), (-1.0, "less")])
def test_a_slice_by_popularity_has_a_tiny_p_and_is_refused(sign: float, kind: str) -> None:
    contest, seen = world()
    rng = np.random.default_rng(1)
    weight = np.where(seen, 0.0, np.exp(sign * np.log1p(seen.sum(axis=0))))
    cells = rng.choice(seen.size, ROWS, replace=False, p=(weight / weight.sum()).ravel())
    test = verdict(drawn(cells // ITEMS, cells % ITEMS), contest, seen)
    assert test.p_popularity < 1e-6
    assert test.p_items < 1e-6
    assert test.more_popular is (sign > 0)
    with pytest.raises(
        DataError,
        match=rf"^slice\.csv: its items are {kind} popular than the candidates .* it is not random; draw items",
    ):
        refuse_selected(test, "slice.csv")


def test_a_slice_of_few_items_that_are_as_popular_as_others_fails_by_items_alone() -> None:
    """Every fourth item has all rows."""
    contest, seen = world("all")
    users, items = draw_outside(np.broadcast_to(np.arange(ITEMS) % 4 != 1, seen.shape), ROWS, 3)
    test = verdict(drawn(users, items), contest, seen)
    assert test.p_items < 1e-6
    refuse_selected(DrawTest(test.p_items, 0.5, more_popular=True), "slice.csv")  # only popularity refuses


def test_a_user_who_was_drawn_more_often_is_compared_with_the_own_candidates() -> None:
    """Which users are drawn does not matter, because each row is compared with the candidates of its user."""
    contest, seen = world()
    outside = seen.copy()
    outside[seen.sum(axis=1) < np.median(seen.sum(axis=1))] = True  # the active half alone
    p = [verdict(drawn(*draw_outside(outside, ROWS, seed)), contest, seen).p_popularity for seed in range(300)]
    assert kstest(p, "uniform").pvalue > 1e-4


def test_items_that_are_all_equally_popular_have_nothing_to_test() -> None:
    contest, seen = world("all")
    rows = drawn(*draw_outside(np.zeros_like(seen), ROWS, 1))
    test = slice_draw.test_draw(rows, contest, rows.items, np.ones(ITEMS))
    assert test.p_popularity == 1
