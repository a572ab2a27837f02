"""The estimates over the gammas that are held possible."""

from dataclasses import replace

import pytest
from fitted_gammas import chosen, skewed_log

from unskew import evaluate
from unskew.data import split_fractions
from unskew.errors import ConfigError
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.gamma_band import GammaBand, measure_band
from unskew.evaluation.report import Report
from unskew.propensities import POSSIBLE, GammaRange
from unskew.testing.worlds.head_and_tail import judge_models, make_split


def band_of(report: Report, *gammas: float) -> GammaBand:
    """Over the gammas that some model has."""
    estimation = Estimation(report.samples, report.settings, replace(report.propensities, gamma=chosen(*gammas)))
    band = measure_band([estimation])
    assert band is not None
    return band


def test_the_band_is_worked_out_by_hand() -> None:
    # recall@10 of "head" is 0.8 unweighted; at gamma g a tail row weighs (101 / 2) ** ((g + 1) / 2) head rows
    report = judge_models("head", "tail", estimators=["snips"])
    band = band_of(report, -1, 1)
    assert band.gammas == (-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1)
    for one in band.by_key["recall@10", "snips", "head"]:
        weight = (101 / 2) ** ((one.gamma + 1) / 2)
        assert one.value == pytest.approx(0.8 / (0.8 + 0.2 * weight))
    assert len(band.points) == 2 * 9


def test_a_corrected_estimate_carries_the_envelope_of_its_interval_and_a_naive_one_nothing() -> None:
    report = judge_models("head", "tail")
    assert report.run["assumed"] == "gamma=-0.5..1.5"
    for model in ("head", "tail"):
        row = report.estimate(model, "recall@10", "snips")
        ends = [
            judge_models(model, propensity=f"popularity(gamma={g})").estimate(model, "recall@10", "snips")
            for g in (-0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5)
        ]
        assert row.assumed_low == min(end.low for end in ends if end.low is not None)
        assert row.assumed_high == max(end.high for end in ends if end.high is not None)
        naive = report.estimate(model, "recall@10", "aoa(per=pair)")
        assert (naive.assumed_low, naive.assumed_high) == (None, None)


@pytest.mark.parametrize("interval", ["delta", "bootstrap(60)"])
@pytest.mark.parametrize("estimator", ["snips", "snips(per=balanced, clip=0.1)", "snips(per=user)"])
def test_at_the_gamma_used_the_point_is_the_estimate(interval: str, estimator: str) -> None:
    report = judge_models("head", "tail", metrics=["recall@10", "auc"], estimators=[estimator], interval=interval)
    assert report.band is not None
    for row in report.estimates:
        (point,) = [one for one in report.band.by_key[row.metric, row.estimator, row.model] if one.gamma == 0]
        assert (point.value, point.low, point.high) == (row.value, row.low, row.high)


def test_losses_are_made_over_the_band_too() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    report = evaluate({"a": "mf-naive"}, split, metrics=["mae", "rmse"], estimators=["snips"])
    for row in report.estimates:
        assert row.assumed_low is not None
        assert row.assumed_high is not None
        assert row.low is not None
        assert row.assumed_low <= row.low
    assert report.band is not None
    (point,) = [one for one in report.band.by_key["mae", "snips", "a"] if one.gamma == 0]
    assert point.value == report.value("a", "mae", "snips")


def test_what_may_be_assumed_can_be_said() -> None:
    narrow = judge_models("head", assume="gamma=0..1").estimate("head", "recall@10", "snips")
    wide = judge_models("head").estimate("head", "recall@10", "snips")
    assert narrow.assumed_low is not None
    assert wide.assumed_low is not None
    assert wide.assumed_low < narrow.assumed_low
    one = judge_models("head", assume=GammaRange(0, 0)).estimate("head", "recall@10", "snips")
    assert (one.assumed_low, one.assumed_high) == (one.low, one.high)


def test_the_band_holds_the_gamma_of_the_run() -> None:
    report = judge_models("head", propensity="popularity(gamma=2)")
    assert report.band is not None
    assert report.band.range == GammaRange(-0.5, 2)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"assume": "gamma=1..2"}, "leaves out the gamma of popularity, 0"),
        ({"assume": "gamma=2"}, "write gamma=LOW..HIGH"),
        ({"assume": "gamma=1..0"}, "the smaller one first"),
        ({"assume": "gamma=0..inf"}, "two finite numbers"),
        ({"assume": "gamma=0..1", "propensity": "uniform"}, "is about popularity"),
        ({"assume": "gamma=0..1", "estimators": ["aoa"]}, "no estimator here uses a propensity"),
    ],
)
def test_what_cannot_be_assumed_is_refused(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        judge_models("head", **settings)


def test_without_popularity_there_is_no_band() -> None:
    report = judge_models("head", split=make_split(propensity=0.5), propensity="column")
    assert report.band is None
    row = report.estimate("head", "recall@10", "snips")
    assert (row.assumed_low, row.assumed_high) == (None, None)
    assert "assumed" not in report.run
    assert judge_models("head", estimators=["aoa"]).band is None


def test_a_range_is_printed_as_it_is_read() -> None:
    for word in ("gamma=-0.5..1.5", "gamma=0..0", "gamma=-1..3"):
        assert str(GammaRange.parse(word)) == word
    assert GammaRange.parse(" gamma = -.5 .. 1.5 ") == POSSIBLE
    assert POSSIBLE.gammas(0.1)[:4] == (-0.5, -0.25, 0.0, 0.1)


@pytest.mark.usefixtures("short_auto")
def test_the_ends_are_runs_with_those_gammas() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    models = {"popular": "popular", "als": "als(factors=4)"}
    asked = {"metrics": ["recall@5", "auc"], "estimators": ["snips", "snips(per=user, clip=0.2)"]}
    report = evaluate(models, split, propensity="popularity(gamma=auto)", **asked)  # type: ignore[arg-type]
    assert report.propensities.gamma is not None
    assert report.band is not None
    assert report.band.fitted
    told = report.to_dict()["sensitivity"]
    assert len(told) == 2 * 2 * 2 * len(report.band.gammas)
    for gamma in (report.propensities.gamma.low, report.propensities.gamma.used, report.propensities.gamma.high):
        alone = evaluate(models, split, propensity=report.propensities.gamma.at(gamma), **asked)  # type: ignore[arg-type]
        points = [one for one in told if one["gamma"] == gamma]
        assert len(points) == len(alone.estimates)
        for one in points:
            assert one["value"] == alone.value(one["model"], one["metric"], one["estimator"])


@pytest.mark.usefixtures("short_auto")
def test_table_and_page_show_the_gammas_found() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    report = evaluate({"popular": "popular"}, split, metrics=["auc"], propensity="popularity(gamma=auto)")
    assert report.propensities.gamma is not None
    text, page = str(report), report.to_html()
    assert "Over the gammas found" in text
    assert report.propensities.gamma.describe() in text
    assert 'id="sensitivity"' in page
    assert all(
        f"gamma {gamma:.2f}".replace("-", "−") in page
        for gamma in (report.propensities.gamma.low, report.propensities.gamma.used, report.propensities.gamma.high)
    )
    plain = evaluate({"popular": "popular"}, make_split(), metrics=["auc"])
    assert "Over the gammas found" not in str(plain)
    assert 'id="sensitivity"' not in plain.to_html()
