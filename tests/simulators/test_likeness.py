"""The four distributions of a log (Tian & Ekstrand 2020, section 3.3)."""

import math
import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.simulators import likeness as statistics
from unskew.simulators.likeness import LEAST_ROWS, Histogram, measure, sample_pairs


def log_of(baskets):
    users = [user for user, basket in enumerate(baskets) for _ in basket]
    items = [item for basket in baskets for item in basket]
    return Interactions.from_arrays(users, items, n_users=len(baskets), n_items=1 + max(items))


def random_log(seed=0, users=40, items=30, share=0.3):
    rng = np.random.default_rng(seed)
    rows = np.argwhere(rng.random((users, items)) < share * rng.random(items) * 2)
    return Interactions.from_arrays(rows[:, 0], rows[:, 1], n_users=users, n_items=items)


def counts_of(histogram):
    return dict(zip(histogram.cells.tolist(), histogram.counts.tolist(), strict=True))


def test_levels_of_popularity_and_activity_are_counted_by_hand():
    """Users with 2, 1 and 2 items; items 0, 1 and 3 with 2, 2 and 1 users; item 2 is in no row and counts nowhere."""
    found = measure(log_of([[0, 1], [1], [0, 3]]))
    assert counts_of(found.user_activity) == {1: 1, 2: 2}
    assert counts_of(found.item_popularity) == {1: 1, 2: 2}


def test_similarities_are_those_of_the_definition(monkeypatch):
    """All pairs with at least five rows each are taken, by loops over sets."""
    monkeypatch.setattr(statistics, "sample_pairs", lambda n, rng, most: tuple(np.triu_indices(n, 1)))
    log = random_log()
    found = measure(log)
    for own, other, histogram, edges in (
        (log.users, log.items, found.user_similarity, found.user_edges),
        (log.items, log.users, found.item_similarity, found.item_edges),
    ):
        sets = [set(other[own == code].tolist()) for code in range(own.max() + 1)]
        sets = [each for each in sets if len(each) >= LEAST_ROWS]
        cosines = [len(a & b) / math.sqrt(len(a) * len(b)) for a, b in combinations(sets, 2)]
        expected = np.histogram(cosines, bins=edges)[0]
        dense = np.zeros(len(edges) - 1, dtype=int)
        dense[histogram.cells] = histogram.counts
        assert dense.sum() == len(cosines)
        # a cosine on the very edge of a bin may fall to either side
        assert np.abs(np.cumsum(dense) - np.cumsum(expected)).max() <= 2
        assert np.array_equal(edges, np.histogram_bin_edges(cosines, bins="auto", range=(-1, 1)))


def test_equal_users_are_in_the_last_bin_and_disjoint_ones_in_that_of_zero():
    alike = measure(log_of([list(range(6))] * 12))
    assert counts_of(alike.user_similarity).keys() == {len(alike.user_edges) - 2}
    apart = measure(log_of([list(range(6 * k, 6 * k + 6)) for k in range(12)]))
    edges = apart.user_edges
    (bin_of_zero,) = counts_of(apart.user_similarity)
    assert edges[bin_of_zero] <= 0 < edges[bin_of_zero + 1]


def test_users_with_fewer_than_five_rows_have_no_similarity():
    found = measure(log_of([[0, 1, 2, 3]] * 20))
    assert found.user_similarity.total == 0
    assert found.item_similarity.total > 0


@pytest.mark.parametrize("n", [0, 1, 2, 5, 40, 300])
def test_pairs_are_distinct_ordered_and_no_more_than_a_fifth(n):
    first, second = sample_pairs(n, np.random.default_rng(0))
    assert np.all(first < second)
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(first)
    assert len(first) <= 0.2 * n * (n - 1) / 2
    assert np.all(np.diff(first) >= 0)


def test_no_more_pairs_than_asked_for():
    assert len(sample_pairs(300, np.random.default_rng(0), most=50)[0]) <= 50
    assert measure(random_log(), pairs=7).user_similarity.total <= 7


def test_a_seed_gives_the_same_pairs_and_another_gives_others():
    log = random_log(users=80)
    assert counts_of(measure(log, 3).user_similarity) == counts_of(measure(log, 3).user_similarity)
    assert counts_of(measure(log, 3).user_similarity) != counts_of(measure(log, 4).user_similarity)


def test_a_simulated_log_has_the_bins_of_the_real_one():
    real = measure(random_log(0))
    other = measure(random_log(1, share=0.5), reference=real)
    assert np.array_equal(other.user_edges, real.user_edges)
    assert np.array_equal(other.item_edges, real.item_edges)
    assert not np.array_equal(measure(random_log(1, share=0.5)).user_edges, real.user_edges)


def test_bins_are_limited_when_nearly_all_similarities_are_equal():
    cosines = np.random.default_rng(0).normal(0.5, 1e-6, 1000)
    assert len(statistics._edges(cosines)) == statistics.MOST_BINS + 1


def test_the_order_of_the_rows_does_not_matter():
    log = random_log()
    turned = log.take(np.arange(len(log))[::-1])
    for name in statistics.STATISTICS:
        assert counts_of(measure(log)[name]) == counts_of(measure(turned)[name])


def test_a_histogram_knows_its_total():
    assert Histogram.of(np.array([1, 1, 0, 4])).total == 3


def test_a_million_rows_take_about_a_second():
    """0.8 s of processor time were measured; twenty times as much would mean that a kernel is not compiled."""
    folder = Path(os.environ.get("UNSKEW_DATA", "nowhere")) / "ml-1m"
    if status_of(get_source("ml-1m"), folder).presence == "absent":
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds ml-1m")
    log = get_source("ml-1m").read(folder)
    measure(log, pairs=10)
    start = time.process_time()
    measure(log)
    assert time.process_time() - start < 15
