"""A randomly exposed sample in the record, the verdict and the page."""

import re

import numpy as np
import pytest

from unskew import evaluate
from unskew.display.numbers import rounded
from unskew.display.phrases import capital
from unskew.display.styles import series_styles
from unskew.evaluation.estimating.best_models import judging_estimator
from unskew.evaluation.showing import vocabulary as say
from unskew.evaluation.showing.sample_section import DEPTH, depth_of, describe_sample, recall_curves
from unskew.evaluation.showing.text import as_text
from unskew.testing.worlds.exposed_worlds import POOLED, exposed_world, judge_exposed


@pytest.fixture(scope="module")
def report():
    return judge_exposed(metrics=("recall@2", "precision@2"))


@pytest.fixture(scope="module")
def page(report):
    return report.to_html()


def test_the_record_counts_the_sample(report):
    exposed = report.run["exposed"]
    test = report.samples.judged.split.test
    assert exposed == {
        "population": "all",
        "population_by": "given",
        "users": 60,
        "rows": 600,
        "positives": int(test.values.sum()),
        "users_without_positive": 60 - len(np.unique(test.users[test.values == 1])),
        "rows_a_user": {"min": 10, "median": 10, "max": 10},
        "population_size": {"min": 40, "median": 40, "max": 40},
    }


def test_a_run_without_exposed_items_records_none(report):
    split = report.samples.judged.split
    plain = evaluate({"popular": "popular"}, type(split)(split.train, split.train, candidates="all"))
    assert "exposed" not in plain.run


def test_the_curve_at_a_cutoff_is_the_pooled_recall(report):
    steps, curves = recall_curves(report.samples.exposed)
    assert curves["sharp"][steps == 2] == pytest.approx(report.value("sharp", "recall@2", POOLED))
    assert curves["broad"][-1] == pytest.approx(1)
    assert np.all(np.diff(curves["broad"]) >= 0)


def test_a_cutoff_inside_the_sample_reaches_k_times_population_over_sample(report):
    """Wang et al. 2024, theorem 1: 2 of 10 drawn from 40 is the depth of 8, and no deeper than all."""
    assert depth_of(2, report.samples.exposed.drawn) == 8
    assert depth_of(99, report.samples.exposed.drawn) == 40


def test_the_panel_says_how_deep_each_estimator_looks(report):
    panel = describe_sample(report, series_styles(list(report.models)))
    text = " ".join(panel.sentences)
    assert "10 items were drawn at random out of 40 of the catalogue" in text
    assert DEPTH.format(places="2 of 10", depths="8", size=40, cutoffs="2") in text
    assert ("Drawn from", "40") in panel.facts
    assert "<svg" in panel.figures[0].svg


def test_the_panel_shows_populations_that_differ_and_leaves_out_depth_without_traditional():
    run = judge_exposed(estimators=("ure",), unseen=True)
    panel = describe_sample(run, series_styles(list(run.models)))
    text = " ".join(panel.sentences)
    assert "out of 36 not in the user's train" in text
    assert "as deep as" not in text


def test_the_page_has_the_sample_and_nothing_on_popularity(page):
    sections = re.findall(r'<section id="(\w+)"', page)
    assert "sample" in sections
    assert not {"sweep", "skew", "propensities"} & set(sections)
    assert "Propensity</dt>" not in page
    assert "skew of the log" not in page


def test_weights_bring_back_what_is_said_of_them():
    run = judge_exposed(estimators=("ure", "snips"))
    sections = re.findall(r'<section id="(\w+)"', run.to_html())
    assert {"sample", "sweep", "skew"} <= set(sections)


def test_no_bias_is_assumed_so_nothing_is_swept(report):
    assert report.sweeps == []
    assert "gamma" not in as_text(report)


