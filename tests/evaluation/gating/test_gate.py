"""The gate: its rule by hand, its differences against runs under each assumption, its checks and refusals."""

import json

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError
from unskew.evaluation.gating.decision import FACTOR, _decide, _failed
from unskew.evaluation.gating.differences import Difference, assumed_differences
from unskew.evaluation.gating.preflight import Preflight, _separates
from unskew.ranking import MatrixScorer

USERS, ITEMS, TRAINED, TESTED = 120, 40, 4, 3


def made_split(seed: int = 0, users: int = USERS, *, duplicated: bool = False) -> Split:
    """Users with a few training and test items each, popular ones more often."""
    rng = np.random.default_rng(seed)
    chance = np.arange(1, ITEMS + 1.0) ** -0.7
    drawn = np.array(
        [rng.choice(ITEMS, TRAINED + TESTED, replace=False, p=chance / chance.sum()) for _ in range(users)]
    )
    train, test = (
        Interactions.from_arrays(np.repeat(np.arange(users), part.shape[1]), part.ravel(), n_users=users, n_items=ITEMS)
        for part in (drawn[:, :TRAINED], drawn[:, TRAINED:])
    )
    if duplicated:
        again = [np.append(column, column[:5]) for column in (train.users, train.items)]
        train = Interactions.from_arrays(*again, n_users=users, n_items=ITEMS)
    return Split(train, test)


