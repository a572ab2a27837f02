"""The numbers that Tian and Ekstrand (2020) print or archived: that they agree with one another."""

from itertools import product

import numpy as np
import pytest

from unskew.metrics import NDCG, parse_metric
from unskew.simulators.likeness import STATISTICS
from unskew.studies.tian2020.printed import (
    BEST,
    COUNTS,
    DATA,
    MEAN_LOSS,
    MEANS,
    METRICS,
    RECOMMENDERS,
    SIDES,
    TABLE1,
    TABLE3,
    WORLDS,
)
from unskew.studies.tian2020.table1 import best_world, loss, printed_ratios

PRECISION, RECALL, MRR, NDCG50 = METRICS
CELLS = [(data, world) for data in DATA for world in WORLDS]


def test_every_number_is_there() -> None:
    assert set(COUNTS) == set(DATA)
    assert list(BEST) == list(product(DATA, STATISTICS))
    assert list(TABLE1) == list(product(DATA, WORLDS, (*STATISTICS, MEAN_LOSS)))
    assert list(TABLE3) == list(product(DATA, WORLDS, METRICS))
    assert list(MEANS) == list(product(DATA, WORLDS, RECOMMENDERS, METRICS, SIDES))


@pytest.mark.parametrize("word", METRICS)
def test_the_metrics_are_words_of_this_program(word: str) -> None:
    assert str(parse_metric(word)) == word


def test_the_percentages_of_one_row_follow_from_its_divergences() -> None:
    """By hand: 0.170 / 0.002 - 1 = 84, and so on."""
    ratios = printed_ratios("ML1M", "ibp-unif")
    percentages = [100 * (ratio - 1) for ratio in ratios.values()]
    assert percentages == pytest.approx([8400, 112.45, 3683.33, 42.37], abs=0.005)
    assert loss(ratios) == pytest.approx(3059.54, abs=0.005)


def test_all_mean_losses_follow_from_the_rounded_divergences() -> None:
    """To the last printed digit, so the paper must have worked them out from these."""
    for data, world in CELLS:
        assert loss(printed_ratios(data, world)) == pytest.approx(TABLE1[data, world, MEAN_LOSS], abs=0.005 + 1e-8)


def test_no_calibration_of_all_statistics_beats_that_of_one() -> None:
    assert all(ratio >= 1 for data, world in CELLS for ratio in printed_ratios(data, world).values())


def test_the_best_world_differs_between_data_sets() -> None:
    assert [best_world(data) for data in DATA] == ["lda-pop", "lda-unif", "ibp-pop"]


def test_the_archived_ndcg_is_that_of_lenskit_with_all_of_the_ideal_list() -> None:
    """The oracle fills its 50 places with hits, so its truth NDCG is DCG(50) / DCG(number of likes), about.

    For IBP-Pop on AZM5 the likes per user are 50 / recall = 428. With 430 the ratio is 13.7214 / 63.5454 = 0.2159.
    """
    metric = parse_metric(NDCG50)
    assert isinstance(metric, NDCG)
    top, all_liked = metric.ideal_gains(np.array([50, 430]))
    assert (top, all_liked) == pytest.approx((13.7214, 63.5454), abs=5e-5)
    assert top / all_liked == pytest.approx(0.2159, abs=5e-5)

    recall, ndcg = (MEANS["AZM5", "ibp-pop", "oracle", word, "truth"] for word in (RECALL, NDCG50))
    likes = round(50 / recall)
    assert likes == 428
    assert _of_full_list(metric, likes) == pytest.approx(ndcg, abs=5e-5)
    assert abs(_of_full_list(NDCG(ideal="all") @ 50, likes) - ndcg) > 0.01  # the usual discount


def _of_full_list(metric: NDCG, likes: int) -> float:
    top, all_liked = metric.ideal_gains(np.array([50, likes]))
    return float(top / all_liked)


@pytest.mark.parametrize(("data", "world"), CELLS)
def test_the_oracle_is_perfect_on_the_truth(data: str, world: str) -> None:
    assert all(MEANS[data, world, "oracle", metric, "truth"] == 1 for metric in (PRECISION, MRR))


def test_all_means_are_shares() -> None:
    assert all(0 <= mean <= 1 for mean in MEANS.values())


def _errors(data: str, world: str, metric: str) -> list[float]:
    """Observed minus true mean of each recommender."""
    sides = ([MEANS[data, world, name, metric, side] for name in RECOMMENDERS] for side in SIDES)
    return [observed - truth for observed, truth in zip(*sides, strict=True)]


@pytest.mark.parametrize(("data", "world"), CELLS)
def test_recall_has_no_error_when_likes_are_observed_uniformly_and_a_positive_one_by_popularity(
    data: str, world: str
) -> None:
    oracle, popular, random = _errors(data, world, RECALL)
    if world.endswith("-unif"):
        # two means of 100 runs, each rounded to four digits
        assert [oracle, popular, random] == pytest.approx([0, 0, 0], abs=2.5e-4)
    else:
        assert min(oracle, popular) > 0.01
        assert abs(random) < 0.002


@pytest.mark.parametrize(("data", "world"), CELLS)
@pytest.mark.parametrize("metric", [PRECISION, MRR])
def test_precision_and_reciprocal_rank_are_too_low_and_most_for_the_oracle(data: str, world: str, metric: str) -> None:
    oracle, popular, random = _errors(data, world, metric)
    assert oracle < popular < 0
    assert random < 0


def test_the_order_of_the_means_is_that_of_most_runs_but_for_one_near_tie() -> None:
    apart = [key for key, percent in TABLE3.items() if (percent > 50) != (_gap(*key, "observed") > 0)]
    assert apart == [("ML1M", "ibp-unif", MRR)]
    assert _gap(*apart[0], "observed") == pytest.approx(0.0003, abs=1e-4)


def test_the_oracle_loses_only_where_observations_follow_popularity_under_ibp() -> None:
    lost = {(data, world) for (data, world, _), percent in TABLE3.items() if percent < 47}
    assert lost == {("ML1M", "ibp-pop"), ("STMV1", "ibp-pop")}


def test_the_relative_gap_is_too_large_where_the_absolute_one_is_too_small() -> None:
    """Precision of the oracle over popular, IBP-Unif on STMV1: 1.38 against 1.08, but 0.063 against 0.076."""
    key = ("STMV1", "ibp-unif")
    ratio = [MEANS[*key, "oracle", PRECISION, side] / MEANS[*key, "popular", PRECISION, side] for side in SIDES]
    assert ratio == pytest.approx([1.38, 1.08], abs=0.005)
    assert [_gap(*key, PRECISION, side) for side in SIDES] == pytest.approx([0.063, 0.076], abs=5e-4)


def _gap(data: str, world: str, metric: str, side: str) -> float:
    """The oracle's mean minus that of popular."""
    return MEANS[data, world, "oracle", metric, side] - MEANS[data, world, "popular", metric, side]
