"""The numbers that Tian and Ekstrand (2020) print or archived: that they agree with one another."""

import numpy as np
import pytest

from unskew.metrics import NDCG, parse_metric
from unskew.simulators.likeness import STATISTICS
from unskew.studies.tian2020.printed import (
    BEST,
    COUNTS,
    DATA,
    MEANS,
    METRICS,
    RECOMMENDERS,
    TABLE1,
    TABLE3,
    WORLDS,
    Pair,
    best_world,
    losses,
)

PRECISION, RECALL, MRR, NDCG50 = METRICS
CELLS = [(data, world) for data in DATA for world in WORLDS]


def test_every_block_is_there() -> None:
    assert set(COUNTS) == set(BEST) == set(TABLE1) == set(TABLE3) == set(MEANS) == set(DATA)
    for data, world in CELLS:
        assert tuple(BEST[data]) == tuple(TABLE1[data][world].divergences) == STATISTICS
        assert tuple(TABLE3[data][world]) == METRICS
        assert tuple(MEANS[data][world]) == RECOMMENDERS
        assert all(tuple(by_metric) == METRICS for by_metric in MEANS[data][world].values())


@pytest.mark.parametrize("word", METRICS)
def test_the_metrics_are_words_of_this_program(word: str) -> None:
    assert str(parse_metric(word)) == word


def test_the_tables_cannot_be_changed() -> None:
    for table in (TABLE1, TABLE1["ML1M"], TABLE3["ML1M"]["ibp-pop"], MEANS["ML1M"]["ibp-pop"]["oracle"]):
        with pytest.raises(TypeError):
            table["new"] = 1  # type: ignore[index]


def test_the_percentages_of_one_row_follow_from_its_divergences() -> None:
    """By hand: 0.170 / 0.002 - 1 = 84, and so on."""
    found = losses("ML1M", "ibp-unif")
    assert list(found.values()) == pytest.approx([8400, 112.45, 3683.33, 42.37], abs=0.005)
    assert np.mean(list(found.values())) == pytest.approx(3059.54, abs=0.005)


@pytest.mark.parametrize(("data", "world"), CELLS)
def test_all_mean_losses_follow_from_the_rounded_divergences(data: str, world: str) -> None:
    """To the last printed digit, so the paper must have worked them out from these."""
    assert np.mean(list(losses(data, world).values())) == pytest.approx(TABLE1[data][world].mean_loss, abs=0.005)


def test_no_calibration_of_all_statistics_beats_that_of_one() -> None:
    assert all(loss >= 0 for data, world in CELLS for loss in losses(data, world).values())


def test_the_best_world_differs_between_data_sets() -> None:
    assert [best_world(data) for data in DATA] == ["lda-pop", "lda-unif", "ibp-pop"]


def test_the_archived_ndcg_is_that_of_lenskit_with_all_of_the_ideal_list() -> None:
    """The oracle fills its 50 places with hits, so its truth NDCG is DCG(50) / DCG(number of likes), about.

    For IBP-Pop on AZM5 the likes a user are 50 / recall = 428. With 430 the ratio is 13.7214 / 63.5454 = 0.2159.
    """
    metric = parse_metric(NDCG50)
    assert isinstance(metric, NDCG)
    top, all_liked = metric.ideal_gains(np.array([50, 430]))
    assert (top, all_liked) == pytest.approx((13.7214, 63.5454), abs=5e-5)
    assert top / all_liked == pytest.approx(0.2159, abs=5e-5)

    oracle = MEANS["AZM5"]["ibp-pop"]["oracle"]
    likes = round(50 / oracle[RECALL].truth)
    assert likes == 428
    assert _of_full_list(metric, likes) == pytest.approx(oracle[NDCG50].truth, abs=5e-5)
    assert abs(_of_full_list(NDCG(ideal="all") @ 50, likes) - oracle[NDCG50].truth) > 0.01  # the usual discount


def _of_full_list(metric: NDCG, likes: int) -> float:
    top, all_liked = metric.ideal_gains(np.array([50, likes]))
    return float(top / all_liked)


@pytest.mark.parametrize(("data", "world"), CELLS)
def test_the_oracle_is_perfect_on_the_truth(data: str, world: str) -> None:
    oracle = MEANS[data][world]["oracle"]
    assert oracle[PRECISION].truth == oracle[MRR].truth == 1
    assert all(
        0 <= value <= 1 for by_metric in MEANS[data][world].values() for pair in by_metric.values() for value in pair
    )


@pytest.mark.parametrize(("data", "world"), CELLS)
def test_recall_has_no_error_when_likes_are_observed_uniformly_and_a_positive_one_by_popularity(
    data: str, world: str
) -> None:
    oracle, popular, random = (MEANS[data][world][recommender][RECALL].error for recommender in RECOMMENDERS)
    if world.endswith("-unif"):
        # two means of 100 runs, each rounded to four digits
        assert [oracle, popular, random] == pytest.approx([0, 0, 0], abs=2.5e-4)
    else:
        assert min(oracle, popular) > 0.01
        assert abs(random) < 0.002


@pytest.mark.parametrize(("data", "world"), CELLS)
@pytest.mark.parametrize("metric", [PRECISION, MRR])
def test_precision_and_reciprocal_rank_are_too_low_and_most_for_the_oracle(data: str, world: str, metric: str) -> None:
    oracle, popular, random = (MEANS[data][world][recommender][metric].error for recommender in RECOMMENDERS)
    assert oracle < popular < 0
    assert random < 0


def test_the_order_of_the_means_is_that_of_most_runs_but_for_one_near_tie() -> None:
    apart = [
        (data, world, metric)
        for data, world in CELLS
        for metric, percent in TABLE3[data][world].items()
        if (percent > 50) != (_gap(data, world, metric).observed > 0)
    ]
    assert apart == [("ML1M", "ibp-unif", MRR)]
    assert _gap(*apart[0]).observed == pytest.approx(0.0003, abs=1e-4)


def test_the_oracle_loses_only_where_observations_follow_popularity_under_ibp() -> None:
    lost = {(data, world) for data, world in CELLS if min(TABLE3[data][world].values()) < 47}
    assert lost == {("ML1M", "ibp-pop"), ("STMV1", "ibp-pop")}


def test_the_relative_gap_is_too_large_where_the_absolute_one_is_too_small() -> None:
    """Precision of the oracle over popular, IBP-Unif on STMV1: 1.38 against 1.08, but 0.063 against 0.076."""
    means = MEANS["STMV1"]["ibp-unif"]
    ratio = [a / b for a, b in zip(means["oracle"][PRECISION], means["popular"][PRECISION], strict=True)]
    assert ratio == pytest.approx([1.38, 1.08], abs=0.005)
    assert tuple(_gap("STMV1", "ibp-unif", PRECISION)) == pytest.approx((0.063, 0.076), abs=5e-4)


def _gap(data: str, world: str, metric: str) -> Pair:
    """The oracle's mean minus that of popular."""
    oracle, popular = (MEANS[data][world][recommender][metric] for recommender in ("oracle", "popular"))
    return Pair(oracle.observed - popular.observed, oracle.truth - popular.truth)
