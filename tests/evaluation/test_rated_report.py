"""Reports on ratings, alone and together with rankings: text, verdict and page."""

import json

import numpy as np
import pytest

from unskew.display.phrases import capital
from unskew.evaluation.showing import vocabulary as say
from unskew.evaluation.showing.popularity_section import measure_ratings, measure_skew
from unskew.evaluation.showing.text import best_against_next
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.head_and_tail import judge_models
from unskew.testing.worlds.known_errors import (
    FAR,
    ITEMS,
    NEAR,
    USERS,
    judge_mixed,
    judge_ratings,
    rated_split,
    table_of,
)

CORRECTED = f"{say.OF_A_LOG.corrected}, snips"
NAIVE = f"{capital(say.OF_A_LOG.naive)}, aoa,"


def test_the_best_against_the_next_has_the_smaller_error_first():
    (row,) = best_against_next(judge_ratings(metrics=["mae"], estimators=["aoa"]))
    assert (row.a, row.b) == ("near", "far")
    assert row.difference < 0
    (gain,) = best_against_next(judge_ratings(metrics=["accuracy(rounded)"], estimators=["aoa"]))
    assert gain.a == "near"
    assert gain.difference > 0


def test_the_printed_report_says_where_lower_is_better():
    text = str(judge_ratings(metrics=["mae", "accuracy", "rmse"]))
    assert "lower is better: mae, rmse\n" in text
    assert "near - far" in text
    assert "lower is better" not in str(judge_models("head", "tail"))


def test_rows_are_the_pairs_where_only_observation_is_chance():
    assert "paired by row" in str(judge_ratings(interval="observation"))
    assert "paired by user" in str(judge_ratings())


def test_the_verdict_crowns_the_smaller_error():
    verdict = judge_ratings().verdict
    assert verdict.sentence == f"{say.BEST.format(model='“near”', n=2, metrics='mae and rmse')}."
    finding = verdict.findings[0]
    assert (finding.answer.naive.estimator, finding.answer.judging.estimator) == ("aoa", "snips")
    assert finding.sentences[0] == say.ONLY_BEST.format(by=CORRECTED, model="“near”", value="0.250")
    best = say.ALONE_BEST.format(value="0.250")
    assert finding.sentences[2] == say.NAIVE_AGREES.format(naive=NAIVE, models="“near”", best=best)


def test_a_lead_in_errors_is_a_positive_number():
    report = judge_ratings(metrics=["mae"])
    (gap,) = [c for c in report.comparisons if c.estimator == "snips"]
    assert (gap.a, gap.b) == ("far", "near")
    sentence = report.verdict.findings[0].sentences[1]
    lead = say.LEADS.format(a="“near”", b="“far”", gap=f"{gap.difference:.3f}")
    ends = {"low": f"{gap.low:.3f}", "high": f"{gap.high:.3f}"}
    assert sentence.startswith(say.LEAD_INTERVAL.format(lead=lead, level="95 %", **ends))


def test_correction_can_change_the_winner_of_an_error():
    # right for high ratings, and wrong by 2.5 for the low ones, which the log seldom has
    split = rated_split()
    low = np.where(NEAR <= 2.25, 2.5, 0.0)
    models = {"high": MatrixScorer(NEAR - 0.25 + low, ratings=True), "even": MatrixScorer(NEAR + 0.25, ratings=True)}
    verdict = judge_ratings(split=split, models=models, metrics=["mae"]).verdict
    swap = {"act": say.OF_A_LOG.act, "before": "“high”", "after": "“even”"}
    assert verdict.sentence == say.WINNER_CHANGES.format(metrics="mae", **swap)


def test_models_that_a_metric_cannot_judge_are_not_in_its_rows():
    report = judge_mixed()
    models = {metric: [] for metric in ("mae", "recall@3", "cg@2")}
    for row in report.estimates:
        if row.estimator == "snips":
            models[row.metric].append(row.model)
    assert models == {"mae": ["both", "table"], "recall@3": ["both", "ranker"], "cg@2": ["both", "ranker"]}
    assert "undefined" not in str(report)


