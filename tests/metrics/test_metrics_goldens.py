"""Numbers of the source papers, worked out exactly."""

import itertools

import numpy as np
import pytest

from unskew.metrics import ADG, NDCG, Metric, UserLists, parse_metric
from unskew.testing.worlds.scored_users import from_ranks

# Figure 1 of Yang et al.: ranks of a1..a4 and b1..b4 among 12 items; a1, a2, a4 and b3 were observed.
FIGURE = {
    "Z1": ([1, 2, 3, 4], [9, 10, 11, 12]),
    "Z2": ([9, 10, 11, 12], [1, 2, 3, 4]),
    "Z3": ([5, 6, 7, 8], [1, 2, 3, 4]),
}
# list: metric: (truth, average over the observed items)
YANG = {
    "Z1": {
        "adg": (0.462610, 0.585137),
        "auc(literal)": (0.458333, 0.625),
        "recall@5": (0.5, 0.75),
        "adg@5": (0.320201, 0.515402),
    },
    "Z2": {
        "adg": (0.462610, 0.340083),
        "auc(literal)": (0.458333, 0.291667),
        "recall@5": (0.5, 0.25),
        "adg@5": (0.320201, 0.125),
    },
    "Z3": {
        "adg": (0.494183, 0.389631),
        "auc(literal)": (0.625, 0.541667),
        "recall@5": (0.625, 0.5),
        "adg@5": (0.368557, 0.221713),
    },
}


@pytest.mark.parametrize("name, word", [(name, word) for name in YANG for word in YANG[name]])
def test_figure_1_of_yang_et_al(name, word):
    popular, tail = (np.array(ranks) for ranks in FIGURE[name])
    metric = parse_metric(word)
    assert isinstance(metric, Metric)
    for value, ranks in zip(
        YANG[name][word], [np.append(popular, tail), np.append(popular[[0, 1, 3]], tail[2])], strict=True
    ):
        gains = metric.row_gains(ranks - 1, np.zeros_like(ranks), np.full_like(ranks, 12))
        assert gains.mean() == pytest.approx(value, abs=5e-7)


def test_adg_of_a_random_part_is_unbiased_and_ndcg_is_not():
    # Lim et al.: 8 items, relevant ones at places 0, 2, 3, 5, 7; means over all subsets of a size.
    ranks = [1, 3, 4, 6, 8]
    ndcg = [0.5204697, 0.6382491, 0.7327361, 0.8127240, 0.8826131]
    gains = ADG().gain(np.array(ranks) - 1, np.full(5, 8))
    for size in range(1, 6):
        subsets = list(itertools.combinations(range(5), size))
        assert np.mean([gains[list(s)].mean() for s in subsets]) == pytest.approx(0.5204697244, abs=1e-10)
        values = [NDCG().values(from_ranks([ranks[i] for i in s], 8))[0] for s in subsets]
        assert np.mean(values) == pytest.approx(ndcg[size - 1], abs=5e-8)
    assert NDCG().values(from_ranks(ranks, 8))[0] == pytest.approx(0.8826130928, abs=1e-10)


@pytest.mark.parametrize("word, value", [("ndcg@5", 0.7536976), ("ndcg(discount=lenskit, ideal=all)@5", 0.6806061)])
def test_the_two_ndcgs_of_a_five_item_list_with_hits_at_1_3_4_of_4_relevant(word, value):
    above = np.array([0, 2, 3, 5])  # the fourth is not listed: tied with all that is not
    lists = UserLists.from_rows(np.array([0, 4]), above, np.array([0, 0, 0, 94]), np.full(4, 100), np.full(4, 5))
    metric = parse_metric(word)
    assert not isinstance(metric, Metric)
    assert metric.values(lists)[0] == pytest.approx(value, abs=5e-8)
