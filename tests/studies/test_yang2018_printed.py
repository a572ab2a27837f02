"""The numbers that Yang et al. (2018) print, and what the paper reads off them: the targets of our own runs."""

import numpy as np
import pytest

from unskew.studies.yang2018.printed import (
    FIG2,
    FIG4,
    FIG4_GAMMAS,
    METRICS,
    MODELS,
    TABLE2,
    TABLE3,
    TABLE3_GAMMAS,
    TRAINED,
)

DATA = ("citeulike-a", "tradesy", "amazon-book")


def fig4(data: str, row: str) -> list[float]:
    return [value for (name, _), value in FIG4[data].items() if name == row]


def gammas(data: str) -> dict[str, float]:
    return {row: value for (row, _), value in TABLE2[data].items() if row != "mean"}


def table3(model: str, metric: str) -> list[float]:
    return [value for (row, column), value in TABLE3.items() if row == model and column.startswith(metric)]


def test_every_block_is_there() -> None:
    rows = {f"{metric} {model}" for metric in METRICS.values() for model in MODELS.values()}
    assert tuple(FIG4) == tuple(TABLE2) == tuple(FIG4_GAMMAS) == tuple(FIG2) == DATA
    assert all({row for row, _ in FIG4[data]} == rows and len(FIG4[data]) == 64 for data in DATA)
    assert all(set(gammas(data)) == set(MODELS.values()) for data in DATA)
    assert {row for row, _ in TABLE3} == set(MODELS)
    assert len(TABLE3) == 2 * len(MODELS) * (1 + len(TABLE3_GAMMAS))
    for data in DATA:
        items, rows_ = (FIG2[data][row, "count"] for row in ("items", "interactions"))
        assert TRAINED[data]["items in training", "count"] < items < rows_


@pytest.mark.parametrize("data", DATA)
def test_the_mean_gammas_of_table_2_are_means(data: str) -> None:
    assert np.mean(list(gammas(data).values())) == pytest.approx(TABLE2[data]["mean", "gamma"], abs=0.0051)


def test_figure_4_has_the_least_and_the_most_gamma_of_table_2_and_its_mean_but_for_tradesy() -> None:
    for data in DATA:
        least, mean, most = FIG4_GAMMAS[data]
        assert (least, most) == (min(gammas(data).values()), max(gammas(data).values()))
        assert (mean == TABLE2[data]["mean", "gamma"]) == (data != "tradesy")
    assert FIG4_GAMMAS["tradesy"][1] == 2.69


@pytest.mark.parametrize("data", DATA)
def test_a_larger_gamma_gives_a_smaller_number_and_any_is_below_aoa(data: str) -> None:
    for row in {row for row, _ in FIG4[data]}:
        assert np.all(np.diff(fig4(data, row)) < 0)


def test_gamma_varies_more_by_data_than_by_model() -> None:
    table = np.array([list(gammas(data).values()) for data in DATA])
    assert table.mean(axis=1).std() > table.mean(axis=0).std()


def test_on_tradesy_bpr_gains_on_pmf_by_recall() -> None:
    ratios = np.divide(fig4("tradesy", "Recall@5 BPR"), fig4("tradesy", "Recall@5 PMF"))
    assert ratios[[0, 2]] == pytest.approx([1.22, 1.26], abs=0.005)


def test_on_amazon_the_gap_of_cml_to_bpr_by_adg_grows_though_the_text_says_that_it_shrinks() -> None:
    bpr, cml, pmf = (np.array(fig4("amazon-book", f"DCG {model}")) for model in ("BPR", "U-CML", "PMF"))
    assert (bpr / cml - 1)[[0, 2]] == pytest.approx([0.072, 0.084], abs=5e-4)
    assert (bpr / pmf)[2] < (bpr / pmf)[0]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("metric", ["AUC", "Recall"])
def test_the_errors_of_table_3_fall_as_gamma_grows(model: str, metric: str) -> None:
    assert np.all(np.diff(table3(model, metric)) < 0)


def test_30_percent_less_error_holds_at_every_gamma_for_all_models_but_bpr() -> None:
    less = {
        (model, metric): [1 - error / table3(model, metric)[0] for error in table3(model, metric)[1:]]
        for model in MODELS
        for metric in ("AUC", "Recall")
    }
    assert {key for key, values in less.items() if min(values) < 0.3} == {("bpr", "AUC"), ("bpr", "Recall")}
    assert [less["bpr", "AUC"][k] for k in (0, -1)] == pytest.approx([0.26, 0.30], abs=0.005)
