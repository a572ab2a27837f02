"""Which models may be best, and over which assumed bias."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import evaluate
from unskew.estimators import Comparison, Estimate
from unskew.evaluation.estimating.best_models import Answer, Standing
from unskew.propensities import GammaRange
from unskew.testing.worlds.head_and_tail import NAIVE_AND_SNIPS, judge_models
from unskew.testing.worlds.known_errors import judge_ratings
from unskew.testing.worlds.long_tail import skewed_split, whole_scores


def estimate(model: str, value: float) -> Estimate:
    return Estimate(model, "auc", "", "snips", "", value, 0.1, 0.0, 1.0, 0.95, None, None, 9, 0, 0, 9.0, 9.0, 0.1, 0, 0)


def standing(values: dict[str, float], p: dict[tuple[str, str], float]) -> Standing:
    """Models by value, and the p of each pair, the better one first."""
    order = sorted(values, key=lambda model: -values[model])
    compared = tuple(
        Comparison("auc", "snips", a, b, values[a] - values[b], None, None, p.get((a, b), 1.0), p.get((a, b), 1.0))
        for k, a in enumerate(order)
        for b in order[k + 1 :]
    )
    return Standing("snips", tuple(estimate(model, values[model]) for model in order), compared, 0.05, 100.0)


def test_a_model_that_another_one_beats_beyond_chance_is_not_the_best() -> None:
    found = standing({"a": 0.3, "b": 0.2, "c": 0.1}, {("a", "c"): 0.01})
    assert found.may_be_best == ("a", "b")
    assert found.first == ("a",)
    assert (found.leads("a", "c"), found.leads("a", "b"), found.leads("c", "a")) == (True, False, False)


def test_a_model_may_be_beaten_by_another_one_than_the_first() -> None:
    assert standing({"a": 0.3, "b": 0.2, "c": 0.1}, {("b", "c"): 0.01}).may_be_best == ("a", "b")


def test_few_effective_users_show_less() -> None:
    """p = .01 is z = 2.58; Student's t with 4 degrees of freedom exceeds that by chance in 6 % of cases."""
    many = standing({"a": 0.3, "b": 0.2}, {("a", "b"): 0.01})
    assert many.may_be_best == ("a",)
    assert replace(many, effective=5.0).may_be_best == ("a", "b")
    certain = standing({"a": 0.3, "b": 0.2}, {("a", "b"): 0.0})  # all users agree: a sign test
    assert replace(certain, effective=5.0).may_be_best == ("a", "b")
    assert replace(certain, effective=6.0).may_be_best == ("a",)


def test_without_p_values_every_model_may_be_best() -> None:
    found = standing({"a": 0.3, "b": 0.2}, {})
    unknown = replace(found, compared=tuple(replace(c, p_value_holm=None) for c in found.compared))
    assert unknown.may_be_best == ("a", "b")


@pytest.mark.parametrize(
    ("naive_p", "corrected_p", "changes"), [(0.01, 0.01, True), (0.2, 0.01, False), (0.01, 0.2, False)]
)
def test_a_winner_changes_only_when_each_leads_the_other_beyond_chance(naive_p, corrected_p, changes) -> None:
    naive = standing({"a": 0.3, "b": 0.2}, {("a", "b"): naive_p})
    corrected = standing({"b": 0.3, "a": 0.2}, {("b", "a"): corrected_p})
    answer = Answer("auc", corrected, corrects=True, naive=naive)
    assert answer.changes_winner is changes
    assert not replace(answer, confirmed=False).changes_winner  # on the users whom all models know it is another
    assert not replace(answer, leaders=("a", "b")).changes_winner  # at another gamma a is first
    assert not replace(answer, chance=0.4).changes_winner  # a random order is better than both
    assert answer.agree is (not changes)
    assert not Answer("auc", naive, corrects=True, naive=naive).changes_winner


def test_level_leaders_change_no_winner() -> None:
    naive = standing({"a": 0.3, "b": 0.3}, {})
    corrected = standing({"b": 0.3, "a": 0.2}, {("b", "a"): 0.001})
    assert not Answer("auc", corrected, corrects=True, naive=naive).changes_winner


@given(
    values=st.lists(st.integers(0, 6), min_size=1, max_size=6), p=st.lists(st.floats(0, 1), min_size=15, max_size=15)
)
def test_the_model_with_the_best_value_may_always_be_best(values, p) -> None:
    named = {f"m{k}": float(v) for k, v in enumerate(values)}
    names = sorted(named, key=lambda model: -named[model])
    chances = dict(zip([(a, b) for k, a in enumerate(names) for b in names[k + 1 :]], p, strict=False))
    found = standing(named, chances)
    assert set(found.first) <= set(found.may_be_best)


def test_the_answer_holds_over_the_gammas_around_the_one_used() -> None:
    # "head" and "tail" are level at gamma = 2 ln 4 / ln 50.5 - 1 = -0.29
    (answer,) = judge_models("head", "tail").answers
    # and near there neither is shown to be better than a random order
    assert answer.spans == ((("head",), -0.5, -0.5), ((), -0.25, -0.25), (("tail",), 0.0, 1.5))
    assert answer.leaders == ("head", "tail")
    assert (answer.robust, answer.holds_over) == (False, GammaRange(0.0, 1.5))
    assert answer.to_dict()["holds_over"] == "gamma 0..1.5"
    (inside,) = judge_models("head", "tail", assume="gamma=0..1").answers
    assert (inside.robust, inside.to_dict()["holds_over"]) == (True, "gamma 0..1")


def test_seeds_of_one_model_change_no_winner() -> None:
    """Twenty models that differ by chance alone: nothing may be claimed of them (an error rate of 5 % at most)."""
    changed = 0
    for seed in range(40):
        models = {f"m{k:02d}": whole_scores(100 * seed + k, top=1000) for k in range(20)}
        report = evaluate(models, skewed_split(seed), metrics=["recall@5", "auc"], estimators=NAIVE_AND_SNIPS)
        changed += any(answer.changes_winner for answer in report.answers)
        assert "changes the winner" not in report.verdict.sentence or changed
    assert changed <= 6  # 95 % of binomial(40, 0.05) is at most 4; 6 has a chance below 0.4 %


def test_lower_is_better_where_the_metric_is_an_error() -> None:
    (answer, *_) = judge_ratings(metrics=["mae"]).answers
    assert answer.judging.first == ("near",)
    assert answer.judging.may_be_best == ("near",)
    assert np.isfinite(answer.flip_gamma or 1.0)
