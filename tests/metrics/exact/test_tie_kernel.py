"""The closed forms against exact sums of fractions, in groups too large to enumerate."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from unskew.metrics import UserLists, parse_metric

# a others above, n in the group, p positives: short and long, both directions of the recursion
GROUPS = [
    (0, 65, 1), (0, 300, 300), (0, 3000, 2), (7, 200, 40), (500, 100, 3), (900, 300, 12), (3000, 80, 70),
    (20, 400, 399), (2000, 66, 2), (5, 40, 6), (0, 1, 1), (11, 500, 150),
]  # fmt: skip


def group(a: int, n: int, p: int) -> UserLists:
    above = np.full(p, a)
    return UserLists.from_rows(np.array([0, p]), above, np.full(p, n - 1), np.full(p, a + n + 5))


@pytest.mark.parametrize("a, n, p", GROUPS)
@pytest.mark.parametrize("k", [None, 10, 550, 3050])
def test_reciprocal_rank_of_a_large_group(a, n, p, k):
    last = n if k is None else max(min(n, k - a), 0)
    exact = sum(Fraction(comb(n - t, p - 1), comb(n, p)) / (a + t) for t in range(1, last + 1))
    metric = parse_metric("mrr" if k is None else f"mrr@{k}")
    assert metric.values(group(a, n, p))[0] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("a, n, p", GROUPS)
@pytest.mark.parametrize("k", [None, 10, 550, 3050])
def test_average_precision_of_a_large_group(a, n, p, k):
    last = n if k is None else max(min(n, k - a), 0)
    slope = Fraction(p - 1, max(n - 1, 1))
    exact = sum(Fraction(p, n) * (1 + (t - 1) * slope) / (a + t) for t in range(1, last + 1)) / p
    metric = parse_metric("map" if k is None else f"map@{k}")
    assert metric.values(group(a, n, p))[0] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("a, n, p", GROUPS)
@pytest.mark.parametrize("k", [10, 550, 3050])
def test_hit_chance_of_a_large_group(a, n, p, k):
    seen = max(min(n, k - a), 0)
    exact = 1 - Fraction(comb(n - seen, p), comb(n, p))
    assert parse_metric(f"hit@{k}").values(group(a, n, p))[0] == pytest.approx(float(exact), rel=1e-10)
