"""The verdict says what the evidence carries, and no more."""

from dataclasses import replace

import numpy as np
import pytest

from unskew import evaluate
from unskew.estimators import Comparison
from unskew.evaluation.estimating.gamma_sweep import OrderChange
from unskew.evaluation.estimating.order import oriented
from unskew.evaluation.showing.page import describe_change, describe_new_first
from unskew.evaluation.showing.verdict import Verdict, judge
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.head_and_tail import judge_models, make_scorer, make_split

STRONG = {"propensity": "popularity(gamma=1)", "assume": "gamma=0..1"}
"""Every gamma from 0 to 1 puts "tail" before "head", the naive average "head" before "tail"."""


def test_a_change_of_winner_is_the_headline():
    verdict = judge_models("head", "tail", **STRONG).verdict
    assert verdict.sentence == "Correcting for the skew changes the winner from “head” to “tail” on recall@10."
    (finding,) = verdict.findings
    assert finding.answer.changes_winner
    assert finding.sentences[0] == "By the corrected estimate, snips, only “tail” may be best, with 0.927."
    assert finding.sentences[2] == (
        "The naive average over the same target, aoa(per=pair), disagrees: “head” alone may be best, with 0.800. "
        "Each is better than the other beyond chance by its own."
    )


def test_a_lead_by_chance_changes_no_winner():
    """With five users the same two models, with the same values, are not told apart."""
    verdict = judge_models("head", "tail", users=5, **STRONG).verdict
    assert verdict.sentence == "This log cannot separate “tail” and “head” on recall@10."
    assert not verdict.findings[0].answer.changes_winner
    assert "may be best: this log cannot separate them." in verdict.findings[0].sentences[0]


def test_agreement_is_said():
    verdict = judge_models("head", "even", propensity="popularity(gamma=-1)", assume="gamma=-1..-1").verdict
    assert verdict.sentence == "“head” is best of 2 models on recall@10."
    assert verdict.findings[0].answer.agree
    assert verdict.findings[0].sentences[2] == (
        "The naive average over the same target, aoa(per=pair), agrees: “head” alone may be best, with 0.800."
    )


def test_a_winner_that_depends_on_the_assumed_bias_is_not_crowned():
    # (101 / 2) ** ((gamma + 1) / 2) reaches 4, where the models cross, at gamma = -0.29
    verdict = judge_models("head", "tail").verdict
    assert verdict.sentence == "The best model on recall@10 depends on the assumed bias: “head” or “tail”."
    assert verdict.findings[0].answer.judging.may_be_best == ("tail",)
    assert (
        "Which model is first, and above a random order, depends on the assumed bias: “head” at gamma −0.5, none at "
        "gamma −0.25 and “tail” for gamma 0 to 1.5." in verdict.findings[0].sentences
    )


def test_a_lead_that_keeps_its_sign_is_said_to():
    verdict = judge_models("head", "even", propensity="popularity(gamma=-1)", assume="gamma=-1..-1").verdict
    assert verdict.sentence == "“head” is best of 2 models on recall@10."
    (summary,) = verdict.summary
    assert summary == (
        "Best means better than every other model beyond chance (after Holm's correction), and first at every gamma "
        "tried from −1 to −1."
    )
    assert "“head” is first at every gamma tried from −1 to −1." in verdict.findings[0].sentences


def test_how_wrong_the_weights_may_be_is_said():
    (finding,) = judge_models("head", "tail", **STRONG).verdict.findings
    assert finding.sentences[-1] == (
        "“head” could be first if weights were wrong by a factor of 3.55, and for no smaller one could any other model."
    )
    alone = judge_models("head", "even", propensity="popularity(gamma=-1)").verdict.findings[0]
    assert "factor of 2" in alone.sentences[-1]  # 0.8 against 0.2 of the rows


def test_a_lead_is_given_with_its_interval():
    (finding,) = judge_models("head", "tail", **STRONG).verdict.findings
    assert "“tail” leads “head” by 0.853 (95 % interval " in finding.sentences[1]
    assert finding.sentences[1].endswith("more than chance explains (p < 0.0001 after Holm).")
    few = judge_models("head", "tail", users=5, **STRONG).verdict.findings[0]
    assert few.sentences[1].endswith(
        "which chance alone can explain (p < 0.0001 after Holm, but from no more than the weight of 1.2 users)."
    )


def test_models_of_equal_value_are_level():
    verdict = judge_models("tail", "tail", names=("a", "b"), **STRONG).verdict
    assert verdict.sentence == "“a” and “b” are level on recall@10."
    assert not any("leads" in sentence for sentence in verdict.findings[0].sentences)


def test_many_models_that_cannot_be_separated_are_counted():
    some = judge_models(*["tail"] * 5, "even", names=("a", "b", "c", "d", "e", "f"), **STRONG).verdict
    assert some.sentence.startswith("This log cannot separate “a”, “b”, “c” and 2 more on recall@10 (not among them")


