"""The verdict says what the numbers say."""

from dataclasses import replace

import numpy as np
import pytest
from skewed import TRAINING_USERS, judge_models, make_split

from unskew import Interactions, Split
from unskew.estimators import Comparison
from unskew.evaluation.ordering import oriented
from unskew.evaluation.sweep import OrderChange
from unskew.evaluation.verdict import describe_change, describe_new_first, judge

STRONG = "popularity(gamma=1)"


def test_a_change_of_winner_is_the_headline():
    verdict = judge(judge_models("head", "tail", propensity=STRONG))
    assert verdict.headline == "Correcting for the skew changes the winner from “head” to “tail” on recall@10."
    (finding,) = verdict.findings
    assert finding.differs
    assert (finding.naive, finding.corrected) == ("aoa(per=pair)", "snips")
    assert (finding.naive_first, finding.corrected_first) == (("head",), ("tail",))
    assert finding.sentences[0] == (
        "By the naive average, aoa(per=pair), “head” is first with 0.800. The corrected estimate, snips, disagrees: "
        "“tail” is first with 0.927 and “head” second of 2."
    )


def test_agreement_is_said():
    verdict = judge(judge_models("head", "tail", propensity="popularity(gamma=-1)"))
    assert verdict.headline == "“head” is first on recall@10, naively and corrected."
    assert not verdict.findings[0].differs
    assert verdict.findings[0].sentences[0].startswith("The naive average, aoa(per=pair), and the corrected estimate, ")
    assert "agree: “head” is first, with 0.800 and 0.800." in verdict.findings[0].sentences[0]


def test_a_lead_beyond_chance_is_told_with_its_interval():
    finding = judge(judge_models("head", "tail", propensity=STRONG)).findings[0]
    assert finding.decided is True
    assert "“tail” leads “head” by 0.853 (95 % interval " in finding.sentences[1]
    assert finding.sentences[1].endswith("more than chance explains (p < 0.0001 after Holm).")


def test_a_lead_within_chance_is_told_as_such():
    verdict = judge(judge_models("head", "tail", users=10, propensity="popularity(gamma=-0.2)"))
    assert verdict.findings[0].decided is False
    assert verdict.findings[0].sentences[1].endswith("the log does not settle which of the two is better.")
    assert verdict.summary[0] == (
        "No two models differ beyond chance on any metric: this log cannot tell these models apart."
    )


def test_pairs_told_apart_are_counted():
    finding = judge(judge_models("head", "tail", "even", propensity=STRONG)).findings[0]
    assert (finding.told_apart, finding.pairs) == (3, 3)
    assert "All 3 pairs of models differ beyond chance." in finding.sentences
    twins = judge(judge_models("head", "tail", "tail", names=("a", "b", "c"), propensity=STRONG)).findings[0]
    assert "2 of 3 pairs of models differ beyond chance." in twins.sentences
    few = judge(judge_models("head", "tail", "even", users=5, propensity="popularity(gamma=-0.3)")).findings[0]
    assert "No two models differ beyond chance: on this metric the log cannot tell them apart." in few.sentences


def test_how_the_order_depends_on_gamma_is_told():
    # (101 / 2) ** ((gamma + 1) / 2) reaches 4, where the models cross, at gamma = -0.29
    verdict = judge(judge_models("head", "tail"))
    assert verdict.findings[0].leaders == ("head", "tail")
    assert verdict.findings[0].sentences[-1] == (
        "First place hangs on the assumed bias: “head” for gamma −1 to −0.5 and “tail” for gamma −0.25 to 3."
    )
    assert verdict.summary[-1] == "On recall@10 first place depends on how strong a popularity bias is assumed."


def test_an_order_that_never_changes_is_told():
    verdict = judge(judge_models("even", "even", names=("a", "b")))
    same = "The order of the models is the same for every gamma from −1 (no correction) to 3."
    assert verdict.findings[0].sentences[-1] == same
    assert verdict.summary[-1] == "First place does not depend on how strong a popularity bias is assumed."


def test_models_of_equal_value_share_first_place():
    verdict = judge(judge_models("head", "head", names=("a", "b")))
    assert verdict.headline == "“a” and “b” are level at the top on recall@10, naively and corrected."
    assert "agree: “a” and “b” are level and first" in verdict.findings[0].sentences[0]
    assert not any("leads" in sentence for sentence in verdict.findings[0].sentences)


def test_a_tie_that_the_correction_breaks_is_no_change_of_winner():
    report = judge_models("head", "tail", propensity=STRONG)
    level = tuple(
        replace(row, value=0.5) for row in judge_models("head", "tail", estimators=["aoa(per=pair)"]).estimates
    )
    finding = judge(report, level).findings[0]
    assert finding.naive_first == ("head", "tail")
    assert not finding.differs


