"""Sampled ranks corrected towards full ones, against exact hypergeometric expectations (Krichene & Rendle 2020)."""

from itertools import product
from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from unskew.arrays import Floats
from unskew.metrics import Metric, parse_metric
from unskew.metrics.exact.sampled_correction import (
    BiasVariance,
    SampledRows,
    bias_variance_table,
    pools_for,
    unbiased_gains,
)


def mean_metric(word: str) -> Metric:
    metric = parse_metric(word)
    assert isinstance(metric, Metric)
    return metric


def chances(pool: int, drawn: int) -> Floats:
    """P(a | A) by A and a: hypergeometric."""
    rows = [[comb(A, a) * comb(pool - A, drawn - a) / comb(pool, drawn) for a in range(drawn + 1)] for A in span(pool)]
    return np.array(rows)


def span(pool: int) -> range:
    return range(pool + 1)


def rows_with(
    above: npt.ArrayLike,
    *,
    pool: npt.ArrayLike,
    drawn: int,
    tied: npt.ArrayLike = 0,
    p: npt.ArrayLike = 0,
    q: npt.ArrayLike = 0,
    positives: int = 1,
) -> SampledRows:
    columns = np.broadcast_arrays(p, q, above, tied, drawn, pool, positives)
    return SampledRows(*(np.atleast_1d(column).astype(np.int64) for column in columns))


def unbiased(metric: Metric, pool: int, drawn: int, p: int = 0, positives: int = 1) -> Floats:
    """The estimate by a = 0, ..., n."""
    return unbiased_gains(metric, rows_with(np.arange(drawn + 1), pool=pool, drawn=drawn, p=p, positives=positives))


def full(metric: Metric, pool: int, p: int = 0, positives: int = 1) -> Floats:
    """The gain wanted, by A = 0, ..., N."""
    places = p + np.arange(pool + 1)
    return metric.gain(places, np.full(places.size, pool + positives))


@pytest.mark.parametrize("word", ["auc", "auc(literal)", "atop"])
@pytest.mark.parametrize(
    ("pool", "drawn", "p", "positives"), [(12, 5, 0, 1), (30, 7, 2, 5), (9, 9, 1, 2), (40, 1, 0, 3)]
)
def test_metrics_linear_in_the_rank_are_exact_in_expectation(
    word: str, pool: int, drawn: int, p: int, positives: int
) -> None:
    metric = mean_metric(word)
    expected = chances(pool, drawn) @ unbiased(metric, pool, drawn, p, positives)
    np.testing.assert_allclose(expected, full(metric, pool, p, positives), rtol=0, atol=1e-13)


def expected_over_draws(metric: Metric, above: int, tied: int, q: int, *, pool: int, drawn: int) -> float:
    """E of the unbiased form when `above` of the pool stand above the item and `tied` are tied, with q positives."""
    total = 0.0
    for a, t in product(range(above + 1), range(tied + 1)):
        rest = drawn - a - t
        if 0 <= rest <= pool - above - tied:
            chance = comb(above, a) * comb(tied, t) * comb(pool - above - tied, rest) / comb(pool, drawn)
            rows = rows_with(a, pool=pool, drawn=drawn, tied=t, p=1, q=q, positives=4)
            total += chance * unbiased_gains(metric, rows)[0]
    return total


@pytest.mark.parametrize(("above", "tied", "q"), [(0, 4, 0), (3, 2, 1), (5, 6, 2), (2, 0, 2)])
def test_with_ties_the_expectation_is_the_mean_over_all_orders(above: int, tied: int, q: int) -> None:
    """AUC: that of the ranks in full. ADG@6: the mean, over the places in the whole tie group, of E[f(p, a)]."""
    pool, drawn = 14, 5
    at = {"pool": pool, "drawn": drawn}
    auc = mean_metric("auc")
    true = auc.expected(np.array([1 + above]), np.array([tied + q]), np.array([pool + 4]))[0]
    assert expected_over_draws(auc, above, tied, q, **at) == pytest.approx(true, abs=1e-13)
    adg = mean_metric("adg@6")
    law, mean = chances(pool, drawn), 0.0
    for x, y in product(range(q + 1), range(tied + 1)):
        order = comb(q, x) * comb(tied, y) / comb(q + tied, x + y) / (q + tied + 1)
        mean += order * float(law[above + y] @ unbiased(adg, pool, drawn, 1 + x, 4))
    assert expected_over_draws(adg, above, tied, q, **at) == pytest.approx(mean, abs=1e-13)


