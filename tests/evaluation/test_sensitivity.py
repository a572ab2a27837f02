"""The estimates across the gammas that were found."""

from dataclasses import replace

import pytest
from skewed import judge_models, make_split
from test_gamma import chosen, skewed_log

from unskew import evaluate
from unskew.data import split_fractions
from unskew.evaluation.checking.gamma import order_changes_with_gamma
from unskew.evaluation.sensitivity import measure_sensitivity


def test_the_band_is_worked_out_by_hand() -> None:
    # recall@10 of "head" is 0.8 unweighted; at gamma 1 a tail row weighs 101 / 2 head rows
    report = judge_models("head", "tail", estimators=["snips"])
    band = measure_sensitivity(chosen(-1, 1), report.settings, report.evidence)
    assert band is not None
    values = {(one.model, one.gamma): one.value for one in band.points}
    assert values["head", -1] == pytest.approx(0.8)
    assert values["head", 1] == pytest.approx(0.8 / (0.8 + 0.2 * 101 / 2))
    assert values["head", 0] == pytest.approx(0.8 / (0.8 + 0.2 * (101 / 2) ** 0.5))
    assert len(values) == 6


def test_an_order_that_changes_within_the_band_is_warned_of() -> None:
    # the models are level where a tail row weighs 4 head rows: gamma = 2 ln 4 / ln 50.5 - 1 = -0.29
    report = judge_models("head", "tail", estimators=["snips"])
    crossing = measure_sensitivity(chosen(-0.5, 0.5), report.settings, report.evidence)
    beyond = measure_sensitivity(chosen(0, 0.5), report.settings, report.evidence)
    assert crossing is not None
    assert beyond is not None
    assert list(order_changes_with_gamma.look(replace(report, sensitivity=crossing))) == [
        "recall@10 by snips: the order of the models depends on gamma, head > tail at -0.50 but tail > head at 0.00"
    ]
    assert list(order_changes_with_gamma.look(replace(report, sensitivity=beyond))) == []


def test_where_lower_is_better_the_order_is_the_other_way_round() -> None:
    report = evaluate(
        {"a": "mf-naive", "b": "mf-naive"}, split_fractions(skewed_log(), (80, 20), rng=1), metrics=["mae"]
    )
    band = measure_sensitivity(chosen(-1, 1), report.settings, report.evidence, report.rated)
    assert band is not None
    assert [row.model for row in band.rows] == ["a", "b"]
    assert list(order_changes_with_gamma.look(replace(report, sensitivity=band))) == []


def test_one_gamma_is_one_column_and_naive_estimates_have_no_band() -> None:
    report = judge_models("head", estimators=["aoa", "snips"])
    band = measure_sensitivity(chosen(1, 1), report.settings, report.evidence)
    assert band is not None
    assert band.choice.band == (1,)
    assert [row.estimator for row in band.rows] == ["snips"]
    naive = judge_models("head", estimators=["aoa"])
    assert measure_sensitivity(chosen(0, 1), naive.settings, naive.evidence) is None
    assert measure_sensitivity(None, report.settings, report.evidence) is None


@pytest.mark.usefixtures("short_auto")
def test_the_middle_is_the_estimate_and_the_ends_are_runs_with_those_gammas() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    models = {"popular": "popular", "als": "als(factors=4)"}
    asked = {"metrics": ["recall@5", "auc"], "estimators": ["snips", "snips(per=user, clip=0.2)"]}
    report = evaluate(models, split, propensity="popularity(gamma=auto)", **asked)  # type: ignore[arg-type]
    assert report.gamma is not None
    told = report.to_dict()["sensitivity"]
    assert len(told) == 2 * 2 * 2 * 3
    for gamma in (report.gamma.low, report.gamma.used, report.gamma.high):
        alone = evaluate(models, split, propensity=report.gamma.at(gamma), **asked)  # type: ignore[arg-type]
        for one in told:
            if one["gamma"] == gamma:
                assert one["value"] == alone.value(one["model"], one["metric"], one["estimator"])


@pytest.mark.usefixtures("short_auto")
def test_table_and_page_show_the_band() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    report = evaluate({"popular": "popular"}, split, metrics=["auc"], propensity="popularity(gamma=auto)")
    assert report.gamma is not None
    text, page = str(report), report.to_html()
    assert "Sensitivity to gamma" in text
    assert report.gamma.describe() in text
    assert 'id="sensitivity"' in page
    assert all(f"gamma {gamma:.2f}".replace("-", "−") in page for gamma in report.gamma.band)
    plain = evaluate({"popular": "popular"}, make_split(), metrics=["auc"])
    assert "Sensitivity" not in str(plain)
    assert 'id="sensitivity"' not in plain.to_html()