def test_one_model_has_nothing_to_be_compared_with():
    verdict = judge(judge_models("head", propensity=STRONG))
    assert verdict.headline == "“head” stands alone: its recall@10 is 0.073 corrected for the skew, 0.800 without."
    assert verdict.summary == ()
    assert verdict.findings[0].sentences == (
        "“head” has 0.800 by the naive average, aoa(per=pair), and 0.073 by the corrected estimate, snips.",
    )
    alone = judge(judge_models("head", metrics=["ndcg@10"], estimators=["aoa"]))
    assert alone.headline == "“head” stands alone, so there is nothing to compare it with."


def test_one_user_is_too_few_to_speak_of_chance():
    verdict = judge(judge_models("head", "tail", users=1))
    assert verdict.findings[0].decided is None
    assert "cannot be said, because there is no interval" in verdict.findings[0].sentences[1]
    assert verdict.summary[0].startswith("There are too few users to say what chance could do")


def test_without_a_corrected_estimate_nothing_is_corrected():
    verdict = judge(judge_models("head", "tail", metrics=["ndcg@10", "map"], estimators=["aoa"]))
    assert verdict.headline == "Only naive averages were computed: nothing here is corrected for the skew of the log."
    assert verdict.findings[0].sentences[0].startswith("Only the naive average was computed, aoa: “head” is first with")
    assert not any("assumes" in doubt for doubt in verdict.doubts)


def test_a_uniform_propensity_corrects_nothing():
    verdict = judge(judge_models("head", "tail", propensity="uniform"))
    assert verdict.headline == "The propensity is uniform, so nothing here is corrected for the skew of the log."
    assert "each estimate equals its naive counterpart" in verdict.doubts[0]


def test_several_metrics_are_told_together():
    verdict = judge(judge_models("head", "tail", metrics=["recall@10", "adg@10", "auc"], propensity=STRONG))
    assert verdict.headline == "Correcting for the skew changes the winner from “head” to “tail” on all 3 metrics."
    assert verdict.summary[0] == "The first model's lead over the second is beyond chance on all 3 metrics."
    mixed = judge(judge_models("head", "tail", metrics=["recall@10", "recall@20"], propensity=STRONG))
    assert mixed.headline == "Correcting for the skew changes the winner from “head” to “tail” on recall@10."
    assert mixed.summary[0] == "The first model's lead over the second is beyond chance on recall@10 only."


def test_the_average_over_users_is_told_when_it_crowns_another():
    # one user with many head rows and three with one tail row: pairs favour "head", users favour "tail"
    users = np.array([0] * 8 + [1, 2, 3])
    items = np.array([*range(8), 10, 11, 12])
    split = make_split(4)
    test = Interactions.from_arrays(users, items, n_users=4 + TRAINING_USERS, n_items=20)
    report = judge_models("head", "tail", users=4, split=Split(split.train, test), propensity="popularity(gamma=-1)")
    sentences = judge(report).findings[0].sentences
    assert sentences[1] == "Averaged over users instead of pairs (aoa), “tail” is first with 0.750."


@pytest.mark.parametrize(
    ("propensity", "words"),
    [("popularity(gamma=-0.5)", "with gamma −0.5"), ("column", "takes the test file's own propensities as true")],
)
def test_the_assumption_comes_first_among_the_doubts(propensity, words):
    report = judge_models("head", "tail", split=make_split(propensity=0.5), propensity=propensity)
    assert words in judge(report).doubts[0]


def test_uneven_weights_and_warnings_are_doubts():
    report = judge_models("head", "tail", propensity="popularity(gamma=1)")
    report = replace(report, warnings=("first thing", "second", "third", "fourth", "fifth"))
    doubts = judge(report).doubts
    assert doubts[1].startswith("The weights are uneven: 200 held-out rows are worth 4")
    assert doubts[2:] == ("First thing.", "Second.", "Third.", "2 more warnings below.")


def test_undefined_values_are_told():
    report = judge_models("head", "tail")
    blank = [replace(row, value=None, low=None, high=None, std_error=None) for row in report.estimates]
    gone = [
        replace(c, difference=None, low=None, high=None, p_value=None, p_value_holm=None) for c in report.comparisons
    ]
    report = replace(report, estimates=tuple(blank), comparisons=tuple(gone))
    verdict = judge(report, ())
    assert verdict.findings[0].sentences[0] == "No model has a defined value."
    assert verdict.headline.startswith("No corrected estimate is defined")


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