def test_the_verdict_compares_the_sample_with_all_candidates(report):
    verdict = report.verdict
    first = verdict.findings[0]
    answer = first.answer
    assert (answer.naive.estimator, answer.judging.estimator) == ("traditional", POOLED)
    assert (answer.naive.first, answer.judging.first) == (("broad",), ("sharp",))
    assert (answer.robust, answer.flip_gamma) == (None, None)  # nothing is assumed and nothing weighted
    voice = say.OF_A_SAMPLE
    assert verdict.sentence == say.WINNER_CHANGES.format(
        act=voice.act, before="“broad”", after="“sharp”", metrics="recall@2 and precision@2"
    )
    value = rounded(answer.judging.order[0].value)
    assert first.sentences[0] == say.ONLY_BEST.format(by=f"{voice.corrected}, {POOLED}", model="“sharp”", value=value)
    best = say.ALONE_BEST.format(value=rounded(answer.naive.order[0].value))
    naive = f"{capital(voice.naive)}, traditional,"
    assert first.sentences[2] == say.NAIVE_CHANGES.format(naive=naive, models="“broad”", best=best)
    assert verdict.doubts[0] == say.ASSUMES_DRAW.format(items="all items")
    assert "popularity" not in verdict.doubts[0]


def test_an_estimator_for_exposed_items_judges_before_a_weighted_one():
    run = judge_exposed(estimators=("snips", "aoa", "ure"))
    assert str(judging_estimator(run.settings.estimators)) == "ure"
    assert run.answers[0].naive.estimator == "traditional"
    assert judging_estimator([]) is None


def test_traditional_is_added_to_ure_where_it_was_not_asked_for():
    run = judge_exposed(estimators=(POOLED,))
    (one, other) = run.twins.estimates
    both = judge_exposed()
    assert (one.estimator, other.estimator) == ("traditional", "traditional")
    assert one.value == both.value("sharp", "recall@2", "traditional")
    assert "† not asked for; added here" in run.to_html()


def test_the_sample_alone_says_nothing_of_all_candidates():
    verdict = judge_exposed(estimators=("traditional",)).verdict
    assert verdict.sentence.startswith(say.OF_A_SAMPLE.nothing)
    value = rounded(verdict.findings[0].answer.judging.order[0].value)
    by = f"{say.OF_A_SAMPLE.uncorrected}, traditional"
    assert verdict.findings[0].sentences[0] == say.ONLY_BEST.format(by=by, model="“broad”", value=value)


def test_one_model_is_judged_alone():
    split, models = exposed_world()
    run = evaluate({"sharp": models["sharp"]}, split, metrics=["recall@2"])
    naive, row = run.estimates
    interval = say.ALONE_INTERVAL.format(level="95 %", low=rounded(row.low), high=rounded(row.high))
    assert run.verdict.sentence == say.ALONE_WITH.format(
        model="“sharp”",
        metric="recall@2",
        value=rounded(row.value),
        with_act=say.OF_A_SAMPLE.with_act,
        interval=f" ({interval})",
        naive=rounded(naive.value),
        without_act=say.OF_A_SAMPLE.without_act,
    )


def test_a_uniform_propensity_takes_nothing_from_ure():
    split, models = exposed_world()
    run = evaluate(models, split, metrics=["recall@2"], propensity="uniform")
    assert run.verdict.sentence.startswith("Ranking all candidates")


def test_long_words_break_after_commas_and_targets_are_said_once():
    run = judge_exposed(estimators=("traditional", "ure(aggregate=pooled, reduce=control)"))
    text = as_text(run)
    assert re.search(r"ure\(aggregate=pooled,\s", text)
    assert "reduce=control)" in text
    assert text.split("Best against next")[0].count("relevant pairs") == 1


def test_the_sample_alone_is_not_called_the_same_target(report):
    text = as_text(report)
    assert "inside the sample" in text
    assert "same target" not in text


def test_a_narrow_screen_loses_no_number(report):
    narrow = as_text(report, width=80)
    assert all(f"{row.value:.4f}" in narrow for row in report.estimates)
    assert "(Holm)" in narrow