def made_scores(split: Split, skill: float, seed: int) -> MatrixScorer:
    """Random scores, to which the test items of a user add a skill."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(split.train.n_users, ITEMS))
    scores[split.test.users, split.test.items] += skill
    return MatrixScorer(scores)


@pytest.fixture(scope="module")
def split() -> Split:
    return made_split()


@pytest.fixture(scope="module")
def report(split):
    models = {"good": made_scores(split, 2.0, 1), "poor": made_scores(split, 0.2, 2)}
    return evaluate(models, split, metrics=["recall@5", "adg"], estimators=["aoa(per=pair)", "snips"])


def gap(low, high, name=""):
    return Difference(name, None if low is None else (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("required", "margin", "factor", "decision", "why"),
    [
        ([gap(0.01, 0.03)], 0.0, None, "ship", ""),
        ([gap(-0.01, 0.03)], 0.0, None, "hold", "the interval reaches -0.0100"),
        ([gap(-0.01, 0.03)], 0.02, None, "ship", ""),
        ([gap(-0.01, 0.03)], 0.01, None, "hold", "the margin of 0.01"),  # equal to the margin is not above it
        ([gap(-0.03, -0.02)], 0.01, None, "reject", "beyond chance"),
        ([gap(-0.03, -0.02)], 0.025, None, "hold", "the interval reaches -0.0300"),
        ([gap(0.01, 0.03), gap(-0.01, 0.02, "gamma 1")], 0.0, None, "hold", "if gamma 1 is assumed"),
        ([gap(-0.03, -0.02), gap(-0.03, 0.01, "gamma 1")], 0.0, None, "hold", "perhaps not if gamma 1 is assumed"),
        ([gap(-0.03, -0.02), gap(0.01, 0.02, "gamma 1")], 0.0, 1.0, "hold", "worse by more than the margin of 0, "),
        ([gap(-0.03, 0.01), gap(-0.03, 0.01, "gamma 1")], 0.0, None, "hold", "the interval reaches -0.0300"),
        ([gap(0.01, 0.03)], 0.0, FACTOR - 0.01, "hold", "wrong by a factor of 1.49"),
        ([gap(0.01, 0.03)], 0.0, FACTOR, "ship", ""),
        ([gap(None, None)], 0.0, None, "hold", "reaches undefined"),
    ],
)
def test_the_rule_by_hand(required, margin, factor, decision, why):
    decided, reasons = _decide(required, margin, factor, ())
    assert decided == decision
    assert why in " ".join(reasons)
    assert (decision == "ship") == (not reasons)


def test_a_loss_beyond_chance_is_not_called_possible():
    for saving in (gap(-0.03, 0.01, "gamma 1"), gap(0.01, 0.02, "gamma 1"), gap(None, None, "gamma 1")):
        decision, reasons = _decide([gap(-0.03, -0.02), saving], 0.0, 1.0, ())
        assert (decision, len(reasons)) == ("hold", 1)
        assert "is possible" not in reasons[0]
        assert "by a factor" not in reasons[0]


@pytest.mark.parametrize(("outcome", "strict", "decision"), [("warn", False, "ship"), ("warn", True, "hold")])
def test_a_warning_holds_only_if_strict_and_a_failure_always(outcome, strict, decision):
    for checks, decided in (([Preflight("x", outcome, "y")], decision), ([Preflight("x", "fail", "y")], "hold")):
        assert _decide([gap(0.1, 0.2)], 0.0, None, _failed(checks, strict=strict))[0] == decided


def test_a_clearly_better_model_is_shipped_and_a_clearly_worse_one_rejected(report):
    new, old = report.gate("good", "poor"), report.gate("poor", "good")
    assert (new.decision, new.exit_status) == ("ship", 0)
    assert (old.decision, old.exit_status) == ("reject", 1)
    assert new.difference.value == pytest.approx(-old.difference.value)
    assert (new.metric, new.estimator, new.corrects) == ("recall@5", "snips", True)
    row = next(each for each in report.comparisons if (each.metric, each.estimator) == ("recall@5", "snips"))
    assert (new.difference.low, new.difference.high) == (row.low, row.high)


def test_a_model_is_not_worse_than_one_with_the_same_scores_given_a_margin(split):
    scores = made_scores(split, 1.0, 1)
    report = evaluate({"a": scores, "b": scores}, split, metrics=["recall@5"], estimators=["snips"])
    assert report.gate("a", "b").decision == "hold"  # 0 is not above a margin of 0
    assert report.gate("a", "b", margin=0.001).decision == "ship"


def test_differences_at_each_gamma_are_those_of_runs_with_that_gamma(report, split):
    metric, estimator = next(pair for pair in report.settings.pairs if list(map(str, pair)) == ["adg", "snips"])
    differences = assumed_differences(report, metric, estimator, "good", "poor")
    assert [each.assumption for each in differences] == [f"gamma {gamma:g}" for gamma in report.band.gammas]
    models = {name: fitted.ranker for name, fitted in report.contenders.models.items()}
    for gamma, each in list(zip(report.band.gammas, differences, strict=True))[::4]:
        again = evaluate(
            models, split, metrics=["adg"], estimators=["snips"], propensity=f"popularity(gamma={gamma})"
        ).comparisons[0]
        assert (each.value, each.low, each.high) == pytest.approx((again.difference, again.low, again.high), abs=1e-12)


def test_the_margin_counts_in_the_factor_of_the_weights(report):
    factors = [report.gate("good", "poor", margin=margin, require="robust").factor for margin in (0.0, 0.05)]
    assert factors[0] == pytest.approx(next(a.flip_gamma for a in report.answers if a.metric == "recall@5"))
    assert factors[1] > factors[0] > 1
    assert report.gate("poor", "good").factor == 1.0


def test_a_lower_loss_is_better():
    rng = np.random.default_rng(3)
    users, items = np.repeat(np.arange(60), 5), np.tile(np.arange(5), 60)
    values = rng.integers(1, 6, 300).astype(float)
    log = Interactions.from_arrays(users, items, values=values, n_users=60, n_items=5)
    train, test = log.take(np.arange(300) % 2 == 0), log.take(np.arange(300) % 2 == 1)
    truth = np.zeros((60, 5))
    truth[users, items] = values
    models = {
        "near": MatrixScorer(truth + rng.normal(scale=0.1, size=truth.shape), ratings=True),
        "far": MatrixScorer(truth + rng.normal(scale=1.0, size=truth.shape), ratings=True),
    }
    gate = evaluate(models, Split(train, test), metrics=["mae"], estimators=["aoa"]).gate(
        "near", "far", require="interval"
    )
    assert gate.decision == "ship"
    assert gate.difference.value > 0


def test_what_is_not_corrected_is_held_unless_the_interval_is_enough(split):
    models = {"good": made_scores(split, 2.0, 1), "poor": made_scores(split, 0.2, 2)}
    report = evaluate(models, split, metrics=["ndcg@5"], estimators=["aoa"])
    held = report.gate("good", "poor")
    assert held.decision == "hold"
    assert "nothing corrects for the skew" in held.reasons[0]
    assert report.gate("good", "poor", require="interval").decision == "ship"


class Restless:
    """Scores that differ each time."""

    def __init__(self, scores):
        self.scores, self.rng = scores, np.random.default_rng(0)

    def score(self, users):
        return self.scores.score(users) + self.rng.normal(scale=1e-3, size=(len(users), ITEMS))


def test_a_model_whose_scores_differ_when_computed_again_is_not_shipped(split):
    models = {"good": Restless(made_scores(split, 2.0, 1)), "poor": made_scores(split, 0.2, 2)}
    gate = evaluate(models, split, metrics=["recall@5"], estimators=["snips"]).gate("good", "poor")
    outcomes = {check.name: check.outcome for check in gate.checks}
    assert outcomes["repeats: good"] == "fail"
    assert outcomes["repeats: poor"] == "pass"
    assert gate.decision == "hold"
    assert "switch off dropout" in " ".join(gate.reasons)


def test_duplicates_are_a_warning():
    split = made_split(duplicated=True)
    models = {"good": made_scores(split, 2.0, 1), "poor": made_scores(split, 0.2, 2)}
    report = evaluate(models, split, metrics=["recall@5"], estimators=["snips"])
    assert {check.name: check.outcome for check in report.gate("good", "poor").checks}["duplicates"] == "warn"
    assert report.gate("good", "poor").decision == "ship"
    assert report.gate("good", "poor", strict=True).decision == "hold"


def test_a_gate_that_checks_alone_hold_says_so():
    split = made_split(duplicated=True)
    models = {"good": made_scores(split, 2.0, 1), "poor": made_scores(split, 0.2, 2)}
    report = evaluate(models, split, metrics=["recall@5"], estimators=["snips"])
    gate = report.gate("good", "poor", strict=True, margin=0.001)
    assert gate.held_by_checks
    assert "good is not worse than poor on recall@5 by more than 0.001, but checks hold it" in str(gate)
    assert not report.gate("poor", "good", strict=True).held_by_checks
    assert not report.gate("good", "poor").held_by_checks
    naive = evaluate(models, split, metrics=["recall@5"], estimators=["aoa(per=pair)"])
    for strict in (False, True):  # the naive average alone would reject it
        assert not naive.gate("poor", "good", strict=strict).held_by_checks


def test_the_naive_average_alone_neither_ships_nor_rejects(split):
    models = {"good": made_scores(split, 2.0, 1), "poor": made_scores(split, 0.2, 2)}
    report = evaluate(models, split, metrics=["recall@5"], estimators=["aoa(per=pair)"])
    for new, old, alone in (("good", "poor", "ship"), ("poor", "good", "reject")):
        gate = report.gate(new, old)
        assert gate.decision == "hold"
        assert "nothing corrects for the skew of the log" in gate.reasons[0]
        assert report.gate(new, old, require="interval").decision == alone


def test_models_that_do_not_differ_are_said_not_to(split):
    scores = made_scores(split, 1.0, 1)
    report = evaluate({"a": scores, "b": scores}, split, metrics=["recall@5"], estimators=["snips"])
    gate = report.gate("a", "b")
    assert gate.reasons == (
        "the two models do not differ for any user, and a difference of 0 is not above a margin of 0",
    )
    assert "do not differ for any of 120 users" in next(c.text for c in gate.checks if c.name == "separates")


def test_a_margin_that_nothing_can_fail_is_warned_of(report):
    checks = {check.name: check for check in report.gate("poor", "good", margin=2.0).checks}
    assert checks["margin"].outcome == "warn"
    assert "is not below the old model's value of" in checks["margin"].text
    assert "margin" not in {check.name for check in report.gate("good", "poor", margin=0.001).checks}


def test_robust_says_why_there_is_no_factor(report):
    assert "it is worse than the margin as they are" in str(report.gate("poor", "good", require="robust"))


def test_a_log_that_is_too_small_says_how_many_users_would_decide(split):
    models = {"a": made_scores(split, 1.0, 1), "b": made_scores(split, 0.95, 2)}
    gate = evaluate(models, split, metrics=["recall@5"], estimators=["snips"]).gate("a", "b", require="interval")
    check = next(each for each in gate.checks if each.name == "separates")
    assert (gate.decision, check.outcome) == ("hold", "warn")
    assert "users would decide if the difference is what it seems" in check.text


@pytest.mark.parametrize(
    ("required", "outcome", "says"),
    [
        ([gap(-0.01, 0.02)], "warn", "about 1,080 users would decide"),  # half .015, distance .005: nine times 120
        ([gap(-0.01, 0.02), gap(0.0, 0.03, "gamma 1")], "warn", "about 1,080 users would decide"),
        ([gap(-0.01, 0.02), gap(-0.03, 0.0, "gamma 1")], "warn", "more users would not decide"),
        ([gap(-0.01, 0.01)], "warn", "far more users would decide"),
        ([gap(-0.03, -0.01), gap(0.0, 0.03, "gamma 1")], "pass", "120 users show differences of 0.0100 or more"),
    ],
)
def test_more_users_are_not_said_to_decide_what_assumptions_leave_open(report, required, outcome, says):
    (check,) = _separates(report, required, 0.0, seeds=False)
    assert check.outcome == outcome
    assert says in check.text


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"new": "god"}, "no model 'god' in the report; did you mean 'good'"),
        ({"new": "poor"}, "both models are 'poor'"),
        ({"margin": -0.1}, "give a number of 0 or more"),
        ({"margin": float("nan")}, "give a number of 0 or more"),
        ({"require": "sure"}, "choose one of interval, band, robust"),
        ({"metric": "recall@6"}, "the report has no recall@6"),
    ],
)
def test_what_makes_no_sense_is_refused(report, asked, says):
    with pytest.raises(ConfigError, match=says):
        report.gate(**{"new": "good", "old": "poor", **asked})


def test_the_json_and_the_markdown_have_the_decision_and_cannot_be_broken_by_names(split):
    models = {"a|b<script>": made_scores(split, 2.0, 1), "old": made_scores(split, 0.2, 2)}
    gate = evaluate(models, split, metrics=["recall@5"], estimators=["snips"]).gate("a|b<script>", "old")
    read = json.loads(gate.to_json())
    assert (read["decision"], read["new"], read["margin"]) == ("ship", "a|b<script>", 0.0)
    assert read["assumed_low"] == min(each["low"] for each in read["assumed"])
    assert read["report"]["estimates"]
    text = gate.to_markdown()
    assert text.startswith("### Ship: a\\|b\\<script\\> is not worse than old on recall@5")
    assert "<script>" not in text
    assert "Ship: a|b<script> is not worse than old" in str(gate)


def test_equal_models_are_shipped_in_at_most_the_stated_share_of_runs():
    # the interval of 95 % has 2.5 % below it: of 300 runs 7.5, and more than 19 with a chance below 1 in 10,000
    shipped = 0
    for seed in range(300):
        split = made_split(seed, users=60)
        models = {name: made_scores(split, 1.0, 2 * seed + place) for place, name in enumerate(("a", "b"))}
        report = evaluate(models, split, metrics=["recall@5"], estimators=["aoa(per=pair)"])
        shipped += report.gate("a", "b", require="interval").decision == "ship"
    assert shipped <= 19
