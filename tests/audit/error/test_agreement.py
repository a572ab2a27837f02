"""Whether worlds agree, by hand-worked numbers, and the sentences on it."""

import re

import pytest
from hand_worlds import audit_of, result

from unskew.audit.error.agreement import span_of_shares, span_of_sizes, wilson
from unskew.audit.showing import words


def test_wilsons_interval_worked_by_hand():
    """8 of 10 runs at z = 1.96: centre (0.8 + 0.19207) / 1.38415, reach 1.96 sqrt(0.016 + 0.0096036) / 1.38415."""
    assert wilson(0.8, 10) == pytest.approx((0.716743 - 0.226577, 0.716743 + 0.226577), abs=2e-4)
    assert wilson(0.0, 10)[0] == 0.0
    assert wilson(0.5, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("shares", "runs", "verdict"),
    [
        ([1.0, 1.0, 0.9], 10, "agree"),
        ([0.0, 0.1], 10, "agree"),
        ([0.0, 1.0], 10, "disagree"),  # Wilson: 0 to 0.28 and 0.72 to 1
        ([0.0, 0.5], 10, "unclear"),  # 0.24 to 0.76 overlaps with 0 to 0.28
        ([0.5, 0.5], 10, "unclear"),
        ([0.0, 0.0], 2, "unclear"),  # 0 of 2 runs: up to 0.66
        ([0.6, 1.0], 1000, "disagree"),  # on one side of a half, but 40 points apart
        ([0.76, 1.0], 1000, "agree"),
        ([1.0], 10, None),
    ],
)
def test_when_shares_of_runs_agree(shares, runs, verdict):
    found = span_of_shares(shares, [runs] * len(shares))
    assert (found.low, found.high, found.verdict) == (min(shares), max(shares), verdict)


@pytest.mark.parametrize(
    ("shares", "verdict"), [([0.01, 0.2], "agree"), ([0.01, 0.3], "disagree"), ([0.45, 0.55], "disagree")]
)
def test_probabilities_have_no_error_of_counting(shares, verdict):
    assert span_of_shares(shares).verdict == verdict


def test_sizes_agree_within_a_factor_of_two():
    assert span_of_sizes([0.05, 0.1]).verdict == "agree"
    assert span_of_sizes([0.05, 0.11]).verdict == "disagree"
    assert span_of_sizes([0.05]).verdict is None
    assert span_of_sizes([]) is None
    assert span_of_shares([]) is None


def said(*worlds):
    return " ".join(words.lead(audit_of(*worlds)))


def test_a_headline_only_where_the_worlds_agree():
    text = said(result("lda-pop", wrong=1.0), result("ibp-pop", wrong=0.9))
    assert words.SEEMS_BETTER.format(estimator="aoa", shares="90 to 100 %", metric="auc") in text
    assert words.ALL_AGREE.format(worlds="2 accepted worlds") in text
    assert words.DISAGREE not in text


def test_the_range_where_they_do_not():
    text = said(result("lda-pop", wrong=0.0), result("lda-pop", 1, wrong=1.0), result("ibp-pop", wrong=1.0))
    assert f"in 0 to 100 % of runs in auc: {words.DISAGREE}" in text
    assert words.BY_KIND.format(shares="0 to 100 % in lda-pop, 100 % in ibp-pop") in text
    assert "agree." not in text.replace("disagree", "")


def test_few_runs_are_not_called_a_disagreement():
    text = said(result("lda-pop", wrong=0.0, runs=2), result("ibp-pop", wrong=0.0, runs=2))
    assert words.UNCLEAR in text
    assert words.DISAGREE not in text


def test_one_world_agrees_with_nothing():
    text = said(result("ibp-pop", wrong=0.3))
    assert f"{words.SEEMS_BETTER.format(estimator='aoa', shares='30 %', metric='auc')}. It" in text
    assert "agree" not in text


def test_smallest_differences_have_a_range_too():
    """0.01 of 0.1 and 0.03 of 0.1: 10 and 30 % of the value."""
    text = said(result("lda-pop", smallest=0.01), result("ibp-pop", smallest=0.03))
    assert re.search(r"can be detected is 10 to 30 % of the value by aoa \(worlds disagree\)", text)


def test_pooled_rows_worked_by_hand():
    found = audit_of(
        result("lda-pop", wrong=0.2, errors=dict.fromkeys(("aoa", *EVERY), 0.03), smallest=0.01),
        result("ibp-pop", wrong=0.4, errors=dict.fromkeys(("aoa", *EVERY), 0.04), smallest=0.03),
    )
    row = found.reference[0]
    assert row.wrong_winner == pytest.approx(0.3)
    assert row.error == pytest.approx(0.05 / 2**0.5)  # the root of the mean of 0.03 and 0.04 squared
    assert (row.smallest, row.runs) == (0.03, 20)
    pair = found.to_dict()["pairs"][0]
    assert pair["wrong_winner_span"] == {"low": 0.2, "high": 0.4, "verdict": "unclear"}
    assert pair["smallest_share_span"]["verdict"] == "disagree"


EVERY = ("snips", "snips(per=balanced)", "snips(per=user)")


@pytest.mark.parametrize("kind", ["lda-pop", "lda-unif", "ibp-pop", "ibp-unif"])
def test_what_is_assumed_is_said_in_full_for_one_kind_alone(kind):
    text = words.assumed(audit_of(result(kind)))
    assert text.startswith(f"Assumed: {kind}: users like what ")
    assert ("the popular ones first" in text) is kind.endswith("pop")
