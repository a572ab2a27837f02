"""The verdict says what the evidence carries, and no more."""

from dataclasses import replace

import numpy as np
import pytest

from unskew import evaluate
from unskew.display.numbers import rounded
from unskew.display.phrases import capital, quoted
from unskew.estimators import Comparison
from unskew.evaluation.estimating.gamma_sweep import OrderChange
from unskew.evaluation.estimating.order import oriented
from unskew.evaluation.showing import vocabulary as say
from unskew.evaluation.showing.page import describe_change, describe_new_first
from unskew.evaluation.showing.verdict import Verdict, judge
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.head_and_tail import judge_models, make_scorer, make_split

STRONG = {"propensity": "popularity(gamma=1)", "assume": "gamma=0..1"}
"""Every gamma from 0 to 1 puts "tail" before "head", the naive average "head" before "tail"."""
CORRECTED = f"{say.OF_A_LOG.corrected}, snips"
NAIVE = f"{capital(say.OF_A_LOG.naive)}, aoa(per=pair),"


def best_of(name: str, metrics: str = "recall@10", models: int = 2) -> str:
    return f"{say.BEST.format(model=quoted(name), n=models, metrics=metrics)}."


def alone(name: str, value: str) -> dict[str, str]:
    return {"naive": NAIVE, "models": quoted(name), "best": say.ALONE_BEST.format(value=value)}


def test_a_change_of_winner_is_the_headline():
    verdict = judge_models("head", "tail", **STRONG).verdict
    assert verdict.sentence == "Correcting for the skew changes the winner from “head” to “tail” on recall@10."
    (finding,) = verdict.findings
    assert finding.answer.changes_winner
    assert finding.sentences[0] == say.ONLY_BEST.format(by=CORRECTED, model="“tail”", value="0.927")
    assert finding.sentences[2] == say.NAIVE_CHANGES.format(**alone("head", "0.800"))


def test_a_lead_by_chance_changes_no_winner():
    """With five users the same two models, with the same values, cannot be separated."""
    verdict = judge_models("head", "tail", users=5, **STRONG).verdict
    clause = say.OPEN.format(data="log", models="“tail” and “head”", metrics="recall@10")
    assert verdict.sentence == f"{capital(clause)}."
    assert not verdict.findings[0].answer.changes_winner
    assert "may be best: this log cannot separate" in verdict.findings[0].sentences[0]


def test_agreement_is_said():
    verdict = judge_models("head", "even", propensity="popularity(gamma=-1)", assume="gamma=-1..-1").verdict
    assert verdict.sentence == best_of("head")
    assert verdict.findings[0].answer.agree
    assert verdict.findings[0].sentences[2] == say.NAIVE_AGREES.format(**alone("head", "0.800"))


def test_a_winner_that_depends_on_the_assumed_bias_is_not_crowned():
    # (101 / 2) ** ((gamma + 1) / 2) reaches 4, where the models cross, at gamma = -0.29
    verdict = judge_models("head", "tail").verdict
    assert (
        verdict.sentence
        == f"{capital(say.DEPENDS.format(metrics='recall@10', what=say.ASSUMED_BIAS, models='“head” or “tail”'))}."
    )
    assert verdict.findings[0].answer.judging.may_be_best == ("tail",)
    spans = "“head” at gamma −0.5, none at gamma −0.25 and “tail” for gamma 0 to 1.5"
    assert say.FIRST_DEPENDS.format(spans=spans) in verdict.findings[0].sentences


def test_a_lead_that_keeps_its_sign_is_said_to():
    verdict = judge_models("head", "even", propensity="popularity(gamma=-1)", assume="gamma=-1..-1").verdict
    assert verdict.sentence == best_of("head")
    (summary,) = verdict.summary
    assert summary == say.BEST_MEANS.format(gammas=say.BEST_AT_GAMMAS.format(low="−1", high="−1"))
    assert say.FIRST_AT_GAMMAS.format(models="“head” is", low="−1", high="−1") in verdict.findings[0].sentences


def test_how_wrong_the_weights_may_be_is_said():
    (finding,) = judge_models("head", "tail", **STRONG).verdict.findings
    assert finding.sentences[-1] == say.FLIPS_AT.format(model="“head”", factor="3.55")
    naive = judge_models("head", "even", propensity="popularity(gamma=-1)").verdict.findings[0]
    assert "factor of 2" in naive.sentences[-1]  # 0.8 against 0.2 of the rows


def test_a_lead_is_given_with_its_interval():
    (finding,) = judge_models("head", "tail", **STRONG).verdict.findings
    lead = say.LEADS.format(a="“tail”", b="“head”", gap="0.853")
    assert f"{lead} (95 % interval " in finding.sentences[1]
    assert finding.sentences[1].endswith(say.BEYOND_CHANCE.format(lead="", p="p < 0.0001"))
    few = judge_models("head", "tail", users=5, **STRONG).verdict.findings[0]
    assert few.sentences[1].endswith(say.WITHIN_FEW_USERS.format(lead="", p="p < 0.0001", users=1.2))