def test_one_model_has_nothing_to_be_compared_with():
    verdict = judge_models("head", propensity="popularity(gamma=1)").verdict
    assert verdict.sentence.startswith("“head” is judged alone: its recall@10 is 0.073 corrected for the skew (95 % ")
    assert verdict.sentence.endswith(" over what may be assumed), 0.800 without.")
    assert verdict.summary == ()
    assert verdict.findings[0].sentences == (
        "“head” has 0.073 by the corrected estimate, snips.",
        "The naive average over the same target, aoa(per=pair), has 0.800.",
    )
    alone = judge_models("head", metrics=["ndcg@10"], estimators=["aoa"]).verdict
    assert alone.sentence == "“head” is judged alone, so there is nothing to compare it with."


def test_one_user_is_too_few_to_speak_of_chance():
    verdict = judge_models("head", "tail", users=1).verdict
    assert "cannot be said, because there is no interval" in verdict.findings[0].sentences[1]
    assert verdict.summary[0].startswith("There are too few users to say what chance could do")
    assert "is best" not in verdict.sentence


def test_without_a_corrected_estimate_nothing_is_corrected():
    report = judge_models("head", "tail", metrics=["ndcg@10", "map", "precision@10"], estimators=["aoa"])
    assert report.verdict.sentence == (
        "Only naive averages were computed: nothing here is corrected for the skew of the log. "
        "“head” is best of 2 models on all 3 metrics."
    )
    assert not any("assumes" in doubt for doubt in report.verdict.doubts)
    text = str(report)
    for metric, instead in (("ndcg@10", "adg@10 and recall@10"), ("map", "adg and auc"), ("precision@10", "recall@10")):
        line = next(line for line in text.splitlines() if line.startswith(f"note: {metric} is the naive average only"))
        assert line.endswith(f"{instead} can be corrected")


def test_a_metric_that_can_be_corrected_says_how():
    assert 'auc is the naive average only; estimators=["snips"] corrects it' in str(
        judge_models("head", "tail", metrics=["auc"], estimators=["aoa"])
    )


def test_a_uniform_propensity_corrects_nothing():
    verdict = judge_models("head", "tail", propensity="uniform").verdict
    assert verdict.sentence == (
        "The propensity is uniform, so nothing here is corrected for the skew of the log. “head” is best of 2 models "
        "on recall@10."
    )
    assert "each estimate equals its naive counterpart" in verdict.doubts[0]


def test_metrics_with_the_same_answer_are_named_together():
    verdict = judge_models("head", "tail", metrics=["recall@10", "adg@10", "auc"], **STRONG).verdict
    assert verdict.sentence == "Correcting for the skew changes the winner from “head” to “tail” on all 3 metrics."
    mixed = judge_models("head", "tail", metrics=["recall@10", "recall@20"], **STRONG).verdict
    assert mixed.sentence == (
        "Correcting for the skew changes the winner from “head” to “tail” on recall@10. By the corrected estimate "
        "no model is shown to be better than a random order on recall@20."  # which cuts nothing: any order gets 1
    )


def test_a_model_below_a_random_order_is_not_crowned():
    # by gamma 1 the tail decides, which both models rank below the head: far below a random order of 20 items
    split = make_split()
    worse = MatrixScorer(make_scorer("head").matrix * np.linspace(2, 1, 20) - np.linspace(0, 1, 20))
    report = evaluate({"head": make_scorer("head"), "other": worse}, split, metrics=["auc"], **STRONG)
    (answer,) = report.answers
    assert answer.judging.order[0].high < answer.chance
    assert answer.chance == pytest.approx(0.5 + 0.5 / 20)
    assert (answer.kind, answer.changes_winner) == ("chance", False)
    assert (
        report.verdict.sentence
        == "By the corrected estimate no model is shown to be better than a random order on auc."
    )
    assert "a random order, which would have 0.525;" in report.verdict.findings[0].sentences[0]
    assert (answer.may_be_best, answer.robust) == ((), False)
    assert report.to_dict()["verdict"]["metrics"][0]["may_be_best"] == []
    assert "none: a random order" in str(report)


def test_a_change_of_winner_that_leaves_others_open_is_not_called_one():
    """The naive leader is beaten, but two models may be best: nobody is crowned."""
    report = judge_models("head", "tail", "tail", names=("head", "a", "b"), **STRONG)
    (answer,) = report.answers
    assert answer.swap is None  # a and b are level
    assert report.verdict.sentence == (
        "This log cannot separate “a” and “b” on recall@10 (not among them: “head”, first by the naive average over "
        "the same target)."
    )


@pytest.mark.parametrize(
    ("propensity", "words"),
    [("popularity(gamma=-0.5)", "with gamma −0.5"), ("column", "takes the test file's own propensities as true")],
)
def test_the_assumption_comes_first_among_the_doubts(propensity, words):
    report = judge_models("head", "tail", split=make_split(propensity=0.5), propensity=propensity)
    assert words in report.verdict.doubts[0]


def test_uneven_weights_and_warnings_are_doubts():
    report = judge_models("head", "tail", propensity="popularity(gamma=1)")
    report = replace(report, warnings=("first thing", "second", "third", "fourth", "fifth"))
    doubts = judge(report).doubts
    assert doubts[1].startswith("The weights are uneven: 200 users count like 4")
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
    assert verdict.findings[0].sentences == ("No model has a defined value.",)


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
