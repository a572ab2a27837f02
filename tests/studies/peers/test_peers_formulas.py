"""Other packages' formulas, on three users by hand, and what holds for all logs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unskew.studies.peers import formulas
from unskew.studies.peers.formulas import Lists

# user 0 has two positives, one of them second in the list; user 1 has one, in the first place; user 2 has none
TOP = np.array([[3, 0], [1, 2], [0, 1]])
POSITIVE = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=bool)
LISTS = Lists(TOP, POSITIVE)
SECOND = 1 / np.log2(3)
WEIGHT = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    "formula, expected",
    [
        (formulas.recall, (1 / 2 + 1) / 2),
        (formulas.hits, (1 + 1) / 2),
        (formulas.dcg, (SECOND + 1) / 2),
        (formulas.adg, (SECOND / 2 + 1) / 2),
        (formulas.ndcg, (SECOND / (1 + SECOND) + 1) / 2),
    ],
)
def test_plain_averages_by_hand(formula, expected):
    assert formula(LISTS) == pytest.approx(expected)


def test_weighted_metrics_by_hand():
    assert formulas.weighted_recall(LISTS, WEIGHT) == pytest.approx((1 / (1 + 3) + 1) / 2)
    # the best order of user 0 has the weight 3 first
    assert formulas.weighted_ndcg(LISTS, WEIGHT) == pytest.approx((SECOND / (3 + SECOND) + 1) / 2)
    assert formulas.ips_recall(LISTS, 1 / WEIGHT) == pytest.approx((1 / 2 + 2 / 1) / 2)
    assert formulas.ips_dcg(LISTS, 1 / WEIGHT) == pytest.approx((SECOND + 2) / 2)
    assert formulas.snips_dcg(LISTS, 1 / WEIGHT) == pytest.approx((SECOND / 4 + 2 / 2) / 2)


def test_propensities_have_a_floor_and_end_at_one():
    assert formulas.popularity_propensity(np.array([100, 25, 1, 0])) == pytest.approx([1, 0.5, 0.1, 0.1])


def test_hits_are_weighted_by_inverse_shares_up_to_a_cap():
    assert formulas.ips_hits(LISTS, np.array([1, 3, 0, 0])) == pytest.approx((4 / 1 + 4 / 3) / 2)
    assert formulas.ips_hits(LISTS, np.array([1, 0, 0, 99_999])) == pytest.approx((10_000 + 0) / 2)


def test_items_beyond_the_limit_lose_positives():
    # counts 1, 1, 1, 2, 9: quartiles 1 and 2, so the limit is 2 + 1.5
    positive = np.zeros((9, 5), dtype=bool)
    for item, count in enumerate((1, 1, 1, 2, 9)):
        positive[:count, item] = True
    kept = formulas.without_excess(positive, np.random.default_rng(0))
    assert kept.sum(axis=0).tolist() == [1, 1, 1, 2, 3]
    again = formulas.without_excess(positive, np.random.default_rng(1))
    assert again.sum() == kept.sum()
    assert not np.array_equal(again, kept)


@given(hnp.arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 8))).filter(np.any), st.integers(0, 99))
def test_only_excess_is_dropped(positive, seed):
    kept = formulas.without_excess(positive, np.random.default_rng(seed))
    counts = positive.sum(axis=0)
    first, third = np.quantile(counts[counts > 0], [0.25, 0.75])
    limit = int(third + 1.5 * (third - first))
    assert not (kept & ~positive).any()
    assert kept.sum(axis=0).tolist() == np.minimum(counts, limit).tolist()


@given(hnp.arrays(bool, (6, 5)).filter(np.any), st.integers(0, 99))
def test_equal_weights_change_nothing(positive, seed):
    top = np.array([np.random.default_rng([seed, user]).permutation(5)[:3] for user in range(6)])
    lists, ones = Lists(top, positive), np.ones(5)
    assert formulas.weighted_recall(lists, ones) == pytest.approx(formulas.recall(lists))
    assert formulas.weighted_ndcg(lists, 3 * ones) == pytest.approx(formulas.ndcg(lists))
    assert formulas.ips_recall(lists, ones) == pytest.approx(formulas.recall(lists))
    assert formulas.ips_dcg(lists, ones) == pytest.approx(formulas.dcg(lists))
    assert formulas.snips_dcg(lists, ones) == pytest.approx(formulas.adg(lists))
