"""The numbers that Yang et al. (2018) print, and what the paper reads off them: the targets of our own runs."""

import numpy as np
import pytest

from unskew.studies.yang2018.printed import (
    COUNTS,
    FIG4,
    FIG4_GAMMAS,
    GAMMAS,
    MEAN_GAMMAS,
    METRICS,
    MODELS,
    TABLE3,
    TABLE3_GAMMAS,
    TRAINED_ITEMS,
)

BLOCKS = [(data, metric, model) for data in FIG4 for metric in FIG4[data] for model in FIG4[data][metric]]


def test_every_block_is_there() -> None:
    assert set(FIG4) == set(GAMMAS) == set(FIG4_GAMMAS) == set(COUNTS) == set(TRAINED_ITEMS) == set(MEAN_GAMMAS)
    assert all(set(FIG4[data]) == set(METRICS) for data in FIG4)
    assert all(set(FIG4[data][metric]) == set(MODELS) for data in FIG4 for metric in METRICS)
    assert all(set(GAMMAS[data]) == set(MODELS) for data in GAMMAS)
    assert set(TABLE3) == set(MODELS)
    assert all(len(TABLE3[model][metric]) == 1 + len(TABLE3_GAMMAS) for model in MODELS for metric in TABLE3[model])
    assert all(TRAINED_ITEMS[data] < COUNTS[data][1] < COUNTS[data][2] for data in COUNTS)


@pytest.mark.parametrize("data", GAMMAS)
def test_the_mean_gammas_of_table_2_are_means(data: str) -> None:
    assert np.mean(list(GAMMAS[data].values())) == pytest.approx(MEAN_GAMMAS[data], abs=0.0051)


def test_figure_4_has_the_least_and_the_most_gamma_of_table_2_and_its_mean_but_for_tradesy() -> None:
    for data, gammas in GAMMAS.items():
        least, mean, most = FIG4_GAMMAS[data]
        assert (least, most) == (min(gammas.values()), max(gammas.values()))
        assert (mean == MEAN_GAMMAS[data]) == (data != "tradesy")
    assert FIG4_GAMMAS["tradesy"][1] == 2.69


@pytest.mark.parametrize(("data", "metric", "model"), BLOCKS)
def test_a_larger_gamma_gives_a_smaller_number_and_any_is_below_aoa(data: str, metric: str, model: str) -> None:
    values = FIG4[data][metric][model]
    assert list(values) == sorted(values, reverse=True)
    assert len(set(values)) == 4


def test_the_numbers_move_by_no_more_than_009_within_the_range_of_gamma() -> None:
    spread = [FIG4[data][metric][model][1] - FIG4[data][metric][model][3] for data, metric, model in BLOCKS]
    assert max(spread) <= 0.009


def test_gamma_varies_more_by_data_than_by_model() -> None:
    table = np.array([[GAMMAS[data][model] for model in MODELS] for data in GAMMAS])
    assert table.mean(axis=1).std() > table.mean(axis=0).std()


def test_the_adaptive_model_has_the_least_gamma_on_every_data_set() -> None:
    assert {min(gammas, key=gammas.__getitem__) for gammas in GAMMAS.values()} == {"cml-rank"}


def test_on_tradesy_the_correction_swaps_pmf_and_cml_by_adg() -> None:
    pmf, cml = FIG4["tradesy"]["adg"]["pmf"], FIG4["tradesy"]["adg"]["cml"]
    assert pmf[0] > cml[0]
    assert all(low < high for low, high in zip(pmf[1:], cml[1:], strict=True))


def test_on_tradesy_bpr_gains_on_pmf_by_recall() -> None:
    bpr, pmf = FIG4["tradesy"]["recall@5"]["bpr"], FIG4["tradesy"]["recall@5"]["pmf"]
    assert bpr[0] / pmf[0] == pytest.approx(1.22, abs=0.005)
    assert bpr[2] / pmf[2] == pytest.approx(1.26, abs=0.005)


def test_on_amazon_the_gap_of_cml_to_bpr_by_adg_grows_though_the_text_says_that_it_shrinks() -> None:
    adg = FIG4["amazon-book"]["adg"]
    gaps = {model: [bpr / other - 1 for bpr, other in zip(adg["bpr"], adg[model], strict=True)] for model in adg}
    assert gaps["cml"][0] == pytest.approx(0.072, abs=5e-4)
    assert gaps["cml"][2] == pytest.approx(0.084, abs=5e-4)
    assert gaps["pmf"][2] < gaps["pmf"][0]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("metric", ["auc", "recall"])
def test_the_errors_of_table_3_fall_as_gamma_grows(model: str, metric: str) -> None:
    errors = TABLE3[model][metric]
    assert list(errors) == sorted(errors, reverse=True)


def test_30_percent_less_error_holds_at_every_gamma_for_all_models_but_bpr() -> None:
    less = {
        (model, metric): [1 - error / TABLE3[model][metric][0] for error in TABLE3[model][metric][1:]]
        for model in MODELS
        for metric in TABLE3[model]
    }
    assert {key for key, values in less.items() if min(values) < 0.3} == {("bpr", "auc"), ("bpr", "recall")}
    assert less["bpr", "auc"][0] == pytest.approx(0.26, abs=0.005)
    assert less["bpr", "auc"][-1] == pytest.approx(0.30, abs=0.005)