def test_models_of_equal_value_are_level():
    verdict = judge_models("tail", "tail", names=("a", "b"), **STRONG).verdict
    assert verdict.sentence == f"{say.LEVEL.format(models='“a” and “b”', metrics='recall@10')}."
    assert not any("leads" in sentence for sentence in verdict.findings[0].sentences)


def test_many_models_that_cannot_be_separated_are_counted():
    some = judge_models(*["tail"] * 5, "even", names=("a", "b", "c", "d", "e", "f"), **STRONG).verdict
    clause = say.OPEN.format(data="log", models="“a”, “b”, “c” and 2 more", metrics="recall@10")
    assert some.sentence.startswith(f"{capital(clause)} (")


def test_one_model_has_nothing_to_be_compared_with():
    report = judge_models("head", propensity="popularity(gamma=1)")
    verdict = report.verdict
    (row,) = (row for row in report.estimates if row.estimator == "snips")
    interval = say.ALONE_INTERVAL.format(level="95 %", low=rounded(row.low), high=rounded(row.high))
    interval += say.ALONE_ASSUMED.format(low=rounded(row.assumed_low), high=rounded(row.assumed_high))
    assert verdict.sentence == say.ALONE_WITH.format(
        model="“head”",
        metric="recall@10",
        value="0.073",
        with_act=say.OF_A_LOG.with_act,
        interval=f" ({interval})",
        naive="0.800",
        without_act=say.OF_A_LOG.without_act,
    )
    assert verdict.summary == ()
    assert verdict.findings[0].sentences == (
        say.HAS.format(model="“head”", value="0.073", by=CORRECTED),
        say.NAIVE_HAS.format(naive=NAIVE, value="0.800"),
    )
    naive = judge_models("head", metrics=["ndcg@10"], estimators=["aoa"]).verdict
    assert naive.sentence == say.ALONE.format(model="“head”")


def test_one_user_is_too_few_to_speak_of_chance():
    verdict = judge_models("head", "tail", users=1).verdict
    assert verdict.findings[0].sentences[1].endswith(say.LEADS_UNSURE.format(lead=""))
    assert verdict.summary[0] == say.TOO_FEW_USERS.format(data="log")
    assert "is best" not in verdict.sentence


def test_without_a_corrected_estimate_nothing_is_corrected():
    report = judge_models("head", "tail", metrics=["ndcg@10", "map", "precision@10"], estimators=["aoa"])
    assert report.verdict.sentence == f"{say.OF_A_LOG.nothing} {best_of('head', 'all 3 metrics')}"
    assert not any("assumes" in doubt for doubt in report.verdict.doubts)
    text = str(report)
    for metric, instead in (("ndcg@10", "adg@10 and recall@10"), ("map", "adg and auc"), ("precision@10", "recall@10")):
        line = next(line for line in text.splitlines() if line.startswith(f"note: {metric} is the naive"))
        assert line.endswith(f"{instead} can be corrected")


def test_a_metric_that_can_be_corrected_says_how():
    text = str(judge_models("head", "tail", metrics=["auc"], estimators=["aoa"]))
    assert say.NAIVE_ONLY.format(metric="auc", snips='estimators=["snips"]') in text


def test_a_uniform_propensity_corrects_nothing():
    verdict = judge_models("head", "tail", propensity="uniform").verdict
    assert verdict.sentence == f"{say.UNIFORM} {best_of('head')}"
    assert verdict.doubts[0] == say.ASSUMES_NOTHING


def test_metrics_with_the_same_answer_are_named_together():
    verdict = judge_models("head", "tail", metrics=["recall@10", "adg@10", "auc"], **STRONG).verdict
    swap = {"act": say.OF_A_LOG.act, "before": "“head”", "after": "“tail”"}
    assert verdict.sentence == say.WINNER_CHANGES.format(metrics="all 3 metrics", **swap)
    mixed = judge_models("head", "tail", metrics=["recall@10", "recall@20"], **STRONG).verdict
    chance = say.CHANCE.format(corrected=say.OF_A_LOG.corrected, metrics="recall@20")  # any order of 20 items gets 1
    assert mixed.sentence == f"{say.WINNER_CHANGES.format(metrics='recall@10', **swap)} {capital(chance)}."


