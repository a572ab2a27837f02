"""What is expected of validation and test, by dealing each user's held-out items in every possible way."""

import itertools

import numpy as np
import pytest
from made_lim2015 import fold_of_ranks

from unskew.studies.lim2015.printed import METRICS
from unskew.studies.lim2015.table2 import PARTS, Sizes, compare_sizes

ABOVE = [[0, 2, 3, 5, 7], [1, 30, 12]]
SIZES = [(2, 3), (1, 2)]  # validation, test
MODEL = "mf-adg"


def every_deal(above, test):
    """All ways to choose which of a user's items are in the test."""
    for chosen in itertools.combinations(range(len(above)), test):
        yield [k in chosen for k in range(len(above))]


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_expected_of_a_part_is_its_mean_over_all_deals(metric):
    deals = list(itertools.product(*(every_deal(a, t) for a, (_, t) in zip(ABOVE, SIZES, strict=True))))
    assert len(deals) == 10 * 3
    found = [compare_sizes([fold_of_ranks(ABOVE, deal)], MODEL, metric) for deal in deals]
    for part in ("test", "validation"):
        mean = np.mean([each.parts[part][0] for each in found], axis=0)
        for each in found:
            assert each.parts[f"expected {part}"][0] == pytest.approx(mean, abs=1e-12)
    assert np.mean([each.surprise.mean for each in found]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("metric", ["atop", "adg", "recall@10"])
def test_the_expected_drop_of_a_mean_over_items_is_nothing(metric):
    sizes = compare_sizes([fold_of_ranks(ABOVE, [[0, 1, 1, 0, 1], [1, 0, 1]])], MODEL, metric)
    assert sizes.expected_percent == pytest.approx(0, abs=1e-12)


def test_the_expected_drop_of_ndcg_is_that_of_theorem_2():
    """2 against 3 of 5: s IDCG(p) / (p IDCG(s)) is .7231358 and .8301895."""
    sizes = compare_sizes([fold_of_ranks(ABOVE[:1], [[0, 1, 1, 0, 1]])], MODEL, "ndcg")
    assert sizes.expected_percent == pytest.approx(100 * (0.7231358 / 0.8301895 - 1), abs=1e-4)


def test_users_with_one_part_only_are_left_out_but_of_the_literal_form():
    fold = fold_of_ranks([*ABOVE, [0]], [[0, 1, 1, 0, 1], [1, 0, 1], [1]])
    sizes = compare_sizes([fold], MODEL, "adg")
    assert sizes.both.tolist() == [True, True, False]
    assert np.isnan(sizes.parts["expected test"][0, 2])
    assert sizes.mean("test").value == pytest.approx(np.mean(sizes.parts["test"][0, :2]))
    literal = np.mean(sizes.parts["test"][0]), np.mean(sizes.parts["validation"][0, :2])
    assert sizes.literal_percent == pytest.approx(100 * (literal[1] / literal[0] - 1))
    assert sizes.literal_percent != pytest.approx(sizes.percent)


def test_a_drop_that_the_sizes_do_not_explain_is_a_surprise():
    """A model that was trained on what it is validated by: validation items stand first, whatever the lot says."""
    rng = np.random.default_rng(0)
    above, lots = [], []
    for _ in range(200):
        above.append([0, 1, *rng.choice(np.arange(5, 39), 4, replace=False)])
        lots.append([False, False, True, True, True, True])
    sizes = compare_sizes([fold_of_ranks(above, lots)], MODEL, "adg")
    assert sizes.surprise.z > 10
    assert abs(sizes.drop.z) > 2


def test_dealt_by_lot_the_surprise_is_one_of_chance():
    """Sixty worlds: beyond two standard errors in 4.6 of 100, so in 10 or more of them once in 1,500."""
    rng = np.random.default_rng(1)
    beyond = 0
    for _ in range(60):
        above = [rng.choice(39, 6, replace=False) for _ in range(100)]
        lots = [rng.permutation([0, 0, 1, 1, 1, 1]) for _ in range(100)]
        beyond += abs(compare_sizes([fold_of_ranks(above, lots)], MODEL, "ndcg").surprise.z) > 2
    assert beyond < 10


def test_per_cents_of_nothing_are_undefined():
    nothing = np.zeros((1, 2))
    assert np.isnan(Sizes(dict.fromkeys(PARTS, nothing)).percent)
