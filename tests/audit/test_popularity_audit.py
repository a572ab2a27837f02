"""How skewed a log is, worked out by hand and by properties."""

import numpy as np
import pytest
from audited_logs import tiny
from hypothesis import given
from hypothesis import strategies as st

from unskew import DataError, Interactions
from unskew.audit.popularity import measure_log, part_items, stratum_of
from unskew.data.concentration import gini, lorenz

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=40).filter(lambda counts: sum(counts) > 0)


def log_of(counts: list[int]) -> Interactions:
    """A log in which the k-th item has so many rows, of as many users."""
    items = np.repeat(np.arange(len(counts)), counts)
    users = np.concatenate([np.arange(count) for count in counts])
    return Interactions.from_arrays(users, items, n_users=max(counts), n_items=len(counts))


def test_the_log_worked_by_hand():
    found = measure_log(tiny())
    assert (found.users, found.items, found.rows, found.never) == (4, 4, 8, 0)
    assert found.density == 0.5  # 8 of 4 x 4
    assert found.levels.tolist() == [1, 2, 4]
    assert found.items_at.tolist() == [2, 1, 1]
    assert (found.largest, found.median, found.once) == (4, 1.5, 2)
    # (-3 x 1 - 1 x 1 + 1 x 2 + 3 x 4) / (4 x 8)
    assert found.gini == 0.3125
    assert found.popularity.tolist() == [1, 1, 2, 4]


def test_shares_of_the_top_round_the_items_up():
    found = measure_log(tiny(), shares=(0.01, 0.25, 0.3, 1.0))
    assert [(part.items, part.rows) for part in found.top] == [(1, 0.5), (1, 0.5), (2, 0.75), (4, 1.0)]
    assert found.top_share(0.3).rows == 0.75


def test_items_that_were_declared_but_never_seen_count_as_such():
    found = measure_log(log_of([3, 1, 0, 0]))
    assert (found.items, found.never) == (2, 2)
    # (-3 x 0 - 1 x 0 + 1 x 1 + 3 x 3) / (4 x 4)
    assert found.gini == 0.625
    assert found.popularity.tolist() == [0, 0, 1, 3]


def test_strata_worked_by_hand():
    # a ends at 4/8 and its middle is 1/4, that of b 5/8, that of c and d together 7/8
    strata = part_items(tiny())
    assert strata.of_item.tolist() == [0, 1, 2, 2]
    assert strata.items.tolist() == [1, 1, 2]
    assert strata.rows.tolist() == [4, 2, 2]
    assert [strata.bounds(k) for k in range(3)] == [(4, 4), (2, 2), (1, 1)]
    assert strata.shares(np.array([1.0, 1.0, 2.0, 0.0])).tolist() == [0.25, 0.25, 0.5]


@pytest.mark.parametrize(
    ("popularity", "strata"),
    [
        ([90, 5, 5], [0, 2, 2]),  # one item with nearly everything is still the head
        ([2, 1, 1, 1, 1, 1, 1, 1, 1], [0, *[2] * 8]),  # and items seen once still the tail
        ([3, 3, 3], [1, 1, 1]),  # equally popular: neither
        ([5, 1, 0, 0], [0, 2, 2, 2]),
        ([3, 3, 0], [1, 1, 2]),
        ([4, 3, 2, 2, 1], [0, 1, 2, 2, 2]),  # the two items of 2 rows lie around 9/12
    ],
)
def test_strata_of_odd_logs(popularity, strata):
    assert stratum_of(np.array(popularity)).tolist() == strata


def test_a_log_without_rows_or_with_one_item_is_refused():
    with pytest.raises(DataError, match="no row to audit"):
        measure_log(Interactions.from_arrays([], [], n_users=2, n_items=2))
    with pytest.raises(DataError, match="only one item"):
        measure_log(Interactions.from_arrays([1, 2], ["a", "a"]))


@given(COUNTS)
def test_gini_lies_between_0_and_1_and_ignores_scale_and_order(counts):
    amounts = np.array(counts, dtype=float)
    found = gini(amounts)
    assert 0 <= found <= 1 - 1 / len(counts) + 1e-12
    assert gini(7 * amounts[::-1]) == pytest.approx(found, abs=1e-12)


@given(COUNTS)
def test_gini_is_the_mean_difference_over_twice_the_mean(counts):
    amounts = np.array(counts, dtype=float)
    differences = np.abs(amounts[:, None] - amounts[None, :]).mean()
    assert gini(amounts) == pytest.approx(differences / (2 * amounts.mean()), abs=1e-12)


@given(st.integers(1, 50), st.integers(1, 9))
def test_gini_of_equal_amounts_is_0(n, amount):
    assert gini(np.full(n, float(amount))) == 0


@given(COUNTS)
def test_a_lorenz_curve_rises_below_the_diagonal_and_has_the_gini_between(counts):
    shares, reached = lorenz(np.array(counts, dtype=float))
    assert (shares[0], reached[0], shares[-1]) == (0, 0, 1)
    assert reached[-1] == pytest.approx(1)
    assert np.all(np.diff(reached) >= 0)
    assert np.all(reached <= shares + 1e-12)
    area = np.sum(np.diff(shares) * (reached[1:] + reached[:-1]) / 2)
    assert 1 - 2 * area == pytest.approx(gini(np.array(counts, dtype=float)), abs=1e-9)


@given(COUNTS)
def test_strata_go_down_with_popularity_and_keep_equals_together(counts):
    popularity = np.array(counts)
    stratum = stratum_of(popularity)
    order = np.argsort(-popularity, kind="stable")
    assert np.all(np.diff(stratum[order]) >= 0)
    for level in np.unique(popularity):
        assert len(np.unique(stratum[popularity == level])) == 1
    seen = np.unique(popularity[popularity > 0])
    if len(seen) > 1:
        assert {0, 2} <= set(stratum.tolist())


@given(COUNTS, st.randoms(use_true_random=False))
def test_names_of_items_do_not_matter(counts, random):
    order = list(range(len(counts)))
    random.shuffle(order)
    strata, shuffled = (part_items(log_of(c)) for c in (counts, [counts[k] for k in order]))
    assert strata.rows.tolist() == shuffled.rows.tolist()
    assert strata.items.tolist() == shuffled.items.tolist()
    assert strata.of_item[order].tolist() == shuffled.of_item.tolist()
    assert int(strata.rows.sum()) == sum(counts)
    if len(counts) > 1:
        assert measure_log(log_of(counts)).to_dict() == measure_log(log_of([counts[k] for k in order])).to_dict()