@pytest.mark.parametrize(
    ("pool", "drawn", "gamma"), [(60, 8, 0.1), (45, 12, 0.3), (25, 25, 0.1), (40, 6, 0.0), (30, 1, 0.1)]
)
@pytest.mark.parametrize("word", ["recall@9", "adg@9", "adg"])
def test_the_table_solves_the_least_squares_problem(word: str, pool: int, drawn: int, gamma: float) -> None:
    """((1 - gamma) H'H + gamma diag(H'1)) f = H'c, with H the law of a given A, solved as it stands."""
    metric, law = mean_metric(word), chances(pool, drawn)
    table = bias_variance_table(metric, pool, drawn, np.array([0, 3]), gamma)
    for p, ours in zip((0, 3), table, strict=True):
        normal = (1 - gamma) * law.T @ law + gamma * np.diag(law.sum(axis=0))
        np.testing.assert_allclose(ours, np.linalg.solve(normal, law.T @ full(metric, pool, p)), rtol=0, atol=1e-11)


PRIORS = {"uniform": 0, "top-heavy": 1}  # as (A + 10) to the minus this


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("word", ["recall@10", "recall@20", "recall@50", "adg@10", "adg@20", "adg@50"])
def test_either_form_is_less_biased_than_no_correction(word: str, prior: str) -> None:
    """20 draws of 200 items, K at least 200/20: the mean of |E[f(a)] - c(A)| over A, uniform or as 1 / (A + 10).

    For recall@20 it is .853 uncorrected, .047 unbiased, .043 bias-variance (top-heavy prior: .619, .109, .096); for
    adg@20 .300, .026, .012 (.359, .088, .037).
    """
    metric, pool, drawn = mean_metric(word), 200, 20
    law, true = chances(pool, drawn), full(metric, pool)
    weights = (np.arange(pool + 1) + 10.0) ** -PRIORS[prior]
    plain = metric.gain(np.arange(drawn + 1), np.full(drawn + 1, drawn + 1))
    forms = (plain, unbiased(metric, pool, drawn), bias_variance_table(metric, pool, drawn, np.array([0]))[0])
    none, first, second = (float(np.average(np.abs(law @ form - true), weights=weights)) for form in forms)
    assert first < 0.5 * none
    assert second < 0.5 * none


@pytest.mark.parametrize("word", ["recall@20", "adg@20", "adg"])
def test_the_bias_variance_form_trades_variance_for_bias(word: str) -> None:
    """Against the form of least bias, over a uniform prior: less variance, more bias, less squared error."""
    metric, pool, drawn = mean_metric(word), 200, 20
    law, true = chances(pool, drawn), full(metric, pool)

    def bias_and_variance(gamma: float) -> tuple[float, float]:
        form = bias_variance_table(metric, pool, drawn, np.array([0]), gamma)[0]
        mean = law @ form
        return float(np.mean((mean - true) ** 2)), float(np.mean(law @ form**2 - mean**2))

    (least, wild), (bias, variance) = bias_and_variance(0.0), bias_and_variance(0.1)
    assert least < bias
    assert variance < 0.1 * wild
    assert bias + variance < least + wild


@pytest.mark.parametrize(
    ("drawn", "sampled", "corrected"),
    [(500, [0.382, 0.301, 0.347], [0.150, 0.121, 0.173]), (99, [0.728, 0.447, 0.460], [0.163, 0.132, 0.135])],
)
def test_three_recommenders_in_their_true_order_when_draws_are_many(
    drawn: int, sampled: list[float], corrected: list[float]
) -> None:
    """Krichene & Rendle 2020's example: recommenders A, B and C, with five ranks each among 10,000 items.

    Worked out here. ADG in full is .150, .122, .208, so C is best; sampled candidates make A best. With 500 draws the
    bias-variance form puts C first again; 99 tell rank 2 from rank 100 too seldom, though every value comes closer.
    """
    ranks = ([100] * 5, [40, 40, 8437, 9266, 4482], [212, 2, 743, 5342, 1548])
    metric, pool = mean_metric("adg"), 9999
    plain = metric.gain(np.arange(drawn + 1), np.full(drawn + 1, drawn + 1))
    form = bias_variance_table(metric, pool, drawn, np.array([0]))[0]
    draws = np.arange(drawn + 1)
    laws = [hypergeom.pmf(draws, pool, np.array(own)[:, None] - 1, drawn) for own in ranks]
    true = [float(np.mean(metric.gain(np.array(own) - 1, np.full(5, pool + 1)))) for own in ranks]
    np.testing.assert_allclose(true, [0.150, 0.122, 0.208], rtol=0, atol=5e-4)
    np.testing.assert_allclose([np.mean(law @ plain) for law in laws], sampled, rtol=0, atol=5e-4)
    np.testing.assert_allclose([np.mean(law @ form) for law in laws], corrected, rtol=0, atol=5e-4)


