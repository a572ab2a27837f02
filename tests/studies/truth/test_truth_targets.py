"""Targets as claims: what holds and what does not."""

import numpy as np
from made_truth import AUTO, BLEND, NAIVE, POSITIVE_AUTO, SLICED, trials

from unskew.studies.framework.trials import Trials
from unskew.studies.truth.measures import DIMS
from unskew.studies.truth.targets import (
    auto_verdict,
    below_naive,
    coverage_verdict,
    error_verdict,
    tau_verdict,
    wrong_verdict,
)

NAMES = ("x", "y")


def both(form, x, y):
    return {("x", form): x, ("y", form): y}


def test_errors_are_judged_on_average_or_one_by_one():
    errors = trials(error=both(BLEND, 0.1, 0.2))
    assert error_verdict(errors, BLEND, 0.16, NAMES, joint=True) == (True, "mean 0.150; x 0.100, y 0.200")
    assert error_verdict(errors, BLEND, 0.16, NAMES, joint=False) == (False, "x 0.100, y 0.200")


def test_the_default_may_be_slightly_worse_than_the_naive_average_nowhere_more():
    errors = both(AUTO, 0.3, 1.1) | both(POSITIVE_AUTO, 1.0, 0.6)
    holds, evidence = auto_verdict(trials(error=errors), NAMES)
    assert holds
    assert "4 errors from 0.300 to 1.100" in evidence
    holds, evidence = auto_verdict(trials(error=errors | both(POSITIVE_AUTO, 1.2, 0.6)), NAMES)
    assert not holds
    assert "outside: x, positives: auto 1.200" in evidence


def test_an_order_may_be_slightly_worse_than_the_naive_one():
    orders = trials(tau=both(BLEND, 0.46, 0.9), naive_tau=both(BLEND, 0.5, 0.5))
    holds, evidence = tau_verdict(orders, [BLEND], NAMES)
    assert holds
    assert "from -0.040 to 0.400; outside: none" in evidence
    assert not tau_verdict(trials(tau=both(BLEND, 0.4, 0.9), naive_tau=both(BLEND, 0.5, 0.5)), [BLEND], NAMES)[0]


def test_coverage_may_be_too_low_or_too_high():
    assert coverage_verdict(trials(coverage=both(SLICED, 0.9, 0.99)), [SLICED], NAMES)[0]
    for share in (0.89, 1.0):
        holds, evidence = coverage_verdict(trials(coverage=both(SLICED, 0.95, share)), [SLICED], NAMES)
        assert not holds
        assert f"outside: y, blend, 1 % slice {share:.3f}" in evidence


def test_wrong_signs_are_judged_by_their_share_of_significant_pairs():
    few = trials(wrong_pairs=both(SLICED, 1, 0), significant_pairs=both(SLICED, 50, 0))
    assert wrong_verdict(few, [SLICED], NAMES)[0]
    many = trials(wrong_pairs=both(SLICED, 2, 0), significant_pairs=both(SLICED, 50, 0))
    assert not wrong_verdict(many, [SLICED], NAMES)[0]


def test_without_a_slice_wrong_signs_are_compared_with_the_naive_ones():
    pairs = both(BLEND, 10, 10) | both(NAIVE, 10, 10)
    fewer = trials(wrong_pairs=both(BLEND, 1, 0) | both(NAIVE, 2, 0), significant_pairs=pairs)
    assert below_naive(fewer, NAMES) == (True, "x 10.0%, naive 20.0%; y 0.0%, naive 0.0%")
    equal = trials(wrong_pairs=both(BLEND, 2, 0) | both(NAIVE, 2, 0), significant_pairs=pairs)
    assert not below_naive(equal, NAMES)[0]


def test_means_that_logs_do_not_put_clearly_outside_are_not_decided():
    """Ten logs of mean 0.996 and a standard error of 0.004; the limit is 0.99."""
    spread = np.array([0.96, *[1.0] * 9])
    shares = Trials(DIMS, "log", {("x", SLICED, "coverage"): spread})
    holds, evidence = coverage_verdict(shares, [SLICED], ["x"])
    assert holds is None
    assert "outside: x, blend, 1 % slice 0.996, by less than 2 standard errors over logs" in evidence
    surely = Trials(DIMS, "log", {("x", SLICED, "coverage"): np.full(10, 0.89)})
    assert coverage_verdict(surely, [SLICED], ["x"])[0] is False


def test_a_few_logs_whose_intervals_all_hold_the_truth_do_not_show_that_these_are_too_wide():
    """Under a coverage of 0.99 three logs have none outside in 97 % of cases, and 1,000 in none of 20,000."""
    few, many = (Trials(DIMS, "log", {("x", SLICED, "coverage"): np.ones(logs)}) for logs in (3, 1000))
    assert coverage_verdict(few, [SLICED], ["x"])[0] is None
    assert coverage_verdict(many, [SLICED], ["x"])[0] is False