def test_a_model_below_a_random_order_is_not_crowned():
    # by gamma 1 the tail decides, which both models rank below the head: far below a random order of 20 items
    split = make_split()
    worse = MatrixScorer(make_scorer("head").matrix * np.linspace(2, 1, 20) - np.linspace(0, 1, 20))
    report = evaluate({"head": make_scorer("head"), "other": worse}, split, metrics=["auc"], **STRONG)
    (answer,) = report.answers
    assert answer.judging.order[0].high < answer.chance
    assert answer.chance == pytest.approx(0.5 + 0.5 / 20)
    assert (answer.kind, answer.changes_winner) == ("chance", False)
    assert report.verdict.sentence == f"{capital(say.CHANCE.format(corrected=say.OF_A_LOG.corrected, metrics='auc'))}."
    first = answer.judging.order[0]
    assert report.verdict.findings[0].sentences[0] == say.NONE_ABOVE_CHANCE.format(
        by=CORRECTED, chance="0.525", model=quoted(first.model), value=rounded(first.value)
    )
    assert (answer.may_be_best, answer.robust) == ((), False)
    assert report.to_dict()["verdict"]["metrics"][0]["may_be_best"] == []
    assert "none: a random order" in str(report)


def test_a_change_of_winner_that_leaves_others_open_is_not_called_one():
    """The naive winner is beaten, but two models may be best: there is no winner."""
    report = judge_models("head", "tail", "tail", names=("head", "a", "b"), **STRONG)
    (answer,) = report.answers
    assert answer.swap is None  # a and b are level
    clause = say.OPEN.format(data="log", models="“a” and “b”", metrics="recall@10")
    excluded = say.NOT_AMONG_THEM.format(models="“head”", naive=say.OF_A_LOG.naive)
    assert report.verdict.sentence == f"{capital(clause)}{excluded}."


@pytest.mark.parametrize(
    ("propensity", "words"),
    [("popularity(gamma=-0.5)", "with gamma −0.5"), ("column", "the test file's own propensities")],
)
def test_the_assumption_comes_first_among_the_doubts(propensity, words):
    report = judge_models("head", "tail", split=make_split(propensity=0.5), propensity=propensity)
    assert words in report.verdict.doubts[0]


def test_uneven_weights_and_warnings_are_doubts():
    report = judge_models("head", "tail", propensity="popularity(gamma=1)")
    report = replace(report, warnings=("first thing", "second", "third", "fourth", "fifth"))
    doubts = judge(report).doubts
    row = next(row for row in report.estimates if row.estimator == "snips")
    assert doubts[1] == say.UNEVEN_WEIGHTS.format(estimator="snips", users=200, size=row.effective_sample_size)
    assert doubts[2:] == ("First thing.", "Second.", "Third.", "2 more warnings below.")


def test_undefined_values_are_said():
    report = judge_models("head", "tail")
    blank = [replace(row, value=None, low=None, high=None, std_error=None) for row in report.estimates]
    gone = [
        replace(c, difference=None, low=None, high=None, p_value=None, p_value_holm=None) for c in report.comparisons
    ]
    verdict = replace(
        report, estimated=replace(report.estimated, estimates=tuple(blank), comparisons=tuple(gone))
    ).verdict
    assert verdict.findings[0].sentences == (say.NO_VALUE,)


def test_terminal_json_notebook_and_page_open_with_the_same_sentence():
    for settings in (STRONG, {}, {"users": 5}, {"estimators": ["aoa", "snips"]}):
        report = judge_models("head", "tail", metrics=["recall@10", "auc"], **settings)
        sentence = report.verdict.sentence
        assert isinstance(report.verdict, Verdict)
        assert " ".join(str(report).split()).startswith(sentence)
        assert report.to_dict()["verdict"]["sentence"] == sentence
        assert report._repr_html_().startswith(f"<p><strong>{sentence}</strong>")
        assert f"<h1>{sentence}</h1>" in report.to_html()


def test_what_was_not_asked_for_changes_no_verdict():
    """The naive average on the target of the correction is made where only another one was asked for."""
    asked = judge_models("head", "tail", estimators=["aoa", "snips"], **STRONG)
    default = judge_models("head", "tail", **STRONG)
    assert asked.verdict.sentence == default.verdict.sentence
    assert asked.to_dict()["verdict"] == default.to_dict()["verdict"]


def test_a_single_swap_names_both_models():
    change = OrderChange(0.25, 0.5, ("a", "b", "c"), ("b", "a", "c"))
    assert describe_change(change) == "between gamma 0.25 and 0.5 “b” passes “a”"
    assert describe_new_first(change) == "between gamma 0.25 and 0.5 “b” takes first place from “a”"


def test_several_swaps_give_the_new_order():
    change = OrderChange(-1, -0.75, ("a", "b", "c"), ("c", "b", "a"))
    assert describe_change(change) == "between gamma −1 and −0.75 the order becomes “c” > “b” > “a”"


def test_comparisons_are_turned_to_the_better_model():
    row = Comparison("auc", "snips", "a", "b", -0.2, -0.3, 0.1, 0.04, 0.08)
    assert oriented(row) == Comparison("auc", "snips", "b", "a", 0.2, -0.1, 0.3, 0.04, 0.08)
    assert oriented(oriented(row)) == oriented(row)
    unknown = Comparison("auc", "snips", "a", "b", None, None, None, None, None)
    assert oriented(unknown) is unknown
    assert oriented(replace(row, low=None, high=None)).low is None
