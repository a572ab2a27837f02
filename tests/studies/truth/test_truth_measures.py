"""Measures of estimates next to the truth, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from made_truth import BLEND, NAIVE, SHARE, SLICED, URE, judged

from unskew.studies.truth.forms import LABELLED, POSITIVE, Form
from unskew.studies.truth.judge import TRUTH, Judged
from unskew.studies.truth.measures import mean_of, measure, wrong_share

REAL = Form(LABELLED, 0.0, TRUTH)
VALUES = {
    REAL: (1.0, 2.0, 3.0),
    NAIVE: (5.0, 4.0, 3.0),  # off by 4, 2, 0
    BLEND: (1.0, 3.5, 3.0),  # off by 0, 1.5, 0
    SLICED: (1.1, 2.1, 2.8),
    URE: (1.0, 1.0, 3.0),
}


@pytest.fixture
def trials():
    half = {BLEND: 1.0, SLICED: 0.15, URE: 0.3, REAL: 1.2, Form(LABELLED, SHARE, TRUTH): 0.2}
    # pairs of models in the order (0, 1), (0, 2), (1, 2); the truth has -1, -1, -1
    signs = {NAIVE: (1, 1, 1), BLEND: (-1, -1, 1), SLICED: (0, -1, 0), REAL: (-1, -1, 0)}
    return measure([("x", judged(VALUES, half, signs))])


def value(trials, form, name):
    return mean_of(trials, "x", form, name).value


def test_the_error_is_a_share_of_the_naive_one(trials):
    assert value(trials, NAIVE, "error") == 1
    assert value(trials, BLEND, "error") == pytest.approx(1.5 / 6)
    assert value(trials, SLICED, "error") == pytest.approx(0.4 / 6)


def test_tau_and_winner_compare_orders(trials):
    assert value(trials, NAIVE, "tau") == -1
    assert value(trials, BLEND, "tau") == pytest.approx(1 / 3)
    assert [value(trials, form, "winner") for form in (NAIVE, BLEND, SLICED)] == [0, 0, 1]


def test_bias_is_signed_and_relative(trials):
    assert value(trials, BLEND, "bias") == pytest.approx(0.5 / 2)
    assert value(trials, URE, "bias") == pytest.approx(-1 / 3 / 2)


def test_coverage_and_width_are_of_intervals(trials):
    assert value(trials, BLEND, "coverage") == pytest.approx(2 / 3)
    assert value(trials, SLICED, "coverage") == pytest.approx(2 / 3)
    assert value(trials, SLICED, "coverage, truth's error") == 1  # 0.2 is within the root of 0.15 ** 2 + 0.2 ** 2
    assert value(trials, SLICED, "width") == pytest.approx(0.5)
    with pytest.raises(KeyError):
        value(trials, BLEND, "width")


def test_wrong_signs_are_counted_among_significant_pairs(trials):
    assert wrong_share(trials, "x", NAIVE) == 1
    assert wrong_share(trials, "x", BLEND) == pytest.approx(1 / 3)
    assert wrong_share(trials, "x", BLEND, clear=True) == 0
    assert wrong_share(trials, "x", SLICED) == 0
    assert wrong_share(trials, "x", URE) is None


def test_tied_winners_share_the_credit():
    values = {**VALUES, BLEND: (0.0, 4.0, 4.0)}
    assert value(measure([("x", judged(values, {}, {}))]), BLEND, "winner") == 0.5


def test_slices_of_one_log_are_averaged():
    again = {replace(form, draw=1): row for form, row in {SLICED: (1.0, 2.0, 3.0), URE: (1.0, 1.0, 3.0)}.items()}
    second_truth = Form(LABELLED, SHARE, TRUTH, 1)
    half = {SLICED: 0.15, replace(SLICED, draw=1): 0.3, URE: 0.3, replace(URE, draw=1): 0.3}
    both = measure([("x", judged(VALUES | again | {second_truth: VALUES[REAL]}, half, {}))])
    assert value(both, SLICED, "error") == pytest.approx(0.2 / 6)  # 0.4 and 0
    assert value(both, SLICED, "coverage") == pytest.approx((2 / 3 + 1) / 2)
    assert value(both, SLICED, "width") == pytest.approx((0.5 + 1) / 2)
    assert SLICED in both.levels("form")
    assert replace(SLICED, draw=1) not in both.levels("form")


def test_a_judgement_is_read_as_it_was_written(tmp_path):
    values = VALUES | {replace(SLICED, draw=1): (1.0, 2.0, 3.0)}
    first = judged(values, {BLEND: 1.0}, {BLEND: (1, 0, -1)})
    path = tmp_path / "log.npz"
    first.write(path)
    second = Judged.read(path)
    assert second.forms == first.forms
    for name in ("values", "low", "high", "signs"):
        assert np.array_equal(getattr(second, name), getattr(first, name))
    assert Judged.read(tmp_path / "other.npz") is None


def test_rows_are_named_by_estimator_log_and_slice():
    forms = [BLEND, SLICED, Form(POSITIVE, 0.001, "blend(q=slice)"), Form(POSITIVE, 0.0, "naive")]
    assert list(map(str, forms)) == [
        "blend",
        "blend, 1 % slice",
        "positives: blend(q=slice), 0.1 % slice",
        "positives: naive",
    ]