@pytest.mark.parametrize("form", ["unbiased", "bias-variance"])
@pytest.mark.parametrize("word", ["auc", "atop", "recall@3", "adg@4", "adg"])
def test_where_everything_is_drawn_nothing_changes(word: str, form: str) -> None:
    metric, pool = mean_metric(word), 9
    above, tied, q = np.array([0, 3, 9, 1]), np.array([2, 0, 0, 4]), np.array([1, 0, 2, 0])
    rows = rows_with(above, pool=pool, drawn=pool, tied=tied, p=[0, 1, 0, 2], q=q, positives=4)
    plain = metric.expected(np.array([0, 4, 9, 3]), tied + q, np.full(4, pool + 4))
    if form == "unbiased":
        gains = unbiased_gains(metric, rows)
    else:
        gains = BiasVariance(np.array([20]), 5, np.empty((1, 4, 6))).gains(metric, rows)
    np.testing.assert_allclose(gains, plain, rtol=0, atol=1e-14)


@pytest.mark.parametrize("word", ["recall@20", "adg@20", "adg"])
def test_between_two_pools_the_tables_are_interpolated_to_four_digits(word: str) -> None:
    """300 users with N from 1,700 to 2,000: 18 tables. The worst error of any table entry is below 0.0005."""
    metric, drawn = mean_metric(word), 100
    pools = np.arange(1700, 2001)
    assert len(pools_for(pools)) < 20
    rows = rows_with(0, pool=pools, drawn=drawn, positives=2)
    made = BiasVariance.of(metric, rows)
    for pool in (1704, 1777, 1850, 1996):
        own = bias_variance_table(metric, pool, drawn, np.arange(2))
        for p in (0, 1):
            asked = rows_with(np.arange(drawn + 1), pool=pool, drawn=drawn, p=p, positives=2)
            np.testing.assert_allclose(made.gains(metric, asked), own[p], rtol=0, atol=5e-4)


def test_few_pools_have_a_table_each() -> None:
    assert pools_for(np.array([50, 80, 50, 61])).tolist() == [50, 61, 80]


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "ordinal"])
@settings(max_examples=60)
@given(data=st.data())
def test_positives_and_draws_are_told_apart_by_the_rows_of_a_user(ties: str, data: st.DataObject) -> None:
    """Against a count over the scores: two users, whole scores with many ties, an order by place for ``ordinal``."""
    offsets, columns, expected = [0], [], []
    for _ in range(2):
        scores = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=8))
        positives = data.draw(st.integers(1, len(scores)))
        places = data.draw(st.permutations(range(len(scores))))
        for i in range(positives):
            counts = [count(ties, scores, places, i, js) for js in (range(positives), range(positives, len(scores)))]
            (p, q), (a, t) = counts
            columns.append((p + a, q + t, len(scores)))
            expected.append((p, q, a, t, len(scores) - positives))
        offsets.append(len(columns))
    above, tied, candidates = np.array(columns).T
    rows = SampledRows.from_ranks(
        np.array(offsets), above, tied, candidates, np.full(len(columns), 30), behind=ties == "pessimistic"
    )
    told = (rows.positives_above, rows.positives_tied, rows.above, rows.tied, rows.drawn)
    assert list(zip(*(column.tolist() for column in told), strict=True)) == expected


def count(ties: str, scores: list[int], places: list[int], i: int, others: range) -> tuple[int, int]:
    """How many of the others stand above item i, and over how many its gain is averaged."""
    above = sum(scores[j] > scores[i] for j in others)
    tied = [j for j in others if j != i and scores[j] == scores[i]]
    if ties == "expected":
        return above, len(tied)
    before = {"optimistic": 0, "pessimistic": len(tied), "ordinal": sum(places[j] < places[i] for j in tied)}
    return above + before[ties], 0