def test_a_metric_with_one_model_crowns_nobody():
    split = rated_split()
    models = {"both": MatrixScorer(NEAR, ratings=True), "ranker": MatrixScorer(-NEAR)}
    verdict = judge_ratings(split=split, models=models, metrics=["mae", "recall@3"]).verdict
    chance = say.CHANCE.format(corrected=say.OF_A_LOG.corrected, metrics="recall@3")
    assert verdict.sentence == f"{capital(chance)}."
    assert verdict.findings[0].sentences == (
        say.HAS.format(model="“both”", value="0.250", by=CORRECTED),
        say.NAIVE_HAS.format(naive=NAIVE, value="0.250"),
    )


def test_models_that_share_no_metric_are_not_compared():
    split = rated_split()
    models = {"ranker": MatrixScorer(-NEAR), "table": table_of(FAR, split)}
    report = judge_ratings(split=split, models=models, metrics=["mae", "recall@3"])
    assert report.verdict.sentence == say.NOTHING_TO_COMPARE
    assert "No two models were judged by the same metric" in report.to_html()


def test_a_run_on_ratings_records_what_decides_it():
    split = rated_split()
    report = judge_ratings(split=split, scale="1-5/1")
    run = json.loads(report.to_json())["run"]
    assert run["rated"] == {"users": USERS, "rows": len(split.test), "pairs": USERS * ITEMS}
    assert set(run["predictions"]) == {"near", "far"}
    assert run["predictions"]["far"] == table_of(FAR, split).sha256
    assert (run["scale"], run["allow_missing"], run["ranks"]) == ("1-5/1", False, {})
    assert run["propensity_diagnostics"]["pairs"] == USERS * ITEMS


def test_other_runs_record_nothing_of_ratings():
    run = judge_models("head").run
    assert not {"rated", "predictions", "scale", "allow_missing"} & set(run)


def test_a_run_on_ratings_has_no_sweep():
    assert judge_ratings().sweeps == []
    assert [sweep.metric for sweep in judge_mixed().sweeps] == ["recall@3"]


def test_the_skew_of_ratings_is_that_of_the_rated_rows():
    report = judge_ratings()
    found = measure_ratings(report)
    values = rated_split().test.values
    assert found.labels == ("1", "2", "3", "4", "5")
    np.testing.assert_allclose(found.observed, [np.mean(values == k) for k in range(1, 6)])
    weight = np.where(values <= 2, 4.0, 1.0)
    np.testing.assert_allclose(found.weighted, [weight[values == k].sum() / weight.sum() for k in range(1, 6)])
    assert measure_skew(report).varies


def test_many_different_ratings_are_shown_in_ranges():
    split = rated_split()
    report = judge_ratings(split=split, propensity="uniform")
    object.__setattr__(report.samples.ratings, "values", np.linspace(0, 4, report.samples.ratings.rows))
    found = measure_ratings(report)
    assert found.labels[0] == "0 to 0.5"
    assert len(found.labels) == 8
    assert found.observed.sum() == pytest.approx(1)
    assert not len(found.weighted)


def test_runs_without_ratings_have_no_skew_of_them():
    assert measure_ratings(judge_models("head")) is None


def test_rows_without_a_prediction_are_not_taken_for_rows_without_a_propensity():
    split = rated_split()
    gaps = table_of(NEAR, split)
    gaps.predicted[:7] = np.nan
    models = {"ranker": MatrixScorer(-NEAR), "table": gaps, "both": MatrixScorer(FAR, ratings=True)}
    report = judge_ratings(
        split=split, models=models, metrics=["mae", "recall@3"], estimators=["aoa", "snips"], allow_missing=True
    )
    assert any(text.startswith("7 test rows excluded from metrics over ratings") for text in report.warnings)
    assert not any("no propensity" in text for text in report.warnings)
